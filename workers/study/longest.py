"""The longest wins and losses of a table, with all their positions up to symmetry.

The table's counts give their distance and their number.  A scan of the rows finds the positions
and stops once it has all of them.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kingpair.workers.game.outcome import Outcome
from kingpair.workers.index.table_index import Slots
from kingpair.workers.number_types import SIDES, Side
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study.position_filter import TablePosition
from kingpair.workers.table.format import COLUMNS, Counts, Table
from kingpair.workers.table.scan import Section, scan
from kingpair.workers.table.value import value_of


class LongestDistance(NamedTuple):
    """The longest win or loss of one side to move, and the number of its distinct positions."""

    side: Side
    outcome: Outcome
    moves: int
    positions: int

    @property
    def value(self) -> int:
        return value_of(self.outcome, self.moves)


def longest_of(counts: Counts) -> tuple[LongestDistance, ...]:
    """The longest win and loss with White and with Black to move, up to four."""
    return tuple(
        LongestDistance(side, outcome, deepest, counts[name][outcome][str(deepest)])
        for side, name in zip(SIDES, COLUMNS, strict=True)
        for outcome in (Outcome.WIN, Outcome.LOSS)
        if (deepest := max(map(int, counts[name][outcome]), default=None)) is not None
    )


class LongestInSection(NamedTuple):
    """The slots of a section that hold positions of one longest win or loss."""

    of: LongestDistance
    run: int
    slots: Slots

    def entries(self) -> Iterator[TablePosition]:
        for slot in self.slots.tolist():
            yield TablePosition(self.run, slot, self.of.side, self.of.value)


def longest_in_section(
    section: Section, wanted: Sequence[LongestDistance]
) -> list[LongestInSection]:
    found = []
    for longest in wanted:
        deepest = section.values(longest.side) == longest.value
        if deepest.any():
            slots = section.slots(deepest & section.holds_position(longest.side))
            found.append(LongestInSection(longest, section.run, slots))
    return found


class LongestCollection:
    """The positions found so far, at most `keep` of each longest win or loss; all if None."""

    def __init__(self, wanted: Sequence[LongestDistance], keep: int | None = None) -> None:
        self.entries: dict[LongestDistance, list[TablePosition]] = {
            longest: [] for longest in wanted
        }
        self._keep = keep

    def take(self, found: Sequence[LongestInSection]) -> None:
        for one in found:
            entries = self.entries[one.of]
            entries.extend(one.entries())
            del entries[self._needed(one.of) :]

    def lacking(self) -> list[LongestDistance]:
        """The longest wins and losses that still lack positions."""
        return [longest for longest, e in self.entries.items() if len(e) < self._needed(longest)]

    def _needed(self, longest: LongestDistance) -> int:
        return longest.positions if self._keep is None else min(self._keep, longest.positions)


def collect(
    table: Table, threads: Threads, wanted: Sequence[LongestDistance], keep: int | None = None
) -> LongestCollection:
    """Collects the first positions of each, in the order of the table's rows."""
    collection = LongestCollection(wanted, keep)
    if collection.lacking():
        for found in scan(table, threads, lambda section: longest_in_section(section, wanted)):
            collection.take(found)
            if not collection.lacking():
                break
    return collection
