"""Domains, solved together, as the coordinator knows them: numbers, weights and neighbours.

    plan    = the domains to solve, those that each of them rests on, and the tables that exist
    domain  = partitions x bytes, the winners to analyse, how many partitions make a part
    table   = one domain, or several: levels, and a domain without analyses that joins their parts
    layout  = the weight of each partition and its neighbours, shared by like domains

Why two partitions are neighbours is not known here.  A frontier found in one may be read in the
other: that is all the coordinator needs to cut a domain into shares, one for each worker.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kingpair.workers.number_types import Depth, Side
from kingpair.workers.solve.sets_mode import SetsMode


@dataclass(frozen=True, slots=True)
class Layout:
    """The graph of partitions: `neighbours[p]` are those whose frontiers p reads, never p."""

    weights: tuple[int, ...]
    neighbours: tuple[tuple[int, ...], ...]

    @property
    def partitions(self) -> int:
        return len(self.weights)


@dataclass(frozen=True, slots=True)
class DomainPlan:
    """Positions solved together.  Bytes are per unit of weight of a partition."""

    name: str
    wave: int
    needs: tuple[str, ...]  # the domains that must be ready before it begins
    winners: tuple[Side, ...]  # one analysis each, in this order
    layout: int  # its place in the plan's layouts
    size: int  # bytes of one set: what decides how many workers it deserves
    threads: int  # more than these would have nothing to do
    together: int  # how many consecutive partitions, or structures, are painted as one part
    base: int = 0  # bytes of a worker with any share
    held: int = 0  # bytes for a partition of its own
    copied: int = 0  # bytes for a neighbouring partition of another worker
    verify: bool = False  # the table is proved once it is published
    proof: int = 1  # parts that several workers prove it in at least; 1 if one worker proves it
    syzygy: bool = False  # Syzygy files are written of the table
    lacks_files: bool = False  # the table is there, and its Syzygy files are not
    patience: int = 1  # passes without a loss in a row, after which no pass finds anything
    table: str = ""  # the table whose level it is; empty if it publishes a table itself
    rests_on: tuple[str, ...] = ()  # the levels whose logs and parts its workers read
    painted: int | None = None  # how many structures the parts hold; None: its partitions
    mode: SetsMode = SetsMode.ALL
    alone: bool = False  # one worker solves it, as the memory does not suffice for several


def proof_part_count(least: int, workers: int) -> int:
    """Returns the number of parts in which so many workers prove a table.

    One worker proves it as a whole.  Several prove at least `least` parts, and no more parts than
    workers beyond that: finer parts would leave cores of a worker without a partition, and read
    more partitions of others.
    """
    return 1 if workers == 1 or least == 1 else least * max(1, min(FINEST, workers // least))


FINEST = 8  # times as many parts as a proof has at least


@dataclass(frozen=True, slots=True)
class CommittedPass:
    """A committed pass: its counts, the incarnation whose log entries hold it, and whether it was
    the last.
    """

    depth: Depth
    won: int
    lost: int
    incarnation: int
    over: bool = False


@dataclass(frozen=True, slots=True)
class Logged:
    """The passes of a domain that earlier builds left in the store, to go on from.

    `incarnation` is the highest that ever wrote there; `workers` says how many each one had.
    """

    domain: str
    incarnation: int
    passes: tuple[tuple[Side, tuple[CommittedPass, ...]], ...]  # winner, its passes from 0 on
    workers: tuple[tuple[int, int], ...]  # incarnation, workers
    parts: tuple[tuple[int, int], ...] = ()  # of a level that is whole: part, incarnation


@dataclass(frozen=True, slots=True)
class Policy:
    """The numbers that bound a build; part of its plan, so that a replay finds the same ones."""

    grain: int = 64 << 20  # bytes of a set that deserve a worker
    spread: int | None = None  # workers that a domain deserves, whatever its size
    ahead: int = 8  # passes that may be under way before their log entries are durable
    attempts: int = 5  # of anything that the store refused
    setbacks: int = 8  # of one domain, with no pass committed between them
    has_disks: bool = False  # machines keep logs and parts on disks of their own

    def deserved(self, size: int, cores: int) -> int:
        """Returns the workers that pay for sets of so many bytes on nodes of so many cores."""
        return -(-2 * size // (self.grain * max(2, cores)))

    def solvers(self, size: int, partitions: int, cores: int) -> int:
        """Returns those of them that pay while passes go on: no more than have a partition for each
        core.  All wait for each other in every step, the longer the more they are.
        """
        return min(self.deserved(size, cores), -(-partitions // max(1, cores)))

    def painters(self, size: int, partitions: int, cores: int) -> int:
        """Returns those that pay once all passes are found: all, unless they read from one store,
        of which more of them would read more.
        """
        solvers = self.solvers(size, partitions, cores)
        return self.deserved(size, cores) if self.has_disks else solvers


def is_larger(have: int, could: int) -> bool:
    """Whether so many workers are so many more that a new team of them pays."""
    return 4 * could >= 5 * have


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """All domains of a build, smaller ones first, and those whose tables are there already."""

    domains: tuple[DomainPlan, ...]
    layouts: tuple[Layout, ...]
    present: tuple[str, ...] = ()
    logged: tuple[Logged, ...] = ()
    policy: Policy = field(default_factory=Policy)
    verified: tuple[tuple[str, float], ...] = ()  # while the plan was made: domain, seconds


@dataclass(frozen=True, slots=True)
class Node:
    """A machine, or what of it may be used."""

    name: str
    cores: int
    memory: int


@dataclass(frozen=True, slots=True)
class WorkerPlacement:
    """One worker's part of a domain, and what it takes of its node."""

    node: str
    cores: int
    memory: int
    partitions: tuple[int, ...]
    proportion: int = 1  # of the domain, beside those of the other workers


@dataclass(frozen=True, slots=True)
class TablePart:
    """A part of a table: partitions (of a level: structures) `first` to `stop` (not included)."""

    number: int
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class LoggedSpan:
    """Consecutive passes in one log: its incarnation, and the number of its workers."""

    first: int
    last: int
    incarnation: int
    workers: int


@dataclass(frozen=True, slots=True)
class SolvedLevel:
    """A level that is ready: where its passes are logged, by winner, and who wrote its parts."""

    name: str
    logs: tuple[tuple[Side, tuple[LoggedSpan, ...]], ...]
    parts: tuple[tuple[int, int], ...]  # part, incarnation


def logged_spans(
    passes: tuple[CommittedPass, ...], workers: Mapping[int, int]
) -> tuple[LoggedSpan, ...]:
    """The log of an analysis, pass by pass from 0 on, run-length encoded."""
    found: list[LoggedSpan] = []
    for p in passes:
        if found and found[-1].incarnation == p.incarnation:
            found[-1] = LoggedSpan(found[-1].first, p.depth, p.incarnation, found[-1].workers)
        else:
            found.append(LoggedSpan(p.depth, p.depth, p.incarnation, workers[p.incarnation]))
    return tuple(found)
