"""The table: the finished answer for one material and metric, as an Arrow IPC file that any Arrow
reader opens.

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

A row that is no position (two men on a square, side not to move in check, not the canonical slot)
means nothing: it repeats the row before it, or is 0 where a pair begins.

Rows are counted in blocks of 65,536, the last one what is left.  Record batches, compressed with
zstd, hold a block each, or four in a table that was built to be compact.  The schema's metadata has
under `kingpair` the identity as JSON: format, material, metric, index, and the digests of the
smaller tables it rests on.  The footer's metadata has

    kingpair.layout     2
    kingpair.counts     JSON: distinct positions by side to move, result and moves; the longest
    kingpair.blocks     xxh3-64 of the values of each block, 16 hex digits: white, black, ...
    kingpair.digest     blake2b-128 of the blake2b-128 of identity, of counts and of blocks
    kingpair.pieces     xxh3-64 of the bytes before the first batch, then of those of each batch
    kingpair.seal       xxh3-128 of all that stands behind the last batch, these digits as zeros

so that no bit is without a digest (workers/seal.py).  A damaged footer is found when the file is
opened, a damaged block when it is read, and whatever else by `kingpair verify`.

The format says what rows and values mean, the layout how a file holds them.  Larger tables name
what they rest on by its digest, which does not depend on the layout.  A file of another format or
layout is refused; every layout has the seal, but for the first.

A worked example
----------------

Where is 3R3k/8/2K5/7q/8/8/8/8 b - - 0 1, and what is it worth?

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
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

from workers.errors import DamagedTable, ForeignTable
from workers.geometry import PAIRS
from workers.material import Material
from workers.seal import end_in, first_damaged

FORMAT = 1
LAYOUT = 2
INDEX = "462 king pairs x 64^m"
BLOCK = 65536
COLUMNS = ("white", "black")


class Packing(NamedTuple):
    """How blocks are put into record batches, and at which level of zstd these are compressed."""

    level: int
    blocks: int


PLAIN = Packing(level=1, blocks=1)
# Half the size (KRBvKR: 5.7 MB for 11.7) for 70 times the time of compressing, and four times as
# much to decompress for a cold probe: still well under a millisecond.
COMPACT = Packing(level=22, blocks=4)

Values = NDArray[np.signedinteger[Any]]  # int8 or int16
Counts = dict[str, Any]


def table_name(material: Material, metric: str) -> str:
    return f"{material}.{metric}.arrow"


def rows_of(material: Material) -> int:
    return int(len(PAIRS) * 64 ** len(material.letters))


@dataclass(frozen=True, slots=True)
class Identity:
    """What a table is of, and what it rests on (names of smaller tables and their digests)."""

    material: Material
    metric: str
    smaller: Mapping[str, str]

    def json(self) -> str:
        identity = {
            "format": FORMAT,
            "index": INDEX,
            "material": str(self.material),
            "metric": self.metric,
            "smaller": dict(self.smaller),
        }
        return json.dumps(identity, sort_keys=True)


def block_digest(values: Values) -> str:
    return xxhash.xxh3_64_hexdigest(values.data)


def contents_digest(identity: str, counts: str, blocks: str) -> str:
    whole = blake2b(digest_size=16)
    for part in (identity, counts, blocks):
        whole.update(blake2b(part.encode(), digest_size=16).digest())
    return whole.hexdigest()


_UNREADABLE = (pa.ArrowException, OSError, MemoryError, ValueError, TypeError, KeyError)
"""What pyarrow, json and a look into either raise on bytes that are not those written."""


class _Footer(NamedTuple):
    """What the metadata of a table's footer says."""

    layout: int
    counts: str
    blocks: str
    digest: str
    pieces: str
    seal: str | None

    @classmethod
    def of(cls, metadata: Mapping[bytes, bytes]) -> "_Footer":
        said = {key.decode(): value.decode() for key, value in dict(metadata).items()}
        counts, blocks, digest = (said[f"kingpair.{key}"] for key in ("counts", "blocks", "digest"))
        layout, pieces = int(said.get("kingpair.layout", "1")), said.get("kingpair.pieces", "")
        return cls(layout, counts, blocks, digest, pieces, said.get("kingpair.seal"))


