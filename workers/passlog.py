"""The pass log: what each pass found, on disk.  Thompson's RES vector, the checkpoint and the
live histogram in one.

A log belongs to one analysis (a material, a metric, a winner).  It is a file of records, appended
and never changed:

    record  = "kpl2" | kind u8 | won u8 | depth u16 | chunk u32 | size u64 | check u64 | payload
    kind 0  = identity     payload: JSON that must agree for the log to be gone on from
    kind 1  = layer        payload: count u64 | end u64 per partition | their streams (streams.hpp)
    kind 2  = commit       payload: JSON {"won": n, "lost": n, "over": bool} of the pass `depth`,
                             and "seconds", what it took

`check` is the xxh3 of the record's other fields and payload.  All integers are little-endian.  A
pass is committed once its commit record is on disk and synced; whatever follows the last whole
commit is cut off when the log is opened again.

Packing runs in the threads that found the layer; one thread writes and syncs behind them, and
syncs as many passes at once as have come in meanwhile.  So the cost is a byte or so a position, and
no pass waits for the disk.  Compressing would save a quarter of the bytes and cost more time than
writing them (KRBvKBN: 4.4 GB as they are, 3.3 GB at zstd level 1 for a seventh of the solving).
"""

import json
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from queue import Queue
from threading import Lock, Thread
from typing import NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from workers.errors import CannotBuild

_HEAD = struct.Struct("<4sBBHIQ")
_CHECK = struct.Struct("<Q")
_MAGIC = b"kpl2"
_IDENTITY, _LAYER, _COMMIT = 0, 1, 2
_WAITING_MAX = 16  # records waiting to be written: what bounds the memory of a slow disk

Stream = NDArray[np.uint8]


class Pass(NamedTuple):
    """A committed pass: how many distinct positions it found won and lost at its depth, and whether
    it was the last.
    """

    depth: int
    won: int
    lost: int
    over: bool


class Found(NamedTuple):
    """Which part of which layer: positions won (or lost) at `depth`, in the chunk that begins
    with `chunk`.
    """

    depth: int
    won: bool
    chunk: int


class _Place(NamedTuple):
    offset: int
    size: int


