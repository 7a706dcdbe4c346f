"""The pass log: what each pass found, on disk.  Thompson's RES vector, the checkpoint and the
live histogram in one.

A log belongs to one analysis (a material, a metric, a winner) and to one worker that began it.  It
is a file of records, appended and never changed:

    record  = "kpl3" | kind u8 | won u8 | depth u16 | chunk u32 | size u64 | check u64 | sound u64
            | payload
    kind 0  = identity     payload: JSON that says whose log it is; the first record
    kind 1  = layer        payload: count u64 | end u64 per partition | their streams (streams.hpp)
    kind 2  = commit       payload: JSON {"won": n, "lost": n, "over": bool} of the pass `depth`,
                             and "seconds", what it took

`check` is the xxh3 of the payload, `sound` that of all fields before it.  All integers are
little-endian.  A pass is committed once its commit record is on disk and synced, and all that
lies before; whatever follows the last whole commit counts for nothing.

To open a log is to read its headers, and the payloads of identity and commits: milliseconds for
thousands of records.  A layer's payload is checked when it is read, by the thread that reads it,
so that a large log is checked by all of them.  One that does not read back is a DamagedLog, which
names the last pass before it.

The thread that packed a part writes it: it takes the next place in the file, and several write at
once.  One thread makes commits durable behind the computation, as many at once as have come in
meanwhile, each as soon as all before it is written.  So the cost is a byte or so a position, and no
pass waits for the disk.  Compressing would save a quarter of the bytes and cost more time than
writing them (KRBvKBN: 4.4 GB as they are, 3.3 GB at zstd level 1 for a seventh of the solving).
"""

import json
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Condition, Thread
from typing import NamedTuple, TypeVar

import numpy as np
import xxhash
from numpy.typing import NDArray

from workers.errors import CannotBuild, DamagedLog

_FIELDS = struct.Struct("<4sBBHIQQ")
_SOUND = struct.Struct("<Q")
_HEAD = struct.Struct(f"{_FIELDS.format}Q")
_MAGIC = b"kpl3"
_IDENTITY, _LAYER, _COMMIT = 0, 1, 2

Stream = NDArray[np.uint8]
Buffer = bytes | memoryview
Slices = TypeVar("Slices", Stream, memoryview)


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

    def at(self, chunk: Sequence[int] | NDArray[np.int16]) -> "Found":
        return Found(self.depth, self.won, int(chunk[0]))


class _Place(NamedTuple):
    """Where a payload lies, and its checksum."""

    offset: int
    size: int
    check: int


class LogFile:
    """A log to read: its identity, what was committed, where it lies."""

    def __init__(self, path: Path) -> None:
        self._start(path, os.open(path, os.O_RDONLY))
        try:
            self.identity = self._scan()
        except BaseException:
            os.close(self._fd)
            raise

    def _start(self, path: Path, fd: int) -> None:
        self.path, self._fd = path, fd
        self.identity = b""
        self.passes: list[Pass] = []
        self.seconds: dict[int, float] = {}  # by depth
        self._places: dict[int, dict[Found, _Place]] = {}  # by chunk

    def _scan(self) -> bytes:
        """Read up to the last commit that is sound; the identity."""
        identity = b""
        parts: list[tuple[Found, _Place]] = []
        for kind, found, place, payload in _records(self._fd):
            if kind == _LAYER:
                parts.append((found, place))
            elif kind == _COMMIT:
                counts = json.loads(payload)
                self.seconds[found.depth] = counts.pop("seconds")
                self.passes.append(Pass(found.depth, **counts))
                for part in parts:
                    self._has(*part)
                parts.clear()
            elif place.offset == _HEAD.size:
                identity = payload
        return identity

    def _has(self, found: Found, place: _Place) -> None:
        self._places.setdefault(found.chunk, {})[found] = place

    @property
    def depth(self) -> int:
        """The depth of the last committed pass, -1 before the first."""
        return self.passes[-1].depth if self.passes else -1

    def sound(self) -> list[Pass]:
        """The committed passes of which everything reads back.  Reads all of the log."""
        damaged = [
            found.depth
            for parts in self._places.values()
            for found, place in parts.items()
            if self._payload(place) is None
        ]
        end = min(damaged, default=self.depth + 1)
        return [done for done in self.passes if done.depth < end]

    def close(self) -> None:
        os.close(self._fd)

    def founds(self, first: int) -> list[Found]:
        """What was found in the chunk that begins with a partition, in the order of the passes."""
        return sorted(self._places.get(first, ()))

    def streams(
        self, chunk: Sequence[int] | NDArray[np.int16]
    ) -> Iterator[tuple[Found, list[Stream]]]:
        """What each pass found in a chunk of partitions: a stream for each of them."""
        for found in self.founds(int(chunk[0])):
            yield found, self.layer(found)

    def layer(self, found: Found) -> list[Stream]:
        """The streams of one part of a layer; none if it is empty.  Read, not mapped: a log of six
        men would fill the memory.  DamagedLog if it does not read back.
        """
        place = self._places.get(found.chunk, {}).get(found)
        if place is None:
            return []
        payload = self._payload(place)
        if payload is None:
            raise DamagedLog(self.path, self._winner(), found.depth - 1)
        return _streams(payload)

    def _payload(self, place: _Place) -> bytes | None:
        payload = os.pread(self._fd, place.size, place.offset)
        return payload if xxhash.xxh3_64_intdigest(payload) == place.check else None

    def _winner(self) -> int:
        winner: int = json.loads(self.identity)["winner"]
        return winner


