"""A position and every position one move on, with what all tables and the rules say of each.

One question to the tables answers for all moves: that is what a server is asked all day.  What the
rules say needs no table: mate, stalemate, and men with which nobody can mate.

Cost: some 20 microseconds a move, most of it in play and in the look for checks.  Whether a side
has a move at all is looked for only where no table says that the game goes on.
"""

from typing import NamedTuple

from workers.fen import ranks_of
from workers.metric import Metric
from workers.moves import Move, can_move, is_capture, legal_moves, play
from workers.notation import san_of, uci
from workers.position import EMPTY, Position, in_check, insufficient_material
from workers.probe import Answer, Tablebase

DRAW, LOST = Answer(0, 0), Answer(-1, 0)


class Seen(NamedTuple):
    """A position as the side to move sees it."""

    position: Position
    check: bool
    over: bool
    """Whether there is no legal move."""
    insufficient: bool
    dtc: Answer | None
    dtm: Answer | None

    @property
    def mate(self) -> bool:
        return self.over and self.check

    @property
    def stalemate(self) -> bool:
        return self.over and not self.check

    @property
    def answer(self) -> Answer | None:
        """Who wins, by whichever table there is."""
        return self.dtm if self.dtc is None else self.dtc

    def by(self, metric: Metric) -> Answer | None:
        return self.dtc if metric is Metric.DTC else self.dtm


class Reply(NamedTuple):
    """A legal move, and what the opponent then sees."""

    move: Move
    uci: str
    san: str
    captured: str
    """FEN's letter of the man taken, or nothing."""
    zeroing: bool
    after: Seen

    @property
    def capture(self) -> bool:
        return self.captured != ""

    @property
    def conversion(self) -> bool:
        return self.capture or self.move.promotion is not None


class Survey(NamedTuple):
    """The position, and its legal moves in no order that says anything."""

    here: Seen
    replies: list[Reply]


def survey(tablebase: Tablebase, position: Position, *, wait: bool = True) -> Survey:
    """All that is known; Cold if a block would have to be read and the caller does not `wait`."""
    moves = legal_moves(position)
    children = [play(position, move) for move in moves]
    places = tablebase.places([_text(each) for each in (position, *children)])
    dtc, dtm = (tablebase.look(places, metric, wait=wait) for metric in (Metric.DTC, Metric.DTM))
    here = _seen(position, in_check(position), not moves, dtc[0], dtm[0])
    replies = [
        _reply(position, moves, move, _child(child, dtc[i], dtm[i]))
        for i, (move, child) in enumerate(zip(moves, children, strict=True), 1)
    ]
    return Survey(here, replies)


def _child(position: Position, dtc: Answer | None, dtm: Answer | None) -> Seen:
    known = dtm if dtc is None else dtc
    decided = known is not None and known.wdl != 0 and known != LOST
    return _seen(position, in_check(position), not (decided or can_move(position)), dtc, dtm)


def _seen(
    position: Position, check: bool, over: bool, dtc: Answer | None, dtm: Answer | None
) -> Seen:
    insufficient = insufficient_material(position)
    if over or insufficient:
        dtc = dtm = LOST if over and check else DRAW
    return Seen(position, check, over, insufficient, dtc, dtm)


def _reply(position: Position, moves: tuple[Move, ...], move: Move, after: Seen) -> Reply:
    taken = ""
    if is_capture(position, move):
        taken = position.board[move.target].replace(EMPTY, "P")  # en passant
    sign = "" if not after.check else "#" if after.over else "+"
    text = san_of(position, move, moves) + sign
    zeroing = taken != "" or position.board[move.origin] in "Pp"
    return Reply(move, uci(move), text, taken, zeroing, after)


def _text(position: Position) -> str:
    """What the quick reader needs of a FEN: en passant squares and clocks decide no value."""
    rights = "".join(right.value for right in position.castling) or "-"
    return f"{ranks_of(position.board)} {position.turn.value} {rights} -"
