"""Moves of chess in SAN, the notation for people: `e8=Q`."""

from collections.abc import Sequence

from kingpair.workers.game.chess.moves import is_capture, legal_moves
from kingpair.workers.game.chess.position import SQUARE_NAMES, Move, Position


def san_of(position: Position, move: Move, legal: Sequence[Move] | None = None) -> str:
    """A legal move in SAN without + or #.  A caller with all legal moves passes them as `legal`."""
    letter = position.board[move.origin].upper()
    if letter == "K" and abs(move.target - move.origin) == 2:
        return "O-O" if move.target > move.origin else "O-O-O"
    if letter == "P":
        return _pawn_san(position, move)
    takes = "x" if is_capture(position, move) else ""
    return letter + _which(position, move, legal) + takes + SQUARE_NAMES[move.target]


def _pawn_san(position: Position, move: Move) -> str:
    takes = f"{SQUARE_NAMES[move.origin][0]}x" if is_capture(position, move) else ""
    return takes + SQUARE_NAMES[move.target] + (f"={move.promotion}" if move.promotion else "")


def _which(position: Position, move: Move, legal: Sequence[Move] | None) -> str:
    """The file, rank or square that distinguishes the man from like men that can go there too."""
    man = position.board[move.origin]
    # The search for rivals needs all legal moves, and most men have no like man.
    if position.board.count(man) == 1:
        return ""
    rivals = [
        other.origin
        for other in (legal_moves(position) if legal is None else legal)
        if other.target == move.target and position.board[other.origin] == man
    ]
    rivals.remove(move.origin)
    square = SQUARE_NAMES[move.origin]
    if not rivals:
        return ""
    if not any(rival & 7 == move.origin & 7 for rival in rivals):
        return square[0]
    if not any(rival >> 3 == move.origin >> 3 for rival in rivals):
        return square[1]
    return square
