"""FEN of Chinese chess: ten ranks of nine files, rank 10 first, then the side to move.

    4k4/9/9/9/9/9/4P4/9/9/3K5 w - - 0 1

Letters are K A B N R C P; H, E and G are read as N, B and C.  Every fault is refused with an error
that names it.
"""

import re

from kingpair.workers.errors import BadPosition
from kingpair.workers.game.chess.position import EMPTY, Colour
from kingpair.workers.game.xiangqi.board import FILES, RANKS, SQUARE_NAMES, squares_of
from kingpair.workers.game.xiangqi.position import MEN, XiangqiPosition, in_check, kings_meet

EXAMPLE = "'4k4/9/9/9/9/9/4P4/9/9/3K5 w'"
_ALIASES = str.maketrans("HEGheg", "NBCnbc")
_MOST = {"K": 1, "A": 2, "B": 2, "N": 2, "R": 2, "C": 2, "P": 5}
_NAMES = {"K": "king", "A": "advisor", "B": "elephant", "P": "pawn"}


def board_text(board: str) -> str:
    """FEN's first field."""
    ranks = (board[first : first + FILES] for first in range(FILES * (RANKS - 1), -1, -FILES))
    return "/".join(re.sub(r"\.+", lambda gap: str(len(gap[0])), rank) for rank in ranks)


def fen_text(position: XiangqiPosition) -> str:
    clocks = f"{position.half_moves} {position.full_move}"
    return f"{board_text(position.board)} {position.turn.value} - - {clocks}"


def parse_xiangqi(text: str) -> XiangqiPosition:
    """Reads a FEN of two to six fields, with spaces or underscores between them."""
    fields = text.replace("_", " ").split()
    if not 2 <= len(fields) <= 6:
        raise BadPosition(f"a FEN needs 2 to 6 fields, such as {EXAMPLE}; has {len(fields)}")
    board = _board(fields[0])
    if fields[1] not in ("w", "r", "b"):
        raise BadPosition(f"turn {fields[1]!r} in FEN; use w or b")
    turn = Colour.BLACK if fields[1] == "b" else Colour.WHITE
    clocks = [*fields[4:], *("0", "1")[max(0, len(fields) - 4) :]]
    _check_men(board)
    _check_kings(board, turn)
    return XiangqiPosition(
        board, turn, half_moves=_clock(clocks[0]), full_move=max(1, _clock(clocks[1]))
    )


def _clock(text: str) -> int:
    if not re.fullmatch("[0-9]{1,4}", text):
        raise BadPosition(f"clock {text!r} in FEN; use a number from 0 to 9999")
    return int(text)


def _board(text: str) -> str:
    ranks = text.split("/")
    if len(ranks) != RANKS:
        raise BadPosition(f"a board of Chinese chess needs 10 ranks between '/'; has {len(ranks)}")
    return "".join(reversed([_rank(RANKS - i, rank) for i, rank in enumerate(ranks)]))


def _rank(number: int, text: str) -> str:
    men = text.translate(_ALIASES)
    for letter in men:
        if letter not in f"{MEN}{MEN.lower()}123456789":
            raise BadPosition(
                f"unknown letter {letter!r} on rank {number} of FEN; use KABNRCP, kabnrcp, 1 to 9"
            )
    rank = re.sub("[1-9]", lambda gap: EMPTY * int(gap[0]), men)
    if len(rank) != FILES:
        raise BadPosition(f"rank {number} needs 9 files; {text!r} has {len(rank)}")
    return rank


def _check_men(board: str) -> None:
    for letter in MEN + MEN.lower():
        count, most = board.count(letter), _MOST[letter.upper()]
        if letter in "Kk" and count != 1:
            raise BadPosition(f"each side needs exactly one king; {letter!r} stands {count} times")
        if count > most:
            raise BadPosition(f"too many men: {count} {letter!r}; at most {most}")
    for square, man in enumerate(board):
        if man != EMPTY and square not in squares_of(man.upper(), man.islower()):
            raise BadPosition(
                f"{_NAMES[man.upper()]} {man!r} on {SQUARE_NAMES[square]}, where it never stands"
            )


def _check_kings(board: str, turn: Colour) -> None:
    if kings_meet(board):
        raise BadPosition("the kings see each other on an open file; put a man between them")
    if in_check(board, turn.other):
        raise BadPosition(
            f"{turn.other.name.title()} is in check but not to move; "
            f"the turn must be {turn.other.value!r}"
        )
