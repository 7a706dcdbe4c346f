"""Which positions of a table are meant: who is to move, how it ends for them, in how many moves.

To a table this is a few runs of numbers in either column.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workers.errors import BadSelection
from workers.material import STRONGER, WEAKER, Material
from workers.outcome import Outcome, moves_of, outcome_of, value_of
from workers.painting import fen_of
from workers.sections import Flags, Section
from workers.table import COLUMNS, Counts

DEEPEST = 32766  # of what fits a table's widest column


class Entry(NamedTuple):
    """A position of a table and its value."""

    pair: int
    slot: int
    side: int
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
        return fen_of(material, self.pair, self.slot, self.side)


class Depths(NamedTuple):
    """A run of numbers of moves, both ends included."""

    first: int = 0
    last: int = DEEPEST


@dataclass(frozen=True, slots=True)
class Selection:
    """Positions by side to move, outcome and moves; with `depths`, those that are not drawn."""

    sides: tuple[int, ...] = (STRONGER, WEAKER)
    outcomes: tuple[Outcome, ...] = tuple(Outcome)
    depths: Depths | None = None

    def __post_init__(self) -> None:
        if self.depths is None:
            return
        if self.outcomes == (Outcome.DRAW,):
            raise BadSelection("a draw has no depth; leave one of the two out")
        if self.depths.first > self.depths.last:
            raise BadSelection(
                f"depths from {self.depths.first} to {self.depths.last} are none; "
                "name the smaller first"
            )

    def has(self, value: int) -> bool:
        return any(low <= value <= high for low, high in self._runs())

    def of(self, section: Section, side: int) -> Flags:
        """The slots of a section that hold a position which is meant."""
        counted = section.counted(side)
        if len(self.outcomes) == len(Outcome) and self.depths is None:
            return counted
        values = section.values(side)
        chosen = np.zeros(values.size, np.bool_)
        for low, high in self._runs():
            chosen |= (values >= low) & (values <= high)
        return chosen & counted

    def positions(self, counts: Counts) -> int:
        """How many distinct positions of a table are meant, by its counts."""
        return sum(self._positions(counts[COLUMNS[side]]) for side in self.sides)

    def _positions(self, side: Counts) -> int:
        drawn: int = side["draw"] if self.has(0) else 0
        decided: list[int] = [
            number
            for outcome in (Outcome.WIN, Outcome.LOSS)
            for moves, number in side[outcome].items()
            if self.has(value_of(outcome, int(moves)))
        ]
        return drawn + sum(decided)

    def _runs(self) -> list[tuple[int, int]]:
        """The table's numbers that are meant, from low to high."""
        first, last = self.depths or Depths()
        runs = {
            Outcome.WIN: (max(first, 1), last),
            Outcome.DRAW: (0, 0),
            Outcome.LOSS: (-last - 1, -first - 1),
        }
        meant = (o for o in self.outcomes if o is not Outcome.DRAW or self.depths is None)
        return [runs[outcome] for outcome in meant]
