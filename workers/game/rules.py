"""The rules of any game: each game has one value of them, and a position knows its game.

Those of Chinese chess are imported when they are first needed.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, Protocol

from kingpair.workers.game.chess import fen as chess_fen
from kingpair.workers.game.chess import moves as chess_moves
from kingpair.workers.game.chess import notation as chess_notation
from kingpair.workers.game.chess.position import Colour, Move, Position, in_check
from kingpair.workers.game.game import CHESS, XIANGQI

_XIANGQI_RANKS = 10


class Rules(NamedTuple):
    """The functions of a game.  Each gets positions of its own game alone."""

    parse_fen: Callable[[str], Position]
    fen: Callable[[Any], str]
    ranks: Callable[[str], str]
    """FEN's first field of a board."""
    place: Callable[[str, Colour], Position]
    """A position without rights from a board and the side to move."""
    legal_moves: Callable[[Any], tuple[Move, ...]]
    can_move: Callable[[Any], bool]
    play: Callable[[Any, Move], Position]
    write_move: Callable[..., str]
    """A legal move for people, without a sign of check or mate."""


def _chess() -> Rules:
    return Rules(
        chess_fen.parse_fen,
        chess_fen.fen,
        chess_fen.ranks_of,
        Position,
        chess_moves.legal_moves,
        chess_moves.can_move,
        chess_moves.play,
        chess_notation.san_of,
    )


def _xiangqi() -> Rules:
    from kingpair.workers.game.xiangqi import fen, position

    return Rules(
        fen.parse_xiangqi,
        fen.fen_text,
        fen.board_text,
        position.XiangqiPosition,
        position.legal_moves,
        position.can_move,
        position.play,
        position.write_move,
    )


_RULES = {CHESS.name: _chess, XIANGQI.name: _xiangqi}


@cache
def rules_of(game_name: str) -> Rules:
    return _RULES[game_name]()


class HasFen(Protocol):
    """An object with a `fen()`, such as python-chess's Board, which we do not import."""

    def fen(self) -> str: ...


def position_of(source: str | Position | HasFen) -> Position:
    """The position given as a FEN, as a position or as an object with a `fen()`."""
    if isinstance(source, Position):
        return source
    return parse_fen(source if isinstance(source, str) else source.fen())


def parse_fen(text: str) -> Position:
    """Reads a FEN of any game, of two to six fields with spaces or underscores between them."""
    board = text.replace("_", " ").split(" ", 1)[0]
    # The rules of chess explain what is wrong with a FEN of no game.
    game = XIANGQI if board.count("/") == _XIANGQI_RANKS - 1 else CHESS
    return rules_of(game.name).parse_fen(text)


def fen(position: Position) -> str:
    """The FEN with all six fields."""
    return rules_of(position.game.name).fen(position)


def ranks_of(position: Position, board: str | None = None) -> str:
    """FEN's first field, of the position's board or of another board of its game."""
    return rules_of(position.game.name).ranks(position.board if board is None else board)


def legal_moves(position: Position) -> tuple[Move, ...]:
    """Every legal move once, always in the same order."""
    return rules_of(position.game.name).legal_moves(position)


def can_move(position: Position) -> bool:
    return rules_of(position.game.name).can_move(position)


def play(position: Position, move: Move) -> Position:
    """The position after a legal move."""
    return rules_of(position.game.name).play(position, move)


def is_capture(position: Position, move: Move) -> bool:
    return chess_moves.is_capture(position, move)


def is_conversion(position: Position, move: Move) -> bool:
    """Whether the move leads to other material: a capture or a promotion."""
    return move.promotion is not None or is_capture(position, move)


def is_zeroing(position: Position, move: Move) -> bool:
    """Whether the move sets the clock of moves without progress to zero."""
    return is_zeroing_pawn_move(position, move) or is_capture(position, move)


def is_zeroing_pawn_move(position: Position, move: Move) -> bool:
    """Whether a pawn moves, in a game in which that sets the clock to zero."""
    return position.game.pawn_move_zeroes and position.board[move.origin] in "Pp"


def is_checkmate(position: Position) -> bool:
    """Whether the side to move has lost: it is mated, or stalemated where that loses."""
    return (position.game.stalemate_loses or in_check(position)) and not can_move(position)


def is_stalemate(position: Position) -> bool:
    """Whether the game is drawn because the side to move has no move."""
    return not (position.game.stalemate_loses or in_check(position) or can_move(position))
