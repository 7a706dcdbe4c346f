"""The rows of a table with pawns that hold a position, for scans of the table.

The kernels find them for some structures at a time: [king pair][structure][slot].  A group is as
many structures as they do in one sweep of the king pairs, or with two pieces or more a part of one
structure.  The rows of the last group of each side are kept, because scans go through in order.
"""

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.index.structures import Placings
from kingpair.workers.index.table_index import TableIndex
from kingpair.workers.number_types import Row, Side
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.recycled import recycled

SECTION_SLOTS = 64**3
_STRUCTURES = {0: 64, 1: 1}  # of a section, by pieces
_SECTIONS = {0: 16, 1: 16}  # of a group

SlotMask = NDArray[np.bool_]


def section_rows(index: TableIndex) -> int:
    """The rows of a section: whole structures, or whole runs of one structure."""
    if index.axes in _STRUCTURES:
        return _STRUCTURES[index.axes] * index.structure_rows
    runs = max(
        n for n in range(1, 65) if len(index.kings) % n == 0 and n * index.slots <= SECTION_SLOTS
    )
    return runs * index.slots


class PawnRows:
    """Finds the rows that hold a position, for one thread."""

    def __init__(self, index: TableIndex) -> None:
        self._index = index
        self._rows = section_rows(index) * _SECTIONS.get(index.axes, 1)
        self._kept: dict[int, tuple[int, SlotMask]] = {}

    def hold_position(self, first: int, stop: int, side: Side) -> SlotMask:
        """The rows of a section that hold a position with `side` to move, as a mask."""
        group = first // self._rows
        if side not in self._kept or self._kept[side][0] != group:
            self._kept[side] = group, self._group(group, side)
        at = group * self._rows
        return self._kept[side][1][first - at : stop - at]

    def _group(self, group: int, side: Side) -> SlotMask:
        index = self._index
        assert index.structures is not None, "a table without pawns"
        first = index.place(Row(group * self._rows))
        last = index.place(Row(min((group + 1) * self._rows, index.rows) - 1))
        numbers = np.arange(first.structure, last.structure + 1, dtype=np.int32)
        domain = Domain(index.material, placings=Placings(index.structures, numbers))
        scratch = _kernels.Scratch(domain.kernel)
        pairs = np.arange(first.pair, last.pair + 1, dtype=np.int16)
        out = recycled(len(pairs) * domain.words, np.uint64)
        words = domain.counted_of(pairs, side, out, scratch)
        bits = np.unpackbits(
            words.view(np.uint8), axis=1, bitorder="little", count=len(numbers) * index.slots
        )
        by_pair = bits.view(np.bool_).reshape(len(pairs), len(numbers), index.slots)
        return by_pair.swapaxes(0, 1).ravel()
