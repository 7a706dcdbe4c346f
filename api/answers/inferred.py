"""The value of a position without a table of its own, as far as its moves decide it.

Such are positions with castling rights, which no table covers, and those whose table is not built
yet.  One known winning move says who wins.  In how many moves is known once every move is, or where
no other move can be quicker: mate, or a capture where only conversions count.
"""

from typing import NamedTuple

from kingpair.workers.ask.answer import Answer
from kingpair.workers.ask.play import RatedMove, rated_moves_of
from kingpair.workers.ask.position_report import PositionReport
from kingpair.workers.game.metric import Metric


class Inferred(NamedTuple):
    """The result, 1, 0 or -1 for the side to move; the answer where its moves are certain."""

    wdl: int | None
    answer: Answer | None


def inferred(found: PositionReport, metric: Metric) -> Inferred:
    """By the position's own table if there is one, else by its moves."""
    own = found.here.by(metric)
    if own is not None:
        return Inferred(own.wdl, own)
    if all(reply.after.by(metric) is None for reply in found.replies):
        return Inferred(None, None)
    return by_options(rated_moves_of(found, metric))


def by_options(options: list[RatedMove]) -> Inferred:
    """Options come best first, those that are not known last."""
    best = options[0].answer if options else None
    if best is None:
        return Inferred(None, None)
    is_certain = options[-1].answer is not None or best == Answer(1, 1)
    if is_certain or best.wdl > 0:
        return Inferred(best.wdl, best if is_certain else None)
    return Inferred(None, None)
