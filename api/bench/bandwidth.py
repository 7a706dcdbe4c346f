"""Compares a kernel with the speed at which this machine copies memory.

    achieved / bound = (bytes touched / seconds) / (bytes read and written by a copy / seconds)

Time is that of the fastest of a few runs: the one that others on this machine disturbed least.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from kingpair.workers.sets.memory import zeros

_COPIED = 256 << 20


class Rate(NamedTuple):
    """A kernel in a state, run by so many threads."""

    kernel: str
    state: str
    threads: int
    touched: int
    seconds: float

    @property
    def bandwidth(self) -> float:
        return self.touched / self.seconds


def best_of(repeats: int, run: Callable[[], object], before: Callable[[], object] = int) -> float:
    """Seconds of the fastest run; `before` is done ahead of each and not counted."""
    fastest = float("inf")
    for _ in range(repeats):
        before()
        start = time.perf_counter()
        run()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


def copy_bandwidth(threads: int, repeats: int = 5) -> float:
    """Bytes read and written a second by copies of arrays that no cache holds."""
    source, target = (zeros(_COPIED // 8, np.uint64) for _ in range(2))
    source[:] = target[:] = 1
    parts = list(zip(*(np.array_split(a, threads) for a in (target, source)), strict=True))
    with ThreadPoolExecutor(threads) as pool:
        seconds = best_of(repeats, lambda: list(pool.map(lambda p: np.copyto(*p), parts)))
    return 2 * _COPIED / seconds
