"""A uniform sample of the distinct positions of a table, without repetition.

The positions that are meant are numbered in the order of the table's rows, White to move before
Black to move inside a section.  The first reading counts them, section by section; then numbers
are drawn; the second reading visits the sections in which they fall.  What is drawn depends on
the seed, on how many positions there are and on nothing else: not on threads, and not on versions
of numpy, which promises its generators' raw words but not what it makes of them.

Cost: two readings of the table at most, and a few words for each position drawn.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workers.errors import BadSelection, DamagedTable
from workers.sections import Place, Section, read
from workers.selection import Entry, Selection
from workers.table import Table
from workers.threads import Threads

Numbers = NDArray[np.int64]


def sample(
    table: Table, threads: Threads, selection: Selection, wanted: int, seed: int
) -> list[Entry]:
    """So many of the positions selected, in the order in which they were drawn.

    The first of them are a uniform sample too.
    """
    stated = selection.positions(table.counts)
    if wanted > stated:
        raise BadSelection(
            f"{table.material} has {stated:,} such positions, fewer than {wanted:,}; ask for less"
        )
    cells = _cells(table, threads, selection)
    if sum(cell.positions for cell in cells) != stated:
        raise DamagedTable(f"{table.path}: its values are not as its counts say; build it again")
    return _drawn(table, threads, selection, cells, draw(stated, wanted, seed))


# ---- drawing ----


def draw(population: int, wanted: int, seed: int) -> Numbers:
    """Different numbers from 0 to `population` - 1, in random order."""
    assert 0 <= wanted <= population, f"{wanted} of {population}"
    words = np.random.PCG64(seed)
    if 2 * wanted > population:
        return np.argsort(words.random_raw(population), kind="stable")[:wanted]
    drawn = np.zeros(0, np.int64)
    while drawn.size < wanted:
        more = _below(population, words.random_raw(2 * (wanted - drawn.size)))
        drawn = _without_repetition(np.concatenate((drawn, more)))
    return drawn[:wanted]


def _below(population: int, words: NDArray[np.uint64]) -> Numbers:
    """Numbers below `population`, each as likely as another: words past its last multiple go."""
    last = 2**64 // population * population - 1
    fair = words[words <= np.uint64(last)]
    return (fair % np.uint64(population)).astype(np.int64)


def _without_repetition(numbers: Numbers) -> Numbers:
    """Each number where it comes first."""
    _, first = np.unique(numbers, return_index=True)
    return numbers[np.sort(first)]


# ---- reading ----


class Cell(NamedTuple):
    """A section with one side to move, and how many of its positions are selected."""

    place: Place
    side: int
    positions: int


def _cells(table: Table, threads: Threads, selection: Selection) -> list[Cell]:
    """All of them, in the order in which their positions are numbered."""

    def count(section: Section) -> list[Cell]:
        place = Place(section.pair, section.first)
        return [
            Cell(place, side, int(np.count_nonzero(selection.of(section, side))))
            for side in sorted(selection.sides)
        ]

    return [cell for cells in read(table, threads, count) for cell in cells]


def _drawn(
    table: Table, threads: Threads, selection: Selection, cells: list[Cell], numbers: Numbers
) -> list[Entry]:
    """The positions of these numbers, in their order."""
    order = np.argsort(numbers)
    entries = list(_in_row_order(table, threads, selection, _hits(cells, numbers[order])))
    return [entries[i] for i in np.argsort(order).tolist()]


class Hit(NamedTuple):
    """Which of the selected positions of a cell were drawn: the first is 0."""

    place: Place
    side: int
    ranks: Numbers


def _hits(cells: list[Cell], ascending: Numbers) -> Iterator[Hit]:
    ends = np.cumsum([cell.positions for cell in cells])
    of = np.searchsorted(ends, ascending, side="right")
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    for numbers, i in zip(np.split(ascending, starts[1:]), of[starts].tolist(), strict=True):
        cell = cells[i]
        yield Hit(cell.place, cell.side, numbers - (ends[i] - cell.positions))


def _in_row_order(
    table: Table, threads: Threads, selection: Selection, hits: Iterator[Hit]
) -> Iterator[Entry]:
    by_place = {place: list(of) for place, of in groupby(hits, key=lambda hit: hit.place)}

    def look_up(section: Section) -> list[Entry]:
        return [
            entry
            for hit in by_place[Place(section.pair, section.first)]
            for entry in _entries(section, selection, hit)
        ]

    for entries in read(table, threads, look_up, by_place):
        yield from entries


def _entries(section: Section, selection: Selection, hit: Hit) -> Iterator[Entry]:
    at = np.flatnonzero(selection.of(section, hit.side))[hit.ranks]
    values = section.values(hit.side)[at]
    for slot, value in zip((at + section.first).tolist(), values.tolist(), strict=True):
        yield Entry(section.pair, slot, hit.side, value)
