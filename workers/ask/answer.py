"""The value of a position as an answer, and the values that answers give to moves.

Where plies are counted, a move that sets the clock of the 50-move rule to zero counts 1, or 101 if
the rule does not let the position after it be won.  Any other move counts a ply more than is left
after it.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.ask.addresses import PositionSource
from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.table.value import loss_in, moves_of, wdl_of

D = TypeVar("D")  # the default of a caller


class Answer(NamedTuple):
    """The value of a position for the side to move: 1, 0 or -1, and the number of moves, or of
    plies if the metric counts them.
    """

    wdl: int
    moves: int

    @property
    def signed(self) -> int:
        """The moves of a win, minus those of a loss; 0 in a draw and in a loss in 0 moves."""
        return self.wdl * self.moves

    @property
    def value(self) -> int:
        """The value as tables encode it."""
        return loss_in(self.moves) if self.wdl < 0 else self.moves


class Answers(NamedTuple):
    """The values of many positions; `known` is false for positions without a table."""

    wdl: NDArray[np.int8]
    moves: NDArray[np.int16]  # signed as `Answer.signed`
    known: NDArray[np.bool_]


@lru_cache(4096)
def answer_of(value: int) -> Answer:
    """A table's value as an answer."""
    return Answer(wdl_of(value), moves_of(value) or 0)


def value_of_move(after: Answer, ends_phase: bool) -> Answer:
    """The value of a move that leads to `after`, the opponent's value."""
    if after.wdl < 0:
        return Answer(1, 1 if ends_phase else after.moves + 1)
    if after.wdl > 0:
        return Answer(-1, 0 if ends_phase else after.moves)
    return Answer(0, 0)


def value_of_ply(after: Answer, zeroes: bool) -> Answer:
    """The value of a move in plies; `zeroes` says whether the move sets the clock to zero."""
    if after.wdl == 0:
        return Answer(0, 0)
    if not zeroes:
        return Answer(-after.wdl, after.moves + 1)
    return Answer(-after.wdl, 1 if after.moves <= CLOCK_LIMIT else CLOCK_LIMIT + 1)


def value_by(metric: Metric, after: Answer, converts: bool, zeroes: bool) -> Answer:
    """The value of a move by a metric."""
    if metric.counts_plies:
        return value_of_ply(after, zeroes)
    return value_of_move(after, converts and metric.conversion_ends_phase)


@lru_cache(4096)
def value_with_right(
    own: Answer, only_moves: bool, after: tuple[Answer, ...], metric: Metric
) -> Answer:
    """The best of the position without the right and of its captures en passant.

    The position without the right does not count if there are no moves but these captures.
    """
    answers = [value_by(metric, answer, converts=True, zeroes=True) for answer in after]
    if not only_moves:
        answers.append(own)
    return max(answers, key=better)


def better(answer: Answer) -> tuple[int, int]:
    """The order of answers, the worst for the side to move first."""
    return answer.wdl, -answer.signed


def or_default(
    probe: Callable[[PositionSource], int], source: PositionSource, default: D | None
) -> int | D | None:
    try:
        return probe(source)
    except MissingTableError:
        return default
