"""The longest wins and losses of a table, with all their positions up to symmetry.

A table's counts say how long they are and how many; the positions are looked for in its rows, and
no further once all of them are found.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workers.outcome import Outcome, value_of
from workers.sections import Section, Slots, read
from workers.selection import Entry
from workers.table import COLUMNS, Counts, Table
from workers.threads import Threads


class Longest(NamedTuple):
    """What one side to move wins or loses in at most, and how many distinct positions need it."""

    side: int
    outcome: Outcome
    moves: int
    positions: int

    @property
    def value(self) -> int:
        return value_of(self.outcome, self.moves)


def longest_of(counts: Counts) -> tuple[Longest, ...]:
    """Up to four: the longest win and loss with White and with Black to move."""
    return tuple(
        Longest(side, outcome, deepest, counts[name][outcome][str(deepest)])
        for side, name in enumerate(COLUMNS)
        for outcome in (Outcome.WIN, Outcome.LOSS)
        if (deepest := max(map(int, counts[name][outcome]), default=None)) is not None
    )


class Found(NamedTuple):
    """Slots of a section: positions of one kind of longest line."""

    of: Longest
    pair: int
    slots: Slots

    def entries(self) -> Iterator[Entry]:
        for slot in self.slots.tolist():
            yield Entry(self.pair, slot, self.of.side, self.of.value)


def found_in(section: Section, wanted: Sequence[Longest]) -> list[Found]:
    found = []
    for longest in wanted:
        deepest = section.values(longest.side) == longest.value
        if deepest.any():
            slots = section.slots(deepest & section.counted(longest.side))
            found.append(Found(longest, section.pair, slots))
    return found


class Collection:
    """The positions found so far, for each of the longest at most `keep`; all if None."""

    def __init__(self, wanted: Sequence[Longest], keep: int | None = None) -> None:
        self.entries: dict[Longest, list[Entry]] = {longest: [] for longest in wanted}
        self._keep = keep

    def take(self, found: Sequence[Found]) -> None:
        for one in found:
            entries = self.entries[one.of]
            entries.extend(one.entries())
            del entries[self._needed(one.of) :]

    def lacking(self) -> list[Longest]:
        """Those of which there are more to find."""
        return [longest for longest, e in self.entries.items() if len(e) < self._needed(longest)]

    def _needed(self, longest: Longest) -> int:
        return longest.positions if self._keep is None else min(self._keep, longest.positions)


def collect(
    table: Table, threads: Threads, wanted: Sequence[Longest], keep: int | None = None
) -> Collection:
    """The first positions of each, in the order of the table's rows."""
    collection = Collection(wanted, keep)
    if collection.lacking():
        for found in read(table, threads, lambda section: found_in(section, wanted)):
            collection.take(found)
            if not collection.lacking():
                break
    return collection


def positions(table: Table, threads: Threads, longest: Longest) -> Iterator[Entry]:
    """One after another, in the order of the table's rows, which are read as one goes on."""
    left = longest.positions
    for found in read(table, threads, lambda section: found_in(section, [longest])):
        for one in found:
            yield from one.entries()
            left -= one.slots.size
        if left <= 0:
            return
