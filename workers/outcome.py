"""How a position ends for the side to move, and how a table's numbers say it.

n > 0    wins in n moves
0        draws
n < 0    loses in -n - 1 moves
"""

from enum import StrEnum


class Outcome(StrEnum):
    """For the side to move."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


def outcome_of(value: int) -> Outcome:
    if value > 0:
        return Outcome.WIN
    return Outcome.LOSS if value < 0 else Outcome.DRAW


def moves_of(value: int) -> int | None:
    """In how many moves of the winner; None for a draw."""
    if value == 0:
        return None
    return value if value > 0 else -value - 1


def value_of(outcome: Outcome, moves: int) -> int:
    assert outcome is not Outcome.DRAW, "a draw has no number of moves"
    return moves if outcome is Outcome.WIN else -moves - 1
