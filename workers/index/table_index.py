"""The index of a table: which row holds which position.

    row = (structure * king pairs + king pair) * 64^axes + squares of the men on the axes

Without pawns there is one structure, 462 king pairs, and an axis for each man besides the kings.
With pawns there are the structures of structures.py, all 3,612 king pairs, and axes for the pieces
alone.  The rows of one structure and one king pair are a run.  A position within a run is a slot.

Rows with pawns, as part of the file format (index scheme 2)
-------------------------------------------------------------
    row = (structure * 3612 + king pair) * 64^q + squares of the q pieces

Structures are numbered as structures.py says.  King pairs are the ordered pairs of squares
(stronger king, weaker king) that do not touch, in ascending order.  Pieces come weaker side first,
each side's in the order Q R B N; like pieces stand in ascending order.  To find the row of a
position: swap colours if Black has the stronger men, which flips ranks and never files; mirror the
board left-right if that makes the file list of the pawns smaller, and if it does not change it but
the stronger king then stands on files a to d.

An example: the row of 8/1k4p1/8/8/1K6/8/8/8 b - - 0 1

    colours      Black has the pawn, so flip: White Kb2 Pg2, Black Kb5, White to move
    table        KPvK.dtc.arrow, column white
    mirrored     the file of g2 is 6, that of b2 is 1: White Kg2 Pb2, Black Kg5
    level        5: the pawn has 5 steps left to rank 7
    structure    levels 0 to 4 have 4 structures each, a2 comes before b2: 21
    pair         801 have their first king before g2, 29 more their second before g5: 830
    row          (21 * 3612 + 830) * 64**0 = 76682
    value        19: the side to move wins in 19 moves
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.board import MIRROR_FILES, TURN
from kingpair.workers.index.king_pairs import FIXED, KingPairs
from kingpair.workers.index.structures import Structures
from kingpair.workers.number_types import STRONGER, Partition, Row, Slot

Rows = NDArray[np.int64]
Slots = NDArray[np.int64]
Squares = NDArray[np.uint8]
"""Squares `[man][position]`."""


class RowPlace(NamedTuple):
    """The structure, the king pair and the slot of a row."""

    structure: int
    pair: Partition
    slot: Slot


@dataclass(frozen=True, eq=False)
class TableIndex:
    """The structures (None without pawns), king pairs and axes of a material's table."""

    material: Material
    structures: Structures | None
    kings: KingPairs

    @cached_property
    def axes(self) -> int:
        return len(self.material.pieces)

    @cached_property
    def slots(self) -> int:
        """Rows of a run."""
        return 1 << 6 * self.axes

    @property
    def divides_runs(self) -> bool:
        """Whether a set has its words in the order of a run's slots, so that parts can be read."""
        return True

    @property
    def structure_rows(self) -> int:
        return len(self.kings) * self.slots

    @property
    def rows(self) -> int:
        return self.structure_rows * (1 if self.structures is None else len(self.structures))

    @property
    def scheme(self) -> str:
        """The text by which a table's identity names its index."""
        if self.structures is None:
            return f"{len(self.kings)} king pairs x 64^m"
        return f"{len(self.structures)} structures x {len(self.kings)} king pairs x 64^q"

    def place(self, row: Row) -> RowPlace:
        run, slot = divmod(row, self.slots)
        structure, pair = divmod(run, len(self.kings))
        return RowPlace(structure, Partition(pair), Slot(slot))

    def squares(self, rows: Rows) -> Squares:
        """The squares of the stronger king, of the weaker king and of man 0, man 1, ..."""
        runs, slots = np.divmod(rows, self.slots)
        numbers, pairs = np.divmod(runs, len(self.kings))
        kings = np.array(self.kings.squares, np.uint8)[pairs].T
        pieces = [slots >> 6 * (self.axes - 1 - axis) & 63 for axis in range(self.axes)]
        found = np.empty((2 + len(self.material.letters), rows.size), np.uint8)
        found[:2] = kings
        found[[2 + man for man in self._pieces]] = np.array(pieces).reshape(len(pieces), rows.size)
        if self.structures is not None:
            found[[2 + man for man in self._pawns]] = self.structures.squares[numbers].T
        return found

    @property
    def _pieces(self) -> list[int]:
        """The men on the axes."""
        return [man for man, letter in enumerate(self.material.letters) if letter != "P"]

    @property
    def _pawns(self) -> list[int]:
        """The men that are pawns, as a structure lists them: the stronger side's first."""
        men = zip(self.material.letters, self.material.sides, strict=True)
        pawns = [(side, man) for man, (letter, side) in enumerate(men) if letter == "P"]
        return [man for _, man in sorted(pawns)]

    def rows_of(self, squares: NDArray[np.integer]) -> Rows:
        """The canonical rows of positions, given as `squares` gives them; only with pawns.

        Like men can be given in any order.
        """
        assert self.structures is not None, f"{self.material}: the kernels find rows without pawns"
        numbers, mirrored = self.structures.find(squares[[2 + man for man in self._pawns]].T)
        shown = np.where(mirrored, TURN[MIRROR_FILES][squares], squares)
        halved = self.structures.symmetric[numbers] & (shown[0] & 7 > 3)
        shown = np.where(halved, TURN[MIRROR_FILES][shown], shown)
        numbers = np.where(halved, self.structures.mirror[numbers], numbers)
        rows: Rows = numbers.astype(np.int64) * len(self.kings) + _fixed_pairs()[shown[0], shown[1]]
        for axis in self._sorted([shown[2 + man] for man in self._pieces]):
            rows = rows << 6 | axis
        return rows

    def _sorted(self, axes: Sequence[Squares]) -> list[Squares]:
        """The squares of the pieces with those of like pieces in ascending order."""
        axes = list(axes)
        like = [i for i, (a, b) in enumerate(pairwise(self.material.pieces)) if a == b]
        for _ in like:  # a pass for each pair sorts the longest run
            for i in like:
                first, second = axes[i], axes[i + 1]
                axes[i], axes[i + 1] = np.minimum(first, second), np.maximum(first, second)
        return axes


@cache
def _fixed_pairs() -> NDArray[np.int64]:
    return FIXED.placed[0].astype(np.int64)


assert STRONGER == 0  # structures list the stronger side's pawns first
