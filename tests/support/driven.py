"""A build that is told, event by event, what a test wants it told."""

from dataclasses import replace
from typing import Any, TypeVar, get_args

from kingpair.coordinator.machine.commands import (
    Call,
    Command,
    Conclude,
    Create,
    Export,
    Lose,
    LoseAtOnce,
    Paint,
    Prepare,
    Publish,
    Release,
    Seal,
    Task,
    Verify,
    Win,
)
from kingpair.coordinator.machine.events import (
    Admitted,
    Answer,
    Computed,
    Done,
    Event,
    NodesJoined,
    Painted,
    Planned,
    Prepared,
    Proved,
    Written,
)
from kingpair.coordinator.machine.state import BuildJob, State
from kingpair.coordinator.machine.step import step
from kingpair.coordinator.plan.domains import BuildPlan, DomainPlan, Layout, Node, Policy

Heard = TypeVar("Heard")
Asked = TypeVar("Asked", bound=Task)
RING = Layout((1,) * 8, tuple(((p - 1) % 8, (p + 1) % 8) for p in range(8)))


def domain(name: str = "D", **changes: Any) -> DomainPlan:
    plain = DomainPlan(name, 0, (), (0,), 0, size=1, threads=1, together=4, held=1, copied=1)
    return replace(plain, **changes)


def plan(*domains: DomainPlan, **policy: Any) -> BuildPlan:
    return BuildPlan(domains, (RING,), policy=Policy(**{"grain": 1} | policy))


WIDE = domain(size=2)
"""A domain that deserves two workers."""


class Driven:
    """A build, and all that it has asked for."""

    def __init__(self, wanted: BuildPlan, *nodes: Node) -> None:
        self.build = BuildJob("build")
        self.told: list[Event] = []
        self.heard: list[Command] = []
        self.tell(Admitted())
        self.tell(NodesJoined(nodes))
        self.tell(Planned(1, wanted))

    @property
    def state(self) -> State:
        return self.build.state

    def tell(self, event: Event) -> list[Command]:
        self.build, commands = step(self.build, event)
        self.told.append(event)
        self.heard += commands
        return commands

    def waiting(self, kind: type[Asked]) -> list[tuple[Call, Asked]]:
        """The calls of a kind that are not answered yet."""
        teams = [run.team for run in self.build.runs.values() if run.team]
        calls = [found for team in teams for found in {**team.calls, **team.seals}.items()]
        return [(call, task) for call, task in calls if isinstance(task, kind)]

    def answer(self, *kinds: type[Task]) -> list[Command]:
        """Answer all calls of these kinds; what is heard from it."""
        calls = [found for kind in kinds for found in self.waiting(kind)]
        return [heard for call, task in calls for heard in self.tell(self.answer_to(call, task))]

    def answer_to(self, call: Call, task: Task) -> Answer:
        """One position found in each partition, and nothing sent."""
        match task:
            case Verify(part, parts) if parts > 1:
                return Proved(call, str(part))
            case Create() | Seal() | Verify() | Conclude() | Export() | Release():
                return Done(call)
            case Prepare():
                return Prepared(call, 1, ())
            case Paint(parts):
                return Painted(call, (1,) * len(parts))
            case Publish():
                return Written(call, 1)
            case LoseAtOnce() | Win() | Lose():
                team = self.build.runs[call.domain].team
                assert team is not None
                return Computed(call, (1,) * len(team.shares[call.worker].partitions), ())

    def until(self, kind: type[Asked], depth: int = 0) -> list[tuple[Call, Asked]]:
        """Answer all, but for log entries, until there are calls of a kind."""
        others = [k for k in get_args(Task) if k is not Seal]
        while not (found := self.waiting(kind)) or getattr(found[0][1], "depth", 0) < depth:
            assert self.answer(*others), f"nothing leads to {kind.__name__}, pass {depth}"
        return found


def of(kind: type[Heard], commands: list[Command]) -> list[Heard]:
    return [command for command in commands if isinstance(command, kind)]


def nodes(count: int, cores: int = 2, memory: int = 100) -> list[Node]:
    return [Node(f"node{i}", cores, memory) for i in range(count)]
