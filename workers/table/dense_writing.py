"""Writing a dense table (dense.py): the column that gets smaller, its model, its codes.

Models made of a few codes say which column gets smaller, as some of its blocks are encoded.

The kernel reads the bits of each code back with the chances that it wrote them with.  Chances
depend on nothing but values that were read before.  Some groups are decoded in full, to be sure.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from kingpair.workers import _kernels
from kingpair.workers.errors import CannotBuild
from kingpair.workers.number_types import SIDES, Side
from kingpair.workers.sets.threads import Threads
from kingpair.workers.store.atomic_file import atomic_file
from kingpair.workers.table.dense import CODED_ROWS, DenseColumn, described, men_of
from kingpair.workers.table.format import BLOCK, COLUMNS, DENSE_LAYOUT, Table
from kingpair.workers.table.packed import PackedFile, identity_of, write_contents
from kingpair.workers.table.row_reader import RowReader
from kingpair.workers.table.writing import EncodedBlocks, encode_batch

GROUPS_OF_BATCH = 64
MEN_MIN = 4
# Every so many codes of a table with so many men are learned from: 400 to 6,000 of them.
_LEARNED = {4: 4, 5: 17, 6: 509}
_LEARNED_TO_CHOOSE = 5  # every so many of these
_DECODED = 16  # every so many groups


def can_be_dense(table: Table) -> bool:
    return table.material.men >= MEN_MIN and not table.material.has_pawns


def pack_dense(table: Table, path: Path, threads: Threads) -> PackedFile:
    """Writes a dense table.  Raises ForeignTable if the table is packed already."""
    table.require_whole()
    table.check()
    with threads.pool(table.another_reader).lend() as reader:
        side = SIDES[int(np.argmin([_estimated_size(reader, side) for side in SIDES]))]
        text = described(_model(reader, side, every=1), table.dtype)
    schema = pa.schema(
        [pa.field(COLUMNS[side], pa.binary(), nullable=False)],
        metadata={"kingpair": identity_of(table).json(), "kingpair.dense": text},
    )
    workers = threads.pool(
        lambda: (table.another_reader(), DenseColumn(text, table.material, side))
    )

    def part(first: int) -> EncodedBlocks:
        with workers.lend() as (reader, codec):
            blocks = range(first, min(first + GROUPS_OF_BATCH, table.blocks))
            groups = [_group(reader, codec, block, side) for block in blocks]
        return encode_batch(schema, pa.array(groups, pa.binary()))

    with atomic_file(path) as file:
        parts = threads.stream(part, range(0, table.blocks, GROUPS_OF_BATCH))
        write_contents(table, schema, parts, DENSE_LAYOUT, file)
    return PackedFile(table.key, table.digest, table.bytes, path.stat().st_size, COLUMNS[side])


def _model(table: Table, side: Side, every: int) -> bytes:
    """A model of a column, learned from every so many of the codes that are learned from."""
    training = _kernels.DenseTraining(men_of(table.material), side)
    step = every * _LEARNED[table.material.men] * CODED_ROWS
    for row in range(0, table.index.rows, step):
        values = table.rows(row, row + CODED_ROWS, side)
        training.learn(row // CODED_ROWS, values.astype(np.int16))
    return training.model()


def _estimated_size(table: Table, side: Side) -> int:
    """The bytes of some blocks of a column."""
    text = described(_model(table, side, _LEARNED_TO_CHOOSE), table.dtype)
    codec = DenseColumn(text, table.material, side)
    blocks = range(0, table.blocks, max(1, table.blocks // 30))
    return sum(len(_group(table, codec, block, side)) for block in blocks)


def _group(table: RowReader, codec: DenseColumn, block: int, side: Side) -> bytes:
    """The code of a block."""
    first, before = block * BLOCK, 0
    if first % table.index.slots:
        before = int(table.rows(first - 1, first, side)[0])
    values = table.rows(first, min(first + BLOCK, table.index.rows), side)
    try:
        group = codec.encode(first, before, values)
    except ValueError as error:
        raise CannotBuild(f"{table.index.material} cannot be made dense: {error}") from error
    if block % _DECODED == 0:
        decoded = codec.decode(first, len(values), group)
        assert (decoded == values).all(), "a code that reads otherwise"
    return group
