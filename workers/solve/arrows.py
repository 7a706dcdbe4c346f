"""Arrows between structures of pawns, in the arrays that the kernels take (carry.hpp)."""

import numpy as np
from numpy.typing import NDArray

PLAIN, PASSING, MEETING, TAKING = range(4)
Arrows = tuple[NDArray[np.uint32], NDArray[np.uint32]]
"""Where the arrows of each structure begin; [arrow][structure at the other end, square]."""
Ints = NDArray[np.integer]


def arrows_from(count: int, at: Ints, other: Ints, square: Ints) -> Arrows:
    """Arrows listed by the structure at one end, of which there are so many."""
    order = np.argsort(at, kind="stable")
    begin = np.searchsorted(at[order], np.arange(count + 1)).astype(np.uint32)
    return begin, np.stack([other[order], square[order]], axis=1).astype(np.uint32)
