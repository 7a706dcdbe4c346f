"""The encoding of a table's values, for one value and for arrays of them.

    n > 0    the side to move wins in n moves
    0        draw
    n < 0    the side to move loses in -n - 1 moves: -1 is a loss in 0 moves, which is mate on the
             board or a forced conversion

A table of plies (dtz) has plies in place of moves: a win in more than 100 is a cursed win, a loss a
blessed loss, and -1 is mate alone.

Python code encodes and decodes values with the functions of this module and in no other way.
Moves are those of the winner, plies those of both sides.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.game.outcome import Outcome

Values = NDArray[np.signedinteger[Any]]  # int8 or int16

DRAW = 0
MAX_MOVES = 32766  # the most that `smallest_dtype` has a type for


# ---- one value ----


def win_in(moves: int) -> int:
    assert moves > 0, "nobody wins without a move"
    return moves


def loss_in(moves: int) -> int:
    return -moves - 1


def value_of(outcome: Outcome, moves: int = 0) -> int:
    """The value of a result in so many moves; a draw has no number of moves."""
    if outcome is Outcome.DRAW:
        return DRAW
    return win_in(moves) if outcome is Outcome.WIN else loss_in(moves)


def outcome_of(value: int) -> Outcome:
    if value > 0:
        return Outcome.WIN
    return Outcome.LOSS if value < 0 else Outcome.DRAW


def moves_of(value: int) -> int | None:
    """The number of moves, None for a draw."""
    if value == DRAW:
        return None
    return value if value > 0 else -value - 1


def wdl_of(value: int) -> int:
    """1 for a win, 0 for a draw, -1 for a loss."""
    return (value > 0) - (value < 0)


def value_range(outcome: Outcome, first: int, last: int) -> tuple[int, int]:
    """The lowest and the highest value of a result in `first` to `last` moves."""
    if outcome is Outcome.DRAW:
        return DRAW, DRAW
    if outcome is Outcome.WIN:
        return max(first, 1), last
    return loss_in(last), loss_in(first)


# ---- arrays ----


def wdl(values: Values) -> NDArray[np.int8]:
    """1 for a win, 0 for a draw, -1 for a loss."""
    return np.sign(values).astype(np.int8)


def signed_moves(values: Values) -> NDArray[np.int16]:
    """The moves of a win, minus the moves of a loss, 0 for a draw."""
    return values.astype(np.int16) + (values < 0)


def smallest_dtype(deepest: int) -> np.dtype[Any]:
    """The smallest type whose positive numbers reach `deepest` + 1, the size of a loss."""
    return np.dtype(np.int8 if -loss_in(deepest) <= np.iinfo(np.int8).max else np.int16)
