"""The moves of a position, best first, and the best line to mate.

The value of a move is that of the position before it, as if this were the only move:

    win    one move more than the loser then has left
    loss   as many moves as the winner then needs

If a conversion ends the phase, the count ends there: a winning capture is a win in 1, a losing one
a loss in 0.  The count in plies (dtz) ends with any move that sets the clock to zero (`answer.py`).

The winner chooses the shortest way to the next conversion, the loser the longest.  Of equal moves
mate comes first, then the best result in the next phase, then the alphabet.  So the line is always
the same.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kingpair.workers.ask.answer import Answer, value_by
from kingpair.workers.ask.position_report import MoveFacts, PositionReport
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.chess.moves import Move
from kingpair.workers.game.chess.position import Colour, Position
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.notation import GameResult, san, uci
from kingpair.workers.game.rules import is_checkmate, is_conversion, is_zeroing, legal_moves, play


class RatedMove(NamedTuple):
    """A legal move with its value for the mover; None if there is no table."""

    move: Move
    uci: str
    san: str
    answer: Answer | None
    conversion: bool
    zeroing: bool
    mate: bool
    after: Answer | None  # the value of the position after the move, for its side to move


def rated_moves(
    tablebase: Tablebase, position: Position, metric: Metric = Metric.DTC
) -> list[RatedMove]:
    """All legal moves, best first; moves without a known value come last."""
    found = []
    for move in legal_moves(position):
        try:
            after = tablebase.probe(play(position, move), metric)
        except MissingTableError:
            after = None
        found.append(rated_move(position, move, after, metric))
    return sorted(found, key=rank)


def rated_move(position: Position, move: Move, after: Answer | None, metric: Metric) -> RatedMove:
    """A move with its names, rated by the value of the position after it."""
    kind = is_conversion(position, move), is_zeroing(position, move)
    value = None if after is None else value_by(metric, after, *kind)
    can_mate = after is None or (after.wdl < 0 and after.moves == 0)
    mate = can_mate and is_checkmate(play(position, move))
    return RatedMove(move, uci(move), san(position, move), value, *kind, mate, after)


def rated_moves_of(found: PositionReport, metric: Metric) -> list[RatedMove]:
    """The rated moves of a position report, which also knows what the rules decide."""
    return sorted((_seen_option(reply, metric) for reply in found.replies), key=rank)


def _seen_option(reply: MoveFacts, metric: Metric) -> RatedMove:
    after, kind = reply.after.by(metric), (reply.conversion, reply.zeroing)
    value = None if after is None else value_by(metric, after, *kind)
    return RatedMove(reply.move, reply.uci, reply.san, value, *kind, reply.after.mate, after)


def rank(option: RatedMove) -> tuple[object, ...]:
    """The place of a move among the others: the least is the best."""
    answer, after = option.answer, option.after
    if answer is None or after is None:
        return 1, 0, 0, False, 0, option.uci
    # The winner prefers fewer moves, the loser more, also in the phase after a conversion.
    return (
        0,
        -answer.wdl,
        answer.wdl * answer.moves,
        not option.mate,
        answer.wdl * after.moves,
        option.uci,
    )


class LineMove(NamedTuple):
    """A move of a line, with the position before it and that position's value."""

    position: Position
    option: RatedMove
    answer: Answer


def best_line(
    tablebase: Tablebase, position: Position, metric: Metric = Metric.DTC
) -> Iterator[LineMove]:
    """Yields the best moves of both sides up to mate; none in a draw.

    Raises MissingTableError if the table that the best move leads into is missing.
    """
    while True:
        answer = tablebase.probe(position, metric)
        if answer.wdl == 0:
            return
        found = rated_moves(tablebase, position, metric)
        if not found:
            return
        if found[0].answer != answer:
            unknown = next(option.move for option in found if option.answer is None)
            tablebase.probe(play(position, unknown), metric)
        yield LineMove(position, found[0], answer)
        position = play(position, found[0].move)


def result_of(position: Position, answer: Answer) -> GameResult:
    """The result of the game with best play."""
    if answer.wdl == 0:
        return GameResult.DRAW
    white_wins = (position.turn is Colour.WHITE) == (answer.wdl > 0)
    return GameResult.WHITE_WINS if white_wins else GameResult.BLACK_WINS
