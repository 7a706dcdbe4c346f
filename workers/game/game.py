"""A game as a value: the facts that the rest of the program asks for instead of asking which game
it is.

Functions that differ by game, such as the legal moves of a position, are in rules.py.
"""

from dataclasses import dataclass

from kingpair.workers.game.metric import Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """The facts about a game.  A material and a position know their game."""

    name: str
    letters: str
    """The men besides the king, strongest first."""
    frame: str
    """The men that stand in a partition with the kings; the others have axes."""
    board_squares: int
    promotions: str
    """The men that a pawn can become on the last rank; empty if it stays a pawn.

    Where pawns promote they never come back, so a table is solved by levels of pawn steps.
    """
    stalemate_loses: bool
    pawn_move_zeroes: bool
    """Whether a pawn's move sets the clock of moves without progress to zero."""
    has_clock_rule: bool
    """Whether a draw can be claimed after a number of moves without progress."""
    metrics: frozenset[Metric]
    is_packed: bool
    """Whether a table can be stored as one column from which the other is derived."""
    labels_like_men: bool
    """Whether statistics can count like men as different."""

    @property
    def bare_king_wins(self) -> bool:
        """Whether a side with its king alone can win: where a stalemate loses, it might."""
        return self.stalemate_loses


CHESS = Game(
    name="chess",
    letters="QRBNP",
    frame="",
    board_squares=64,
    promotions="QRBN",
    stalemate_loses=False,
    pawn_move_zeroes=True,
    has_clock_rule=True,
    metrics=frozenset(Metric),
    is_packed=True,
    labels_like_men=True,
)
XIANGQI = Game(
    name="xiangqi",
    letters="RNCPAB",
    frame="AB",
    board_squares=90,
    promotions="",
    stalemate_loses=True,
    pawn_move_zeroes=False,
    has_clock_rule=False,
    metrics=frozenset({Metric.DTC, Metric.DTM}),
    is_packed=False,
    labels_like_men=False,
)


def game_named(material: str) -> Game:
    """The game of a material's name: `KQvKR` is chess, `xiangqi:KPvKA` and `100011-220000` are
    Chinese chess.
    """
    name = material.strip()
    is_xiangqi = name.lower().startswith(f"{XIANGQI.name}:") or is_report_code(name)
    return XIANGQI if is_xiangqi else CHESS


def is_report_code(name: str) -> bool:
    """Whether a name is in the code of Wu and Beal's report: six digits for each side."""
    sides = name.split("-")
    return len(sides) == 2 and all(len(side) == 6 and side.isdigit() for side in sides)
