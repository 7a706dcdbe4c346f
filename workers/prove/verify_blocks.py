"""The verification of a table of Chinese chess, block by block.

Values are proved as verify.py says; a side without a move has lost.  The moves are played in C++
(kernels/verify_xiangqi.cpp), which derives squares, placements and rows from the format alone.

Memory: a byte for each slot of one side to move, of this table and of the smaller ones, or two
where values are that large.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.xiangqi.material import FRAME, FREE_MAX, XiangqiMaterial
from kingpair.workers.index.king_pairs import numbers_of
from kingpair.workers.number_types import SIDES, Partition, Row, Side, opponent
from kingpair.workers.prove.recount import PartitionCheck, SideRecount, ValueCounts
from kingpair.workers.prove.verdict import ReportProgress
from kingpair.workers.sets.memory import zeros
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import COLUMNS, Table
from kingpair.workers.table.value import Values

BlockKeys = NDArray[np.unsignedinteger[Any]]


class BlockVerification:
    """A table of Chinese chess under verification."""

    def __init__(
        self,
        table: Table,
        smaller: Mapping[Material, Table],
        dtype: np.dtype[Any],
        threads: Threads,
        listen: ReportProgress,
    ) -> None:
        material = table.material
        assert isinstance(material, XiangqiMaterial), f"{material}: no blocks"
        self._table, self._smaller, self._material = table, smaller, material
        self._dtype, self._threads, self._listen = dtype, threads, listen
        self._carries_depth = table.metric.exits_carry_depth
        self._kernel = self._verifier(material)
        self._done = 0
        self.sides = [SideRecount(1 << 8 * dtype.itemsize) for _ in COLUMNS]

    def _verifier(self, material: XiangqiMaterial) -> _kernels.XiangqiVerifier:
        below, above = (
            (men.count(FRAME[0]), men.count(FRAME[1]))
            for men in (material.stronger, material.weaker)
        )
        return _kernels.XiangqiVerifier(below, above, material.pieces, self._carries_depth)

    def verify_positions(self) -> None:
        for mover in SIDES:
            self._verify_side(mover)

    def _verify_side(self, mover: Side) -> None:
        """Verifies all positions with one side to move."""
        quiet = self._keys(self._kernel, self._table, opponent(mover))
        taken = self._taken(mover)

        def job(block: Partition) -> tuple[PartitionCheck, ValueCounts]:
            tally = np.zeros_like(self.sides[mover].tally)
            values = self._values(self._table, block, mover)
            found = self._kernel.check(block, mover, values, quiet, taken, tally)
            self._tell()
            return PartitionCheck(*found), tally

        blocks = numbers_of(np.arange(self._kernel.blocks))
        for block, (found, tally) in zip(blocks, self._threads.map(job, blocks), strict=True):
            self.sides[mover].add(block, self._table.index.slots, found, tally)

    def _tell(self) -> None:
        self._done += 1
        self._listen(min(1.0, self._done / (len(COLUMNS) * self._kernel.blocks)))

    def _values(self, table: Table, block: Partition, side: Side) -> Values:
        """The values of a block, in this verification's type.  Where a capture ends the phase only
        the sign of a smaller table's value matters.
        """
        with table.lock:
            values = table.values(block, side)
        if table is not self._table and not self._carries_depth:
            values = np.sign(values)
        return np.ascontiguousarray(values.astype(self._dtype, copy=False))

    def _keys(self, kernel: _kernels.XiangqiVerifier, table: Table, side: Side) -> BlockKeys:
        keys: BlockKeys = zeros(
            kernel.blocks * kernel.slots, np.dtype(f"u{self._dtype.itemsize}").type
        )

        def job(block: Partition) -> None:
            here = keys[block * kernel.slots : (block + 1) * kernel.slots]
            kernel.keys(block, side, self._values(table, block, side), here)

        self._threads.map(job, numbers_of(np.arange(kernel.blocks)))
        return keys

    def _taken(self, mover: Side) -> "list[_kernels.Taken | None]":
        """The keys after each capture: of free men, then of frame men by side and letter."""
        axes = len(self._material.pieces)
        taken: list[_kernels.Taken | None] = [None] * (axes + len(SIDES) * len(FRAME))
        known: dict[object, _kernels.Taken] = {}
        for capture in self._material.men_taken():
            if capture.side == mover:
                continue
            same = capture.letter, capture.side
            if same not in known:
                kernel = self._verifier(capture.material)
                side = opponent(capture.side) if capture.swapped else capture.side
                table = self._smaller.get(capture.material)
                keys = None if table is None else self._keys(kernel, table, side)
                known[same] = kernel, capture.swapped, keys
            place = capture.exit if capture.exit < FREE_MAX else capture.exit - FREE_MAX + axes
            taken[place] = known[same]
        return taken

    def first_row(self, side: Side, value: int) -> Row:
        """The first row that holds a position with a side to move and a value."""
        block = Partition(self.sides[side].first_with(value))
        slot = self._kernel.find(block, side, self._values(self._table, block, side), value)
        return Row(block * self._table.index.slots + slot)
