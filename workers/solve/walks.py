"""Walks: partitions among which one king moves while the other stands still, and their windows.

The king that stands still is on one of ten squares but for the symmetries of the board, so the
moves of the other stay within one of ten walks.  Memory for the sets of a walk is a *window*.

A compact walk has its own places for its partitions, so that a small window serves all walks.
Where a set of all partitions is in memory beside the windows, each partition has the same place in
every walk; a window then has addresses for all of them, and memory for those of a walk.

The walk of a worker that owns a share has the partitions of its own, and as copies those of others
that the king enters from them.
"""

from collections.abc import Iterator, Mapping
from mmap import MADV_DONTNEED, MADV_HUGEPAGE, MAP_ANONYMOUS, MAP_PRIVATE, PAGESIZE, mmap
from threading import Lock
from typing import NamedTuple

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.index.king_pairs import KingPairs, numbers_of
from kingpair.workers.number_types import Partition, Side
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer, move_pages
from kingpair.workers.sets.threads import Chunk
from kingpair.workers.solve.budget import walk_piece
from kingpair.workers.solve.set_file import SetFile

HUGE = 2 << 20  # bytes of a huge page


class Walk(NamedTuple):
    """Partitions among which one king moves, as a domain of the kernels with places for them, and
    for copies of those that others own.
    """

    kernel: _kernels.Domain
    partitions: Chunk
    pieces: tuple[Chunk, ...]
    places: Mapping[Partition, int]
    copies: tuple[Chunk, ...]

    @property
    def held(self) -> Chunk:
        """The partitions and the copies: where captures of the king that moves lead."""
        return np.concatenate([self.partitions, *self.copies])

    def of_copies(self) -> "Walk":
        """Returns the walk with the pieces that are copies in place of its own."""
        return self._replace(pieces=self.copies)


class Window:
    """Memory for a set of any walk.  What is read is kept until another walk takes its place.

    Partitions come and go.  The system clears the memory that it gives, which takes longer than to
    read a set into it.  So the memory of large partitions that went waits beside the window, for as
    many of them as `waiting` says, and is moved to where it is wanted next.  What it holds is
    undefined, as a set needs it.
    """

    def __init__(self, partitions: int, rows: int, waiting: int = 0) -> None:
        self._rows, self._size = rows, rows * 512
        self._memory = _WindowMemory(partitions, self._size)
        occupied = np.zeros(partitions * rows, np.uint8)
        self.layer = Layer(self._memory.words, occupied, np.zeros(partitions, np.uint32))
        self._restored: set[int] = set()  # the places that `renew` was last called for
        self._taken: set[int] = set()  # the places that are in use
        waiting = waiting if self._size >= HUGE else 0
        self._beside = _WindowMemory(waiting, self._size)
        self._empty, self._filled = [*range(waiting)], list[int]()  # the slots of that
        self._lock = Lock()

    def clear(self) -> None:
        self.layer.live[:] = 0

    def renew(self, walk: Walk) -> None:
        """Empties the window for a walk, and gives back memory for places that it does not have."""
        places = set(walk.places.values())
        for place in self._restored - places:
            self._free(place)
        self._restored = places
        self.clear()

    def take(self, walk: Walk, partitions: Chunk) -> None:
        """Gives memory to partitions that are about to be written, if any waits for that.  What was
        there is undefined.
        """
        for place in map(walk.places.__getitem__, numbers_of(partitions)):
            with self._lock:
                if place in self._taken:
                    continue
                self._taken.add(place)
                if self._filled:
                    self._empty.append(slot := self._filled.pop())
                    self._beside.move(slot, self._memory, place)

    def read(self, file: SetFile, walk: Walk, partitions: Chunk) -> None:
        self.take(walk, partitions)
        for partition in numbers_of(partitions):
            file.read(partition, self.layer, walk.places[partition])

    def write(self, file: SetFile, walk: Walk, partitions: Chunk) -> None:
        for partition in numbers_of(partitions):
            file.write(partition, self.layer, walk.places[partition])

    def release(self, walk: Walk, partitions: Chunk) -> None:
        """Takes the memory of partitions away.  The set is empty there then."""
        for place in map(walk.places.__getitem__, numbers_of(partitions)):
            self._free(place)

    def _free(self, place: int) -> None:
        self.layer.live[place] = 0
        self.layer.occupied[place * self._rows : (place + 1) * self._rows] = 0
        with self._lock:
            self._taken.discard(place)
            if self._empty and self._memory.move(place, self._beside, self._empty[-1]):
                self._filled.append(self._empty.pop())
            else:
                self._memory.give_back(place)


class _WindowMemory:
    """Memory in pieces of one size, which can be moved from and to other such memory."""

    def __init__(self, pieces: int, piece: int) -> None:
        self._piece, size = piece, pieces * piece
        self._memory = mmap(-1, size + HUGE, flags=MAP_PRIVATE | MAP_ANONYMOUS)
        if piece >= HUGE:
            # With small pages each partition would be half a thousand faults.
            self._memory.madvise(MADV_HUGEPAGE)
        address = np.frombuffer(self._memory, np.uint8).ctypes.data
        self._start = -address % HUGE
        self._address = address + self._start
        self.words = np.frombuffer(self._memory, np.uint64, size // 8, self._start)

    def move(self, number: int, other: "_WindowMemory", there: int) -> bool:
        """Moves a piece to a place of other memory.  Returns whether the system can do that."""
        source = self._address + number * self._piece
        return move_pages(source, other._address + there * self._piece, self._piece)

    def give_back(self, number: int) -> None:
        """Gives a piece back to the system, if it has pages of its own."""
        if self._piece % PAGESIZE == 0:
            at = self._start + number * self._piece
            self._memory.madvise(MADV_DONTNEED, at, self._piece)


def walks(domain: Domain, mover: Side, is_compact: bool = True) -> Iterator[Walk]:
    """The walks of the king of `mover`: while the other king stands still but for symmetries.
    Those in which the share has no partition are left out.
    """
    kings, share, piece = domain.index.kings, domain.share, walk_piece(domain.index.together)
    for every in kings.walks(mover):
        own = np.intersect1d(every, share.own)
        if not own.size:
            continue
        copies = np.array(sorted(kings.around(own.tolist(), mover)), np.int16)
        held = np.concatenate([own, copies])
        of_walk = np.arange(held.size, dtype=np.int16) if is_compact else share.places[held]
        places = np.full(len(kings), -1, np.int16)
        places[held] = of_walk
        yield Walk(
            _kernel_of(domain, kings, places) if is_compact else domain.kernel,
            own,
            domain.index.chunks(own, piece),
            dict(zip(numbers_of(held), of_walk.tolist(), strict=True)),
            domain.index.chunks(copies, piece),
        )


def _kernel_of(domain: Domain, kings: KingPairs, places: Chunk) -> _kernels.Domain:
    pieces = domain.material.pieces
    return _kernels.Domain(pieces, *kings.arrays, places, kings.halved, None)
