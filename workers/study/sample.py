"""A uniform sample of the distinct positions of a table, without repetition.

The selected positions are numbered in the order of the table's rows, White to move before Black to
move inside a section.  A first scan counts them, section by section.  Then numbers are drawn, and a
second scan visits the sections that contain them.  The sample depends on the seed and on the number
of positions alone: not on threads, and not on the version of numpy, which keeps the raw words of
its generators stable but not the functions on top of them.

Cost: at most two scans of the table, and a few words of memory for each position drawn.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.errors import BadSelection, DamagedTable
from kingpair.workers.number_types import Side
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study.position_filter import PositionFilter, TablePosition
from kingpair.workers.table.format import Table
from kingpair.workers.table.scan import Section, SectionStart, scan

DrawNumbers = NDArray[np.int64]


def sample(
    table: Table, threads: Threads, selection: PositionFilter, wanted: int, seed: int
) -> list[TablePosition]:
    """Draws `wanted` of the selected positions.  Returns them in the order of drawing.

    The first few of them are a uniform sample too.
    """
    stated = selection.count(table.counts)
    if wanted > stated:
        raise BadSelection(
            f"{table.material} has {stated:,} such positions, fewer than {wanted:,}; ask for fewer"
        )
    counts = _count_sections(table, threads, selection)
    if sum(count.positions for count in counts) != stated:
        raise DamagedTable(f"{table.path}: its values disagree with its counts; build it again")
    return _drawn(table, threads, selection, counts, draw(stated, wanted, seed))


# ---- drawing ----


def draw(population: int, wanted: int, seed: int) -> DrawNumbers:
    """Draws different numbers from 0 to `population` - 1, in random order."""
    assert 0 <= wanted <= population, f"{wanted} of {population}"
    words = np.random.PCG64(seed)
    if 2 * wanted > population:
        return np.argsort(words.random_raw(population), kind="stable")[:wanted]
    drawn = np.zeros(0, np.int64)
    while drawn.size < wanted:
        more = _below(population, words.random_raw(2 * (wanted - drawn.size)))
        drawn = _without_repetition(np.concatenate((drawn, more)))
    return drawn[:wanted]


def _below(population: int, words: NDArray[np.uint64]) -> DrawNumbers:
    """Uniform numbers below `population`.  Words past its last multiple are dropped."""
    last = 2**64 // population * population - 1
    fair = words[words <= np.uint64(last)]
    return (fair % np.uint64(population)).astype(np.int64)


def _without_repetition(numbers: DrawNumbers) -> DrawNumbers:
    """The numbers without repetition, in the order in which each first comes."""
    _, first = np.unique(numbers, return_index=True)
    return numbers[np.sort(first)]


# ---- reading ----


class SectionCount(NamedTuple):
    """The number of selected positions of a section with one side to move."""

    place: SectionStart
    side: Side
    positions: int


def _count_sections(
    table: Table, threads: Threads, selection: PositionFilter
) -> list[SectionCount]:
    """The counts of all sections, in the order in which their positions are numbered."""

    def of_section(section: Section) -> list[SectionCount]:
        place = SectionStart(section.run, section.first)
        return [
            SectionCount(place, side, int(np.count_nonzero(selection.mask(section, side))))
            for side in sorted(selection.sides)
        ]

    return [count for counts in scan(table, threads, of_section) for count in counts]


def _drawn(
    table: Table,
    threads: Threads,
    selection: PositionFilter,
    counts: list[SectionCount],
    numbers: DrawNumbers,
) -> list[TablePosition]:
    """The positions with these numbers, in the order of the numbers."""
    order = np.argsort(numbers)
    entries = list(_in_row_order(table, threads, selection, _draws(counts, numbers[order])))
    return [entries[i] for i in np.argsort(order).tolist()]


class SectionDraw(NamedTuple):
    """The selected positions that were drawn from a section, by rank; the first has rank 0."""

    place: SectionStart
    side: Side
    ranks: DrawNumbers


def _draws(counts: list[SectionCount], ascending: DrawNumbers) -> Iterator[SectionDraw]:
    if not ascending.size:
        return
    ends = np.cumsum([count.positions for count in counts])
    of = np.searchsorted(ends, ascending, side="right")
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    for numbers, i in zip(np.split(ascending, starts[1:]), of[starts].tolist(), strict=True):
        count = counts[i]
        yield SectionDraw(count.place, count.side, numbers - (ends[i] - count.positions))


def _in_row_order(
    table: Table, threads: Threads, selection: PositionFilter, draws: Iterator[SectionDraw]
) -> Iterator[TablePosition]:
    by_place = {place: list(of) for place, of in groupby(draws, key=lambda drawn: drawn.place)}

    def look_up(section: Section) -> list[TablePosition]:
        return [
            entry
            for drawn in by_place[SectionStart(section.run, section.first)]
            for entry in _entries(section, selection, drawn)
        ]

    for entries in scan(table, threads, look_up, by_place):
        yield from entries


def _entries(
    section: Section, selection: PositionFilter, drawn: SectionDraw
) -> Iterator[TablePosition]:
    at = np.flatnonzero(selection.mask(section, drawn.side))[drawn.ranks]
    values = section.values(drawn.side)[at]
    for slot, value in zip((at + section.first).tolist(), values.tolist(), strict=True):
        yield TablePosition(section.run, slot, drawn.side, value)