class LogFile:
    """A log to read: its identity, what was committed, where it lies."""

    def __init__(self, path: Path) -> None:
        self._open(path, os.open(path, os.O_RDONLY))

    def _open(self, path: Path, fd: int) -> None:
        self.path, self._fd = path, fd
        self.passes: list[Pass] = []
        self.seconds: dict[int, float] = {}  # by depth
        self._places: dict[Found, _Place] = {}
        try:
            self.identity, self._end = self._scan()
        except BaseException:
            os.close(fd)
            raise

    def _scan(self) -> tuple[bytes, int]:
        """Read up to the last commit that is sound; the identity, and where that ends."""
        identity, end = b"", 0
        places: dict[Found, _Place] = {}
        for kind, found, offset, payload in _records(self._fd):
            after = offset + len(payload)
            if kind == _IDENTITY:
                if offset != _HEAD.size + _CHECK.size:
                    break
                identity, end = payload, after
            elif kind == _LAYER:
                places[found] = _Place(offset, len(payload))
            else:
                counts = json.loads(payload)
                self.seconds[found.depth] = counts.pop("seconds")
                self.passes.append(Pass(found.depth, **counts))
                self._places |= places
                places, end = {}, after
        return identity, end

    @property
    def depth(self) -> int:
        """The depth of the last committed pass, -1 before the first."""
        return self.passes[-1].depth if self.passes else -1

    def close(self) -> None:
        os.close(self._fd)

    def founds(self, first: int) -> list[Found]:
        """What was found in the chunk that begins with a partition, in the order of the passes."""
        return sorted(found for found in self._places if found.chunk == first)

    def streams(
        self, chunk: Sequence[int] | NDArray[np.int16]
    ) -> Iterator[tuple[Found, list[Stream]]]:
        """What each pass found in a chunk of partitions: a stream for each of them."""
        for found in self.founds(int(chunk[0])):
            yield found, self.layer(found)

    def layer(self, found: Found, wanted: Sequence[int] | None = None) -> list[Stream]:
        """The streams of one part of a layer, or those at some places in it; none if it is
        empty.  Read, not mapped: a log of six men would fill the memory.
        """
        if found not in self._places:
            return []
        offset, size = self._places[found]
        if wanted is None:
            return self._split(os.pread(self._fd, size, offset))
        (count,) = struct.unpack("<Q", os.pread(self._fd, 8, offset))
        ends = (0, *struct.unpack(f"<{count}Q", os.pread(self._fd, 8 * count, offset + 8)))
        start = offset + 8 + 8 * count
        return [
            np.frombuffer(os.pread(self._fd, ends[i + 1] - ends[i], start + ends[i]), np.uint8)
            for i in wanted
        ]

    @staticmethod
    def _split(data: bytes) -> list[Stream]:
        payload = np.frombuffer(data, np.uint8)
        count = int(payload[:8].copy().view(np.uint64)[0])
        ends = payload[8 : 8 + 8 * count].copy().view(np.uint64).astype(int)
        streams = payload[8 + 8 * count :]
        return [streams[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]


Extend = Callable[[int], None]  # makes what was appended to a file outlast a power cut


class PassLog(LogFile):
    """A log open for appending; `passes` are the committed ones, also those found when it was
    opened.
    """

    def __init__(self, path: Path, identity: dict[str, object], extend: Extend = os.fsync) -> None:
        self._extend = extend
        self._open(path, os.open(path, os.O_RDWR | os.O_CREAT, 0o644))
        try:
            self._begin(json.dumps(identity, sort_keys=True).encode())
        except BaseException:
            os.close(self._fd)
            raise
        self._lock = Lock()
        self._failure: OSError | None = None
        self._unsynced: list[Future[None]] = []
        self._waiting: Queue[_Entry | None] = Queue(_WAITING_MAX)
        self._writer = Thread(target=self._write, name="pass log", daemon=True)
        self._writer.start()

    def _begin(self, identity: bytes) -> None:
        """Take up what an earlier run committed and cut off the rest; begin anew if it was another
        build's.
        """
        if identity != self.identity:
            self.passes, self.seconds, self._places, self._end = [], {}, {}, 0
        os.ftruncate(self._fd, self._end)
        os.lseek(self._fd, self._end, os.SEEK_SET)
        if self._end == 0:
            record = _record(_IDENTITY, Found(0, False, 0), identity)
            for part in record:
                _write_all(self._fd, part)
            self.identity, self._end = identity, sum(map(len, record))

    def append(self, found: Found, packed: tuple[bytes, list[int]]) -> None:
        """Add a part of a layer: its streams in one buffer, and where each ends."""
        streams, ends = packed
        self._put(_LAYER, found, struct.pack(f"<{1 + len(ends)}Q", len(ends), *ends), streams)

    def commit(self, done: Pass, seconds: float = 0.0) -> "Future[None]":
        """All parts of the pass have been appended: it counts once this record is on disk, and
        then what is returned is done.
        """
        counts = {"won": done.won, "lost": done.lost, "over": done.over, "seconds": seconds}
        durable: Future[None] = Future()
        self._put(_COMMIT, Found(done.depth, False, 0), json.dumps(counts).encode(), then=durable)
        self.passes.append(done)
        self.seconds[done.depth] = seconds
        return durable

    def flush(self) -> None:
        """Wait until everything is on disk."""
        self._waiting.join()
        self._raise_failure()

    def close(self) -> None:
        self._waiting.put(None)
        self._writer.join()
        os.close(self._fd)

    def _put(
        self, kind: int, found: Found, *payload: bytes, then: "Future[None] | None" = None
    ) -> None:
        self._raise_failure()
        record = _record(kind, found, *payload)
        size = sum(map(len, payload))
        with self._lock:
            self._end += sum(map(len, record))
            if kind == _LAYER:
                self._places[found] = _Place(self._end - size, size)
            self._waiting.put(_Entry(record, then))

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._refusal(self._failure) from self._failure

    def _refusal(self, failure: OSError) -> CannotBuild:
        return CannotBuild(
            f"cannot write the pass log {self.path}: {failure.strerror or failure}; "
            "what was committed is kept, run the same command again"
        )

    def _write(self) -> None:
        while (entry := self._waiting.get()) is not None:
            try:
                self._write_one(entry)
            finally:
                self._waiting.task_done()

    def _write_one(self, entry: "_Entry") -> None:
        if entry.then is not None:
            self._unsynced.append(entry.then)
        settled = bool(self._unsynced) and self._waiting.empty()
        try:
            if self._failure is None:
                for part in entry.record:
                    _write_all(self._fd, part)
                if settled:
                    self._extend(self._fd)
        except OSError as failure:
            self._failure = failure
        if self._failure is not None or settled:
            self._tell()

    def _tell(self) -> None:
        waiting, self._unsynced = self._unsynced, []
        for durable in waiting:
            if self._failure is None:
                durable.set_result(None)
            else:
                durable.set_exception(self._refusal(self._failure))


class _Entry(NamedTuple):
    """A record on its way to the disk, and who wants to know when it is there."""

    record: list[bytes]
    then: "Future[None] | None"


def _record(kind: int, found: Found, *payload: bytes) -> list[bytes]:
    size = sum(map(len, payload))
    head = _HEAD.pack(_MAGIC, kind, found.won, found.depth, found.chunk, size)
    return [head, _CHECK.pack(_check(head, *payload)), *payload]


def _check(*parts: bytes) -> int:
    check = xxhash.xxh3_64()
    for part in parts:
        check.update(part)
    return check.intdigest()


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _records(fd: int) -> Iterator[tuple[int, Found, int, bytes]]:
    """Kind, place, offset of the payload and payload of the sound records from the beginning."""
    at, size = 0, os.fstat(fd).st_size
    while at + _HEAD.size + _CHECK.size <= size:
        head = os.pread(fd, _HEAD.size, at)
        (check,) = _CHECK.unpack(os.pread(fd, _CHECK.size, at + _HEAD.size))
        magic, kind, won, depth, chunk, length = _HEAD.unpack(head)
        at += _HEAD.size + _CHECK.size
        if magic != _MAGIC or length > size - at:
            return
        payload = os.pread(fd, length, at)
        if _check(head, payload) != check:
            return
        yield kind, Found(depth, bool(won), chunk), at, payload
        at += length
