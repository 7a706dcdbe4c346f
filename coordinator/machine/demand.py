"""The nodes that a build could use beyond those that it has.  Pure.

One for each domain that is ready and has no workers, in the order in which they would begin; as
many as the build was asked to spread it over, each with its part of the memory.  A domain that no
known node can hold alone is divided until its parts fit the largest node.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kingpair.coordinator.machine.placement import memory_of
from kingpair.coordinator.machine.schedule import waiting_for_workers
from kingpair.coordinator.machine.state import BuildJob, Run, State

MOST = 64  # nodes that are asked for at once


class WantedNode(NamedTuple):
    """The cores and the memory of a worker."""

    cores: int
    memory: int


def demand(build: BuildJob) -> tuple[WantedNode, ...]:
    """Returns what the domains that wait for workers need."""
    if build.state is not State.RUNNING:
        return ()
    wanted = [node for run in waiting_for_workers(build) for node in _of(build, run)]
    return tuple(wanted[:MOST])


def _of(build: BuildJob, run: Run) -> Iterator[WantedNode]:
    assert build.plan is not None, "domains without a plan"
    memory = memory_of(run.domain, run.layout, range(run.layout.partitions))
    largest = max((node.memory for node in build.nodes.values()), default=memory)
    parts = build.plan.policy.spread or -(-memory // max(1, largest))
    parts = max(1, min(parts, run.layout.partitions))
    for _ in range(parts):
        yield WantedNode(max(1, run.domain.threads // parts), -(-memory // parts))
