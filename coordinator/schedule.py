"""Which domains run side by side, on how many workers, on which nodes.

A domain can start when all tables it reads are there.  It deserves a worker for every `grain`
bytes of a set: small ones share a node, each on some of its cores; large ones take whole nodes,
a worker on each, and more of them than they deserve if their memory does not suffice.  A large
one begins with the nodes that are free, and gets a larger team after a pass when there are more.
Those that have begun come first, then the earlier waves; what is left over goes to the others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass

from coordinator.cut import cut, halo
from coordinator.domains import Domain, Layout, Node, Policy, Share
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
        return "there are no nodes"
    run = next(iter(_ready(build)))
    count = _most(run, build.nodes)
    needed = max(share.memory for share in _shares(run, sorted(build.nodes)[:count], build.nodes))
    largest = max(node.memory for node in build.nodes.values())
    return (
        f"{run.domain.name} needs {needed:,} bytes a worker on {count} nodes, "
        f"the largest node has {largest:,}"
    )


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
    # As many as are free now: the team grows when there are more.
    for count in range(max(1, min(wanted, len(whole))), _most(run, whole) + 1):
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
