"""A chess position as a value, and which squares its men attack.

Squares are counted a1 = 0, b1 = 1, ..., h8 = 63: file = square & 7, rank = square >> 3.
A board is a string of 64 characters, one for each square: FEN's letter of the man, or `.`.
So a position is small and can be hashed. Two that allow the same moves are equal but for their
clocks: a castling right is kept only with king and rook in place, and an en passant square only
while a pawn can lawfully capture there.

How a position could have come about in a game is not asked: tables hold many that could not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from workers.material import Material

EMPTY = "."
SQUARES = tuple(f"{file}{rank}" for rank in "12345678" for file in "abcdefgh")


class Men(NamedTuple):
    """The letters that one side's men have on a board."""

    king: str
    queen: str
    rook: str
    bishop: str
    knight: str
    pawn: str


_WITHOUT_KINGS = str.maketrans("", "", EMPTY + "Kk")
_WHITE_MEN = Men(*"KQRBNP")
_BLACK_MEN = Men(*"kqrbnp")


class Colour(Enum):
    """A side, by its letter in FEN."""

    WHITE = "w"
    BLACK = "b"

    @property
    def other(self) -> "Colour":
        return Colour.BLACK if self is Colour.WHITE else Colour.WHITE

    @property
    def men(self) -> Men:
        return _WHITE_MEN if self is Colour.WHITE else _BLACK_MEN

    @property
    def forward(self) -> int:
        """What one step of a pawn adds to its square."""
        return 8 if self is Colour.WHITE else -8


class Castling(Enum):
    """A right to castle, by its letter in FEN."""

    WHITE_SHORT = "K"
    WHITE_LONG = "Q"
    BLACK_SHORT = "k"
    BLACK_LONG = "q"

    @property
    def colour(self) -> Colour:
        return Colour.WHITE if self.value.isupper() else Colour.BLACK

    @property
    def king(self) -> int:
        """Where the king must stand."""
        return 4 if self.colour is Colour.WHITE else 60

    @property
    def rook(self) -> int:
        """Where the rook must stand."""
        return self.king + 3 if self.value in "Kk" else self.king - 4

    @property
    def step(self) -> int:
        """The king's direction; he goes two steps, and the rook ends on the first of them."""
        return 1 if self.value in "Kk" else -1


@dataclass(frozen=True, slots=True)
class Position:
    """All that decides which moves are legal, and the two clocks."""

    board: str
    turn: Colour
    castling: frozenset[Castling] = frozenset()
    en_passant: int | None = None
    half_moves: int = 0
    """Since the last capture or pawn move, by either side."""
    full_move: int = 1

    def king(self, colour: Colour) -> int:
        return self.board.index(colour.men.king)


INITIAL = Position(
    "RNBQKBNRPPPPPPPP" + EMPTY * 32 + "pppppppprnbqkbnr", Colour.WHITE, frozenset(Castling)
)


# How men move on an empty board, derived once for every square.


def _ray(square: int, step: tuple[int, int]) -> Iterator[int]:
    file, rank = (square & 7) + step[0], (square >> 3) + step[1]
    while 0 <= file < 8 and 0 <= rank < 8:
        yield 8 * rank + file
        file, rank = file + step[0], rank + step[1]


def _rays(*steps: tuple[int, int]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """For each square the lines that lead away from it, nearest square first, none empty."""
    lines = (tuple(tuple(_ray(square, step)) for step in steps) for square in range(64))
    return tuple(tuple(line for line in square if line) for square in lines)


def _leaps(*steps: tuple[int, int]) -> tuple[tuple[int, ...], ...]:
    """For each square those one step away."""
    return tuple(tuple(sorted(line[0] for line in lines)) for lines in _rays(*steps))


_STRAIGHT = ((1, 0), (0, 1), (-1, 0), (0, -1))
_DIAGONAL = ((1, 1), (-1, 1), (-1, -1), (1, -1))
_L_SHAPED = ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1))

ROOK = _rays(*_STRAIGHT)
BISHOP = _rays(*_DIAGONAL)
QUEEN = _rays(*_STRAIGHT, *_DIAGONAL)
KING = _leaps(*_STRAIGHT, *_DIAGONAL)
KNIGHT = _leaps(*_L_SHAPED)
_WHITE_PAWN = _leaps((-1, 1), (1, 1))
_BLACK_PAWN = _leaps((-1, -1), (1, -1))


def pawn_captures(colour: Colour, square: int) -> tuple[int, ...]:
    """The squares that a pawn of that colour attacks."""
    return (_WHITE_PAWN if colour is Colour.WHITE else _BLACK_PAWN)[square]


def attacked(board: str, square: int, by: Colour) -> bool:
    """Whether a man of that colour could capture on the square, pinned or not."""
    king, queen, rook, bishop, knight, pawn = by.men
    # Few men are on these boards: most kinds need no look.
    return (
        _stands(board, king, KING[square])
        or (knight in board and _stands(board, knight, KNIGHT[square]))
        or (pawn in board and _stands(board, pawn, pawn_captures(by.other, square)))
        or ((rook in board or queen in board) and _looks(board, rook + queen, ROOK[square]))
        or ((bishop in board or queen in board) and _looks(board, bishop + queen, BISHOP[square]))
    )


def _stands(board: str, man: str, squares: tuple[int, ...]) -> bool:
    for square in squares:  # noqa: SIM110 - a generator costs more than all its looks
        if board[square] == man:
            return True
    return False


def _looks(board: str, sliders: str, rays: tuple[tuple[int, ...], ...]) -> bool:
    """Whether the first man on any of the lines is one of the sliders."""
    for ray in rays:
        for square in ray:
            man = board[square]
            if man != EMPTY:
                if man in sliders:
                    return True
                break
    return False


def in_check(position: Position) -> bool:
    """Whether the king of the side to move is attacked."""
    return attacked(position.board, position.king(position.turn), position.turn.other)


def en_passant_captors(board: str, turn: Colour, target: int) -> tuple[int, ...]:
    """The squares of the pawns that may lawfully capture en passant on the target.

    It takes two men off a rank at once, which no rule about pins foresees: so it is tried out.
    """
    pawn, king = turn.men.pawn, turn.men.king
    captors = []
    for origin in pawn_captures(turn.other, target):
        if board[origin] == pawn:
            men = list(board)
            men[origin], men[target], men[target - turn.forward] = EMPTY, pawn, EMPTY
            after = "".join(men)
            if not attacked(after, after.index(king), turn.other):
                captors.append(origin)
    return tuple(captors)


def insufficient_material(position: Position) -> bool:
    """Whether no sequence of legal moves can mate: bare kings, one knight, or like bishops."""
    if any(man in position.board for man in "QRPqrp"):
        return False
    men = [(man, square) for square, man in enumerate(position.board) if man not in ".Kk"]
    if all(man in "Bb" for man, _ in men):
        return len({(square ^ square >> 3) & 1 for _, square in men}) <= 1
    return len(men) == 1 and men[0][0] in "Nn"


def material_of(position: Position) -> tuple[Material, bool]:
    """The men on the board, and whether Black is the stronger side of that material."""
    men = position.board.translate(_WITHOUT_KINGS)
    white = "".join(filter(str.isupper, men))
    black = "".join(filter(str.islower, men)).upper()
    return Material.of(white, black)
