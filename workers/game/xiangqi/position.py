"""A position of Chinese chess: 90 letters, the side to move, and the moves that the rules allow.

FEN's letters are K king, A advisor, B elephant, N horse, R rook, C cannon, P pawn, and `.`; White
(Red) below has capitals.  A side without a legal move has lost, in check or not.  The kings may not
see each other on an open file.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.position import EMPTY, Colour, Move, Position
from kingpair.workers.game.game import XIANGQI, Game
from kingpair.workers.game.xiangqi.board import (
    FILES,
    RANKS,
    RIVER,
    SQUARE_NAMES,
    SQUARES,
    flip,
    squares_of,
)
from kingpair.workers.game.xiangqi.material import FREE, XiangqiMaterial

MEN = "KABNRCP"
_STRAIGHT = ((1, 0), (-1, 0), (0, 1), (0, -1))
_DIAGONAL = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_LEAPS = tuple((f, r) for f in (-2, -1, 1, 2) for r in (-2, -1, 1, 2) if abs(f) != abs(r))


@dataclass(frozen=True, slots=True)
class XiangqiPosition(Position):
    """A board of ten ranks; castling and en passant stay empty."""

    game: ClassVar[Game] = XIANGQI

    def checked(self) -> bool:
        return in_check(self.board, self.turn)

    def material(self) -> tuple[Material, bool]:
        men = self.board.replace(EMPTY, "").replace("K", "").replace("k", "")
        white, black = filter(str.isupper, men), filter(str.islower, men)
        return XiangqiMaterial.of("".join(white), "".join(black).upper())

    def cannot_be_won(self) -> bool:
        """Whether no man is left that can cross the river."""
        return not set(self.board.upper()) & set(FREE)


class XiangqiMove(Move):
    """A move on the larger board."""

    @property
    def names(self) -> tuple[str, str]:
        return SQUARE_NAMES[self.origin], SQUARE_NAMES[self.target]


def colour_of(letter: str) -> Colour:
    return Colour.WHITE if letter.isupper() else Colour.BLACK


def in_check(board: str, colour: Colour) -> bool:
    """Whether a king could be taken, or sees the other king."""
    king = board.index("K" if colour is Colour.WHITE else "k")
    # No other man crosses the river.
    attackers = FREE.lower() if colour is Colour.WHITE else FREE
    for square, man in enumerate(board):
        if man in attackers and king in _targets(board, square):
            return True
    return kings_meet(board)


def legal_moves(position: XiangqiPosition) -> tuple[Move, ...]:
    """Every legal move once, always in the same order."""
    return tuple(_moves(position))


def _moves(position: XiangqiPosition) -> Iterator[Move]:
    board = position.board
    for origin in _men(board, position.turn):
        for target in _reached(board, origin):
            if not in_check(moved(board, origin, target), position.turn):
                yield XiangqiMove(origin, target)


def can_move(position: XiangqiPosition) -> bool:
    return next(_moves(position), None) is not None


def write_move(position: XiangqiPosition, move: Move, _legal: object = None) -> str:
    """A legal move with both squares, such as Ch3xe3."""
    sign = "-" if position.board[move.target] == EMPTY else "x"
    return f"{position.board[move.origin].upper()}{sign.join(move.names)}"


def play(position: XiangqiPosition, move: Move) -> XiangqiPosition:
    """The position after a legal move."""
    captures = position.board[move.target] != EMPTY
    return XiangqiPosition(
        moved(position.board, move.origin, move.target),
        position.turn.other,
        half_moves=0 if captures else position.half_moves + 1,
        full_move=position.full_move + (position.turn is Colour.BLACK),
    )


def moved(board: str, origin: int, target: int) -> str:
    men = list(board)
    men[target], men[origin] = men[origin], EMPTY
    return "".join(men)


def _men(board: str, colour: Colour) -> list[int]:
    return [s for s, man in enumerate(board) if man != EMPTY and colour_of(man) is colour]


def kings_meet(board: str) -> bool:
    """Whether the kings see each other."""
    below, above = board.index("K"), board.index("k")
    if below % FILES != above % FILES:
        return False
    return all(board[square] == EMPTY for square in range(below + FILES, above, FILES))


def _reached(board: str, origin: int) -> list[int]:
    """The squares that a man moves to or takes on, checks aside."""
    own = colour_of(board[origin])
    return [
        target
        for target in _targets(board, origin)
        if board[target] == EMPTY or colour_of(board[target]) is not own
    ]


def _targets(board: str, origin: int) -> Iterator[int]:
    man, upper = board[origin].upper(), board[origin].islower()
    match man:
        case "R" | "C":
            for step in _STRAIGHT:
                yield from _slide(board, origin, step, jumps=man == "C")
        case "N":
            for files, ranks in _LEAPS:
                leg = _at(origin, (files // abs(files) * (abs(files) == 2), _half(ranks)))
                target = _at(origin, (files, ranks))
                if target is not None and leg is not None and board[leg] == EMPTY:
                    yield target
        case "P":
            yield from _advance(origin, upper)
        case _:
            yield from _frame_targets(board, origin, man, upper)


def _half(ranks: int) -> int:
    return ranks // 2 if ranks % 2 == 0 else 0


def _slide(board: str, origin: int, step: tuple[int, int], *, jumps: bool) -> Iterator[int]:
    target = _at(origin, step)
    while target is not None and board[target] == EMPTY:
        yield target
        target = _at(target, step)
    if jumps and target is not None:
        target = _at(target, step)
        while target is not None and board[target] == EMPTY:
            target = _at(target, step)
    if target is not None:
        yield target


def _advance(origin: int, upper: bool) -> Iterator[int]:
    beyond = (flip(origin) if upper else origin) // FILES >= RIVER
    for step in ((0, -1 if upper else 1), *(((1, 0), (-1, 0)) if beyond else ())):
        if (target := _at(origin, step)) is not None:
            yield target


def _frame_targets(board: str, origin: int, man: str, upper: bool) -> Iterator[int]:
    length = 2 if man == "B" else 1
    for files, ranks in _STRAIGHT if man == "K" else _DIAGONAL:
        target, eye = _at(origin, (length * files, length * ranks)), _at(origin, (files, ranks))
        if target in squares_of(man, upper) and (length == 1 or board[eye or 0] == EMPTY):
            yield target or 0


def _at(square: int, step: tuple[int, int]) -> int | None:
    file, rank = square % FILES + step[0], square // FILES + step[1]
    return file + FILES * rank if 0 <= file < FILES and 0 <= rank < RANKS else None


assert len(SQUARES) == FILES * RANKS
