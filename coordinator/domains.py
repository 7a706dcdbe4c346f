"""What is solved together, as the coordinator knows it: numbers with weights and neighbours.

    plan    = domains, the smaller tables each of them reads, what is there already
    domain  = partitions x bytes, the winners to analyse, how many partitions make a part
    layout  = the weight of each partition and its neighbours, shared by like domains

Why two partitions are neighbours is not known here.  A frontier found in one may be read in the
other: that is all the coordinator needs to cut a domain into shares, one for each worker.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Layout:
    """The graph of partitions: `neighbours[p]` are those whose frontiers p reads, never p."""

    weights: tuple[int, ...]
    neighbours: tuple[tuple[int, ...], ...]

    @property
    def partitions(self) -> int:
        return len(self.weights)


@dataclass(frozen=True, slots=True)
class Domain:
    """Positions solved together.  Bytes are per unit of weight of a partition."""

    name: str
    wave: int
    needs: tuple[str, ...]  # the domains whose tables it reads
    winners: tuple[int, ...]  # one analysis each, in this order
    layout: int  # its place in the plan's layouts
    size: int  # bytes of one set: what decides how many workers it deserves
    threads: int  # more than these would have nothing to do
    together: int  # how many consecutive partitions are painted as one part
    base: int = 0  # bytes of a worker, whatever its share
    held: int = 0  # bytes for a partition of its own
    copied: int = 0  # bytes for a neighbouring partition of another worker
    verify: bool = False  # the table is proved once it is published


@dataclass(frozen=True, slots=True)
class Pass:
    """A committed pass: what it found, the incarnation whose log entries hold it, and whether it
    was the last.
    """

    depth: int
    won: int
    lost: int
    incarnation: int
    over: bool = False


@dataclass(frozen=True, slots=True)
class Logged:
    """What earlier builds left in the store for a domain, to be gone on from.

    `incarnation` is the highest that ever wrote there; `workers` says how many each one had.
    """

    domain: str
    incarnation: int
    passes: tuple[tuple[int, tuple[Pass, ...]], ...]  # winner, its passes from 0 on
    workers: tuple[tuple[int, int], ...]  # incarnation, workers


@dataclass(frozen=True, slots=True)
class Policy:
    """The numbers that bound a build; part of its plan, so that a replay finds the same ones."""

    grain: int = 64 << 20  # bytes of a set that deserve a worker
    ahead: int = 8  # passes that may be under way before their log entries are durable
    attempts: int = 5  # of anything that the store refused
    setbacks: int = 8  # of one domain, with no pass committed between them


@dataclass(frozen=True, slots=True)
class Plan:
    """All domains of a build, smaller ones first, and those whose tables are there already."""

    domains: tuple[Domain, ...]
    layouts: tuple[Layout, ...]
    present: tuple[str, ...] = ()
    logged: tuple[Logged, ...] = ()
    policy: Policy = field(default_factory=Policy)


@dataclass(frozen=True, slots=True)
class Node:
    """A machine, or what of it may be used."""

    name: str
    cores: int
    memory: int


@dataclass(frozen=True, slots=True)
class Share:
    """One worker's part of a domain, and what it takes of its node."""

    node: str
    cores: int
    memory: int
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where consecutive passes are logged: by which incarnation, and by how many workers."""

    first: int
    last: int
    incarnation: int
    workers: int


def stretches(passes: tuple[Pass, ...], workers: Mapping[int, int]) -> tuple[Stretch, ...]:
    """The log of an analysis, pass by pass from 0 on, run-length encoded."""
    found: list[Stretch] = []
    for p in passes:
        if found and found[-1].incarnation == p.incarnation:
            found[-1] = Stretch(found[-1].first, p.depth, p.incarnation, found[-1].workers)
        else:
            found.append(Stretch(p.depth, p.depth, p.incarnation, workers[p.incarnation]))
    return tuple(found)
