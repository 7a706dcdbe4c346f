"""The pass log: a file with the positions that each pass of an analysis found.

It serves as Thompson's RES vector, as the checkpoint and as the live histogram.  A log belongs to
one analysis (a material, a metric, a winner) and to the worker that began it.  Records are
appended and never changed:

    record  = "kpl3" | kind u8 | won u8 | depth u16 | chunk u32 | size u64 | check u64 | sound u64
            | payload
    kind 0  = identity     payload: JSON with the material, metric and winner; the first record
    kind 1  = layer chunk  payload: count u64 | end u64 per partition | their streams (streams.hpp);
                             with the depth 65535 the stalemates of a level with pawns
    kind 2  = commit       payload: JSON {"won": n, "lost": n, "over": bool, "seconds": s} of the
                             pass `depth`

`check` is the xxh3 of the payload, `sound` that of all fields before it.  All integers are
little-endian.  A pass is committed once its commit record and all records before it are on disk
and synced.  Readers ignore records after the last whole commit.

Opening a log reads the heads of its records and the payloads of identity and commits.  That takes
milliseconds for thousands of records.  The thread that reads a layer chunk verifies its checksum,
so all threads share the work of checking a large log.  A chunk that fails its check raises
DamagedLog with the depth of the last pass before it.

The module `writer` appends to logs.
"""

import json
import os
import struct
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import xxhash
from numpy.typing import NDArray

from kingpair.workers.errors import DamagedLog
from kingpair.workers.number_types import Depth, Side
from kingpair.workers.store.segments import LogBytes, LogInFile, Range

_FIELDS = struct.Struct("<4sBBHIQQ")
_SOUND = struct.Struct("<Q")
_HEAD = struct.Struct(f"{_FIELDS.format}Q")
_MAGIC = b"kpl3"
IDENTITY, LAYER, COMMIT = 0, 1, 2
STALEMATES = Depth(0xFFFF)

LayerStream = NDArray[np.uint8]
Buffer = bytes | memoryview
Slices = TypeVar("Slices", LayerStream, memoryview)


class PassResult(NamedTuple):
    """The counts of a committed pass: distinct positions won and lost at its depth, and whether
    the pass was the last.
    """

    depth: Depth
    won: int
    lost: int
    over: bool


class LayerChunk(NamedTuple):
    """Names one chunk of one layer: the positions won (or lost) at `depth`, in the chunk of
    partitions whose first is `chunk`.
    """

    depth: Depth
    won: bool
    chunk: int

    def at(self, chunk: Sequence[int] | NDArray[np.int16]) -> "LayerChunk":
        return LayerChunk(self.depth, self.won, int(chunk[0]))


class PackedStreams(NamedTuple):
    """Streams in one buffer, and where each of them ends."""

    streams: LayerStream
    ends: NDArray[np.uint64]


class PayloadAddress(NamedTuple):
    """The place of a payload in the file, and its checksum."""

    offset: int
    size: int
    check: int


