"""Threads inside a worker: chunks of partitions, and what each thread needs for itself.

The kernels release the GIL and write only to the partitions they were given, so what comes out
does not depend on how many threads there are or who did what.  The chunks depend on the material
alone.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from workers import _kernels
from workers.domain import Domain
from workers.share import WHOLE

Result = TypeVar("Result")
Item = TypeVar("Item")
Lent = TypeVar("Lent")
Chunk = NDArray[np.int16]


def chunk_size(axes: int) -> int:
    """How many partitions are worth a call: all at once up to four men, 33 of five, 4 of six."""
    return {0: 462, 1: 462, 2: 462, 3: 33, 4: 4}.get(axes, 1)


def chunks_of(axes: int, partitions: Chunk = WHOLE.own) -> tuple[Chunk, ...]:
    """The partitions in pieces worth a call."""
    size = chunk_size(axes)
    return tuple(
        np.ascontiguousarray(partitions[at : at + size]) for at in range(0, len(partitions), size)
    )


class Threads:
    """A pool whose jobs each borrow a scratch space of the domain they work on."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="kernels")

    def scratches(self, domain: Domain) -> "Pool[_kernels.Scratch]":
        return self.pool(lambda: _kernels.Scratch(domain.kernel))

    def pool(self, make: Callable[[], Lent]) -> "Pool[Lent]":
        """One for each thread."""
        return Pool(make, self.count)

    def map(self, job: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """The results in the order of the items; the first failure is raised once all have
        ended.
        """
        return list(self._all(job, items))

    def _all(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        jobs = [self._pool.submit(job, item) for item in items]
        try:
            for done in jobs:
                yield done.result()
        finally:
            for waiting in jobs:
                waiting.cancel()
            for running in jobs:
                if not running.cancelled():
                    running.exception()

    def stream(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in order, with only a few jobs under way, for results that are large."""
        waiting: list[Future[Result]] = []
        try:
            for item in items:
                waiting.append(self._pool.submit(job, item))
                if len(waiting) > 2 * self.count:
                    yield waiting.pop(0).result()
            while waiting:
                yield waiting.pop(0).result()
        finally:
            for left in waiting:
                left.cancel()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Pool(Generic[Lent]):
    """As many of a thing as there are threads, lent out one at a time."""

    def __init__(self, make: Callable[[], Lent], count: int) -> None:
        self._free: SimpleQueue[Lent] = SimpleQueue()
        for _ in range(count):
            self._free.put(make())

    @contextmanager
    def lend(self) -> Iterator[Lent]:
        lent = self._free.get()
        try:
            yield lent
        finally:
            self._free.put(lent)
