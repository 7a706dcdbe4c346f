"""The index of a domain: which slot holds which position.

    slot = partition | structure | square of man 0 | ... | square of man m-1

The partition is the pair of kings (king_pairs.py), the structure the placing of the pawns
(structures.py; without pawns there is one), and each other man has an axis of 64 squares, the last
one varying fastest.  An index is a value: everything that depends on how a position is numbered is
asked of it.
"""

import sys
from dataclasses import dataclass

import numpy as np

from kingpair.workers.index.king_pairs import KingPairs
from kingpair.workers.index.share import Pairs
from kingpair.workers.number_types import Slot

_BITS_OF_A_SQUARE = 6
_ROW_WORDS = 64
# By slots of a partition: all of four men, 33 partitions of five, 4 of six.
_TOGETHER = ((64**2, 462), (64**3 // 8, 462), (64**3, 33), (64**4, 4), (sys.maxsize, 1))


@dataclass(frozen=True, slots=True)
class Index:
    """The partitions, structures and axes of a domain."""

    kings: KingPairs
    axes: int
    structures: int = 1

    @property
    def partitions(self) -> int:
        return len(self.kings)

    @property
    def slots(self) -> int:
        """Slots of a partition."""
        return self.structures << _BITS_OF_A_SQUARE * self.axes

    @property
    def size(self) -> int:
        """Slots of all partitions."""
        return self.partitions * self.slots

    @property
    def rows(self) -> int:
        """Rows of 64 words in which a set holds a partition."""
        return -(-self.slots // (64 * _ROW_WORDS))

    @property
    def set_bytes(self) -> int:
        """Bytes of a set of positions with one side to move; a row is padded to 64 words."""
        return self.partitions * max(512, self.slots // 8)

    @property
    def smaller_set_bytes(self) -> int:
        """Bytes of a set of the positions after a capture."""
        return Index(self.kings, self.axes - 1).set_bytes

    @property
    def together(self) -> int:
        """Partitions that are worth one call of a kernel."""
        return next(count for most, count in _TOGETHER if self.slots <= most)

    def chunks(self, partitions: Pairs | None = None, size: int | None = None) -> tuple[Pairs, ...]:
        """Partitions, all of them if not said, in pieces of a size, or that are worth a call."""
        if partitions is None:
            partitions = np.arange(self.partitions, dtype=np.int16)
        size = size or self.together
        return tuple(
            np.ascontiguousarray(partitions[at : at + size])
            for at in range(0, len(partitions), size)
        )

    def squares(self, slot: Slot) -> tuple[int, ...]:
        """The squares of the men in a slot of a partition."""
        return tuple(slot >> _BITS_OF_A_SQUARE * (self.axes - 1 - i) & 63 for i in range(self.axes))