Extend = Callable[[int, int], None]
"""Makes the beginning of a file, given how many bytes of it, outlast a power cut."""


def _extend(fd: int, end: int) -> None:
    os.fdatasync(fd)


class PassLog(LogFile):
    """A log that is begun, whatever had its name, and open for appending; `passes` are those that
    were given to `commit`, whether they are durable yet or not.
    """

    def __init__(self, path: Path, identity: dict[str, object], extend: Extend = _extend) -> None:
        self._extend = extend
        self._start(path, os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644))
        self._changed = Condition()
        self._end = 0
        self._writing: set[int] = set()  # where the records end that are not whole yet
        self._failure: Exception | None = None
        self._waiting: SimpleQueue[_Commit | None] = SimpleQueue()
        self.identity = json.dumps(identity, sort_keys=True).encode()
        try:
            self._put(_IDENTITY, Found(0, False, 0), self.identity)
        except BaseException:
            os.close(self._fd)
            raise
        self._syncing = Thread(target=self._sync, name="pass log", daemon=True)
        self._syncing.start()

    def append(self, found: Found, packed: tuple[Buffer, list[int]]) -> None:
        """Add a part of a layer: its streams in one buffer, and where each ends."""
        streams, ends = packed
        directory = struct.pack(f"<{1 + len(ends)}Q", len(ends), *ends)
        self._has(found, self._put(_LAYER, found, directory, streams))

    def commit(self, done: Pass, seconds: float = 0.0) -> "Future[None]":
        """All parts of the pass have been appended: it counts once this record is on disk, and
        then what is returned is done.
        """
        counts = {"won": done.won, "lost": done.lost, "over": done.over, "seconds": seconds}
        place = self._put(_COMMIT, Found(done.depth, False, 0), json.dumps(counts).encode())
        self.passes.append(done)
        self.seconds[done.depth] = seconds
        commit = _Commit(place.offset + place.size, Future())
        self._waiting.put(commit)
        return commit.durable

    def close(self) -> None:
        """Every commit is durable, or has failed, when this returns."""
        self._waiting.put(None)
        self._syncing.join()
        os.close(self._fd)

    # ---- writing ----

    def _put(self, kind: int, found: Found, *payload: Buffer) -> _Place:
        """Write a record at the next place.  Where one could not be written a hole is left: there
        the log ends.
        """
        size, check = sum(map(len, payload)), _check(payload)
        fields = _FIELDS.pack(_MAGIC, kind, found.won, found.depth, found.chunk, size, check)
        head = fields + _SOUND.pack(xxhash.xxh3_64_intdigest(fields))
        with self._changed:
            if self._failure is not None:
                raise self._refusal() from self._failure
            start = self._end
            self._end = end = start + len(head) + size
            self._writing.add(end)
        try:
            _write(self._fd, (head, *payload), start)
        except OSError as failure:
            self._fail(failure)
            raise self._refusal() from failure
        with self._changed:
            self._writing.remove(end)
            self._changed.notify_all()
        return _Place(end - size, size, check)

    def _fail(self, failure: Exception) -> None:
        with self._changed:
            self._failure = self._failure or failure
            self._changed.notify_all()

    def _refusal(self) -> CannotBuild:
        if isinstance(self._failure, OSError):
            said = self._failure.strerror or self._failure
            return CannotBuild(
                f"cannot write the pass log {self.path}: {said}; what was committed is kept, run "
                "the same command again"
            )
        return CannotBuild(str(self._failure))

    # ---- commits, in a thread of their own ----

    def _sync(self) -> None:
        is_open = True
        while is_open:
            come = self._come_in()
            is_open = None not in come
            self._make_durable([commit for commit in come if commit is not None])

    def _come_in(self) -> "list[_Commit | None]":
        """All that wait, at least one."""
        come = [self._waiting.get()]
        with suppress(Empty):
            while True:
                come.append(self._waiting.get_nowait())
        return come

    def _make_durable(self, commits: "list[_Commit]") -> None:
        if not commits:
            return
        end = commits[-1].end
        try:
            if self._is_whole(end):
                self._extend(self._fd, end)
        except (OSError, CannotBuild) as failure:
            self._fail(failure)
        for commit in commits:
            if self._failure is None:
                commit.durable.set_result(None)
            else:
                commit.durable.set_exception(self._refusal())

    def _is_whole(self, end: int) -> bool:
        """Wait for what is being written before a place: parts of the next pass, by threads that
        took their places first.  False if anything has failed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._failure or min(self._writing, default=end) >= end)
            return self._failure is None


class _Commit(NamedTuple):
    """Where the record of a commit ends, and who wants to know when it is on disk."""

    end: int
    durable: "Future[None]"


def _check(payload: Sequence[Buffer]) -> int:
    check = xxhash.xxh3_64()
    for part in payload:
        check.update(part)
    return check.intdigest()


def _write(fd: int, parts: Sequence[Buffer], offset: int) -> None:
    """All of them, one after the other; a file system may take less at once."""
    written, size = os.pwritev(fd, parts, offset), sum(map(len, parts))
    if written < size:
        rest = memoryview(b"".join(parts))[written:]
        while rest:
            rest = rest[os.pwrite(fd, rest, offset + size - len(rest)) :]


def split(streams: Slices, ends: Sequence[int]) -> Iterator[Slices]:
    """Streams in one buffer, given where each ends, one by one."""
    for start, end in pairwise((0, *ends)):
        yield streams[start:end]


def _streams(payload: bytes) -> list[Stream]:
    count = int.from_bytes(payload[:8], "little")
    ends = np.frombuffer(payload, "<u8", count, 8).tolist()
    streams = np.frombuffer(payload, np.uint8, offset=8 + 8 * count)
    return list(split(streams, ends))


def _records(fd: int) -> Iterator[tuple[int, Found, _Place, bytes]]:
    """The sound records from the beginning: kind, what it is of, and where its payload lies; the
    payload too but for layers.
    """
    at, size = 0, os.fstat(fd).st_size
    while len(data := os.pread(fd, _HEAD.size, at)) >= _HEAD.size:
        magic, kind, won, depth, chunk, length, check, sound = _HEAD.unpack_from(data)
        at += _HEAD.size
        is_sound = xxhash.xxh3_64_intdigest(data[: _FIELDS.size]) == sound
        if magic != _MAGIC or not is_sound or length > size - at:
            return
        payload = b""
        if kind != _LAYER:
            payload = os.pread(fd, length, at)
            if xxhash.xxh3_64_intdigest(payload) != check:
                return
        yield kind, Found(depth, bool(won), chunk), _Place(at, length, check), payload
        at += length
