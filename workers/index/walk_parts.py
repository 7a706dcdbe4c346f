"""The division of all partitions among the parts of a proof.

A part checks some partitions of one walk of the mover's king.  It reads these and the ones around
them: those that the king can enter in one step.  The partitions of a part lie side by side on the
walk's board, so that few are around them: divided in four, a walk is read 1.6 times.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.sweeps import strips
from kingpair.workers.number_types import SIDES, Side

WALKS = 20  # of the kings, with either side to move
PARTED_PIECES = 3
"""A proof with pawns reads tables with so many pieces in parts; so does its kernel."""


class WalkPart(NamedTuple):
    """Partitions of one walk, and those partitions with the ones around them."""

    mover: Side
    pairs: list[int]
    around: list[int]


@lru_cache(maxsize=16)
def walk_parts(count: int) -> tuple[WalkPart, ...]:
    """Divides the walks of both kings into so many parts: a multiple of the number of walks."""
    walks = [(mover, _side_by_side(mover, walk)) for mover in SIDES for walk in TURNED.walks(mover)]
    each, left = divmod(count, len(walks))
    assert not left, f"{count} parts of {len(walks)} walks"
    return tuple(
        WalkPart(mover, pairs, sorted(TURNED.around(pairs, mover).union(pairs)))
        for mover, walk in walks
        for pairs in (part.tolist() for part in np.array_split(walk, each))
    )


def _side_by_side(mover: Side, walk: NDArray[np.int16]) -> NDArray[np.int16]:
    """Returns a walk in an order in which each run of partitions has few around it."""
    return np.concatenate([np.array(strip, np.int16) for strip in strips(mover, walk.tolist(), 4)])
