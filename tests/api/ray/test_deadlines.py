"""Facts about what an executor waits for: leases, nodes, and calls that are made again."""

from kingpair.api.ray.deadlines import Deadlines
from kingpair.coordinator.execute.executor import pause
from kingpair.coordinator.machine.commands import Call, Verify
from kingpair.coordinator.machine.events import LeaseExpired, NodesAwaited

FIRST, SECOND = (Call("D", 1, worker, 1) for worker in (0, 1))


def test_a_lease_is_over_once_and_not_before_its_end() -> None:
    deadlines = Deadlines()
    deadlines.lease(FIRST, 5.0)
    assert deadlines.late(5.0) is None
    assert deadlines.late(5.1) == LeaseExpired(FIRST)
    assert deadlines.late(5.1) is None


def test_an_answer_ends_a_lease() -> None:
    deadlines = Deadlines()
    deadlines.lease(FIRST, 5.0)
    deadlines.answered(FIRST)
    assert deadlines.late(9.0) is None


def test_the_next_moment_is_the_earliest_of_all() -> None:
    deadlines = Deadlines()
    assert deadlines.next() == float("inf")
    deadlines.lease(FIRST, 5.0)
    deadlines.await_nodes(1, 4.0)
    deadlines.repeat(SECOND, Verify(), 3.0)
    assert deadlines.next() == 3.0
    assert deadlines.due(2.9) == []
    assert deadlines.due(3.0) == [(SECOND, Verify())]
    assert deadlines.late(4.5) == NodesAwaited(1)
    assert deadlines.next() == 5.0


def test_a_released_worker_has_no_lease_and_no_repeat() -> None:
    deadlines = Deadlines()
    deadlines.lease(FIRST, 5.0)
    deadlines.repeat(FIRST, Verify(), 3.0)
    deadlines.lease(SECOND, 6.0)
    assert deadlines.release(("D", 1, 0)) == [FIRST]
    assert deadlines.next() == 6.0


def test_pauses_between_attempts_double_up_to_a_limit() -> None:
    assert [pause(attempt) for attempt in range(1, 5)] == [0.0, 0.5, 1.0, 2.0]
    assert pause(50) == 30.0
