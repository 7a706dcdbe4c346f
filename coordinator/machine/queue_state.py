"""The queue of builds at one moment: the fold of the records of its builds.

Queue
  QueuedBuild  per build   its specification, its state, what it has cost
  Turn                     the build that a thread is busy with
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kingpair.coordinator.machine.records import (
    Became,
    Deleted,
    PartWritten,
    PassCommitted,
    Record,
    TablePublished,
    TableVerified,
    WavesPlanned,
)
from kingpair.coordinator.machine.state import ACTIVE, State
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.turn_order import Overtaken, by_turn, work_left

GIVES_WAY = "gives way to "
"""How the reason begins for which a build is interrupted that goes on after another one."""


@dataclass(frozen=True, slots=True)
class QueuedBuild:
    """A build as the queue knows it."""

    name: str
    key: str
    number: int  # how many were submitted before
    spec: BuildSpec
    is_ours: bool = True  # submitted to a queue, not entered by a command line
    state: State = State.QUEUED
    reason: str = ""
    losses: int = 0  # times that its process was lost since it committed anything
    built: frozenset[str] = frozenset()  # tables that are there
    is_deleted: bool = False

    @property
    def work_left(self) -> float:
        return work_left(self.spec, self.built)

    @property
    def has_given_way(self) -> bool:
        return self.state is State.INTERRUPTED and self.reason.startswith(GIVES_WAY)


@dataclass(frozen=True, slots=True)
class Turn:
    """The build whose turn it is.  Until it has begun it can be withdrawn; `is_over` if it has been
    told to give way.
    """

    name: str
    has_begun: bool = False
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    builds: Mapping[str, QueuedBuild] = field(default_factory=dict)
    limit: int = 100  # builds that may wait
    turn: Turn | None = None
    is_open: bool = False  # turns are given out
    is_resting: bool = False  # no turn is given out until Rested
    is_looking: bool = False  # for room, because builds are paused

    def known(self) -> list[QueuedBuild]:
        return [build for build in self.builds.values() if not build.is_deleted]

    def waiting(self) -> list[QueuedBuild]:
        """The builds that wait for a turn, in the order of their turns."""
        waiting = [b for b in self.known() if b.state is State.QUEUED and b.is_ours]
        return by_turn(waiting, self._succeeded())

    def may_be_overtaken(self, build: QueuedBuild) -> bool:
        return not Overtaken(self._succeeded()).is_enough_for(build)

    def _succeeded(self) -> list[QueuedBuild]:
        return [b for b in self.builds.values() if b.state is State.SUCCEEDED and b.is_ours]


def recorded(queue: Queue, name: str, records: Iterable[Record]) -> Queue:
    """The queue after records of a build."""
    build = queue.builds[name]
    for record in records:
        build = _with_record(build, record)
    return replace(queue, builds={**queue.builds, name: build})


def entered(queue: Queue, name: str, key: str, spec: BuildSpec, is_ours: bool = True) -> Queue:
    """The queue with one build more."""
    build = QueuedBuild(name, key, len(queue.builds), spec, is_ours)
    return replace(queue, builds={**queue.builds, name: build})


def _with_record(build: QueuedBuild, record: Record) -> QueuedBuild:
    match record:
        case Became(state, reason):
            # Not if a build that was left by its process is found again.
            after = replace(build, state=State(state), reason=reason)
            is_lost = after.state is State.INTERRUPTED and build.state in ACTIVE
            return replace(after, losses=build.losses + (is_lost and not after.has_given_way))
        case Deleted():
            return replace(build, is_deleted=True)
        case WavesPlanned():
            return replace(build, built=frozenset(record.present))
        case TablePublished():
            return replace(build, losses=0, built=build.built | {record.domain})
        case PassCommitted() | PartWritten() | TableVerified():
            return replace(build, losses=0)
    return build
