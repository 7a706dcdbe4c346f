"""The value of a position from the values after its moves, such as one that no packed table stores.

A packed table holds the values with one side to move (table/packed.py).  Each legal move leads into
that column, or into a smaller table.  If both sides have the same men, the position with the
colours swapped has the same value and is stored.

Cost: some 20 microseconds a move, and the pages that the moves lead to: about a dozen.
"""

from collections.abc import Callable, Sequence

from kingpair.workers.ask.addresses import RowAddress
from kingpair.workers.ask.answer import Answer, better, value_by
from kingpair.workers.game.chess.moves import Move
from kingpair.workers.game.chess.position import Position, in_check
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.packed_material import unpack_material
from kingpair.workers.game.rules import fen, is_conversion, is_zeroing, legal_moves, parse_fen, play
from kingpair.workers.number_types import SIDES
from kingpair.workers.table.fens import fen_of_row
from kingpair.workers.table.page_cache import PageKey
from kingpair.workers.table.value import Values

Addresses = Callable[[list[str]], Sequence[RowAddress | None]]
AnswerAt = Callable[[RowAddress], Answer | None]

SeenPages = dict[PageKey, Values]

DRAW, LOST = Answer(0, 0), Answer(-1, 0)


def derived_answer(
    place: RowAddress, metric: Metric, addresses: Addresses, answer_at: AnswerAt
) -> Answer | None:
    """The value of a row; None if a table that it follows from is missing."""
    material = unpack_material(place.material)
    position = parse_fen(fen_of_row(material, place.row, SIDES[place.weaker_to_move]))
    if material.stronger == material.weaker:
        (found,) = _answers([_swapped(position)], addresses, answer_at)
        return found
    moves = legal_moves(position)
    if not moves:
        return LOST if in_check(position) else DRAW
    after = _answers([play(position, move) for move in moves], addresses, answer_at)
    return value_by_moves(position, moves, after, metric)


def value_by_moves(
    position: Position, moves: Sequence[Move], after: Sequence[Answer | None], metric: Metric
) -> Answer | None:
    """The value of a position by the values after its legal moves; None if there are no moves, or
    if one of the values is not known.
    """
    if None in after:
        return None
    matters = is_zeroing if metric.counts_plies else is_conversion
    # Most moves are alike: what is the same for some is computed once.
    kinds = {(answer, matters(position, move)) for move, answer in zip(moves, after, strict=True)}
    values = [value_by(metric, answer, kind, kind) for answer, kind in kinds if answer is not None]
    return max(values, key=better, default=None)


def _answers(
    positions: list[Position], addresses: Addresses, answer_at: AnswerAt
) -> list[Answer | None]:
    places = addresses(list(map(fen, positions)))
    return [None if place is None else answer_at(place) for place in places]


def _swapped(position: Position) -> Position:
    """Swaps the colours of a position, and turns the board upside down."""
    ranks = [position.board[at : at + 8] for at in range(0, 64, 8)]
    return Position("".join(reversed(ranks)).swapcase(), position.turn.other)
