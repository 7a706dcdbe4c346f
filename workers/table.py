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

    kingpair.counts     JSON: distinct positions by side to move, result and moves; the longest
    kingpair.blocks     xxh3-64 of the values of each block, 16 hex digits: white, black, ...
    kingpair.digest     blake2b-128 of the blake2b-128 of identity, of counts and of blocks

so that a damaged block is found when it is read, and a damaged footer when the file is opened.

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

The same with nothing but pyarrow, where the tables are:

    >>> import pyarrow as pa
    >>> pa.ipc.open_file("KQvKR.dtc.arrow").read_all()["white"][61720].as_py()
    31
"""

import json
import os
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, NamedTuple

import flatbuffers
import numpy as np
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

from workers.errors import CannotBuild, DamagedTable, ForeignTable
from workers.geometry import PAIRS
from workers.material import Material
from workers.store import sync_directory

FORMAT = 1
INDEX = "462 king pairs x 64^m"
BLOCK = 65536
COLUMNS = ("white", "black")
SYNC_EVERY = 128 << 20


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


# ---- writing ----


class Part(NamedTuple):
    """Consecutive blocks as they stand in the file: encapsulated messages, their sizes, the
    digests of their values.
    """

    data: list[pa.Buffer]
    sizes: list[tuple[int, int]]  # metadata, body
    digests: list[str]

    def extend(self, other: "Part") -> None:
        self.data.extend(other.data)
        self.sizes.extend(other.sizes)
        self.digests.extend(other.digests)


def schema_of(identity: Identity, dtype: np.dtype[Any]) -> pa.Schema:
    kind = pa.from_numpy_dtype(dtype)
    fields = [pa.field(name, kind, nullable=False) for name in COLUMNS]
    return pa.schema(fields, metadata={"kingpair": identity.json()})


def encode(schema: pa.Schema, white: Values, black: Values, packing: Packing) -> Part:
    """Compress consecutive rows, whole batches but for the end of the table."""
    options = pa.ipc.IpcWriteOptions(
        compression=pa.Codec("zstd", compression_level=packing.level), use_threads=False
    )
    rows = packing.blocks * BLOCK
    sink = pa.BufferOutputStream()
    ends: list[int] = []
    digests: list[str] = []
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        for at in range(0, len(white), rows):
            columns = [column[at : at + rows] for column in (white, black)]
            writer.write_batch(pa.record_batch([pa.array(c) for c in columns], schema=schema))
            ends.append(sink.tell())
            for block in range(0, len(columns[0]), BLOCK):
                digests += [_block_digest(c[block : block + BLOCK]) for c in columns]
    data = sink.getvalue()
    start = _message_size(data, 0)
    sizes = []
    for begin, end in zip([start, *ends[:-1]], ends, strict=True):
        metadata = _message_size(data, begin)
        sizes.append((metadata, end - begin - metadata))
    return Part([data.slice(start, ends[-1] - start)], sizes, digests)


def _block_digest(values: Values) -> str:
    return xxhash.xxh3_64_hexdigest(values.data)


def _message_size(data: pa.Buffer, at: int) -> int:
    """The length of a message's metadata with its prefix: ff ff ff ff | length u32 | metadata."""
    marker, length = struct.unpack("<II", data[at : at + 8])
    assert marker == 0xFFFFFFFF, "no Arrow message where one was written"
    return int(8 + length)


