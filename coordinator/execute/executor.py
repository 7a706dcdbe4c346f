"""The interface of executors, which perform the calls of a build: threads of this process, or
actors of a cluster.

An executor takes calls and returns events: answers, and reports on its workers and nodes.  It
decides nothing.  `next` waits, and every wait has a limit.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from kingpair.coordinator.machine.commands import Call, Task
from kingpair.coordinator.machine.demand import WantedNode
from kingpair.coordinator.machine.events import Event
from kingpair.coordinator.plan.amounts import PARTS_FROM
from kingpair.coordinator.plan.domains import Node
from kingpair.workers.table.table_store import TableStore


class Site(NamedTuple):
    """Where a build's tables are, and how they are made: every worker of it has to know.  `out` is
    empty if nothing is to be built; `spread` workers at least should find room on the nodes.
    """

    out: str
    compact: bool
    spread: int = 1
    scratch: str | None = None  # a directory for sets on disk; beside the tables if None
    logs: str | None = None  # a directory of each machine for logs (machine_logs.py)
    parts_from: int = PARTS_FROM  # expected bytes of a table from which on it is kept in parts
    least_shared: int = 0  # bytes of a set from which on a spare process maps a worker's sets


class Executor(AbstractContextManager["Executor"], Protocol):
    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes that are there."""

    @property
    def expects_nodes(self) -> bool:
        """Whether nodes that do not answer now may join later."""

    @property
    def shares_memory(self) -> bool:
        """Whether the workers take the memory of this process's machine alone."""

    @property
    def errors(self) -> list[BaseException]:
        """The exceptions that were raised in this process."""

    def do(self, call: Call, task: Task) -> None: ...
    def await_nodes(self, number: int) -> None: ...
    def demand(self, wanted: tuple[WantedNode, ...]) -> None:
        """Tells which nodes the build could use beyond those that it has."""

    def clear_logs(self, beginnings: Sequence[str]) -> None:
        """Drops what other machines have of the logs in some build folders, or of some of them."""

    def put(self, event: Event) -> None: ...
    def next(self) -> Event: ...


LEAST_SECONDS = 600.0
SLOWEST = 1 << 18  # bytes of its memory that a worker gets through in a second


def lease(memory: int) -> float:
    """Seconds that may pass before a worker of so much memory has answered a call.

    A worker that died, is stopped or cut off is noticed within seconds.  What is left for a lease
    to find is a call that never ends in a process that lives, as when a store does not answer; to
    mistake a slow call for such a one costs a pass.  So a lease is many times what any call should
    take: each goes through a worker's memory, or through files of about that size.
    """
    return max(LEAST_SECONDS, memory / SLOWEST)


PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 30.0


def pause(attempt: int) -> float:
    """Seconds to wait before a call is made for the second, third, ... time."""
    if attempt < 2:
        return 0.0
    return min(PAUSE_SECONDS * 2.0 ** (attempt - 2), LONGEST_PAUSE_SECONDS)


OpenExecutor = Callable[[Site, TableStore], Executor]
