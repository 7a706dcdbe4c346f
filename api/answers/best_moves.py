"""Best lines for a server: the moves that `best_line` finds, kept by position.

A client that follows a line asks for its rest again after each move, so that nearly all of a line
is known from the question before.  Clocks decide no best move and are left out of what is kept.

Cost: a new position takes about half as long as a whole answer about it, a known one a lookup.
"""

from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock

from kingpair.workers.ask.answer import Answer, better, value_by
from kingpair.workers.ask.play import LineMove, RatedMove, best_line, rank, rated_move
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.game.chess.moves import Move
from kingpair.workers.game.chess.position import SQUARE_NAMES, Colour, Position
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.rules import (
    is_conversion,
    is_zeroing,
    legal_moves,
    play,
    ranks_of,
)

KEPT = 20_000
Key = tuple[str, Colour, Metric]
Best = tuple[RatedMove, Answer]


class BestMoves:
    """The best move of each position that was asked for lately, and that position's value."""

    def __init__(self, tablebase: Tablebase, kept: int = KEPT) -> None:
        self._tablebase = tablebase
        self._most = kept
        self._kept: OrderedDict[Key, Best] = OrderedDict()
        self._lock = Lock()

    def line(self, position: Position, metric: Metric) -> Iterator[LineMove]:
        """Yields the best moves of both sides up to mate; none in a draw.

        Raises MissingTableError if a table is missing on the way.
        """
        while (best := self._best(position, metric)) is not None:
            option, answer = best
            yield LineMove(position, option, answer)
            position = play(position, option.move)

    def forget(self) -> None:
        """Drops what is kept: the tables have changed."""
        with self._lock:
            self._kept.clear()

    def _best(self, position: Position, metric: Metric) -> Best | None:
        if position.castling or position.en_passant is not None:
            return _slow(self._tablebase, position, metric)
        key = position.board, position.turn, metric
        with self._lock:
            if (known := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return known
        found = self._look(position, metric)
        if found is not None:
            self._keep(key, found)
        return found

    def _keep(self, key: Key, found: Best) -> None:
        with self._lock:
            self._kept[key] = found
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def _look(self, position: Position, metric: Metric) -> Best | None:
        moves = legal_moves(position)
        places = self._tablebase.addresses(
            [_text(position, None)] + [_text(position, m) for m in moves]
        )
        answer, *after = self._tablebase.look_up(places, metric)
        if answer is None or None in after:
            return _slow(self._tablebase, position, metric)
        if answer.wdl == 0 or not moves:
            return None
        known = [each for each in after if each is not None]
        return _best_of(position, metric, list(zip(moves, known, strict=True))), answer


def _text(position: Position, move: Move | None) -> str:
    """The position, or the one after a move of a man that is no pawn, as the kernel reads it."""
    if move is None:
        passed = position.en_passant
        target = "-" if passed is None else SQUARE_NAMES[passed]
        return f"{ranks_of(position)} {position.turn.value} - {target}"
    if move.promotion or position.board[move.origin] in "Pp":
        return _text(play(position, move), None)
    men = list(position.board)
    men[move.target], men[move.origin] = men[move.origin], "."
    return f"{ranks_of(position, ''.join(men))} {position.turn.other.value} - -"


def _best_of(position: Position, metric: Metric, found: list[tuple[Move, Answer]]) -> RatedMove:
    """The first of the moves in the order of `rated_moves`; only those that are equal are named."""
    values = [
        value_by(metric, after, is_conversion(position, move), is_zeroing(position, move))
        for move, after in found
    ]
    best = max(values, key=better)
    equal = (each for each, value in zip(found, values, strict=True) if value == best)
    return min((rated_move(position, *each, metric) for each in equal), key=rank)


def _slow(tablebase: Tablebase, position: Position, metric: Metric) -> Best | None:
    """Finds the best move without the cache; MissingTableError names a missing table."""
    for step in best_line(tablebase, position, metric):
        return step.option, step.answer
    return None
