"""Which domains run side by side, on how many workers, on which nodes.

A domain can start when all tables it reads are there.  It deserves a worker for every `grain`
bytes of a set: small ones share a node, each on some of its cores; large ones take whole nodes,
a worker on each, and more of them than they deserve if their memory does not suffice.  A large
one begins with the nodes that are free, and gets a larger team after a pass when there are more.
Those that have begun come first, then the earlier waves; what is left over goes to the others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from typing import NamedTuple

from coordinator.cut import cut, halo
from coordinator.domains import Domain, Layout, Node, Policy, Share
from coordinator.plan import gib
from coordinator.state import ANALYSING, Build, Run


@dataclass
class _Free:
    """What of a node is not taken."""

    node: Node
    cores: int
    memory: int

    @property
    def is_whole(self) -> bool:
        return self.cores == self.node.cores and self.memory == self.node.memory

    def take(self, share: Share) -> None:
        self.cores -= share.cores
        self.memory -= share.memory


def placements(build: Build) -> Iterator[tuple[str, tuple[Share, ...]]]:
    """The domains that can start now, and the shares of their workers."""
    free = _free(build)
    for run in _ready(build):
        if shares := _place(run, _policy(build), free):
            for share in shares:
                free[share.node].take(share)
            yield run.domain.name, shares


def deserves_more(build: Build, run: Run) -> bool:
    """Whether the free nodes would make a team larger by a quarter or more, as it deserves."""
    if run.team is None or run.team.stage not in ANALYSING or any(_ready(build)):
        return False
    spare = sum(free.is_whole for free in _free(build).values())
    have = len(run.team.shares)
    worth = _deserved(run.domain, run.layout, _policy(build), have + spare)
    return 4 * worth >= 5 * have


def lacking(build: Build) -> str:
    """Why nothing can start."""
    if not build.nodes:
        return "no node has a core to spare; end what else runs there, or add nodes"
    run = next(iter(_ready(build)))
    return room_for(run.domain, run.layout, _policy(build), build.nodes.values()).reason


class Room(NamedTuple):
    """What a domain takes of nodes that have nothing else to do: so many workers, the memory of
    the one that its node is tightest for, and that node's.
    """

    name: str
    workers: int
    needed: int
    there: int

    @property
    def short(self) -> int:
        return max(0, self.needed - self.there)

    @property
    def reason(self) -> str:
        """By how much the nodes fall short."""
        nodes = f"each of {self.workers} nodes, one" if self.workers > 1 else "a node, the largest"
        return (
            f"{self.name} needs {gib(self.needed)} of memory on {nodes} has {gib(self.there)}: "
            f"{gib(self.short)} too little"
        )


def room_for(domain: Domain, layout: Layout, policy: Policy, nodes: Iterable[Node]) -> Room:
    """How a domain fits on nodes, or how nearly: with as many workers as there can be."""
    run, named = Run(domain, layout), {node.name: node for node in nodes}
    assert named, "no nodes to fit on"
    free = {name: _Free(node, node.cores, node.memory) for name, node in sorted(named.items())}
    shares = _place(run, policy, free)
    if not shares:
        largest = sorted(named.values(), key=lambda node: (-node.memory, node.name))
        names = [node.name for node in largest[: _most(run, named)]]
        shares = _shares(run, names, named)
    tightest = max(shares, key=lambda share: share.memory - named[share.node].memory)
    return Room(domain.name, len(shares), tightest.memory, named[tightest.node].memory)


def memory_of(domain: Domain, layout: Layout, partitions: Iterable[int]) -> int:
    """What a worker needs for its share: its own partitions, and copies of their neighbours."""
    own = tuple(partitions)
    around = sum(layout.weights[p] for p in halo(layout, own))
    return domain.base + domain.held * sum(layout.weights[p] for p in own) + domain.copied * around


def _policy(build: Build) -> Policy:
    assert build.plan is not None, f"{build.name} has no plan"
    return build.plan.policy


def _ready(build: Build) -> list[Run]:
    ready = [
        run
        for run in build.runs.values()
        if run.team is None
        and run.table is None
        and all(build.runs[needed].table is not None for needed in run.domain.needs)
    ]
    return sorted(ready, key=lambda run: (run.incarnation == 0, run.domain.wave, -run.domain.size))


def _free(build: Build) -> dict[str, _Free]:
    free = {
        name: _Free(node, node.cores, node.memory) for name, node in sorted(build.nodes.items())
    }
    for run in build.runs.values():
        for share in run.team.shares if run.team else ():
            free[share.node].take(share)
    return free


def _deserved(domain: Domain, layout: Layout, policy: Policy, nodes: int) -> int:
    return max(1, min(-(-domain.size // policy.grain), nodes, layout.partitions))


def _place(run: Run, policy: Policy, free: Mapping[str, _Free]) -> tuple[Share, ...]:
    """Shares on free nodes, or none if it must wait."""
    wanted = _deserved(run.domain, run.layout, policy, len(free))
    if wanted == 1:
        alone = memory_of(run.domain, run.layout, range(run.layout.partitions))
        if any(alone <= f.node.memory for f in free.values()):
            return _place_alone(run, alone, free)
        wanted = 2
    whole = [f for f in free.values() if f.is_whole]
    whole.sort(key=lambda f: -f.memory)
    # As many as are free now: the team grows when there are more.  Fewer, if that leaves out some
    # that are too small.
    least = max(1, min(wanted, len(whole)))
    for count in (*range(least, _most(run, whole) + 1), *range(least - 1, 0, -1)):
        nodes = {f.node.name: f.node for f in whole[:count]}
        shares = _shares(run, list(nodes), nodes)
        if all(share.memory <= nodes[share.node].memory for share in shares):
            return shares
    return ()


def _most(run: Run, nodes: Sized) -> int:
    return min(len(nodes), run.layout.partitions)


def _place_alone(run: Run, memory: int, free: Mapping[str, _Free]) -> tuple[Share, ...]:
    fitting = [f for f in free.values() if f.cores >= 1 and f.memory >= memory]
    if not fitting:
        return ()
    best = max(fitting, key=lambda f: f.cores)
    cores = min(run.domain.threads, best.cores)
    return (Share(best.node.name, cores, memory, tuple(range(run.layout.partitions))),)


def _shares(run: Run, names: list[str], nodes: Mapping[str, Node]) -> tuple[Share, ...]:
    """A share for each of the nodes, all of its cores with it."""
    owners = cut(run.layout, len(names))
    shares = []
    for worker, name in enumerate(names):
        own = tuple(p for p, owner in enumerate(owners) if owner == worker)
        memory = memory_of(run.domain, run.layout, own)
        shares.append(Share(name, nodes[name].cores, memory, own))
    return tuple(shares)
