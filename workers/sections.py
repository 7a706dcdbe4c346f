"""A finished table read through in order, by several threads, in little memory whatever its size.

A section is a run of consecutive slots of one partition: all of them up to five men, a 64th for
six.  A job is handed one section at a time and reads of it what it needs: the values with either
side to move, and which slots hold a position.  Rows that hold none repeat their neighbours, so no
value means anything before that question is asked.

Cost: a section's values are decoded and checked against their digests once, its legal slots
computed once for each thread and partition; a job holds a few arrays of 262,144 slots.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from workers import _kernels
from workers.bits import Words
from workers.domain import domain_of
from workers.geometry import PAIRS
from workers.material import Material
from workers.table import BLOCK, Table, Values
from workers.threads import Threads

SLOTS = 64**3

Result = TypeVar("Result")
Flags = NDArray[np.bool_]
Slots = NDArray[np.int64]

assert SLOTS % BLOCK == 0  # a section of six men is made of whole blocks


class Place(NamedTuple):
    """Where a section begins."""

    pair: int
    first: int


def places_of(material: Material) -> tuple[Place, ...]:
    """All sections of a table, in the order of its rows."""
    slots = 64 ** len(material.letters)
    return tuple(Place(pair, at) for pair in range(len(PAIRS)) for at in range(0, slots, SLOTS))


class Section:
    """One section, as long as a job has it: what it needs of it is read when it asks."""

    def __init__(self, reader: "Reader", place: Place) -> None:
        self.pair, self.first = place
        self._reader = reader

    def values(self, side: int) -> Values:
        """The values with `side` (0 stronger, 1 weaker) to move."""
        return self._reader.values(self.pair, self.first, side)

    def counted(self, side: int) -> Flags:
        """Which slots hold a position with `side` to move."""
        return self._reader.counted(self.pair, self.first, side)

    def slots(self, chosen: Flags) -> Slots:
        """The slots of the partition that a mask of the section has."""
        return np.flatnonzero(chosen) + self.first


class Reader:
    """What one thread needs to read a table: its own view of the file, and scratch space."""

    def __init__(self, path: Path) -> None:
        self.table = Table(path)
        self._domain = domain_of(self.table.material)
        self._scratch = _kernels.Scratch(self._domain.kernel)
        self._legal: dict[int, tuple[int, Words]] = {}

    def values(self, pair: int, first: int, side: int) -> Values:
        if self._domain.slots <= SLOTS:
            return self.table.values(pair, side)
        block = (pair * self._domain.slots + first) // BLOCK
        blocks = [self.table.block(block + i, side) for i in range(SLOTS // BLOCK)]
        return np.concatenate(blocks)

    def counted(self, pair: int, first: int, side: int) -> Flags:
        words = self._counted(pair, side)[first // 64 : (first + SLOTS) // 64]
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        return bits[: self._domain.slots].view(np.bool_)

    def _counted(self, pair: int, side: int) -> Words:
        """Of a whole partition: the next section is likely to be of the same."""
        if side not in self._legal or self._legal[side][0] != pair:
            self._legal[side] = pair, self._domain.counted(pair, side, self._scratch)
        return self._legal[side][1]


def read(
    table: Table,
    threads: Threads,
    job: Callable[[Section], Result],
    places: Iterable[Place] | None = None,
) -> Iterator[Result]:
    """What the job makes of each section, of all of them if not said, in the order of places."""
    readers = threads.pool(lambda: Reader(table.path))

    def of(place: Place) -> Result:
        with readers.lend() as reader:
            return job(Section(reader, place))

    return threads.stream(of, places_of(table.material) if places is None else places)