def publish(
    path: Path, identity: Identity, dtype: np.dtype[Any], parts: Iterable[Part], counts: Counts
) -> None:
    """Write a table under a temporary name, sync it, and give it its name: all of it or nothing.

    `counts` may be completed while `parts` is consumed; it is read after the last of them.
    """
    partial, schema = partial_of(path), schema_of(identity, dtype)
    try:
        with open(partial, "wb") as file:
            file.write(head_of(schema))
            blocks = write_blocks(file, parts)
            file.write(end_of(schema, identity, blocks, counts))
            sync(file)
        os.replace(partial, path)
        sync_directory(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        partial.unlink(missing_ok=True)


def cannot_write(path: Path | str, error: OSError) -> CannotBuild:
    return CannotBuild(
        f"cannot write {path}: {error.strerror or error}; make room or choose another --out, "
        "then run the same command again"
    )


def partial_of(path: Path) -> Path:
    """The temporary name of a table that is being written."""
    return path.with_name(path.name + ".partial")


def sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


_MAGIC = b"ARROW1"
_END = struct.pack("<II", 0xFFFFFFFF, 0)


class Blocks(NamedTuple):
    """Consecutive blocks that are written: their sizes (metadata, body), and the digests of their
    values.
    """

    sizes: list[tuple[int, int]]
    digests: list[str]

    def extend(self, other: "Blocks") -> None:
        self.sizes.extend(other.sizes)
        self.digests.extend(other.digests)


def head_of(schema: pa.Schema) -> bytes:
    """What stands before the first block."""
    described: bytes = schema.serialize().to_pybytes()
    return _MAGIC + b"\0\0" + described


def write_blocks(file: BinaryIO, parts: Iterable[Part]) -> Blocks:
    written = Blocks([], [])
    size = synced = 0
    for part in parts:
        for data in part.data:
            file.write(data)
        if size - synced > SYNC_EVERY:
            # The disk works while the next parts are made, not after the last of them.
            file.flush()
            os.fdatasync(file.fileno())
            synced = size
        size += sum(map(sum, part.sizes))
        written.extend(Blocks(part.sizes, part.digests))
    return written


def end_of(schema: pa.Schema, identity: Identity, blocks: Blocks, counts: Counts) -> bytes:
    """What stands behind the last block."""
    places: list[tuple[int, int, int]] = []
    at = len(head_of(schema))
    for metadata, body in blocks.sizes:
        places.append((at, metadata, body))
        at += metadata + body
    counted, digests = json.dumps(counts, sort_keys=True), "".join(blocks.digests)
    metadata_of_footer = {
        "kingpair.counts": counted,
        "kingpair.blocks": digests,
        "kingpair.digest": _digest(identity.json(), counted, digests),
    }
    footer = _footer(schema, places, metadata_of_footer)
    return _END + footer + struct.pack("<I", len(footer)) + _MAGIC


def _digest(identity: str, counts: str, blocks: str) -> str:
    whole = blake2b(digest_size=16)
    for part in (identity, counts, blocks):
        whole.update(blake2b(part.encode(), digest_size=16).digest())
    return whole.hexdigest()


# ---- the footer: the one piece of the format that pyarrow writes only for batches it has
# compressed itself ---------------


def _footer(
    schema: pa.Schema, places: list[tuple[int, int, int]], metadata: Mapping[str, str]
) -> bytes:
    """Arrow's Footer (File.fbs): version 5, the schema, the place of each batch, our metadata."""
    b = flatbuffers.Builder(1024 + 24 * len(places) + sum(map(len, metadata.values())))
    custom = _key_values(b, metadata)
    b.StartVector(24, len(places), 8)
    for offset, head, body in reversed(places):
        b.Prep(8, 24)
        b.PrependInt64(body)
        b.Pad(4)
        b.PrependInt32(head)
        b.PrependInt64(offset)
    batches = b.EndVector()
    b.StartVector(24, 0, 8)
    dictionaries = b.EndVector()
    described = _schema(b, schema)
    b.StartObject(5)
    b.PrependInt16Slot(0, 4, 0)
    b.PrependUOffsetTRelativeSlot(1, described, 0)
    b.PrependUOffsetTRelativeSlot(2, dictionaries, 0)
    b.PrependUOffsetTRelativeSlot(3, batches, 0)
    b.PrependUOffsetTRelativeSlot(4, custom, 0)
    b.Finish(b.EndObject())
    return bytes(b.Output())


def _schema(b: flatbuffers.Builder, schema: pa.Schema) -> int:
    fields = _offsets(b, [_field(b, field) for field in schema])
    metadata = _key_values(b, {k.decode(): v.decode() for k, v in schema.metadata.items()})
    b.StartObject(4)
    b.PrependInt16Slot(0, 0, 0)
    b.PrependUOffsetTRelativeSlot(1, fields, 0)
    b.PrependUOffsetTRelativeSlot(2, metadata, 0)
    return int(b.EndObject())


def _field(b: flatbuffers.Builder, field: pa.Field) -> int:
    name, children = b.CreateString(field.name), _offsets(b, [])
    b.StartObject(2)
    b.PrependInt32Slot(0, field.type.bit_width, 0)
    b.PrependBoolSlot(1, True, False)
    integer = b.EndObject()
    b.StartObject(7)
    b.PrependUOffsetTRelativeSlot(0, name, 0)
    b.PrependBoolSlot(1, field.nullable, False)
    b.PrependUint8Slot(2, 2, 0)  # Int
    b.PrependUOffsetTRelativeSlot(3, integer, 0)
    b.PrependUOffsetTRelativeSlot(5, children, 0)
    return int(b.EndObject())


def _key_values(b: flatbuffers.Builder, pairs: Mapping[str, str]) -> int:
    made = []
    for key, value in pairs.items():
        written = b.CreateString(key), b.CreateString(value)
        b.StartObject(2)
        b.PrependUOffsetTRelativeSlot(0, written[0], 0)
        b.PrependUOffsetTRelativeSlot(1, written[1], 0)
        made.append(b.EndObject())
    return _offsets(b, made)


def _offsets(b: flatbuffers.Builder, offsets: list[int]) -> int:
    b.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        b.PrependUOffsetTRelative(offset)
    return int(b.EndVector())


# ---- reading ----


_UNREADABLE = (pa.ArrowException, OSError, MemoryError, ValueError, TypeError, KeyError)
"""What pyarrow, json and a look into either raise on bytes that are not those written."""


class Table:
    """A finished table, opened and checked: memory-mapped, its blocks decoded when asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # For threads that share it: a reader of Arrow is not promised to bear two at once.
        self.lock = Lock()
        try:
            self._open()
        except (FileNotFoundError, DamagedTable, ForeignTable):
            raise
        except _UNREADABLE as error:
            raise DamagedTable(f"{path}: no table, truncated or damaged; build it again") from error
        self._shared: dict[tuple[int, int], Values] = {}
        self._slots = 64 ** len(self.material.letters)

    def _open(self) -> None:
        self._file = pa.memory_map(str(self.path))
        # A table that is written anew is another file under the same name.
        self.inode = self.path.stat().st_ino
        self._readers = [self._reader(column) for column in range(len(COLUMNS))]
        identity = self._readers[0].schema.metadata[b"kingpair"].decode()
        metadata = self._readers[0].metadata
        counts, blocks, digest = (
            metadata[f"kingpair.{key}".encode()].decode() for key in ("counts", "blocks", "digest")
        )
        stated = json.loads(identity)
        self._check_format(stated)
        if _digest(identity, counts, blocks) != digest:
            raise DamagedTable(f"{self.path}: its footer does not match its digest; build it again")
        self._check_name(stated)
        self.material = Material.parse(stated["material"])
        self.metric: str = stated["metric"]
        self.smaller: dict[str, str] = stated["smaller"]
        self.counts: Counts = json.loads(counts)
        self.digest: str = digest
        self.dtype = self._checked_dtype()
        self.blocks = -(-rows_of(self.material) // BLOCK)
        batches: int = self._readers[0].num_record_batches
        self._together = -(-self.blocks // max(batches, 1))
        self._last: list[tuple[int, Values] | None] = [None] * len(COLUMNS)
        self._digests = blocks
        if batches != -(-self.blocks // self._together) or len(blocks) != 32 * self.blocks:
            raise DamagedTable(
                f"{self.path}: {batches} batches, not as many as {self.material} has"
            )

    def _reader(self, column: int) -> pa.ipc.RecordBatchFileReader:
        options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=[column])
        return pa.ipc.open_file(self._file, options=options)

    def _check_format(self, stated: dict[str, Any]) -> None:
        if stated["format"] != FORMAT:
            raise ForeignTable(
                f"{self.path}: table format {stated['format']}, this version reads {FORMAT}; "
                "update kingpair or build the table again"
            )

    def _checked_dtype(self) -> np.dtype[Any]:
        """Arrow's schema is under no digest: nothing in it may be other than it was written."""
        kind = self._readers[0].schema.field(0).type
        written = [pa.field(name, kind, nullable=False) for name in COLUMNS]
        read = [field for reader in self._readers for field in reader.schema]
        if kind not in (pa.int8(), pa.int16()) or read != written:
            raise DamagedTable(f"{self.path}: its columns are not those of a table; build it again")
        return np.dtype(np.int8) if kind == pa.int8() else np.dtype(np.int16)

    def _check_name(self, stated: dict[str, Any]) -> None:
        name = f"{stated['material']}.{stated['metric']}.arrow"
        if name != self.path.name:
            raise ForeignTable(f"{self.path}: holds {name[:-6]}, not what its name says; rename it")

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
        if _block_digest(values) != self._digests[at : at + 16]:
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
        first, last = pair * self._slots, (pair + 1) * self._slots
        blocks = [self._kept(i, side) for i in range(first // BLOCK, -(-last // BLOCK))]
        start = first // BLOCK * BLOCK
        values = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        return values[first - start : last - start]

    def _kept(self, block: int, side: int) -> Values:
        """A block, remembered if many partitions share it."""
        if self._slots >= BLOCK:
            return self.block(block, side)
        if (block, side) not in self._shared:
            self._shared[block, side] = self.block(block, side)
        return self._shared[block, side]

    @property
    def bytes(self) -> int:
        return self.path.stat().st_size

    def close(self) -> None:
        self._readers.clear()
        self._file.close()
