"""Types for the whole numbers that functions take side by side.

Each is an `int` when the program runs; mypy alone tells them apart, so that a call with a swapped
pair of arguments does not pass `make check`.  A number gets its type where it is made: where a
loop counts partitions, a board is read, a pass begins.  Arithmetic gives a plain `int`.
"""

from typing import Final, Literal, NewType

Side = Literal[0, 1]
"""0 is the stronger side of a material, 1 the weaker one."""

STRONGER: Final = 0
WEAKER: Final = 1
SIDES: tuple[Side, Side] = (STRONGER, WEAKER)

Symmetry = NewType("Symmetry", int)
"""A way to turn or mirror the board: 0..7, three bits."""

Partition = NewType("Partition", int)
"""The number of a partition of a domain; in chess that of a pair of kings."""

Slot = NewType("Slot", int)
"""The number of a placing of the other men, within a partition."""

Row = NewType("Row", int)
"""The number of a position of one side to move, within a table."""

Depth = NewType("Depth", int)
"""The number of a pass: moves of the winner until the phase ends, by the metric."""


def opponent(side: Side) -> Side:
    return WEAKER if side == STRONGER else STRONGER
