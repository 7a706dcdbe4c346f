"""FEN: the line of text that a position is read from and written to.

::

    4k3/8/8/8/8/8/8/4KQ2   w      -          -            0               1
    board, rank 8 first    turn   castling   en passant   half-move clock move number

The half-move clock counts since the last capture or pawn move. Board and turn must be given.

All text from outside goes through `parse_fen`, so every `Position` obeys the rules.  It drops
impossible castling rights and en passant squares, because many programs write them.  It refuses
every other fault with an error that names it.
"""

import re
from functools import lru_cache

from kingpair.workers.errors import BadPosition
from kingpair.workers.game.chess.position import (
    EMPTY,
    KING,
    SQUARE_NAMES,
    Castling,
    Colour,
    Position,
    attacked,
    en_passant_captors,
)

EXAMPLE = "'4k3/8/8/8/8/8/8/4KQ2 w'"


def fen(position: Position) -> str:
    """The FEN with all six fields; it has an en passant square only if a capture is legal."""
    castling = "-"
    if position.castling:
        castling = "".join(right.value for right in Castling if right in position.castling)
    target = "-" if position.en_passant is None else SQUARE_NAMES[position.en_passant]
    clocks = f"{position.half_moves} {position.full_move}"
    return f"{ranks_of(position.board)} {position.turn.value} {castling} {target} {clocks}"


def ranks_of(board: str) -> str:
    """FEN's first field."""
    return "/".join([_rank(board[first : first + 8]) for first in range(56, -8, -8)])


@lru_cache(4096)
def _rank(men: str) -> str:
    return re.sub(r"\.+", lambda gap: str(len(gap[0])), men)


def parse_fen(text: str) -> Position:
    """Reads a FEN of two to six fields, with spaces or underscores between them."""
    fields = text.replace("_", " ").split()
    if not 2 <= len(fields) <= 6:
        raise BadPosition(f"a FEN needs 2 to 6 fields, such as {EXAMPLE}; has {len(fields)}")
    castling, target, half_moves, full_move = fields[2:] + ["-", "-", "0", "1"][len(fields) - 2 :]
    board, turn = _parse_board(fields[0]), _parse_turn(fields[1])
    _check_men(board)
    _check_kings(board, turn)
    return Position(
        board,
        turn,
        _parse_castling(board, castling),
        _parse_en_passant(board, turn, target),
        _parse_clock("half-move clock", half_moves),
        # Many programs write move 0 for the first move.
        max(1, _parse_clock("move number", full_move)),
    )


def _parse_board(text: str) -> str:
    ranks = text.split("/")
    if len(ranks) != 8:
        raise BadPosition(f"a board needs 8 ranks between '/'; {_shown(text)} has {len(ranks)}")
    return "".join(reversed([_parse_rank(8 - i, rank) for i, rank in enumerate(ranks)]))


def _parse_rank(number: int, text: str) -> str:
    for letter in text:
        if letter not in "KQRBNPkqrbnp12345678":
            raise BadPosition(
                f"unknown letter {letter!r} on rank {number} of FEN; use KQRBNP, kqrbnp and 1 to 8"
            )
    rank = re.sub("[1-8]", lambda gap: EMPTY * int(gap[0]), text)
    if len(rank) != 8:
        raise BadPosition(f"rank {number} needs 8 files; {_shown(text)} has {len(rank)}")
    return rank


def _parse_turn(text: str) -> Colour:
    if text not in ("w", "b"):
        raise BadPosition(f"turn {_shown(text)} in FEN; use w or b")
    return Colour(text)


def _parse_castling(board: str, text: str) -> frozenset[Castling]:
    """The castling rights in the text whose king and rook are in place."""
    rights = (right for right in Castling if right.value in text)
    return frozenset(right for right in rights if _in_place(board, right))


def _in_place(board: str, right: Castling) -> bool:
    men = right.colour.men
    return board[right.king] == men.king and board[right.rook] == men.rook


def _parse_en_passant(board: str, turn: Colour, text: str) -> int | None:
    """The square in the text if an enemy pawn has just passed it and can be captured there."""
    if text not in SQUARE_NAMES or text[1] != ("6" if turn is Colour.WHITE else "3"):
        return None
    target, forward = SQUARE_NAMES.index(text), turn.forward
    passed = board[target + forward] == board[target] == EMPTY
    if not passed or board[target - forward] != turn.other.men.pawn:
        return None
    return target if en_passant_captors(board, turn, target) else None


def _parse_clock(name: str, text: str) -> int:
    if not re.fullmatch("[0-9]{1,4}", text):
        raise BadPosition(f"{name} {_shown(text)} in FEN; use a number from 0 to 9999")
    return int(text)


def _check_men(board: str) -> None:
    for colour in Colour:
        _check_numbers(board, colour)
    for square, man in enumerate(board):
        if man in "Pp" and square >> 3 in (0, 7):
            raise BadPosition(f"pawn on {SQUARE_NAMES[square]}; pawns stand on ranks 2 to 7")


def _check_numbers(board: str, colour: Colour) -> None:
    name, men = _name(colour), colour.men
    kings, pawns = board.count(men.king), board.count(men.pawn)
    if kings != 1:
        raise BadPosition(f"{name} needs exactly one king, {men.king!r}; has {kings}")
    if pawns > 8:
        raise BadPosition(f"too many men: {name} has {pawns} pawns; at most 8")
    total = sum(man in men for man in board)
    if total > 16:
        raise BadPosition(f"too many men: {name} has {total}; at most 16")


def _check_kings(board: str, turn: Colour) -> None:
    mover, other = board.index(turn.men.king), board.index(turn.other.men.king)
    if other in KING[mover]:
        raise BadPosition(
            f"kings on {SQUARE_NAMES[mover]} and {SQUARE_NAMES[other]} touch; move one away"
        )
    if attacked(board, other, turn):
        raise BadPosition(
            f"{_name(turn.other)} is in check on {SQUARE_NAMES[other]} but not to move; "
            f"the turn must be {turn.other.value!r}"
        )


def _name(colour: Colour) -> str:
    return colour.name.title()


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")
