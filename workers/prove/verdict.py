"""The verdict of a verification: the table is sound, or the first fault in it.

A value that contradicts its successors is reported before a wrong count.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from kingpair.workers.game.chess.material import Material
from kingpair.workers.table.format import COLUMNS, Counts
from kingpair.workers.table.value import moves_of, outcome_of

ReportProgress = Callable[[float], None]
"""Called with the share of a table that is done, many times during its verification."""


class WrongValue(NamedTuple):
    """A position whose value does not follow from its successors."""

    fen: str
    to_move: str
    value: int
    expected: int
    row: int

    @property
    def kind(self) -> str:
        """The name of this fault in JSON."""
        return "wrong"

    def __str__(self) -> str:
        return (
            f"row {self.row} of column {self.to_move}, {self.fen}: is {describe(self.value)}, "
            f"should be {describe(self.expected)}"
        )


class WrongCount(NamedTuple):
    """A count in the table's footer that disagrees with the table's values."""

    to_move: str
    figure: str
    value: object
    expected: object

    @property
    def kind(self) -> str:
        """The name of this fault in JSON."""
        return "miscounted"

    def __str__(self) -> str:
        return (
            f"counts, {self.to_move} to move, {self.figure}: is {self.value}, "
            f"should be {self.expected}"
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of the verification of a table.

    `white` and `black` are the numbers of positions checked by side to move, `contradictions` the
    number of wrong values.  `fault` is the first wrong value, else the first wrong count.
    """

    material: Material
    metric: str
    rows: int
    white: int
    black: int
    contradictions: int
    fault: WrongValue | WrongCount | None
    seconds: float

    @property
    def sound(self) -> bool:
        return self.fault is None


def describe(value: int) -> str:
    outcome, moves = outcome_of(value), moves_of(value)
    return f"{value} ({outcome})" if moves is None else f"{value} ({outcome} in {moves})"


def wrong_counts(stated: Counts, counted: Counts) -> Iterator[WrongCount]:
    """Yields the counts that differ, always in the same order."""
    for name in COLUMNS:
        yield from _differences(name, "", stated.get(name), counted[name])
        longest = stated.get("longest")
        one = longest.get(name) if isinstance(longest, dict) else None
        yield from _differences(name, "longest", one, counted["longest"][name])


def _differences(name: str, figure: str, stated: Any, counted: Any) -> Iterator[WrongCount]:
    if isinstance(stated, dict) and isinstance(counted, dict):
        for key in sorted(stated.keys() | counted.keys(), key=lambda key: (len(key), key)):
            path = f"{figure} {key}".strip()
            yield from _differences(name, path, stated.get(key), counted.get(key))
    elif stated != counted:
        yield WrongCount(name, figure, stated, counted)
