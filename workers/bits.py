"""Memory for sets of positions: large, zeroed, aligned, and on huge pages where the system has
them.

A bitmap of a six-man material is 0.9 GiB.  Anonymous memory costs nothing until it is written,
and is given back the moment the last view of it goes.
"""

import mmap
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from workers import _kernels

_HUGE = 2 << 20

Words = NDArray[np.uint64]
Scalar = TypeVar("Scalar", bound=np.generic)


def zeros(count: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """A zeroed array, aligned to a page."""
    size = max(count * np.dtype(dtype).itemsize, 1)
    # Private: shared memory, which is the default here, gets no huge pages.
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if size >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype=dtype, count=count)


def aligned(words: NDArray[Any]) -> NDArray[np.uint64]:
    """A copy of words that the kernels can read."""
    out = zeros(words.size, np.uint64)
    out[:] = words.ravel()
    return out


class Layer:
    """A set of positions of one side to move, held for some partitions; see kernels.hpp."""

    def __init__(self, words: Words, occupied: NDArray[np.uint8], live: NDArray[np.uint32]) -> None:
        self.words, self.occupied, self.live = words, occupied, live
        self.kernel = _kernels.Layer(words, occupied, live)

    @staticmethod
    def empty(partitions: int, rows: int) -> "Layer":
        return Layer(
            zeros(partitions * rows * 64, np.uint64),
            zeros(partitions * rows, np.uint8),
            zeros(partitions, np.uint32),
        )
