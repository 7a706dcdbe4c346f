"""Reads the values of runs, structures and rows out of the blocks of a table."""

from abc import ABC, abstractmethod

import numpy as np

from kingpair.workers.index.table_index import TableIndex
from kingpair.workers.number_types import Side
from kingpair.workers.table.value import Values

BLOCK = 65536
READ_TOGETHER = 8  # blocks: more than that leave the processor's cache
COLUMNS = ("white", "black")


class RowReader(ABC):
    """Reads any rows through the blocks that hold them, and keeps the blocks it needs again."""

    index: TableIndex

    def __init__(self) -> None:
        self._shared: dict[tuple[int, int], Values] = {}
        self._recents: list[tuple[int, Values] | None] = [None] * len(COLUMNS)

    @abstractmethod
    def blocks_from(self, first: int, stop: int, column: int) -> Values:
        """The values of consecutive blocks, each checked against its digest.  It takes less time
        than one block after another.
        """

    def block(self, block: int, column: int) -> Values:
        """The values of a block, checked against its digest."""
        return self.blocks_from(block, block + 1, column)

    def values(self, run: int, side: Side) -> Values:
        """The values of a run with `side` (0 stronger, 1 weaker) to move.  Without pawns the runs
        are the partitions.
        """
        pieces = self.pieces(run, side)
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def pieces(self, run: int, side: Side) -> list[Values]:
        """The values of a run as one piece of each of its blocks, all of one size."""
        slots = self.index.slots
        first, last = run * slots, (run + 1) * slots
        if slots >= BLOCK:
            blocks = self.blocks_from(first // BLOCK, last // BLOCK, side)
            return [blocks[at : at + BLOCK] for at in range(0, slots, BLOCK)]
        start = first // BLOCK * BLOCK
        return [self._kept(first // BLOCK, side)[first - start : last - start]]

    def rows(self, first: int, stop: int, side: Side) -> Values:
        """The values of consecutive rows, of whichever blocks they are."""
        pieces = [
            self._recent(block, side)[max(first - block * BLOCK, 0) : stop - block * BLOCK]
            for block in range(first // BLOCK, -(-stop // BLOCK))
        ]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def copy_rows(self, first: int, out: Values, side: Side) -> None:
        """Writes the values of consecutive rows."""
        at, stop = first, first + len(out)
        recent = self._recents[side]
        if recent is not None and recent[0] == at // BLOCK:
            values = recent[1][at % BLOCK : stop - recent[0] * BLOCK]
            out[: len(values)] = values
            at += len(values)
        while at < stop:
            block, end = at // BLOCK, min(-(-stop // BLOCK), at // BLOCK + READ_TOGETHER)
            blocks = self.blocks_from(block, end, side)
            values = blocks[at - block * BLOCK : stop - block * BLOCK]
            out[at - first : at - first + len(values)] = values
            at += len(values)
            # A view would keep all of them in memory.
            self._recents[side] = end - 1, blocks[(end - 1 - block) * BLOCK :].copy()

    def _kept(self, block: int, side: Side) -> Values:
        """A block that many runs share.  Without pawns each is decoded once."""
        if self.index.structures is not None:
            return self._recent(block, side)
        if (block, side) not in self._shared:
            self._shared[block, side] = self.block(block, side)
        return self._shared[block, side]

    def _recent(self, block: int, side: Side) -> Values:
        """A block of which the next rows may need more.  The last one of each column is kept."""
        recent = self._recents[side]
        if recent is None or recent[0] != block:
            recent = self._recents[side] = block, self.block(block, side)
        return recent[1]
