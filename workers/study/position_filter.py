"""Filters of positions by side to move, result and number of moves.

For a table, a filter is a few ranges of values in each of its columns.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kingpair.workers.errors import BadSelection
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.outcome import Outcome
from kingpair.workers.number_types import STRONGER, WEAKER, Side, Slot
from kingpair.workers.table.fens import fen_at
from kingpair.workers.table.format import COLUMNS, Counts
from kingpair.workers.table.scan import Section, SlotMask
from kingpair.workers.table.value import MAX_MOVES, moves_of, outcome_of, value_of, value_range


class TablePosition(NamedTuple):
    """A position of a table and its value."""

    run: int
    slot: Slot
    side: Side
    value: int

    @property
    def to_move(self) -> str:
        return COLUMNS[self.side]

    @property
    def outcome(self) -> Outcome:
        return outcome_of(self.value)

    @property
    def moves(self) -> int | None:
        return moves_of(self.value)

    def fen(self, material: Material) -> str:
        return fen_at(material, self.run, self.slot, self.side)


class DepthRange(NamedTuple):
    """A range of numbers of moves, both ends included."""

    first: int = 0
    last: int = MAX_MOVES


@dataclass(frozen=True, slots=True)
class PositionFilter:
    """Positions by side to move, outcome and moves.  A filter with `depths` excludes draws."""

    sides: tuple[Side, ...] = (STRONGER, WEAKER)
    outcomes: tuple[Outcome, ...] = tuple(Outcome)
    depths: DepthRange | None = None

    def __post_init__(self) -> None:
        if self.depths is None:
            return
        if self.outcomes == (Outcome.DRAW,):
            raise BadSelection("a draw has no depth; give either a result or a depth")
        if self.depths.first > self.depths.last:
            raise BadSelection(
                f"no depth is from {self.depths.first} to {self.depths.last}; "
                "name the smaller number first"
            )

    def has(self, value: int) -> bool:
        return any(low <= value <= high for low, high in self._ranges())

    def mask(self, section: Section, side: Side) -> SlotMask:
        """The slots of a section that hold a selected position, as a mask."""
        counted = section.holds_position(side)
        if len(self.outcomes) == len(Outcome) and self.depths is None:
            return counted
        values = section.values(side)
        chosen = np.zeros(values.size, np.bool_)
        for low, high in self._ranges():
            chosen |= (values >= low) & (values <= high)
        return chosen & counted

    def count(self, counts: Counts) -> int:
        """The number of distinct positions of a table that are selected, by its counts."""
        return sum(self._count(counts[COLUMNS[side]]) for side in self.sides)

    def _count(self, side: Counts) -> int:
        drawn: int = side["draw"] if self.has(0) else 0
        decided: list[int] = [
            number
            for outcome in (Outcome.WIN, Outcome.LOSS)
            for moves, number in side[outcome].items()
            if self.has(value_of(outcome, int(moves)))
        ]
        return drawn + sum(decided)

    def _ranges(self) -> list[tuple[int, int]]:
        """The selected ranges of values, both ends included."""
        first, last = self.depths or DepthRange()
        return [
            value_range(outcome, first, last)
            for outcome in self.outcomes
            if outcome is not Outcome.DRAW or self.depths is None
        ]