class Table:
    """A finished table, opened and checked: memory-mapped, its blocks decoded when asked for."""

    def __init__(self, path: Path, file: pa.NativeFile | None = None) -> None:
        """A `file` that pyarrow has opened elsewhere can be asked what the table says of itself."""
        self.path = path
        self._file: pa.NativeFile = file
        # For threads that share it: a reader of Arrow is not promised to bear two at once.
        self.lock = Lock()
        try:
            self._open()
        except (FileNotFoundError, DamagedTable, ForeignTable):
            raise
        except _UNREADABLE as error:
            raise DamagedTable(
                f"{path}: its footer cannot be read: no table, truncated or damaged; build it again"
            ) from error
        self._shared: dict[tuple[int, int], Values] = {}
        self._slots = 64 ** len(self.material.letters)

    def _open(self) -> None:
        # A table that is written anew is another file under the same name.
        self.inode = self.path.stat().st_ino if self._file is None else 0
        if self._file is None:
            self._file = pa.memory_map(str(self.path))
        self.bytes: int = self._file.size()
        self._readers = [self._reader(column) for column in range(len(COLUMNS))]
        schema, footer = self._readers[0].schema, _Footer.of(self._readers[0].metadata)
        if footer.seal is None and footer.layout == LAYOUT:
            raise self._damaged_footer()
        if footer.seal is not None and not end_in(self._file).has(footer.seal):
            raise self._damaged_footer()
        self._check_version("layout", footer.layout, LAYOUT)
        self._identity = schema.metadata[b"kingpair"].decode()
        stated = json.loads(self._identity)
        self._check_version("format", stated["format"], FORMAT)
        self._check_name(stated)
        self.material = Material.parse(stated["material"])
        self.metric: str = stated["metric"]
        self.smaller: dict[str, str] = stated["smaller"]
        self.counts: Counts = json.loads(footer.counts)
        self.digest = footer.digest
        self.dtype: np.dtype[Any] = np.dtype(schema.field(0).type.to_pandas_dtype())
        self.blocks = -(-rows_of(self.material) // BLOCK)
        self._together = -(-self.blocks // max(self._readers[0].num_record_batches, 1))
        self._last: list[tuple[int, Values] | None] = [None] * len(COLUMNS)
        self._footer = footer

    def _reader(self, column: int) -> pa.ipc.RecordBatchFileReader:
        options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=[column])
        return pa.ipc.open_file(self._file, options=options)

    def _check_version(self, what: str, stated: int, ours: int) -> None:
        if stated != ours:
            remedy = "update kingpair" if stated > ours else "build it again"
            raise ForeignTable(
                f"{self.path}: table {what} {stated}, this version reads {ours}; {remedy}"
            )

    def _check_name(self, stated: dict[str, Any]) -> None:
        name = f"{stated['material']}.{stated['metric']}.arrow"
        if name != self.path.name:
            raise ForeignTable(f"{self.path}: holds {name[:-6]}, not what its name says; rename it")

    def again(self) -> "Table":
        """The same file with readers of its own, for another thread; it is mapped once."""
        return Table(self.path, self._file)

    def check(self) -> None:
        """Raise DamagedTable unless every byte of the file is the one that was written."""
        footer = self._footer
        if contents_digest(self._identity, footer.counts, footer.blocks) != footer.digest:
            raise self._damaged_footer()
        try:
            damaged = first_damaged(self._file, footer.pieces)
        except _UNREADABLE as error:
            raise self._damaged_footer() from error
        if damaged == 0:
            raise DamagedTable(f"{self.path}: its beginning is damaged; build the table again")
        if damaged is not None:
            self._find_damage(damaged - 1)

    def _find_damage(self, batch: int) -> None:
        """Say which block of a damaged batch it is, if any."""
        first, last = batch * self._together, min((batch + 1) * self._together, self.blocks) - 1
        for block in range(first, last + 1):
            for column in range(len(COLUMNS)):
                self.block(block, column)
        raise DamagedTable(
            f"{self.path}: record batch {batch}, of blocks {first} to {last}, is damaged where no "
            "value shows it; build the table again"
        )

    def _damaged_footer(self) -> DamagedTable:
        return DamagedTable(f"{self.path}: its footer is damaged; build the table again")

    def block(self, block: int, column: int) -> Values:
        """The values of a block, checked against its digest."""
        batch, place = divmod(block, self._together)
        try:
            values = self._batch(batch, column)[place * BLOCK : (place + 1) * BLOCK]
            if self._together > 1:
                values = values.copy()  # whoever keeps it shall not keep the batch
        except _UNREADABLE as error:
            raise self._damaged(block, column) from error
        at = 16 * (2 * block + column)
        if block_digest(values) != self._footer.blocks[at : at + 16]:
            raise self._damaged(block, column)
        return values

    def _batch(self, batch: int, column: int) -> Values:
        """The values of a record batch; the last one is remembered if it has several blocks."""
        last = self._last[column]
        if last is not None and last[0] == batch:
            return last[1]
        array = self._readers[column].get_batch(batch).column(0)
        array.validate()
        values: Values = array.to_numpy()
        if self._together > 1:
            self._last[column] = batch, values
        return values

    def _damaged(self, block: int, column: int) -> DamagedTable:
        return DamagedTable(
            f"{self.path}: block {block} of column {COLUMNS[column]} is damaged; "
            "build the table again"
        )

    def values(self, pair: int, side: int) -> Values:
        """The values of a partition with `side` (0 stronger, 1 weaker) to move."""
        pieces = self.pieces(pair, side)
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def pieces(self, pair: int, side: int) -> list[Values]:
        """The same as it stands in blocks: a piece of each, all of one size."""
        first, last = pair * self._slots, (pair + 1) * self._slots
        if self._slots >= BLOCK:
            return [self.block(i, side) for i in range(first // BLOCK, last // BLOCK)]
        start = first // BLOCK * BLOCK
        return [self._kept(first // BLOCK, side)[first - start : last - start]]

    def _kept(self, block: int, side: int) -> Values:
        """A block that many partitions share, remembered."""
        if (block, side) not in self._shared:
            self._shared[block, side] = self.block(block, side)
        return self._shared[block, side]

    def close(self) -> None:
        self._readers.clear()
        self._file.close()
