"""The moments that an executor waits for: the end of a lease or of a wait for nodes, and the time
at which a call is repeated.

Has no clock: each function is told what time it is.
"""

from collections.abc import Callable
from typing import NamedTuple

from kingpair.coordinator.execute.executor import lease
from kingpair.coordinator.machine.commands import Call, Task
from kingpair.coordinator.machine.events import LeaseExpired, NodesAwaited

Key = tuple[str, int, int]  # domain, incarnation, worker


def key_of(call: Call) -> Key:
    return call.domain, call.incarnation, call.worker


class Limits(NamedTuple):
    """Limits of waiting, in seconds: for an answer, by the worker's memory; for a heartbeat, and
    for the first one of a process; for nodes to join, for a node to say whether it is fit, and for
    cores that another build has reserved.
    """

    lease: Callable[[int], float] = lease
    life: float = 6.0
    start: float = 120.0
    nodes: float = 60.0
    fit: float = 60.0
    room: float = 30.0


class Deadlines:
    """Leases of calls, nodes that are awaited, and calls that are made again, each with its end."""

    def __init__(self) -> None:
        self._leases: dict[Call, float] = {}
        self._awaited: dict[int, float] = {}
        self._repeats: dict[Call, tuple[float, Task]] = {}

    def lease(self, call: Call, end: float) -> None:
        self._leases[call] = end

    def answered(self, call: Call) -> None:
        self._leases.pop(call, None)

    def await_nodes(self, number: int, end: float) -> None:
        self._awaited[number] = end

    def repeat(self, call: Call, task: Task, due: float) -> None:
        self._repeats[call] = due, task

    def due(self, now: float) -> list[tuple[Call, Task]]:
        """Takes the calls that are to be made again now."""
        calls = [call for call, (due, _) in self._repeats.items() if due <= now]
        return [(call, self._repeats.pop(call)[1]) for call in calls]

    def late(self, now: float) -> LeaseExpired | NodesAwaited | None:
        """Takes a lease or a wait that is over, if there is one."""
        for call, end in self._leases.items():
            if end < now:
                del self._leases[call]
                return LeaseExpired(call)
        for number, end in self._awaited.items():
            if end < now:
                del self._awaited[number]
                return NodesAwaited(number)
        return None

    def next(self) -> float:
        """Returns the earliest moment of all; infinity if there is none."""
        repeats = (due for due, _ in self._repeats.values())
        ends = (*self._leases.values(), *self._awaited.values(), *repeats)
        return min(ends, default=float("inf"))

    def release(self, key: Key) -> list[Call]:
        """Forgets all of a worker; returns the calls that it has not answered."""
        for call in [call for call in self._repeats if key_of(call) == key]:
            del self._repeats[call]
        waiting = [call for call in self._leases if key_of(call) == key]
        for call in waiting:
            del self._leases[call]
        return waiting
