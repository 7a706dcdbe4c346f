"""Threads inside a worker: chunks of partitions, and what each thread needs for itself.

The kernels release the GIL and write only to the partitions they were given, so the result
does not depend on the number of threads or on which thread did what.  The chunks depend on the
material alone.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Generic, TypeVar

from kingpair.workers import _kernels
from kingpair.workers.errors import Cancelled
from kingpair.workers.index.share import Pairs
from kingpair.workers.sets.domain import Domain

Result = TypeVar("Result")
Item = TypeVar("Item")
Lent = TypeVar("Lent")
Chunk = Pairs


class Threads:
    """Runs jobs on a fixed number of threads."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._is_closed = False
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="kernels")

    def scratches(self, domain: Domain) -> "Pool[_kernels.Scratch]":
        """The memory that kernels need while they work on a domain."""
        return self.pool(lambda: _kernels.Scratch(domain.kernel))

    def pool(self, make: Callable[[], Lent]) -> "Pool[Lent]":
        """Makes one object for each thread, to be lent to jobs."""
        return Pool(make, self.count)

    def map(self, job: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """The results in the order of the items; the first failure is raised once all have
        ended.

        Each thread takes one item after the other: to hand over every item would take longer than
        many jobs.  The caller is one of them, so that one thread alone hands over nothing.
        """
        todo = list(items)
        places = iter(range(len(todo)))
        results: dict[int, Result] = {}
        failures: dict[int, BaseException] = {}

        def work() -> None:
            for place in places:
                try:
                    self.check_open()
                    results[place] = job(todo[place])
                except BaseException as error:
                    failures[place] = error
                    _leave_no_more(places)

        running = [self._pool.submit(work) for _ in range(min(self.count, len(todo)) - 1)]
        try:
            work()
            for each in running:
                each.result()
        finally:
            _leave_no_more(places)
            for each in running:
                if not each.cancel():
                    each.exception()
        if failures:
            raise failures.pop(min(failures))
        return [results[place] for place in range(len(todo))]

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

    def check_open(self) -> None:
        """Raises Cancelled once they are closed; long work in a thread calls it now and then."""
        if self._is_closed:
            raise Cancelled("its threads were closed")

    def close(self) -> None:
        self._is_closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _leave_no_more(places: Iterator[int]) -> None:
    """Takes what an iterator has left, so that no thread finds any more."""
    for _ in places:
        pass


class Pool(Generic[Lent]):
    """One object for each thread; a job borrows one while it runs."""

    def __init__(self, make: Callable[[], Lent], count: int) -> None:
        self._free: SimpleQueue[Lent] = SimpleQueue()
        for _ in range(count):
            self._free.put(make())

    def lend(self) -> "Loan[Lent]":
        return Loan(self._free)


class Loan(Generic[Lent]):
    """Borrows an object while its block runs.  Some jobs borrow for each partition, so it is no
    generator, which would take several times as long.
    """

    __slots__ = ("_free", "_lent")

    def __init__(self, free: SimpleQueue[Lent]) -> None:
        self._free = free

    def __enter__(self) -> Lent:
        self._lent = self._free.get()
        return self._lent

    def __exit__(self, *_: object) -> None:
        self._free.put(self._lent)
