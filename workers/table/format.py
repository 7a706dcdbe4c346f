"""The table: the values of all positions of one material for one metric, as an Arrow IPC file that
any Arrow reader opens.

A file is named `MATERIAL.METRIC.arrow`, such as `KQvKR.dtc.arrow`.  It has two columns of small
integers,

    white    the value with White to move, White being the side that the name mentions first
    black    the value with Black to move

int8 where all values fit, else int16.  The row of a position is its slot:

    row = pair * 64^m + square of man 0 * 64^(m-1) + ... + square of man m-1

Men are counted weaker side first, each side's in the order Q R B N (KQvKR: man 0 the black rook,
man 1 the white queen); squares are numbered a1 = 0, b1 = 1, ..., h8 = 63.  To find the row of a
position: swap colours if Black has the stronger men; turn the board by that of the eight
symmetries which makes (white king, black king) smallest; `pair` is the place of these two among
all 462 pairs so found, in ascending order.  Like men stand in ascending order.  If both kings are
on the diagonal a1-h8, the smaller row of the position and its mirror image counts.

A value is in moves of the winner, counted to the end of the phase (metric dtc: to mate or to the
capture that leads into a smaller won table; a loser who is forced to capture has reached it):

    n > 0    the side to move wins in n moves
    0        draw
    n < 0    the side to move loses in -n - 1 moves: -1 is mate on the board, or a forced conversion

With pawns only left-right mirroring turns the board, and a row begins with the placing of the
pawns.  table_index.py defines these rows, with an example; LevelWriter writes them.

Some rows hold no position: two men stand on one square, the side not to move is in check, or the
slot is not the canonical one.  Such a row repeats the row before it, or is 0 where a pair begins,
with pawns where a structure begins.

Rows are grouped into blocks of 65,536; the last block is shorter.  Record batches, compressed with
zstd, hold one block each, or four in a compact table.  The schema's metadata has under `kingpair`
the identity as JSON: format, material, metric, index, the digest of the list of pawn structures if
there are any, and the digests of the smaller tables that this one rests on.  The footer's metadata
has

    kingpair.layout     2
    kingpair.counts     JSON: distinct positions by side to move, result and moves; the longest
    kingpair.blocks     xxh3-64 of the values of each block, 16 hex digits: white, black, ...
    kingpair.digest     blake2b-128 of the blake2b-128 of identity, of counts and of blocks
    kingpair.pieces     xxh3-64 of the bytes before the first batch, then of those of each batch
    kingpair.seal       xxh3-128 of all bytes behind the last batch, with these digits as zeros

A large table may be kept in parts, which together are this file (parts_file.py).

Together the digests cover every bit of the file (seal.py).  Opening a file finds a damaged footer,
reading a block finds a damaged block, and `kingpair verify` finds all other damage.

A packed table (layout 3, packed.py) has one of the two columns alone; a dense one (layout 4,
dense.py) has it in a code of our own.

The format defines the meaning of rows and values, the layout their storage in the file.  Larger
tables name a smaller table by its digest, which does not depend on the layout.  Files of another
format or layout are refused.  All layouts but the first have a seal.

A worked example
----------------

In which row is 3R3k/8/2K5/7q/8/8/8/8 b - - 0 1, and what is its value?

    colours     Black has the queen, so swap: White Kh8 Qh5, Black Kc6 Rd8, White to move
    table       KQvKR.dtc.arrow, column white
    symmetry    mirrored in files and in ranks: White Ka1 Qa4, Black Kf3 Re1
    pair        with a1 go c1 to h1, c2 to h2, then c3 d3 e3 f3: (a1, f3) is pair 15
    men         man 0, the black rook, on e1 = 4; man 1, the white queen, on a4 = 24
    row         15 * 64**2 + 4 * 64 + 24 = 61720
    value       31: the side to move wins in 31 moves
    block       61720 // 65536 = 0, whose digest is the first 16 digits of kingpair.blocks

The same with nothing but pyarrow, where the tables are:

    >>> import pyarrow as pa
    >>> pa.ipc.open_file("KQvKR.dtc.arrow").read_all()["white"][61720].as_py()
    31
"""

