"""What a verification can say of a table: sound, or the first thing that is not so.

A value that contradicts its successors comes before a figure that its values do not add up to.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from workers.material import Material
from workers.table import COLUMNS, Counts


class Wrong(NamedTuple):
    """A position whose value does not follow from its successors."""

    fen: str
    to_move: str
    value: int
    expected: int
    row: int

    def __str__(self) -> str:
        return (
            f"row {self.row} of column {self.to_move}, {self.fen}: is {worded(self.value)}, "
            f"should be {worded(self.expected)}"
        )


class Miscounted(NamedTuple):
    """A figure among the table's counts that is not what its values add up to."""

    to_move: str
    figure: str
    value: object
    expected: object

    def __str__(self) -> str:
        return (
            f"counts, {self.to_move} to move, {self.figure}: is {self.value}, "
            f"should be {self.expected}"
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the verification of a table found.

    `white` and `black` count the positions checked by side to move, `contradictions` those whose
    value does not follow; `fault` is the first of them, or else the first figure miscounted.
    """

    material: Material
    metric: str
    rows: int
    white: int
    black: int
    contradictions: int
    fault: Wrong | Miscounted | None
    seconds: float

    @property
    def sound(self) -> bool:
        return self.fault is None


def worded(value: int) -> str:
    if value == 0:
        return "0 (draw)"
    return f"{value} (win in {value})" if value > 0 else f"{value} (loss in {-value - 1})"


def miscounted(stated: Counts, counted: Counts) -> Iterator[Miscounted]:
    """The figures that differ, in an order of their own."""
    for name in COLUMNS:
        yield from _differences(name, "", stated.get(name), counted[name])
        longest = stated.get("longest")
        one = longest.get(name) if isinstance(longest, dict) else None
        yield from _differences(name, "longest", one, counted["longest"][name])


def _differences(name: str, figure: str, stated: Any, counted: Any) -> Iterator[Miscounted]:
    if isinstance(stated, dict) and isinstance(counted, dict):
        for key in sorted(stated.keys() | counted.keys(), key=lambda key: (len(key), key)):
            path = f"{figure} {key}".strip()
            yield from _differences(name, path, stated.get(key), counted.get(key))
    elif stated != counted:
        yield Miscounted(name, figure, stated, counted)