class LogFile:
    """A log open for reading: its identity, its committed passes and the chunks of their layers."""

    def __init__(self, path: Path, data: LogBytes | None = None) -> None:
        self._start(path, data or LogInFile(os.open(path, os.O_RDONLY)))
        try:
            self.identity = self._scan()
        except BaseException:
            self._data.close()
            raise

    def _start(self, path: Path, data: LogBytes) -> None:
        self.path, self._data = path, data
        self.identity = b""
        self.passes: list[PassResult] = []
        self.seconds: dict[int, float] = {}  # by depth
        self._places: dict[int, dict[LayerChunk, PayloadAddress]] = {}  # by chunk

    def _scan(self) -> bytes:
        """Reads the records up to the last sound commit.  Returns the identity."""
        identity = b""
        parts: list[tuple[LayerChunk, PayloadAddress]] = []
        for kind, found, place, payload in _records(self._data):
            if kind == LAYER:
                parts.append((found, place))
            elif kind == COMMIT:
                counts = json.loads(payload)
                self.seconds[found.depth] = counts.pop("seconds")
                self.passes.append(PassResult(found.depth, **counts))
                for part in parts:
                    self._has(*part)
                parts.clear()
            elif place.offset == _HEAD.size:
                identity = payload
        return identity

    def _has(self, found: LayerChunk, place: PayloadAddress) -> None:
        self._places.setdefault(found.chunk, {})[found] = place

    @property
    def depth(self) -> Depth:
        """The depth of the last committed pass, -1 before the first."""
        return self.passes[-1].depth if self.passes else Depth(-1)

    def sound_passes(self) -> list[PassResult]:
        """The committed passes before the first damaged chunk.  Reads all of the log."""
        damaged = [
            found.depth
            for parts in self._places.values()
            for found, place in parts.items()
            if self._payload(place) is None
        ]
        end = min(damaged, default=self.depth + 1)
        return [done for done in self.passes if done.depth < end]

    def close(self) -> None:
        self._data.close()

    def bring(self, chunks: Iterable[int], first: int, last: int) -> None:
        """Prepares for reading the layers of some chunks that were found in the passes from `first`
        to `last`.
        """
        self._data.bring(
            (place.offset, place.offset + place.size)
            for chunk in chunks
            for found, place in self._places.get(chunk, {}).items()
            if first <= (0 if found.depth == STALEMATES else found.depth) <= last
        )

    def layer_chunks(self, first: int) -> list[LayerChunk]:
        """The layer chunks that begin with the partition `first`, in the order of the passes."""
        return sorted(self._places.get(first, ()))

    def read_layers(
        self, chunk: Sequence[int] | NDArray[np.int16]
    ) -> Iterator[tuple[LayerChunk, list[LayerStream]]]:
        """Yields each pass's layer chunk of some partitions with one stream for each partition."""
        for found in self.layer_chunks(int(chunk[0])):
            yield found, self.read_chunk(found)

    def read_chunk(self, found: LayerChunk) -> list[LayerStream]:
        """The streams of a layer chunk, an empty list if the chunk is empty.

        Raises DamagedLog if the checksum fails.
        """
        streams, ends = self.read_packed(found)
        return list(split(streams, ends.tolist()))

    def read_packed(self, found: LayerChunk) -> PackedStreams:
        """The streams of a layer chunk as they were packed.

        The chunk is read, not mapped: the mapped log of six men would fill the memory.  Raises
        DamagedLog if the checksum fails.
        """
        place = self._places.get(found.chunk, {}).get(found)
        if place is None:
            return PackedStreams(np.empty(0, np.uint8), np.empty(0, np.uint64))
        payload = self._payload(place)
        if payload is None:
            raise DamagedLog(self.path, self._winner(), Depth(found.depth - 1))
        count = int.from_bytes(payload[:8], "little")
        ends = np.frombuffer(payload, np.dtype("<u8"), count, 8)
        return PackedStreams(np.frombuffer(payload, np.uint8, offset=8 + 8 * count), ends)

    def _payload(self, place: PayloadAddress) -> bytes | None:
        """A payload whose checksum holds, of the log or of a copy; None if there is none."""
        at = place.size, place.offset
        for payload in chain([self._data.read(*at)], self._data.copies(*at)):
            if xxhash.xxh3_64_intdigest(payload) == place.check:
                return payload
        return None

    def _winner(self) -> Side:
        winner: Side = json.loads(self.identity)["winner"]
        return winner


def record_head(kind: int, found: LayerChunk, size: int, check: int) -> bytes:
    """Returns the fields that come before a payload of `size` bytes and that checksum."""
    fields = _FIELDS.pack(_MAGIC, kind, found.won, found.depth, found.chunk, size, check)
    return fields + _SOUND.pack(xxhash.xxh3_64_intdigest(fields))


def split(streams: Slices, ends: Sequence[int]) -> Iterator[Slices]:
    """Yields the streams of a buffer, given the end of each."""
    for start, end in pairwise((0, *ends)):
        yield streams[start:end]


def joined(streams: Collection[Buffer]) -> tuple[bytes, list[int]]:
    """Returns the streams in one buffer, and the end of each."""
    return b"".join(streams), list(accumulate(map(len, streams)))


def indexed(file: LogBytes) -> tuple[int, list[Range]]:
    """Returns the end of the last sound commit, and the ranges before it of all heads and of all
    payloads but those of layers.
    """
    end, ranges, some = 0, list[Range](), list[Range]()
    for kind, _, place, payload in _records(file):
        some.append((place.offset - _HEAD.size, place.offset))
        if kind != LAYER:
            some.append((place.offset, place.offset + len(payload)))
        if kind == COMMIT:
            end = place.offset + place.size
            ranges += some
            some.clear()
    return end, ranges


def _records(file: LogBytes) -> Iterator[tuple[int, LayerChunk, PayloadAddress, bytes]]:
    """Yields the records from the beginning up to the first that is not sound: its kind, its
    layer chunk, the address of its payload, and the payload unless it is a layer's.
    """
    at, size = 0, file.size
    while len(data := file.read(_HEAD.size, at)) >= _HEAD.size:
        magic, kind, won, depth, chunk, length, check, sound = _HEAD.unpack_from(data)
        at += _HEAD.size
        is_sound = xxhash.xxh3_64_intdigest(data[: _FIELDS.size]) == sound
        if magic != _MAGIC or not is_sound or length > size - at:
            return
        payload = b""
        if kind != LAYER:
            payload = file.read(length, at)
            if xxhash.xxh3_64_intdigest(payload) != check:
                return
        yield kind, LayerChunk(depth, bool(won), chunk), PayloadAddress(at, length, check), payload
        at += length
