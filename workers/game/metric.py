"""The metrics: what the distances of a table count to.

dtc    moves of the winner until mate, or until a capture leads into a smaller table.  This is
       Thompson's count; in it a loser who is forced to capture has been converted already
dtm    moves of the winner until mate
dtz    plies until mate, or until a capture or a pawn move sets the clock of the 50-move rule to
       zero.  A move into a position that the rule lets be won counts 1, a move into one that it
       does not counts 101: so up to 100 plies a win is a win, and beyond it is a cursed win

A metric states its own facts.  Code asks for the fact that it needs and does not compare metrics.
"""

from enum import StrEnum
from typing import NamedTuple

CLOCK_LIMIT = 100
"""The plies without a capture or a pawn move after which a player may claim a draw."""


class Metric(StrEnum):
    """The value is part of a table's file name."""

    DTC = "dtc"
    DTM = "dtm"
    DTZ = "dtz"

    __hash__ = str.__hash__  # that of Enum runs in Python, at each lookup of a table

    @classmethod
    def default(cls) -> "Metric":
        """The metric of a table when its user names none."""
        return cls.DTC

    @property
    def counts_plies(self) -> bool:
        """Whether a distance counts the moves of both sides."""
        return self is Metric.DTZ

    @property
    def passes_per_move(self) -> int:
        """The passes of an analysis in which the winner and the loser move once each."""
        return 2 if self.counts_plies else 1

    def distance(self, depth: int, won: bool) -> int:
        """The distance of the positions that pass `depth` finds won, or lost."""
        return depth - 1 if won and self.counts_plies else depth

    @property
    def unit(self) -> str:
        """The unit of a distance."""
        return "plies" if self.counts_plies else "moves"

    @property
    def noun(self) -> str:
        """One unit of a distance."""
        return "ply" if self.counts_plies else "move"

    @property
    def counts_to(self) -> str:
        return _COUNTS_TO[self]

    @property
    def conversion_ends_phase(self) -> bool:
        """Whether the count ends with a move that leads into another table."""
        return self is not Metric.DTM

    @property
    def push_ends_phase(self) -> bool:
        """Whether the count ends with any move of a pawn."""
        return self is Metric.DTZ

    @property
    def exits_carry_depth(self) -> bool:
        """Whether the distance goes on in the table that an exit leads into.

        If it does not, only the result of the smaller position matters.
        """
        return not self.conversion_ends_phase

    @property
    def exits_carry_class(self) -> bool:
        """Whether it matters that the 50-move rule does not let the smaller position be won."""
        return self is Metric.DTZ

    @property
    def frees_escapes(self) -> bool:
        """Whether an escape can end in a later pass: exits carry a depth or a class."""
        return self.exits_carry_depth or self.exits_carry_class

    @property
    def bitmaps(self) -> "Bitmaps":
        """The bitmaps that an analysis holds."""
        return _BITMAPS[self]


class Bitmaps(NamedTuple):
    """The number of bitmaps that an analysis holds of its partitions and of others."""

    own: int
    """Of a partition: the open set and the frontier of each side to move; with exits that carry a
    depth or a class, also the freed positions and those that are not freed yet; where plies are
    counted, a frontier more.
    """
    copied: int
    """Of a partition of another worker: the winner's open set and the frontiers; and, if they are
    dense, a frontier on its way in and one on its way out.
    """
    smaller: int
    """Of a smaller table: the sets read off a column; with exits that carry a depth, also the
    column itself, a byte a slot.
    """
    level: int
    """Of a slice of a material with pawns, with its conversions."""
    lower: int = 3
    """Of the slices below it."""


_BITMAPS = {
    Metric.DTC: Bitmaps(own=4, copied=3 + 2, smaller=3, level=18),
    Metric.DTM: Bitmaps(own=6, copied=3 + 2, smaller=4 + 8, level=24),
    Metric.DTZ: Bitmaps(own=7, copied=4 + 2, smaller=6, level=24),
}
_COUNTS_TO = {
    Metric.DTC: "mate or conversion",
    Metric.DTM: "mate",
    Metric.DTZ: "mate, a capture or a pawn move",
}
