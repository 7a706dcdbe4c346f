"""A chess position as a value, and the squares that its men attack.

Squares are counted a1 = 0, b1 = 1, ..., h8 = 63: file = square & 7, rank = square >> 3.
A board is a string of 64 characters, one for each square: FEN's letter of the man, or `.`.
So a position is small and can be hashed. Two positions that allow the same moves differ at most in
their clocks: a position has a castling right only with king and rook in place, and an en passant
square only while a pawn can legally capture there.

A position need not be reachable in a game: tables hold many that are not.
"""

from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import ClassVar, NamedTuple

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.game import CHESS, Game

EMPTY = "."
SQUARE_NAMES = tuple(f"{file}{rank}" for rank in "12345678" for file in "abcdefgh")


class SideLetters(NamedTuple):
    """The letters of one side's men on a board."""

    king: str
    queen: str
    rook: str
    bishop: str
    knight: str
    pawn: str


_WITHOUT_KINGS = str.maketrans("", "", EMPTY + "Kk")
_WHITE_MEN = SideLetters(*"KQRBNP")
_BLACK_MEN = SideLetters(*"kqrbnp")


class Colour(Enum):
    """A side, by its letter in FEN."""

    WHITE = "w"
    BLACK = "b"

    @property
    def other(self) -> "Colour":
        return Colour.BLACK if self is Colour.WHITE else Colour.WHITE

    @property
    def men(self) -> SideLetters:
        return _WHITE_MEN if self is Colour.WHITE else _BLACK_MEN

    @property
    def forward(self) -> int:
        """The difference of squares of a pawn's single step."""
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
        """The king's square before castling."""
        return 4 if self.colour is Colour.WHITE else 60

    @property
    def rook(self) -> int:
        """The rook's square before castling."""
        return self.king + 3 if self.value in "Kk" else self.king - 4

    @property
    def step(self) -> int:
        """The king's direction.  He goes two steps, and the rook ends on the first of them."""
        return 1 if self.value in "Kk" else -1


class Move(NamedTuple):
    """The squares of a move; in castling those of the king.  A promotion is a letter of QRBN."""

    origin: int
    target: int
    promotion: str | None = None

    @property
    def names(self) -> tuple[str, str]:
        """The names of both squares."""
        return SQUARE_NAMES[self.origin], SQUARE_NAMES[self.target]


@dataclass(frozen=True, slots=True)
class Position:
    """A board with the side to move, the rights that decide legal moves, and the two clocks."""

    game: ClassVar[Game] = CHESS

    board: str
    turn: Colour
    castling: frozenset[Castling] = frozenset()
    en_passant: int | None = None
    half_moves: int = 0
    """Since the last capture or pawn move, by either side."""
    full_move: int = 1

    def king(self, colour: Colour) -> int:
        return self.board.index(colour.men.king)

    def checked(self) -> bool:
        """Whether the king of the side to move is attacked."""
        return attacked(self.board, self.king(self.turn), self.turn.other)

    def material(self) -> tuple[Material, bool]:
        """The men on the board, and whether Black is the stronger side of that material."""
        return Material.of(*_men_of_sides(self.board))

    def cannot_be_won(self) -> bool:
        """Whether no legal moves lead to mate: bare kings, one knight, or bishops of one colour."""
        if any(man in self.board for man in "QRPqrp"):
            return False
        men = [(man, square) for square, man in enumerate(self.board) if man not in ".Kk"]
        if all(man in "Bb" for man, _ in men):
            return len({(square ^ square >> 3) & 1 for _, square in men}) <= 1
        return len(men) == 1 and men[0][0] in "Nn"


INITIAL = Position(
    "RNBQKBNRPPPPPPPP" + EMPTY * 32 + "pppppppprnbqkbnr", Colour.WHITE, frozenset(Castling)
)


# The moves of men on an empty board, derived once for every square.


def _ray(square: int, step: tuple[int, int]) -> tuple[int, ...]:
    """The squares in one direction, nearest first."""
    length = min(_to_edge(square & 7, step[0]), _to_edge(square >> 3, step[1]))
    by = 8 * step[1] + step[0]
    return tuple(range(square + by, square + by * (length + 1), by))


def _to_edge(coordinate: int, step: int) -> int:
    """The number of steps from a file or a rank to the edge of the board."""
    return (coordinate, 7, 7 - coordinate)[step + 1]


def _rays(*steps: tuple[int, int]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """For each square the lines away from it, nearest square first, without empty lines."""
    lines = ((_ray(square, step) for step in steps) for square in range(64))
    return tuple(tuple(line for line in square if line) for square in lines)


def _leaps(*steps: tuple[int, int]) -> tuple[tuple[int, ...], ...]:
    """For each square the squares one step away."""
    return tuple(
        tuple(
            sorted(
                8 * (rank + up) + file + right
                for right, up in steps
                if 0 <= file + right < 8 and 0 <= rank + up < 8
            )
        )
        for rank, file in product(range(8), range(8))
    )


_STRAIGHT = ((1, 0), (0, 1), (-1, 0), (0, -1))
_DIAGONAL = ((1, 1), (-1, 1), (-1, -1), (1, -1))
_L_SHAPED = ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1))

ROOK = _rays(*_STRAIGHT)
BISHOP = _rays(*_DIAGONAL)
QUEEN = tuple(straight + diagonal for straight, diagonal in zip(ROOK, BISHOP, strict=True))
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
    # Few men are on these boards, so most kinds need no search.
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
    return position.checked()


def en_passant_captors(board: str, turn: Colour, target: int) -> tuple[int, ...]:
    """The squares of the pawns that can legally capture en passant on the target.

    The capture takes two men off a rank at once, which pins do not cover, so it is tried out.
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
    """Whether no legal moves lead to a win."""
    return position.cannot_be_won()


def material_of(position: Position) -> tuple[Material, bool]:
    """The men on the board, and whether Black is the stronger side of that material."""
    return position.material()


def _men_of_sides(board: str) -> tuple[str, str]:
    """The letters of White's and of Black's men without the kings."""
    men = board.translate(_WITHOUT_KINGS)
    return "".join(filter(str.isupper, men)), "".join(filter(str.islower, men)).upper()
