"""What is known of a build at one moment: the fold of its events.

    Build                         the state, the plan, the nodes
      Run     per domain          what is committed: passes, parts, the table; it only ever grows
        Team  while it is solved  what is under way: workers of one incarnation and their calls

A team can be thrown away at any moment: everything that counts is in the run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from coordinator.commands import Batch, Call, Seal, Task
from coordinator.cut import Owners
from coordinator.domains import Domain, Layout, Node, Pass, Plan, Share, Stretch, stretches


class State(StrEnum):
    QUEUED = "queued"
    PLANNING = "planning"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    SUCCEEDED = "succeeded"
    FAILED = "failed"  # would fail again as things are
    INTERRUPTED = "interrupted"  # goes on when asked to

    @property
    def has_ended(self) -> bool:
        return self in _ENDED


_ENDED = {State.CANCELLED, State.SUCCEEDED, State.FAILED, State.INTERRUPTED}


class Stage(StrEnum):
    """What a team is doing; drawn in `coordinator.passes`."""

    CREATE = "create"
    PREPARE = "prepare"
    LOSE_AT_ONCE = "lose at once"
    WIN = "win"
    LOSE = "lose"
    SETTLE = "settle"
    PAINT = "paint"
    PUBLISH = "publish"
    VERIFY = "verify"


ANALYSING = {Stage.PREPARE, Stage.LOSE_AT_ONCE, Stage.WIN, Stage.LOSE, Stage.SETTLE}


@dataclass(frozen=True, slots=True)
class Sealing:
    """A complete pass, whose log entries are not all known to be durable."""

    depth: int
    won: tuple[int, ...]
    lost: tuple[int, ...]
    exchanged: int
    over: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Team:
    """The workers of one incarnation, and what they are waited for."""

    incarnation: int
    shares: tuple[Share, ...]
    owners: Owners
    stage: Stage = Stage.CREATE
    calls: Mapping[Call, Task] = field(default_factory=dict)  # the stage ends when none is left
    seals: Mapping[Call, Seal] = field(default_factory=dict)
    issued: int = 0  # calls so far
    winner: int = 0
    depth: int = -1
    last_exit: int = 0  # of the winner at hand: no pass before this depth is the last
    counts: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # this step's, by worker
    sent: tuple[Batch, ...] = ()  # this step's; the next one's inbound
    won: tuple[int, ...] = ()  # this pass's W_n, by partition
    exchanged: int = 0  # bytes, in this pass
    spent: Mapping[int, float] = field(default_factory=dict)  # seconds in this pass, by worker
    sealing: tuple[Sealing, ...] = ()
    growing: bool = False  # there are nodes for a larger team

    @property
    def partitions(self) -> int:
        return len(self.owners)


@dataclass(frozen=True, slots=True)
class Table:
    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class Run:
    """One domain on its way to its table."""

    domain: Domain
    layout: Layout
    incarnation: int = 0  # the last one given out
    workers: Mapping[int, int] = field(default_factory=dict)  # by incarnation
    passes: Mapping[int, tuple[Pass, ...]] = field(default_factory=dict)  # committed, by winner
    parts: Mapping[int, int] = field(default_factory=dict)  # part -> incarnation that wrote it
    published: Table | None = None  # it has its name, and is yet to be verified
    table: Table | None = None
    team: Team | None = None
    setbacks: int = 0  # since a pass or part was committed that never had been before
    furthest: int = 0  # passes and parts ever committed

    @property
    def committed(self) -> int:
        return sum(map(len, self.passes.values())) + len(self.parts)

    @property
    def part_count(self) -> int:
        return -(-self.layout.partitions // self.domain.together)

    def log(self, winner: int) -> tuple[Stretch, ...]:
        return stretches(self.passes.get(winner, ()), self.workers)

    def logs(self) -> tuple[tuple[int, tuple[Stretch, ...]], ...]:
        return tuple((winner, self.log(winner)) for winner in self.domain.winners)

    def is_analysed(self, winner: int) -> bool:
        passes = self.passes.get(winner, ())
        return bool(passes) and passes[-1].over


PRESENT = Table(0, "")
"""The table of a domain that was there before the build."""


@dataclass(frozen=True, slots=True)
class Build:
    """A build.  `Build(name)` is one that was submitted and nothing else."""

    name: str
    state: State = State.QUEUED
    reason: str = ""
    plan: Plan | None = None
    nodes: Mapping[str, Node] = field(default_factory=dict)
    runs: Mapping[str, Run] = field(default_factory=dict)
    planning: int = 0  # attempts to make a plan
    waits: int = 0  # AwaitNodes so far
    awaiting: bool = False
    releasing: frozenset[Call] = frozenset()  # while cancelling


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is, in what is committed."""

    tables: int
    domains: int
    passes: int
    parts: int
    decided: int


def progress(build: Build) -> Progress:
    runs = build.runs.values()
    passes = [p for run in runs for committed in run.passes.values() for p in committed]
    return Progress(
        sum(run.table is not None for run in runs),
        len(runs),
        len(passes),
        sum(len(run.parts) for run in runs),
        sum(p.won + p.lost for p in passes),
    )