import json
from collections.abc import Iterable
from copy import copy
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import pyarrow as pa

from kingpair.workers.errors import BadMaterial, DamagedTable, ForeignTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.material_index import table_index
from kingpair.workers.number_types import SIDES, Side
from kingpair.workers.store.filesystem import printable
from kingpair.workers.table.batch_reader import BatchReader
from kingpair.workers.table.block_reader import UNREADABLE, BlockReader
from kingpair.workers.table.key import FORMAT, TableKey
from kingpair.workers.table.parts_file import AnyFile, Fetch, arrow_file, direct_file, opened_file
from kingpair.workers.table.row_reader import BLOCK as BLOCK
from kingpair.workers.table.row_reader import COLUMNS as COLUMNS
from kingpair.workers.table.seal import (
    FooterMetadata,
    contents_digest,
    first_damaged,
    read_trailer,
)
from kingpair.workers.table.stored_column import stored_columns

LAYOUT = 2
PACKED_LAYOUT = 3
DENSE_LAYOUT = 4


class Compression(NamedTuple):
    """The level of zstd for record batches, and the number of blocks in a batch."""

    level: int
    blocks: int


PLAIN = Compression(level=1, blocks=1)
# Half the size (KRBvKR: 5.7 MB for 11.7) for 70 times the time of compressing, and four times as
# much to decompress for a cold probe: still well under a millisecond.
COMPACT = Compression(level=22, blocks=4)

Counts = dict[str, Any]


