"""A domain of Chinese chess, as the kernels see it (workers/kernels/xiangqi.hpp).

Its partitions are blocks of the upper frame.  In memory a placement takes whole rows of 64 words,
so that a slot is not the number of a bit; the kernels know which bit it is.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.xiangqi.material import FRAME, XiangqiMaterial
from kingpair.workers.index.blocks import BlockIndex, block_index
from kingpair.workers.index.frame import SideFrame
from kingpair.workers.index.king_pairs import numbers_of
from kingpair.workers.index.share import Share, whole
from kingpair.workers.sets.domain import ROW_WORDS, Domain, popcount
from kingpair.workers.sets.memory import Words, zeros


class BlockDomain(Domain):
    """The kernels' view of the men of two sides, or of a share of their blocks."""

    index: BlockIndex

    def __init__(self, stronger: str, weaker: str, share: Share | None = None) -> None:
        self.material, _ = XiangqiMaterial.of(stronger, weaker)
        self.placings = None
        self.index = block_index(stronger, weaker)
        kings = self.index.kings
        self.share = share or whole(kings)
        self.slots = self.index.slots
        self.kernel = _kernels.frame_domain(frame_of(self.index), self.share.places, kings.halved)
        self.words = self.index.rows * ROW_WORDS
        self.empty_stream = 8 * -(-self.index.rows // 64)
        self.canonical = self._canonical()

    def _canonical(self) -> Words:
        masks = zeros(2 * self.words, np.uint64)
        for halved, mask in enumerate(masks.reshape(2, -1)):
            stand_alone = self.standing(bool(halved)) == np.arange(self.index.slots_used)
            _kernels.set_of_marks(self.kernel, stand_alone, mask)
        return masks

    def standing(self, halved: bool) -> NDArray[np.int32]:
        """For each slot of a block the slot that stands for it."""
        out = np.empty(self.index.slots_used, np.int32)
        _kernels.canonical_slots(self.kernel, halved, out)
        return out

    def slots_of(self, words: Words) -> NDArray[np.bool_]:
        out = np.zeros(self.slots, np.bool_)
        _kernels.marks_of_set(self.kernel, words, out[: self.index.slots_used])
        return out

    def some_slots(self, words: Words, first: int, count: int) -> NDArray[np.bool_]:
        return self.slots_of(words)[first : first + count]

    def placements(self) -> int:
        """Counts the distinct ways to place the men on different squares."""
        scratch = _kernels.Scratch(self.kernel)
        blocks = numbers_of(np.arange(self.index.partitions))
        return sum(popcount(self.counted(block, -1, scratch)) for block in blocks)


@cache
def frame_of(index: BlockIndex) -> _kernels.Frame:
    """The kernels' frame of an index."""
    lower, upper = index.lower, index.kings.upper
    mirrored = [lower.keep(placement.mirrored).number for placement in lower.kept]
    return _kernels.Frame(
        list(zip(index.men, map(list, index.squares_by_axis), strict=True)),
        (*lower.arrays, lower.captives("A"), lower.captives("B")),
        (*upper.arrays, upper.captives("A"), upper.captives("B")),
        np.array(mirrored, np.uint16),
        _smaller(lower),
        _smaller(upper),
        index.slots,
    )


def _smaller(side: SideFrame) -> tuple[int, int]:
    """The placements that are left without an advisor, and without an elephant."""
    advisor, elephant = (side.without(letter) for letter in FRAME)
    return len(advisor or ()), len(elephant or ())


@cache
def block_domain(stronger: str, weaker: str) -> BlockDomain:
    """The domain of two sides' men; the first side need not be the stronger one."""
    return BlockDomain(stronger, weaker)
