"""Who performs the calls of a build: threads of this process, or actors of a cluster.

A crew takes calls and has events: answers, and whatever befell its workers and nodes.  It decides
nothing.  `next` waits, and every wait of a crew has a limit.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from coordinator.commands import Call, Task
from coordinator.domains import Node
from coordinator.events import Event
from workers.workshop import Library


class Site(NamedTuple):
    """Where a build's tables are, and how they are made: what every worker of it has to know.  No
    place at all if nothing is to be built.
    """

    out: str
    compact: bool


class Crew(AbstractContextManager["Crew"], Protocol):
    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes that are there."""

    @property
    def errors(self) -> list[BaseException]:
        """What went wrong in this process, as it was raised."""

    def do(self, call: Call, task: Task) -> None: ...
    def await_nodes(self, number: int) -> None: ...
    def put(self, event: Event) -> None: ...
    def next(self) -> Event: ...


LEAST_SECONDS = 600.0
SLOWEST = 1 << 18  # bytes of its memory that a worker gets through in a second


def lease(memory: int) -> float:
    """Seconds that may pass before a worker of so much memory has answered a call.

    Who has died, is stopped or cut off is known within seconds, whatever he was asked.  What is
    left for a lease to find is a call that never ends in a process that lives, as when a store does
    not answer; and to take for that one that is merely slow costs a pass.  So it is many times what
    any call should take: each goes through a worker's memory, or through files of about that size.
    """
    return max(LEAST_SECONDS, memory / SLOWEST)


Hire = Callable[[Site, Library], Crew]
