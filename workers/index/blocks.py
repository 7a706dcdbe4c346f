"""The index of Chinese chess: blocks, placements inside them, and the squares of the free men.

    row = block * slots of a block + placement * squares of each free man + ... + padding

A block is a placement of the upper, weaker side's frame (frame.py), of two mirror images the
smaller; a placement is one of the lower frame.  Free men have axes of their own squares: 55 for a
pawn, else 90.  A block's slots are padded to a whole number of the table's blocks, or to a power of
two that divides one, so that tables are written and read as those of chess are.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.xiangqi.board import FILES, flip, mirror, squares_of
from kingpair.workers.game.xiangqi.material import FRAME, axes_of
from kingpair.workers.index.frame import SideFrame, SidePlacement, side_frame
from kingpair.workers.index.index import Index
from kingpair.workers.index.king_pairs import KingPairs, Neighbours
from kingpair.workers.index.table_index import RowPlace, Rows, Squares, TableIndex
from kingpair.workers.number_types import STRONGER, WEAKER, Partition, Side, Slot

BLOCK_ROWS = 65536
"""Rows of a table's block."""


class Blocks(KingPairs):
    """The partitions of a domain of Chinese chess: kept placements of the upper frame."""

    def __init__(self, upper: SideFrame) -> None:
        self.upper = upper
        self.is_turned = True

    def __len__(self) -> int:
        return len(self.upper)

    @cached_property
    def diagonal(self) -> NDArray[np.bool_]:
        """Blocks in which a position and its mirror image both have a slot."""
        return self.upper.symmetric

    @cached_property
    def halved(self) -> NDArray[np.bool_]:
        return self.upper.symmetric

    @cached_property
    def entered(self) -> tuple[Neighbours, Neighbours]:
        """The lower, stronger side's men stay in their block."""
        return ((),) * len(self), self.upper.neighbours

    @cached_property
    def neighbours(self) -> Neighbours:
        return self.upper.neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockIndex(Index):
    """The blocks, the lower frame and the axes of a domain."""

    kings: Blocks
    lower: SideFrame
    men: tuple[tuple[str, Side], ...]
    """The letter and side of each axis."""

    @property
    def squares_by_axis(self) -> tuple[tuple[int, ...], ...]:
        """The squares of each free man, in the order in which slots count them."""
        return tuple(squares_of(letter, side == WEAKER) for letter, side in self.men)

    @property
    def slots_each(self) -> int:
        """Slots of a placement."""
        return prod(map(len, self.squares_by_axis))

    @property
    def slots_used(self) -> int:
        """Slots of a block without its padding."""
        return len(self.lower) * self.slots_each

    @property
    def slots(self) -> int:
        used = self.slots_used
        if used > BLOCK_ROWS // 2:
            return -(-used // BLOCK_ROWS) * BLOCK_ROWS
        return 1 << (used - 1).bit_length()

    @property
    def size(self) -> int:
        return self.partitions * self.slots

    @property
    def rows(self) -> int:
        """Rows of 64 words in which a set holds a block."""
        squares = self.squares_by_axis
        lanes = len(squares[-2]) if self.axes > 1 else 1
        return len(self.lower) * prod(map(len, squares[:-2])) * -(-lanes // 32)

    @property
    def set_bytes(self) -> int:
        return self.partitions * self.rows * 512

    @property
    def smaller_set_bytes(self) -> int:
        return self.set_bytes

    @property
    def together(self) -> int:
        """Blocks that are worth one call of a kernel."""
        return max(1, 4 * BLOCK_ROWS // self.slots)


@cache
def block_index(stronger: str, weaker: str) -> BlockIndex:
    """The index of two sides' men; the first side need not be the stronger one."""
    lower, upper = (
        side_frame(men.count("A"), men.count("B"), upper=above)
        for men, above in ((stronger, False), (weaker, True))
    )
    men = axes_of(stronger, weaker)
    return BlockIndex(kings=blocks_of(upper), axes=len(men), lower=lower, men=men)


@cache
def blocks_of(upper: SideFrame) -> Blocks:
    return Blocks(upper)


@dataclass(frozen=True, eq=False)
class BlockTableIndex(TableIndex):
    """The index of a table of Chinese chess."""

    @property
    def domain(self) -> BlockIndex:
        return block_index(self.material.stronger, self.material.weaker)

    @cached_property
    def axes(self) -> int:
        return self.domain.axes

    @cached_property
    def slots(self) -> int:
        return self.domain.slots

    @property
    def divides_runs(self) -> bool:
        return False

    @property
    def scheme(self) -> str:
        axes = "".join(f" x {len(squares)}" for squares in self.domain.squares_by_axis)
        return f"xiangqi: {len(self.kings)} blocks x {len(self.domain.lower)} placements{axes}"

    def place(self, row: int) -> RowPlace:
        block, slot = divmod(row, self.slots)
        return RowPlace(0, Partition(block), Slot(slot))

    def squares(self, rows: Rows) -> Squares:
        """The squares of the stronger king, of the weaker king and of man 0, man 1, ..."""
        index = self.domain
        blocks, slots = np.divmod(rows, self.slots)
        slots = np.minimum(slots, index.slots_used - 1)  # padding shows what the last slot shows
        inner, rest = np.divmod(slots, index.slots_each)
        free: list[Squares] = []
        for squares in reversed(index.squares_by_axis):
            rest, at = np.divmod(rest, len(squares))
            free.append(np.array(squares, np.uint8)[at])
        lower = np.array([p.squares for p in index.lower.kept], np.uint8)[inner]
        upper = np.array([p.squares for p in index.kings.upper.kept], np.uint8)[blocks]
        men = [lower[:, 0], upper[:, 0], *reversed(free), *upper[:, 1:].T, *lower[:, 1:].T]
        return np.array(men, np.uint8).reshape(len(men), rows.size)

    def rows_of(self, squares: NDArray[np.integer]) -> Rows:
        """The canonical rows of positions, given as `squares` gives them."""
        return np.array([self._row_of(each) for each in squares.T.tolist()], np.int64)

    def _row_of(self, men: list[int]) -> int:
        index, material = self.domain, self.material
        free, frame = men[2 : 2 + index.axes], men[2 + index.axes :]
        count = sum(material.weaker.count(letter) for letter in FRAME)
        upper = _placement(men[1], frame[:count], material.weaker)
        lower = _placement(men[0], frame[count:], material.stronger)
        block, mirrored = index.kings.upper.keep(upper)
        shown = [(lower.mirrored, list(map(mirror, free)))] if mirrored else [(lower, free)]
        if index.kings.halved[block]:
            shown = [(lower, free), (lower.mirrored, list(map(mirror, free)))]
        return block * self.slots + min(self._slot(*each) for each in shown)

    def _slot(self, lower: SidePlacement, free: list[int]) -> int:
        index = self.domain
        squares: dict[tuple[str, int], list[int]] = {}
        for man, square in sorted(zip(index.men, free, strict=True), reverse=True):
            squares.setdefault(man, []).append(square)
        slot = index.lower.keep(lower).number
        for man, possible in zip(index.men, index.squares_by_axis, strict=True):
            slot = slot * len(possible) + possible.index(squares[man].pop())
        return slot


def _placement(king: int, frame: list[int], letters: str) -> SidePlacement:
    advisors = letters.count("A")
    return SidePlacement(king, tuple(sorted(frame[:advisors])), tuple(sorted(frame[advisors:])))


@cache
def block_table_index(material: Material) -> BlockTableIndex:
    index = block_index(material.stronger, material.weaker)
    return BlockTableIndex(material, None, index.kings)


assert (STRONGER, WEAKER, FILES) == (0, 1, 9)
assert flip(0) == 81
