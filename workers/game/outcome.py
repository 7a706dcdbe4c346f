"""The result of a position for the side to move, with best play by both sides."""

from enum import StrEnum


class Outcome(StrEnum):
    """The three results, as tables and answers name them."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"
