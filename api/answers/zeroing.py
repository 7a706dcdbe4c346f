"""Distances to zeroing (DTZ): from its own tables, or from those that count to a conversion (DTC).

A DTZ table has the exact plies.  From a DTC table they follow in part.

Without pawns a capture is the only move that sets the half-move clock to zero, so that the plies to
the next one follow from a DTC table wherever

    every later phase ends within fifty moves, else the fifty-move rule can ask for a longer way;
    or the way to the next capture takes more than a hundred plies, however it is chosen.

A side that wins in n moves ends the phase on ply 2n - 1, or its opponent must on ply 2n.  So most
distances are known up to a ply, as those of Syzygy tables are: the smaller is `dtz`.  A distance is
exact, and is `precise_dtz`, where no capture by the loser loses, and where the next move decides.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kingpair.api.answers.fifty import CLAIM, PAWNS, Known, soonest, winner
from kingpair.workers.ask.answer import Answer
from kingpair.workers.ask.position_report import MoveFacts, PositionFacts
from kingpair.workers.game.chess.position import Position
from kingpair.workers.game.metric import Metric
from kingpair.workers.syzygy.distance import SyzygyAnswer


class Plies(NamedTuple):
    """Plies to the next zeroing move or to mate: at least, at most, and who wins by it.

    `sign` is 1 if the side to move wins, -1 if it loses, 0 in a draw.
    """

    sign: int
    least: int
    most: int

    @property
    def dtz(self) -> int:
        return self.sign * self.least

    @property
    def precise(self) -> int | None:
        return self.dtz if self.least == self.most else None


DRAW, MATED, NEXT = Plies(0, 0, 0), Plies(-1, 1, 1), Plies(1, 1, 1)


def plies(seen: PositionFacts, phases: Known) -> Plies | None:
    """The plies of a position by its own tables; None where they do not decide them."""
    if seen.mate:
        return MATED
    if seen.answer is None:
        return None if seen.syzygy is None else _by_syzygy(seen.syzygy)
    if seen.answer.wdl == 0:
        return DRAW
    if (to_zeroing := seen.by(Metric.DTZ)) is not None:
        return exactly(to_zeroing)
    to_mate, to_conversion = seen.by(Metric.DTM), seen.by(Metric.DTC)
    if to_mate is not None and (to_mate.wdl, to_mate.moves) == (1, 1):
        return NEXT
    return None if to_conversion is None else counted(seen.position, to_conversion, phases)


def _by_syzygy(answer: SyzygyAnswer) -> Plies:
    """The plies of a Syzygy file: 100 more where a later phase spoils the result, too."""
    more = abs(answer.dtz) - answer.least
    return Plies(answer.sign, answer.least + more, answer.most + more)


def exactly(dtz: Answer) -> Plies:
    """The plies of a DTZ table where the game goes on."""
    return Plies(dtz.wdl, dtz.moves, dtz.moves)


def counted(position: Position, dtc: Answer, phases: Known) -> Plies | None:
    """The plies by a value of a DTC table, if the game is not over."""
    if dtc.wdl == 0:
        return DRAW
    if not PAWNS.isdisjoint(position.board):
        return None
    known, least = phases(position), max(1, soonest(dtc))
    is_exact = dtc.moves == 0 or winner(position, dtc) in known.exact
    most = least if is_exact else least + 1
    decided = least > CLAIM or (most <= CLAIM and known.short)
    return Plies(dtc.wdl, least, most) if decided else None


def plies_by_moves(
    own: Plies | None, replies: Sequence[MoveFacts], after: Sequence[Plies | None]
) -> Plies | None:
    """The plies of a position, narrowed by the plies after each of its moves."""
    one_on = [_before(reply, each) for reply, each in zip(replies, after, strict=True)]
    if NEXT in one_on:
        return NEXT
    known = [each for each in one_on if each is not None]
    if not known or len(known) < len(one_on):
        return own
    best = max(each.sign for each in known)
    ways = [each for each in known if each.sign == best]
    choose = min if best > 0 else max
    found = Plies(best, choose(w.least for w in ways), choose(w.most for w in ways))
    if own is None:
        return found
    return Plies(best, max(own.least, found.least), min(own.most, found.most))


def _before(reply: MoveFacts, after: Plies | None) -> Plies | None:
    """The plies of a position if this move is made."""
    if after is None or after.sign == 0:
        return after
    if not (reply.zeroing or reply.after.mate):
        return Plies(-after.sign, after.least + 1, after.most + 1)
    # A draw can be claimed in the phase that such a capture leads into.
    return None if after.least > CLAIM else Plies(-after.sign, 1, 1)
