"""Appending to a pass log.

Threads write their own chunks: each reserves the next range of the file, and several write at
once.  One further thread makes commits durable while the computation goes on.  It syncs all
commits that wait, once all records before them are written.  So a position costs about a byte, and
no pass waits for the disk.  Compressing would save a quarter of the bytes and cost more time than
writing them (KRBvKBN: 4.4 GB uncompressed, 3.3 GB at zstd level 1 for a seventh of the solving).
"""

import json
import os
import struct
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Condition, Thread
from typing import NamedTuple

import xxhash

from kingpair.workers.errors import CannotBuild, UnusableDisk
from kingpair.workers.number_types import Depth
from kingpair.workers.passlog.log import (
    COMMIT,
    IDENTITY,
    LAYER,
    Buffer,
    LayerChunk,
    LogFile,
    PassResult,
    PayloadAddress,
    record_head,
)
from kingpair.workers.store.segments import LogInFile, Range

ExtendLog = Callable[[int, int, Sequence[Range]], str | None]
"""Makes the first bytes of a file durable, given the file, their number, and the ranges of all
records that were not given yet, but for what the layers hold.  Returns why there is no copy of
them, if there should be one.
"""


def _extend(fd: int, end: int, heads: Sequence[Range]) -> str | None:
    os.fdatasync(fd)
    return None


class PassLog(LogFile):
    """A new log, open for appending.  It replaces any file of its name.

    `passes` has every pass that was given to `commit`, durable or not yet.
    """

    def __init__(
        self, path: Path, identity: dict[str, object], extend: ExtendLog = _extend
    ) -> None:
        self._extend = extend
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        self._start(path, LogInFile(self._fd))
        self._heads: list[Range] = []
        self._changed = Condition()
        self._end = 0
        self._writing: set[int] = set()  # the ends of the records being written
        self._failure: Exception | None = None
        self._waiting: SimpleQueue[_Commit | None] = SimpleQueue()
        self.identity = json.dumps(identity, sort_keys=True).encode()
        try:
            self._put(IDENTITY, LayerChunk(Depth(0), False, 0), self.identity)
        except BaseException:
            os.close(self._fd)
            raise
        self._syncing = Thread(target=self._sync, name="pass log", daemon=True)
        self._syncing.start()

    def append(self, found: LayerChunk, packed: tuple[Buffer, list[int]]) -> None:
        """Appends a layer chunk: its streams in one buffer, and the end of each."""
        streams, ends = packed
        directory = struct.pack(f"<{1 + len(ends)}Q", len(ends), *ends)
        self._has(found, self._put(LAYER, found, directory, streams))

    def commit(self, done: PassResult, seconds: float = 0.0) -> "Future[str]":
        """Appends the commit of a pass whose chunks are all appended.

        The future is done once the commit is durable.  It says why there is no copy of the log, if
        there should be one.
        """
        counts = {"won": done.won, "lost": done.lost, "over": done.over, "seconds": seconds}
        place = self._put(COMMIT, LayerChunk(done.depth, False, 0), json.dumps(counts).encode())
        self.passes.append(done)
        self.seconds[done.depth] = seconds
        commit = _Commit(place.offset + place.size, Future())
        self._waiting.put(commit)
        return commit.durable

    def close(self) -> None:
        """Waits until every commit is durable or has failed, then closes the file."""
        self._waiting.put(None)
        self._syncing.join()
        os.close(self._fd)

    # ---- writing ----

    def _put(self, kind: int, found: LayerChunk, *payload: Buffer) -> PayloadAddress:
        """Writes a record to the next range of the file.

        A failed write leaves a hole, and readers end the log there.
        """
        size, check = sum(map(len, payload)), _check(payload)
        head = record_head(kind, found, size, check)
        with self._changed:
            if self._failure is not None:
                raise self._refusal() from self._failure
            start = self._end
            self._end = end = start + len(head) + size
            self._writing.add(end)
            self._heads.append((start, start + len(head)))
            if kind != LAYER:
                self._heads.append((start + len(head), end))
        try:
            _write(self._fd, (head, *payload), start)
        except OSError as failure:
            self._fail(failure)
            raise self._refusal() from failure
        with self._changed:
            self._writing.remove(end)
            self._changed.notify_all()
        return PayloadAddress(end - size, size, check)

    def _fail(self, failure: Exception) -> None:
        with self._changed:
            self._failure = self._failure or failure
            self._changed.notify_all()

    def _refusal(self) -> CannotBuild:
        if isinstance(self._failure, OSError):
            said = self._failure.strerror or self._failure
            return UnusableDisk(
                f"cannot write the pass log {self.path}: {said}; committed passes are kept, run "
                "the same command again"
            )
        return CannotBuild(str(self._failure))

    # ---- commits, in a thread of their own ----

    def _sync(self) -> None:
        is_open = True
        while is_open:
            waiting = self._take_waiting()
            is_open = None not in waiting
            self._make_durable([commit for commit in waiting if commit is not None])

    def _take_waiting(self) -> "list[_Commit | None]":
        """Takes all commits that wait; waits for one if there is none."""
        taken = [self._waiting.get()]
        with suppress(Empty):
            while True:
                taken.append(self._waiting.get_nowait())
        return taken

    def _make_durable(self, commits: "list[_Commit]") -> None:
        if not commits:
            return
        end, uncopied = commits[-1].end, None
        try:
            if self._is_whole(end):
                uncopied = self._extend(self._fd, end, self._take_heads(end))
        except (OSError, CannotBuild) as failure:
            self._fail(failure)
        for commit in commits:
            if self._failure is None:
                commit.durable.set_result(uncopied or "")
            else:
                commit.durable.set_exception(self._refusal())

    def _take_heads(self, end: int) -> list[Range]:
        """Takes the ranges before `end`."""
        with self._changed:
            taken = [head for head in self._heads if head[1] <= end]
            self._heads = self._heads[len(taken) :]
            return taken

    def _is_whole(self, end: int) -> bool:
        """Waits until all bytes before `end` are written.  Returns False if a write has failed.

        Threads may still be writing chunks of the next pass whose ranges come before a commit.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._failure or min(self._writing, default=end) >= end)
            return self._failure is None


class _Commit(NamedTuple):
    """The end of a commit's record, and the future of its caller."""

    end: int
    durable: "Future[str]"


def _check(payload: Sequence[Buffer]) -> int:
    check = xxhash.xxh3_64()
    for part in payload:
        check.update(part)
    return check.intdigest()


def _write(fd: int, parts: Sequence[Buffer], offset: int) -> None:
    """Writes all parts, one after the other.  A file system may write less than it is given."""
    written, size = os.pwritev(fd, parts, offset), sum(map(len, parts))
    if written < size:
        rest = memoryview(b"".join(parts))[written:]
        while rest:
            rest = rest[os.pwrite(fd, rest, offset + size - len(rest)) :]
