"""The division of all partitions among the parts of a proof.

A part checks some partitions of one walk of the mover's king.  It reads these and the ones around
them: those that the king can enter in one step.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import SIDES, Side

WALKS = 20  # of the kings, with either side to move
KEPT_BYTES = 512 << 20  # a proof keeps the values of a table if they take no more
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
    walks = [(mover, walk) for mover in SIDES for walk in TURNED.walks(mover)]
    each, left = divmod(count, len(walks))
    assert not left, f"{count} parts of {len(walks)} walks"
    return tuple(
        WalkPart(mover, pairs, sorted(TURNED.around(pairs, mover).union(pairs)))
        for mover, walk in walks
        for pairs in (part.tolist() for part in np.array_split(walk, each))
    )
