"""Scans of a finished table: several threads read all of it in order, in bounded memory.

A section is a sequence of consecutive slots of one partition: all slots for up to five men, a 64th
of them for six.  With pawns it is some consecutive runs of a table (table_index.py), and its slots
count from the beginning of the first run.  A job gets one section at a time and reads the parts of
it that it needs: the values with either side to move, and the slots that hold a position.  Rows
without a position repeat their neighbours, so a job must select the slots with positions before it
uses their values.

Cost: the values of a section are decoded and checked against their digests once.  The legal slots
are computed once for each thread and partition.  A job holds a few arrays of 262,144 slots.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.material_index import table_index
from kingpair.workers.index.table_index import Slots
from kingpair.workers.number_types import Partition, Side
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.sets.memory import Words
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import BLOCK, Table
from kingpair.workers.table.pawn_rows import SECTION_SLOTS, PawnRows, section_rows
from kingpair.workers.table.value import Values

JobResult = TypeVar("JobResult")
SlotMask = NDArray[np.bool_]

assert SECTION_SLOTS % BLOCK == 0  # a section of six men is made of whole blocks


class SectionStart(NamedTuple):
    """The partition of a section, with pawns its first run, and its first slot."""

    run: int
    first: int


def section_starts(material: Material) -> tuple[SectionStart, ...]:
    """All sections of a table, in the order of its rows."""
    index = table_index(material)
    if index.structures is not None:
        runs = section_rows(index) // index.slots
        return tuple(SectionStart(run, 0) for run in range(0, index.rows // index.slots, runs))
    return tuple(
        SectionStart(pair, at)
        for pair in range(len(index.kings))
        for at in range(0, index.slots, section_slots(material))
    )


def section_slots(material: Material) -> int:
    """The slots of a section without pawns: whole blocks, and those of Chinese chess at once."""
    return SECTION_SLOTS if table_index(material).divides_runs else table_index(material).slots


class Section:
    """One section during a job.  Its values are read when the job asks for them."""

    def __init__(self, reader: "SectionReader", place: SectionStart) -> None:
        self.run, self.first = place
        self._reader = reader

    def values(self, side: Side) -> Values:
        """The values with `side` (0 stronger, 1 weaker) to move."""
        return self._reader.values(self.run, self.first, side)

    def holds_position(self, side: Side) -> SlotMask:
        """The slots that hold a position with `side` to move, as a mask."""
        return self._reader.holds_position(self.run, self.first, side)

    def slots(self, chosen: SlotMask) -> Slots:
        """The slots of the partition that a mask of the section selects."""
        return np.flatnonzero(chosen) + self.first


class SectionReader:
    """The view of a table that one thread reads through, with its scratch memory."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._index = self.table.index
        self._pawn_rows = None if self._index.structures is None else PawnRows(self._index)
        self._legal: dict[int, tuple[int, Words]] = {}

    @cached_property
    def _domain(self) -> Domain:
        return domain_of(self.table.material)

    @cached_property
    def _scratch(self) -> _kernels.Scratch:
        return _kernels.Scratch(self._domain.kernel)

    def _row_bounds(self, run: int) -> tuple[int, int]:
        """The rows of the section of a table with pawns that begins with a run."""
        first = run * self._index.slots
        return first, min(first + section_rows(self._index), self._index.rows)

    def values(self, run: int, first: int, side: Side) -> Values:
        if self._pawn_rows is not None:
            return self.table.rows(*self._row_bounds(run), side)
        if self._domain.slots <= section_slots(self.table.material):
            return self.table.values(run, side)
        block = (run * self._domain.slots + first) // BLOCK
        blocks = [self.table.block(block + i, side) for i in range(SECTION_SLOTS // BLOCK)]
        return np.concatenate(blocks)

    def holds_position(self, run: int, first: int, side: Side) -> SlotMask:
        if self._pawn_rows is not None:
            return self._pawn_rows.hold_position(*self._row_bounds(run), side)
        words = self._counted(Partition(run), side)
        return self._domain.some_slots(words, first, section_slots(self.table.material))

    def _counted(self, pair: Partition, side: Side) -> Words:
        """The mask of a whole partition, kept because the next section is likely to be in it."""
        if side not in self._legal or self._legal[side][0] != pair:
            self._legal[side] = pair, self._domain.counted(pair, side, self._scratch)
        return self._legal[side][1]


def scan(
    table: Table,
    threads: Threads,
    job: Callable[[Section], JobResult],
    places: Iterable[SectionStart] | None = None,
) -> Iterator[JobResult]:
    """Runs the job on the sections that begin at `places`, on all of them by default.

    Yields the results in the order of the places.
    """
    readers = threads.pool(lambda: SectionReader(table.another_reader()))

    def of(place: SectionStart) -> JobResult:
        with readers.lend() as reader:
            return job(Section(reader, place))

    return threads.stream(of, section_starts(table.material) if places is None else places)
