"""The memory of a table with pawns: to solve a slice, to paint it, and to prove the table.

What a process takes besides (estimate.py) is not counted here.
"""

from dataclasses import dataclass

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.index import Index
from kingpair.workers.index.king_pairs import FIXED, TURNED
from kingpair.workers.index.structures import structures
from kingpair.workers.index.sweeps import WALK
from kingpair.workers.index.walk_parts import PARTED_PIECES

THREAD_WITH_PAWNS = 16 << 20  # what a thread reads and writes with
PROOF_WITH_PAWNS = 260 << 20  # columns that are kept, and what reads them
PROOF_WITH_EN_PASSANT = 460 << 20  # where pawns of both sides are
PROOF_BESIDE_PROMOTIONS = 60 << 20
WALK_SQUARES = 8  # that are images of each other: with pawns a walk has them all
READERS = 4  # partitions of a smaller table that the threads of a worker read at a time
PAINTED_ROWS = 1 << 28  # of a part: all structures of a level of five men take less


@dataclass(frozen=True, slots=True)
class SliceNeeds:
    """The memory of a worker that has a slice of so many structures to itself, given how many are
    in the slices below it.
    """

    material: Material
    metric: Metric
    structures: int
    below: int

    @property
    def index(self) -> Index:
        return Index(FIXED, len(self.material.pieces), self.structures)

    @property
    def sets(self) -> int:
        """The sets of the slice, and of those below it."""
        bitmaps, lower = self.metric.bitmaps, self.index.set_bytes * self.below // self.structures
        return bitmaps.level * self.index.set_bytes + bitmaps.lower * lower

    @property
    def exits(self) -> int:
        """The column that promotions lead into, and where the metric needs them the values that
        exits lead to.
        """
        values = 2 * self.index.size if self.metric.frees_escapes else 0
        return self._promoted + values

    @property
    def _promoted(self) -> int:
        """The pawns that are left have one number of steps to go, and each structure is read with
        its mirror image.  A column without pawns is read partition by partition.
        """
        axes, (ours, theirs) = len(self.material.pieces) + 1, self.material.pawns
        if ours + theirs == 1:
            return READERS * Index(TURNED, axes).slots
        left = [(ours - 1, theirs)] * (ours > 0) + [(ours, theirs - 1)] * (theirs > 0)
        most = max(
            min(self.structures * max(ours, theirs), *map(len, structures(*pawns).levels))
            * (1 + bool(structures(*pawns).symmetric.any()))
            for pawns in left
        )
        return Index(FIXED, axes, most).size

    @property
    def painting(self) -> int:
        """Both columns of a part of the table, and the masks of their positions."""
        rows = painted_together(self.index) * self.index.size // self.structures
        has_large_values = self.metric.counts_plies or self.material.men > 5
        return 2 * rows * (1 + has_large_values) + 2 * rows // 8

    @property
    def memory(self) -> int:
        """The most that is taken at a time."""
        return max(self.sets + self.exits, self.painting)

    # ---- of a worker that shares the slice with others ----

    @property
    def fixed(self) -> int:
        return self.memory - self.of_a_pair * self.index.partitions

    @property
    def of_a_pair(self) -> int:
        """For each king pair of its own."""
        return self.sets // self.index.partitions

    @property
    def of_a_copy(self) -> int:
        """For each king pair of another worker that it has a copy of."""
        return self.metric.bitmaps.copied * self.index.set_bytes // self.index.partitions


def painted_together(index: Index) -> int:
    """The structures of a part of the table at most: a worker paints them together."""
    return min(index.structures, max(1, PAINTED_ROWS * index.structures // index.size))


def proof_memory(material: Material, threads: int) -> int:
    """The memory of a proof with pawns: the columns that it reads at a time.  A pawn promotes into
    four of them; while one thread reads them, another may need one that had gone.  Where the pawns
    are of one side, large columns are read by walks: those of a task, and of the next one.
    """
    axes = len(material.pieces)
    keys = WALK_SQUARES * 64 ** (axes + 1) if axes > 2 else 0  # each thread has them
    fixed = threads * (THREAD_WITH_PAWNS + keys)
    last = sum(material.pawns) == 1
    column, columns = Index(TURNED if last else FIXED, axes + 1).size, 4 + (threads > 1)
    if axes + 1 >= PARTED_PIECES and not all(material.pawns):
        column, columns = WALK * (1 if last else WALK_SQUARES) * 64 ** (axes + 1), 2 * 4
    least = PROOF_WITH_EN_PASSANT if all(material.pawns) else PROOF_WITH_PAWNS
    return fixed + max(least, columns * column + PROOF_BESIDE_PROMOTIONS)
