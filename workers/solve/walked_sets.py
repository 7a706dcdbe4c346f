"""The open sets of an analysis that goes walk by walk: in memory, or in a file with a window.

Threads take a piece of a walk, work on it and give it back; a set in a file reads it before and
writes it after that (piece_stream.py).  A set in memory is always there.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from pathlib import Path
from typing import Protocol

from kingpair.workers.number_types import SIDES
from kingpair.workers.sets.disk_use import DiskUse
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.threads import Chunk
from kingpair.workers.solve.budget import AHEAD, walk_piece
from kingpair.workers.solve.piece_stream import (
    DiskThreads,
    PieceStream,
    Take,
    WaitingTime,
    held_piece,
)
from kingpair.workers.solve.set_file import SetFile
from kingpair.workers.solve.sets_mode import SetsMode
from kingpair.workers.solve.walks import Walk, Window, walks

_NO_RESERVE = 0x4000  # MAP_NORESERVE, which Python 3.11 does not name


def addressable(mode: SetsMode, set_bytes: int) -> SetsMode:
    """Returns the mode, or that of small windows if addresses do not suffice (`ulimit -v`)."""
    sets = mode.held + 3  # a frontier, what is found, and what is freed
    try:
        mmap(-1, sets * set_bytes, flags=MAP_PRIVATE | MAP_ANONYMOUS | _NO_RESERVE).close()
    except OSError:
        return SetsMode.WALKS
    return mode


class SetsByWalk:
    """The walks of an analysis in a mode, its open sets, and windows for its other sets."""

    def __init__(self, domain: Domain, scratch: Path, mode: SetsMode, threads: int) -> None:
        mode = addressable(mode, domain.index.set_bytes)
        # Beside a set that has places for all partitions, windows have the same places.
        self.walks = tuple(list(walks(domain, side, not mode.held)) for side in SIDES)
        self._places = 1 + max(max(w.places.values()) for of in self.walks for w in of)
        self._rows, share = domain.kernel.rows, domain.share
        # Of open_w copies are kept, which `lose` looks at; of open_l its own partitions alone.
        sizes = (share.held, self._rows), (len(share.own), self._rows)
        self._disk_threads = disk_threads = DiskThreads(threads)
        # A piece for each thread, one read ahead and one not yet written.
        self._waiting = (threads + AHEAD) * walk_piece(domain.index.together)
        self.open_w: WalkedSet
        self.open_l: WalkedSet
        self.open_w, self.open_l = (
            HeldSet(*size)
            if number < mode.held
            else FiledSet(SetFile(scratch, *size, share.places), self.window(), disk_threads)
            for number, size in enumerate(sizes)
        )

    def window(self) -> Window:
        return Window(self._places, self._rows, self._waiting)

    @property
    def disk_use(self) -> DiskUse:
        """The use of the disk so far, in the time of all threads."""
        return self.open_w.disk_use.plus(self.open_l.disk_use)

    def close(self) -> None:
        self._disk_threads.close()
        self.open_w.close()
        self.open_l.close()


class WalkedSet(Protocol):
    """An open set, of which the partitions that were read are in a layer."""

    @property
    def layer(self) -> Layer: ...
    @property
    def disk_use(self) -> DiskUse: ...

    def pieces(self, walk: Walk, *, reads: bool = True) -> AbstractContextManager[Take]: ...
    def read(self, walk: Walk, partitions: Chunk) -> None: ...
    def write(self, walk: Walk, partitions: Chunk) -> None: ...
    def release(self, walk: Walk, partitions: Chunk) -> None: ...
    def close(self) -> None: ...


class HeldSet:
    """A set in memory."""

    disk_use = DiskUse()

    def __init__(self, partitions: int, rows: int) -> None:
        self.layer = Layer.empty(partitions, rows)

    @contextmanager
    def pieces(self, walk: Walk, *, reads: bool = True) -> Iterator[Take]:
        yield held_piece

    def read(self, walk: Walk, partitions: Chunk) -> None:
        """The partitions are there already."""

    def write(self, walk: Walk, partitions: Chunk) -> None:
        """The partitions are where they belong."""

    def release(self, walk: Walk, partitions: Chunk) -> None:
        """The partitions stay."""

    def close(self) -> None:
        """The memory is freed with the last view of it."""


class FiledSet:
    """A set in a file, of which a window is in memory."""

    def __init__(self, file: SetFile, window: Window, threads: DiskThreads) -> None:
        self._file, self._window = file, window
        self.layer = self._window.layer
        self._threads, self._waiting = threads, WaitingTime()

    @property
    def disk_use(self) -> DiskUse:
        return self._file.use._replace(seconds=self._waiting.seconds)

    @contextmanager
    def pieces(self, walk: Walk, *, reads: bool = True) -> Iterator[Take]:
        """Lends the pieces of a walk to threads, in order; all is written when the walk ends."""
        file, window = self._file, self._window
        write, release = partial(window.write, file, walk), partial(window.release, walk)
        stream = PieceStream(self._threads, self._waiting, write, release)
        try:
            if reads:
                stream.begin(walk.pieces, partial(window.read, file, walk))
            yield stream.take
            stream.finish()
        finally:
            stream.stop()

    def read(self, walk: Walk, partitions: Chunk) -> None:
        with self._waiting.counted():
            self._window.read(self._file, walk, partitions)

    def write(self, walk: Walk, partitions: Chunk) -> None:
        with self._waiting.counted():
            self._window.write(self._file, walk, partitions)

    def release(self, walk: Walk, partitions: Chunk) -> None:
        self._window.release(walk, partitions)

    def close(self) -> None:
        self._file.close()
