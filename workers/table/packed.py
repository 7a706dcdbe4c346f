"""The packed table: the smaller column of a table, from which the other one follows.

A packed table is an Arrow IPC file of the same name and the same metadata as the table that it was
made from (format.py), with these differences:

    kingpair.layout     3
    columns             `white` or `black`: the one whose file is smaller
    record batches      4 blocks each, or 16 in the smallest form; higher levels of zstd

Rows, values, the identity, the counts, the digests of the blocks of both columns and the digest of
the whole are those of the table.  So a packed table has the same digest.

A value of the missing column follows from the values after each legal move, for the opponent:

    the best move leads to -n - 1 (he loses in n)    n + 1: a win
    the best move leads to n (he wins in n)          -n - 1: a loss; of several the longest
    a move leads to 0, and none to a loss            0
    no legal move                                    -1 in check, else 0

With metric dtc a capture or a promotion counts as 1 if it wins and as -1 if it loses.  With dtz a
loss is -n - 2, and captures and moves of pawns count as 1 or -2, or as 101 or -102 if the value
after the move is beyond 100 plies.  Quiet moves, and pawns that push, lead into the column that is
stored, other moves into smaller tables.  If such a table is packed and has the other column, its
value follows in the same way.  A double step may give the right to capture en passant: the value
after it is the better one of the stored value and of these captures, or that of the captures if
there is no other move.

Tables of Chinese chess are not packed.

In a material with the same men on both sides the missing value of a position is the stored value of
the position with the colours swapped.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from kingpair.workers.errors import DamagedTable
from kingpair.workers.number_types import SIDES, Side, opponent
from kingpair.workers.sets.threads import Threads
from kingpair.workers.store.atomic_file import atomic_file
from kingpair.workers.table.format import (
    BLOCK,
    COLUMNS,
    LAYOUT,
    PACKED_LAYOUT,
    PLAIN,
    Compression,
    Table,
)
from kingpair.workers.table.key import TableIdentity, TableKey
from kingpair.workers.table.value import Values
from kingpair.workers.table.writing import (
    EncodedBlocks,
    encode_columns,
    header_of,
    sealed_trailer,
    table_schema,
    write_blocks,
)

# Measured on one column of KBBvKN, KQRvKR and KRBvKR: 20.4 MB in 47 s of one core, 19.3 MB in 93 s.
PACKED = Compression(level=17, blocks=4)
SMALLEST = Compression(level=22, blocks=16)


class PackedFile(NamedTuple):
    """A table that was packed: its bytes before and after, and the column that is stored.

    The column is None if the table was copied, as tables of Chinese chess are.
    """

    key: TableKey
    digest: str
    before: int
    after: int
    column: str | None


def pack(table: Table, path: Path, packing: Compression, threads: Threads) -> PackedFile:
    """Writes a packed table.  Raises ForeignTable if the table is packed already."""
    table.require_whole()
    table.check()
    column = _smaller_column(table, threads)
    schema = table_schema(identity_of(table), table.dtype, (COLUMNS[column],))
    readers = threads.pool(table.another_reader)

    def part(first: int) -> EncodedBlocks:
        with readers.lend() as reader:
            values = reader.rows(first, min(first + rows, table.index.rows), column)
        return encode_columns(schema, [values], packing)

    rows = packing.blocks * BLOCK
    with atomic_file(path) as file:
        parts = threads.stream(part, range(0, table.index.rows, rows))
        write_contents(table, schema, parts, PACKED_LAYOUT, file)
    return PackedFile(table.key, table.digest, table.bytes, path.stat().st_size, COLUMNS[column])


def write_whole(packed: Table, derived: Values, file: BinaryIO, threads: Threads) -> None:
    """Writes the table that a packed one was made from.  `derived` is its other column.

    Raises DamagedTable if the values disagree with the digests.
    """
    (stored,) = packed.stored
    schema = table_schema(identity_of(packed), packed.dtype)
    readers = threads.pool(packed.another_reader)

    def part(first: int) -> EncodedBlocks:
        stop = min(first + BLOCK, packed.index.rows)
        with readers.lend() as reader:
            columns = [reader.rows(first, stop, stored), derived[first:stop]]
        return encode_columns(schema, columns if stored == 0 else columns[::-1], PLAIN)

    parts = threads.stream(part, range(0, packed.index.rows, BLOCK))
    if write_contents(packed, schema, parts, LAYOUT, file) != packed.digest:
        missing = COLUMNS[opponent(stored)]
        raise DamagedTable(
            f"{packed.path}: the column {missing} that follows from it is not the "
            "one that was left out; pack the table again"
        )


def identity_of(table: Table) -> TableIdentity:
    return TableIdentity(table.key, table.smaller)


def _smaller_column(table: Table, threads: Threads) -> Side:
    """The column that compresses better.  Quick compression tells as well as a slow one."""
    codec = pa.Codec("zstd", compression_level=1)
    readers = threads.pool(table.another_reader)

    def sizes(block: int) -> list[int]:
        with readers.lend() as reader:
            return [codec.compress(reader.block(block, side).data).size for side in SIDES]

    found = np.sum(threads.map(sizes, range(table.blocks)), axis=0)
    return SIDES[int(np.argmin(found))]


def write_contents(
    table: Table,
    schema: pa.Schema,
    parts: Iterable[EncodedBlocks],
    layout: int,
    file: BinaryIO,
    first_schema: pa.Schema | None = None,
) -> str:
    """Writes a file of the same contents.  Returns the digest of the contents.

    `first_schema` stands before the batches if it is not that of the footer.
    """
    header = header_of(first_schema or schema)
    file.write(header)
    blocks = write_blocks(file, parts)
    if layout != LAYOUT:
        blocks = blocks._replace(digests=[table.block_digests])
    trailer = sealed_trailer(header, schema, identity_of(table), blocks, table.counts, layout)
    file.write(trailer.data)
    return trailer.digest
