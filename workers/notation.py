"""Moves and games as text: UCI for programs, `e7e8q`; SAN for people, `e8=Q+`; PGN for files."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum

from workers.errors import BadPosition
from workers.fen import fen
from workers.moves import Move, is_capture, is_checkmate, legal_moves, play
from workers.position import INITIAL, SQUARES, Colour, Position, in_check


class Result(Enum):
    """How a game ended, as PGN writes it."""

    WHITE_WINS = "1-0"
    BLACK_WINS = "0-1"
    DRAW = "1/2-1/2"
    UNKNOWN = "*"


ROSTER = {
    "Event": "?",
    "Site": "?",
    "Date": "????.??.??",
    "Round": "?",
    "White": "?",
    "Black": "?",
    "Result": "*",
}
"""The seven tags that every PGN begins with, and what they say if nothing is known."""


def uci(move: Move) -> str:
    return SQUARES[move.origin] + SQUARES[move.target] + (move.promotion or "").lower()


def parse_uci(position: Position, text: str) -> Move:
    """The legal move that the text names."""
    moves = {uci(move): move for move in legal_moves(position)}
    try:
        return moves[text]
    except KeyError:
        legal = f"legal are {', '.join(moves)}" if moves else "the game is over"
        message = f"{text[:10]!r} is no legal move in {fen(position)}; {legal}"
        raise BadPosition(message) from None


def san(position: Position, move: Move) -> str:
    """A legal move as players write it, with + for check and # for mate."""
    return san_of(position, move) + _check_sign(play(position, move))


def san_of(position: Position, move: Move, legal: Sequence[Move] | None = None) -> str:
    """The same without its last sign; whoever has all legal moves saves the search for them."""
    letter = position.board[move.origin].upper()
    if letter == "K" and abs(move.target - move.origin) == 2:
        return "O-O" if move.target > move.origin else "O-O-O"
    if letter == "P":
        return _pawn_san(position, move)
    takes = "x" if is_capture(position, move) else ""
    return letter + _which(position, move, legal) + takes + SQUARES[move.target]


def _pawn_san(position: Position, move: Move) -> str:
    takes = f"{SQUARES[move.origin][0]}x" if is_capture(position, move) else ""
    return takes + SQUARES[move.target] + (f"={move.promotion}" if move.promotion else "")


def _which(position: Position, move: Move, legal: Sequence[Move] | None) -> str:
    """What tells the man from like men that can go there too: file, else rank, else both."""
    man = position.board[move.origin]
    # The search for rivals costs all legal moves, and most men have no like.
    if position.board.count(man) == 1:
        return ""
    rivals = [
        other.origin
        for other in (legal_moves(position) if legal is None else legal)
        if other.target == move.target and position.board[other.origin] == man
    ]
    rivals.remove(move.origin)
    square = SQUARES[move.origin]
    if not rivals:
        return ""
    if not any(rival & 7 == move.origin & 7 for rival in rivals):
        return square[0]
    if not any(rival >> 3 == move.origin >> 3 for rival in rivals):
        return square[1]
    return square


def _check_sign(after: Position) -> str:
    if not in_check(after):
        return ""
    return "#" if is_checkmate(after) else "+"


def pgn(
    start: Position, moves: Iterable[Move], result: Result, headers: Mapping[str, str] | None = None
) -> str:
    """A game in PGN; `headers` are further tags, or values for those of the roster."""
    known = {"Result": result.value}
    if start != INITIAL:
        known |= {"SetUp": "1", "FEN": fen(start)}
    tags = ROSTER | dict(headers or {}) | known
    head = "".join(f'[{name} "{_quoted(value)}"]\n' for name, value in tags.items())
    text = " ".join([*numbered(start, moves), result.value])
    return head + "\n" + _wrapped(text) + "\n"


def numbered(position: Position, moves: Iterable[Move]) -> Iterator[str]:
    """The moves in SAN with their numbers, as separate words."""
    for i, move in enumerate(moves):
        if position.turn is Colour.WHITE:
            yield f"{position.full_move}."
        elif i == 0:
            yield f"{position.full_move}..."
        yield san(position, move)
        position = play(position, move)


def _wrapped(text: str) -> str:
    # Neither O-O nor 1-0 may break at its hyphen.
    return textwrap.fill(text, width=80, break_long_words=False, break_on_hyphens=False)


def _quoted(value: str) -> str:
    """A tag's value is one line, and a quote in it would end it."""
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')
