"""The pieces of a walk of a set in a file: one thread reads ahead, one writes behind.

    reader     reads the next piece as soon as a buffer is free
    threads    take a piece, work on it, give it back
    writer     writes a piece that has changed, and frees its buffer

A buffer is the part of the set's window that a piece lies in.  There are as many as threads work,
and AHEAD more, so that the disk is busy while they are.  Pieces are read in the order in which
threads take them, so the piece that a thread waits for is the next one that gets a buffer.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from threading import Lock, Semaphore

from kingpair.workers.sets.threads import Chunk
from kingpair.workers.solve.budget import AHEAD

Transfer = Callable[[Chunk], None]
"""Moves a piece from or to the disk, or frees its memory."""


@dataclass
class TakenPiece:
    """A piece that a thread works on; it is written if it has changed."""

    changed: bool = False


Take = Callable[[Chunk], AbstractContextManager[TakenPiece]]
"""Takes a piece, and gives it back after the work on it."""


class DiskThreads:
    """The thread that reads ahead and the one that writes behind, beside those that work."""

    def __init__(self, working: int) -> None:
        self.working = working
        self.reader = ThreadPoolExecutor(1, thread_name_prefix="reads ahead")
        self.writer = ThreadPoolExecutor(1, thread_name_prefix="writes behind")

    def close(self) -> None:
        self.reader.shutdown(cancel_futures=True)
        self.writer.shutdown()


class WaitingTime:
    """The seconds that threads waited for a disk, of all threads together."""

    def __init__(self) -> None:
        self.seconds, self._lock = 0.0, Lock()

    @contextmanager
    def counted(self, threads: int = 1) -> Iterator[None]:
        start = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self.seconds += (time.monotonic() - start) * threads


class PieceStream:
    """The pieces of a walk, read, lent to threads, and written."""

    def __init__(
        self, threads: DiskThreads, waiting: WaitingTime, write: Transfer, release: Transfer
    ) -> None:
        self._threads, self._waiting = threads, waiting
        self._write, self._release = write, release
        self._buffers = Semaphore(threads.working + AHEAD)
        self._is_stopped = False
        self._read: dict[int, Future[None]] = {}  # by the first partition of the piece
        self._written: list[Future[None]] = []

    def begin(self, pieces: tuple[Chunk, ...], read: Transfer) -> None:
        """Begins to read.  Without this a piece is taken with nothing in it."""
        for piece in pieces:
            self._read[int(piece[0])] = self._threads.reader.submit(self._read_ahead, read, piece)

    @contextmanager
    def take(self, piece: Chunk) -> Iterator[TakenPiece]:
        """Waits until a piece is in memory, and gives it back; a failed job has changed nothing."""
        with self._waiting.counted():
            if self._read:
                self._read[int(piece[0])].result()
            else:
                self._buffers.acquire()
        taken, changed = TakenPiece(), False
        try:
            yield taken
            changed = taken.changed
        finally:
            write_behind = self._threads.writer.submit(self._write_behind, piece, changed)
            self._written.append(write_behind)

    def finish(self) -> None:
        """Waits until all is written; raises what went wrong."""
        with self._waiting.counted(self._threads.working):
            wait(self._written)
        for written in self._written:
            written.result()

    def stop(self) -> None:
        """Reads no more, and waits until nothing is under way."""
        self._is_stopped = True
        for reading in self._read.values():
            reading.cancel()
        self._buffers.release()  # the reader may wait for one
        wait([*self._read.values(), *self._written])

    def _read_ahead(self, read: Transfer, piece: Chunk) -> None:
        self._buffers.acquire()
        try:
            if not self._is_stopped:
                read(piece)
        except BaseException:
            self._buffers.release()
            raise

    def _write_behind(self, piece: Chunk, changed: bool) -> None:
        try:
            if changed:
                self._write(piece)
            self._release(piece)
        finally:
            self._buffers.release()


@contextmanager
def held_piece(piece: Chunk) -> Iterator[TakenPiece]:
    """Takes a piece of a set that is in memory: it is there already, and stays."""
    yield TakenPiece()
