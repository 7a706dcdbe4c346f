"""Facts about the threads of a worker: the order of results, failures, and what is not begun."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, Event, get_ident

import pytest

from kingpair.workers.errors import Cancelled
from kingpair.workers.sets.threads import Threads


@pytest.mark.parametrize("count", [1, 3])
def test_results_are_in_the_order_of_the_items(count: int) -> None:
    with Threads(count) as threads:
        assert threads.map(lambda n: n * n, range(50)) == [n * n for n in range(50)]
        assert threads.map(lambda n: n, ()) == []


def test_as_many_jobs_run_at_once_as_there_are_threads() -> None:
    meet = Barrier(3)  # none of the first three ends before the others have begun
    with Threads(3) as threads:
        assert len(threads.map(lambda _: meet.wait(timeout=60), range(3))) == 3


def test_the_caller_does_the_jobs_of_a_thread_that_is_alone() -> None:
    with Threads(1) as threads:
        assert set(threads.map(lambda _: get_ident(), range(3))) == {get_ident()}


def test_the_failure_of_the_earliest_item_is_raised_and_no_more_items_are_begun() -> None:
    begun = []
    both = Barrier(2)

    def job(item: int) -> None:
        begun.append(item)
        both.wait(timeout=60)
        raise ValueError(item)

    with Threads(2) as threads, pytest.raises(ValueError, match=r"^0$"):
        threads.map(job, range(9))
    assert sorted(begun) == [0, 1]


def test_threads_that_are_closed_begin_no_more_items() -> None:
    began, begun = Event(), []
    threads = Threads(1)

    def job(item: int) -> None:
        begun.append(item)
        began.set()
        with suppress(Cancelled):
            while True:
                threads.check_open()

    with ThreadPoolExecutor(1) as caller:
        mapped = caller.submit(threads.map, job, range(9))
        assert began.wait(timeout=60)
        threads.close()
        with pytest.raises(Cancelled):
            mapped.result(timeout=60)
    assert begun == [0]