class Table(BlockReader):
    """A finished table, opened and checked.  The file is mapped; blocks are decoded on demand."""

    def __init__(self, path: Path, file: AnyFile | None = None, fetch: Fetch | None = None) -> None:
        """`file` is one that the caller has opened, if the table is not mapped here; `fetch` finds
        the parts of a table if they do not lie beside it.
        """
        self.path = path
        self._file: Any = file
        # For threads that share the table: Arrow does not promise that a reader is thread-safe.
        self.lock = Lock()
        try:
            self._open(fetch)
        except (FileNotFoundError, DamagedTable, ForeignTable):
            raise
        except UNREADABLE as error:
            raise DamagedTable(
                f"{path}: its footer cannot be read: no table, truncated or damaged; build it again"
            ) from error
        super().__init__()

    def _open(self, fetch: Fetch | None) -> None:
        # A table that is built again is another file under the same name.
        self.inode = self.path.stat().st_ino if self._file is None else 0
        self._file = opened_file(self.path, self._file, fetch)
        self.bytes: int = self._file.size()
        first = self._reader(0)
        schema, footer = first.schema, FooterMetadata.of(first.metadata)
        if footer.seal is None and footer.layout >= LAYOUT:
            raise self._damaged_footer()
        trailer = read_trailer(self._file)
        if footer.seal is not None and not trailer.has(footer.seal):
            raise self._damaged_footer()
        if footer.layout in (PACKED_LAYOUT, DENSE_LAYOUT):
            self.stored: tuple[Side, ...] = (SIDES[COLUMNS.index(schema.names[0])],)
        else:
            self._check_version("layout", footer.layout, LAYOUT)
            self.stored = SIDES
        self._identity = schema.metadata[b"kingpair"].decode()
        stated = json.loads(self._identity)
        self._check_version("format", stated["format"], FORMAT)
        self.key = self._key_of(stated)
        self.index = table_index(self.material)
        self.row_count = self.index.rows  # a product of several numbers, and each probe asks for it
        self._check_structures(stated.get("structures"))
        self.smaller: dict[str, str] = stated["smaller"]
        self.counts: Counts = json.loads(footer.counts)
        self.digest = footer.digest
        self._footer = footer
        direct = direct_file(self._file)
        self._direct = None if direct is None else BatchReader(direct, trailer.pieces())
        readers = [first, *(self._reader(field) for field in self.stored[1:])]
        is_dense = footer.layout == DENSE_LAYOUT
        self._columns = stored_columns(readers, self.material, self.stored, self._direct, is_dense)
        column = self._columns[self.stored[0]]
        self.blocks, self.page_rows, self.dtype = column.blocks, column.page_rows, column.dtype

    @property
    def is_whole(self) -> bool:
        """Whether both columns are stored.  A packed table has one of them."""
        return len(self.stored) == len(COLUMNS)

    @property
    def form(self) -> str:
        if self.is_whole:
            return "whole"
        return "dense" if self._footer.layout == DENSE_LAYOUT else "packed"

    def require_whole(self) -> None:
        """Raises ForeignTable for a packed table."""
        if not self.is_whole:
            raise ForeignTable(
                f"{self.path}: packed, it holds the column {COLUMNS[self.stored[0]]} alone; "
                f"kingpair unpack {printable(self.path.parent)} --out DIR makes whole tables"
            )

    def _reader(self, field: int) -> pa.ipc.RecordBatchFileReader:
        options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=[field])
        return pa.ipc.open_file(arrow_file(self._file), options=options)

    def _check_version(self, what: str, stated: int, ours: int) -> None:
        if stated != ours:
            remedy = "update kingpair" if stated > ours else "build it again"
            raise ForeignTable(
                f"{self.path}: table {what} {stated}, this version reads {ours}; {remedy}"
            )

    def _key_of(self, stated: dict[str, Any]) -> TableKey:
        try:
            key = TableKey.named(stated["material"], stated["metric"])
        except BadMaterial as error:
            raise ForeignTable(
                f"{self.path}: this version reads no such table ({error}); update kingpair"
            ) from error
        if self.path.name != key.file_name:
            raise ForeignTable(f"{self.path}: holds {key}, not what its name says; rename it")
        return key

    def _check_structures(self, digest: str | None) -> None:
        ours = self.index.structures
        if digest != (None if ours is None else ours.digest):
            raise ForeignTable(f"{self.path}: its pawn structures are not ours; build it again")

    @property
    def block_digests(self) -> str:
        return self._footer.blocks

    @property
    def batch_digests(self) -> str:
        return self._footer.pieces

    @property
    def material(self) -> Material:
        return self.key.material

    @property
    def metric(self) -> Metric:
        return self.key.metric

    def another_reader(self) -> "Table":
        """Another reader of the same open file, for another thread.  It shares what was read of the
        footer: of six men that is 40 MB.
        """
        if self._direct is None or self._footer.layout == DENSE_LAYOUT:
            return Table(self.path, self._file)
        other = copy(self)
        BlockReader.__init__(other)
        other.lock = Lock()
        other._columns = {side: column.another() for side, column in self._columns.items()}
        return other

    def read_bytes(self, start: int, stop: int) -> bytes:
        """Some bytes of the file, or of its parts as one file."""
        if self._direct is None:
            return bytes(self._file.read_at(stop - start, start))
        return self._direct.file.read_range(start, stop)

    def check(self, pieces: Iterable[int] | None = None) -> None:
        """Raises DamagedTable unless the file, or some of its pieces (seal.py), has its digests."""
        footer = self._footer
        if contents_digest(self._identity, footer.counts, footer.blocks) != footer.digest:
            raise self._damaged_footer()
        try:
            damaged = first_damaged(self._file, footer.pieces, pieces)
        except DamagedTable:
            raise
        except UNREADABLE as error:
            raise self._damaged_footer() from error
        if damaged == 0:
            raise DamagedTable(f"{self.path}: its beginning is damaged; build the table again")
        if damaged is not None:
            self._find_damage(damaged - 1)

    def _find_damage(self, batch: int) -> None:
        """Raises DamagedTable for the damaged block of a batch, or for the batch if no block is."""
        together = self.blocks_of_batch
        first, last = batch * together, min((batch + 1) * together, self.blocks) - 1
        for column in self.stored:
            self.blocks_from(first, last + 1, column)
        raise DamagedTable(
            f"{self.path}: record batch {batch}, of blocks {first} to {last}, is damaged where no "
            "value shows it; build the table again"
        )

    def _damaged_footer(self) -> DamagedTable:
        return DamagedTable(f"{self.path}: its footer is damaged; build the table again")

    def close(self) -> None:
        self._columns.clear()
        self._file.close()
