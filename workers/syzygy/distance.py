"""Results under the fifty-move rule, and distances to zeroing, as Syzygy files store them."""

from typing import NamedTuple

from kingpair.workers.syzygy.file import SubTable
from kingpair.workers.syzygy.layout import LOSS_PLIES, WIN_PLIES

LOSS, BLESSED_LOSS, DRAW, CURSED_WIN, WIN = range(-2, 3)
FIFTY_MOVES = 100


class SyzygyAnswer(NamedTuple):
    """The result for the side to move, -2 to 2, and the plies to the next zeroing move or mate.

    `least` and `most` bound the plies; they are equal where the files say them exactly.
    """

    result: int
    least: int
    most: int

    @property
    def is_exact(self) -> bool:
        return self.least == self.most

    @property
    def sign(self) -> int:
        """1, 0 or -1, without the fifty-move rule."""
        return (self.result > 0) - (self.result < 0)

    @property
    def dtz(self) -> int:
        """As Syzygy's probers give it: signed, and 100 more for a cursed win or blessed loss."""
        plies = self.least + FIFTY_MOVES * (abs(self.result) == CURSED_WIN)
        return plies if self.result > 0 else -plies


NO_WINNER = SyzygyAnswer(DRAW, 0, 0)


def distance_of(table: SubTable, value: int, result: int) -> SyzygyAnswer | None:
    """The distance that a value of a sub-table stands for; None if it stands for none."""
    if table.maps:
        values = table.maps[(WIN, LOSS, CURSED_WIN, BLESSED_LOSS).index(result)]
        if value >= len(values):
            return None
        value = values[value]
    exact = table.coding.flags & {WIN: WIN_PLIES, LOSS: LOSS_PLIES}.get(result, 0)
    if exact:
        return SyzygyAnswer(result, value + 1, value + 1)
    least = 2 * value + 1
    # A distance is stored exactly wherever one more would change the result.
    clean = abs(result) == WIN and least >= FIFTY_MOVES - 1
    return SyzygyAnswer(result, least, least + (not clean))
