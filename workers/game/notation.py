"""Moves and games of any game as text: UCI for programs, `e7e8q`; SAN for people, `e8=Q+`; PGN for
files.
"""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum

from kingpair.workers.errors import BadPosition
from kingpair.workers.game.chess.position import INITIAL, Colour, Move, Position, in_check
from kingpair.workers.game.rules import fen, is_checkmate, legal_moves, play, rules_of


class GameResult(Enum):
    """The result of a game, as PGN writes it."""

    WHITE_WINS = "1-0"
    BLACK_WINS = "0-1"
    DRAW = "1/2-1/2"
    UNKNOWN = "*"


PGN_TAGS = {
    "Event": "?",
    "Site": "?",
    "Date": "????.??.??",
    "Round": "?",
    "White": "?",
    "Black": "?",
    "Result": "*",
}
"""The seven tags that every PGN begins with, and their values if nothing is known."""


def uci(move: Move) -> str:
    return "".join(move.names) + (move.promotion or "").lower()


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
    """A legal move in SAN, with + for check and # for mate."""
    return san_of(position, move) + _check_sign(play(position, move))


def san_of(position: Position, move: Move, legal: Sequence[Move] | None = None) -> str:
    """A legal move in SAN without + or #.  A caller with all legal moves passes them as `legal`."""
    return rules_of(position.game.name).write_move(position, move, legal)


def _check_sign(after: Position) -> str:
    check = in_check(after)
    if not check and not after.game.stalemate_loses:
        return ""
    return "#" if is_checkmate(after) else "+" if check else ""


def pgn(
    start: Position,
    moves: Iterable[Move],
    result: GameResult,
    headers: Mapping[str, str] | None = None,
) -> str:
    """A game in PGN; `headers` adds tags or replaces values of `PGN_TAGS`."""
    known = {"Result": result.value}
    if start != INITIAL:
        known |= {"SetUp": "1", "FEN": fen(start)}
    tags = PGN_TAGS | dict(headers or {}) | known
    head = "".join(f'[{name} "{_quoted(value)}"]\n' for name, value in tags.items())
    text = " ".join([*numbered(start, moves), result.value])
    return head + "\n" + _wrapped(text) + "\n"


def numbered(position: Position, moves: Iterable[Move]) -> Iterator[str]:
    """Yields the moves in SAN and their numbers as separate words."""
    for i, move in enumerate(moves):
        if position.turn is Colour.WHITE:
            yield f"{position.full_move}."
        elif i == 0:
            yield f"{position.full_move}..."
        yield san(position, move)
        position = play(position, move)


def _wrapped(text: str) -> str:
    # A line must not break at the hyphen of O-O or 1-0.
    return textwrap.fill(text, width=80, break_long_words=False, break_on_hyphens=False)


def _quoted(value: str) -> str:
    """A tag's value on one line, with its quotes escaped."""
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')
