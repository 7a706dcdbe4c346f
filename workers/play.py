"""What to play: every move with its value, best first, and the best line to mate.

A move's value is that of the position before it if this move is made:

    win    one more than the loser then has left
    loss   what the winner then needs

A metric that counts to the conversion counts no further: a winning capture is worth 1, a losing
one 0.

The winner takes the shortest way to the next conversion, the loser the longest; of equal moves
the mate, then the one that does best in the phase after, then the first in the alphabet, so that
a line is the same wherever it is asked.
"""

from collections.abc import Iterator
from typing import NamedTuple

from workers.errors import MissingTableError
from workers.metric import Metric
from workers.moves import Move, is_capture, is_checkmate, legal_moves, play
from workers.notation import Result, san, uci
from workers.position import Colour, Position
from workers.probe import Answer, Tablebase
from workers.survey import Reply, Survey


class Option(NamedTuple):
    """A legal move, what it is worth to the mover (None: no table), and whether it leaves the
    table.
    """

    move: Move
    uci: str
    san: str
    answer: Answer | None
    conversion: bool
    mate: bool
    after: Answer | None  # the value of the position after the move, for its side to move


def options(tablebase: Tablebase, position: Position, metric: Metric = Metric.DTC) -> list[Option]:
    """All legal moves, best first; moves whose result is not known come last."""
    found = (_option(tablebase, position, move, metric) for move in legal_moves(position))
    return sorted(found, key=_rank)


def _option(tablebase: Tablebase, position: Position, move: Move, metric: Metric) -> Option:
    child = play(position, move)
    capture = is_capture(position, move)
    mate = is_checkmate(child)
    try:
        after = tablebase.probe(child, metric)
    except MissingTableError:
        after = None
    value = None if after is None else before(after, capture and metric is Metric.DTC)
    return Option(move, uci(move), san(position, move), value, capture, mate, after)


def options_of(found: Survey, metric: Metric) -> list[Option]:
    """The same from a survey, which knows more: also what the rules alone say."""
    return sorted((_seen_option(reply, metric) for reply in found.replies), key=_rank)


def _seen_option(reply: Reply, metric: Metric) -> Option:
    after, capture = reply.after.by(metric), reply.capture
    value = None if after is None else before(after, capture and metric is Metric.DTC)
    return Option(reply.move, reply.uci, reply.san, value, capture, reply.after.mate, after)


def before(after: Answer, ends_phase: bool) -> Answer:
    """What a move is worth that leads to `after`, the value for the opponent."""
    if after.wdl < 0:
        return Answer(1, 1 if ends_phase else after.moves + 1)
    if after.wdl > 0:
        return Answer(-1, 0 if ends_phase else after.moves)
    return Answer(0, 0)


def _rank(option: Option) -> tuple[object, ...]:
    answer, after = option.answer, option.after
    if answer is None or after is None:
        return 1, 0, 0, False, 0, option.uci
    # The winner hurries, the loser delays: also in the phase after a conversion.
    return (
        0,
        -answer.wdl,
        answer.wdl * answer.moves,
        not option.mate,
        answer.wdl * after.moves,
        option.uci,
    )


class Step(NamedTuple):
    """A move of a line, from the position before it, with that position's value."""

    position: Position
    option: Option
    answer: Answer


def best_line(
    tablebase: Tablebase, position: Position, metric: Metric = Metric.DTC
) -> Iterator[Step]:
    """The best moves of both sides up to mate; none in a draw.  Where a table that the best move
    leads into is missing, MissingTableError.
    """
    while True:
        answer = tablebase.probe(position, metric)
        if answer.wdl == 0:
            return
        found = options(tablebase, position, metric)
        if not found:
            return
        if found[0].answer != answer:
            unknown = next(option.move for option in found if option.answer is None)
            tablebase.probe(play(position, unknown), metric)
        yield Step(position, found[0], answer)
        position = play(position, found[0].move)


def result_of(position: Position, answer: Answer) -> Result:
    """How the game ends with best play."""
    if answer.wdl == 0:
        return Result.DRAW
    white_wins = (position.turn is Colour.WHITE) == (answer.wdl > 0)
    return Result.WHITE_WINS if white_wins else Result.BLACK_WINS
