"""Places one domain on free nodes: how many workers it gets, where, and how it is cut among them.

    alone      a worker with all partitions, on some cores of a node that has room
    divided    a worker on each of several whole nodes; its share follows the cores of its node, and
               is smaller where the memory does not suffice for that

A domain deserves a worker for every `grain` bytes of a set, and for half as many a core where nodes
have more than two, or as many as the build was asked to spread it over.  While passes go on these
are no more than have a partition for each core.  Then, if machines keep logs on disks of their own,
a larger team paints and proves.  It is given fewer while others compete for the nodes, and more
than it deserves if its memory demands them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from kingpair.coordinator.machine.state import Run
from kingpair.coordinator.plan.amounts import amount
from kingpair.coordinator.plan.cut import Proportions, cut, halo
from kingpair.coordinator.plan.domains import DomainPlan, Layout, Node, Policy, WorkerPlacement

REFINED = 3  # attempts to give less to nodes whose memory does not suffice


@dataclass
class FreeNode:
    """The cores and the memory of a node that are free."""

    node: Node
    cores: int
    memory: int

    @property
    def is_whole(self) -> bool:
        return self.cores == self.node.cores and self.memory == self.node.memory

    @property
    def has_half(self) -> bool:
        """Whether half of its cores are free at least."""
        return 2 * self.cores >= self.node.cores

    def take(self, share: WorkerPlacement) -> None:
        self.cores -= share.cores
        self.memory -= share.memory


FreeNodes = Mapping[str, FreeNode]


class Competition(NamedTuple):
    """The other claims to the nodes that a domain could have.

    `rivals` are the bytes of a set of the other domains that may begin before this one has ended.
    `growing` counts the nodes of teams that are to be replaced by larger ones.  `beside` domains
    are to share a node if they are small.
    """

    rivals: int = 0
    growing: int = 0
    beside: int = 1


NONE = Competition()


class NodeFit(NamedTuple):
    """The fit of a domain on free nodes: its workers, the memory of the one that its node
    is tightest for, and that node's memory.
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
        needed, there, short = map(amount, (self.needed, self.there, self.short))
        return f"{self.name} needs {needed} of memory on {nodes} has {there}: {short} too little"


def fit_on(domain: DomainPlan, layout: Layout, policy: Policy, nodes: Iterable[Node]) -> NodeFit:
    """Returns the best fit of a domain on nodes, also if it does not fit: with the most workers."""
    run, named = Run(domain, layout), {node.name: node for node in nodes}
    assert named, "no nodes to fit on"
    free = {name: FreeNode(node, node.cores, node.memory) for name, node in sorted(named.items())}
    shares = place(run, policy, free)
    if not shares:
        largest = sorted(named.values(), key=lambda node: (-node.memory, node.name))
        nodes = largest[: _most(run, named)]
        shares = _shares(run, nodes, _by_cores(nodes))
    tightest = max(shares, key=lambda share: share.memory - named[share.node].memory)
    return NodeFit(domain.name, len(shares), tightest.memory, named[tightest.node].memory)


def memory_of(domain: DomainPlan, layout: Layout, partitions: Iterable[int]) -> int:
    """Returns the bytes of a worker: its own partitions, and copies of their neighbours."""
    own = tuple(partitions)
    around = sum(layout.weights[p] for p in halo(layout, own))
    return domain.base + domain.held * sum(layout.weights[p] for p in own) + domain.copied * around


def deserved(run: Run, policy: Policy, nodes: int, cores: int) -> int:
    """Returns the workers that a domain deserves of so many nodes, the largest of which has so many
    cores, if nothing else wants them.
    """
    if run.domain.alone:
        return 1
    pay = policy.painters if run.is_solved else policy.solvers
    workers = policy.spread or pay(run.domain.size, run.layout.partitions, cores)
    return max(1, min(workers, nodes, run.layout.partitions))


def is_small(domain: DomainPlan, policy: Policy) -> bool:
    """Whether it deserves one worker however many nodes there are; that may have few cores."""
    return domain.size <= policy.grain


def place(
    run: Run, policy: Policy, free: FreeNodes, competition: Competition = NONE
) -> tuple[WorkerPlacement, ...]:
    """Shares on free nodes, or none if it must wait."""
    wanted = deserved(run, policy, len(free), max((f.node.cores for f in free.values()), default=1))
    whole = [f for f in free.values() if f.is_whole]
    if policy.spread is None:
        wanted = min(wanted, _fair(run, len(whole), competition))
    if wanted == 1:
        alone = memory_of(run.domain, run.layout, range(run.layout.partitions))
        if any(alone <= f.node.memory for f in free.values()):
            small = is_small(run.domain, policy)
            roomy = [f for f in free.values() if f.has_half or small]
            return _place_alone(run, alone, roomy, competition.beside if small else 1)
        wanted = 2
    return _place_divided(run, wanted, whole)


def _fair(run: Run, whole: int, competition: Competition) -> int:
    """The nodes that are its own if all that compete for them get some by their size."""
    size = max(1, run.domain.size)
    nodes = (whole + competition.growing) * size // (size + competition.rivals)
    return max(1, min(nodes, whole))


def _place_alone(
    run: Run, memory: int, free: Iterable[FreeNode], beside: int
) -> tuple[WorkerPlacement, ...]:
    fitting = [f for f in free if f.cores >= 1 and f.memory >= memory]
    if not fitting:
        return ()
    best = max(fitting, key=lambda f: f.cores)
    cores = min(run.domain.threads, best.cores, -(-best.node.cores // beside))
    return (WorkerPlacement(best.node.name, cores, memory, tuple(range(run.layout.partitions))),)


def _place_divided(run: Run, wanted: int, whole: list[FreeNode]) -> tuple[WorkerPlacement, ...]:
    whole.sort(key=lambda f: (-f.cores, -f.memory))
    # As many as are free now: the team grows when there are more.  Fewer, if that leaves out some
    # that are too small.
    least = max(1, min(wanted, len(whole)))
    for count in (*range(least, _most(run, whole) + 1), *range(least - 1, 0, -1)):
        nodes = [f.node for f in whole[:count]]
        if shares := _fitting(run, nodes):
            return shares
    return ()


def _most(run: Run, nodes: Sized) -> int:
    return min(len(nodes), run.layout.partitions)


def _fitting(run: Run, nodes: Sequence[Node]) -> tuple[WorkerPlacement, ...]:
    """Shares that the memory of these nodes suffices for, or none."""
    total, domain = sum(run.layout.weights), run.domain
    if sum(max(0, node.memory - domain.base) for node in nodes) < domain.held * total:
        return ()  # without copies even, and without the time that a cut takes
    for proportions in _proportions(run, nodes):
        shares = _shares(run, nodes, proportions)
        if _fit(shares, nodes):
            return shares
    return ()


def _fit(shares: Sequence[WorkerPlacement], nodes: Sequence[Node]) -> bool:
    return all(share.memory <= node.memory for share, node in zip(shares, nodes, strict=True))


def _proportions(run: Run, nodes: Sequence[Node]) -> Iterator[Proportions]:
    """Yields the proportions of cores, then such as relieve nodes whose memory did not suffice."""
    proportions = _by_cores(nodes)
    for _ in range(REFINED):
        yield proportions
        shares = _shares(run, nodes, proportions)
        relieved = _relieved(run, nodes, shares)
        if relieved is None or relieved == proportions:
            return
        proportions = relieved


def _by_cores(nodes: Sequence[Node]) -> Proportions:
    common = gcd(*(node.cores for node in nodes))
    return tuple(node.cores // common for node in nodes)


def _relieved(
    run: Run, nodes: Sequence[Node], shares: Sequence[WorkerPlacement]
) -> Proportions | None:
    """Proportions of cores, but at no node more than its memory holds at the bytes that a partition
    took in `shares`, its copies included.  None if all nodes together hold too little.
    """
    weights, base = run.layout.weights, run.domain.base
    owns = [sum(weights[p] for p in share.partitions) for share in shares]
    rooms = [
        max(0, node.memory - base) * own // max(1, share.memory - base)
        for node, own, share in zip(nodes, owns, shares, strict=True)
    ]
    left, open_nodes = sum(weights), set(range(len(nodes)))
    given = [0] * len(nodes)
    while open_nodes:
        cores = sum(nodes[i].cores for i in open_nodes)
        full = {i for i in open_nodes if left * nodes[i].cores > rooms[i] * cores}
        for i in full or open_nodes:
            given[i] = rooms[i] if full else max(1, left * nodes[i].cores // cores)
        if not full:
            return tuple(given)
        left -= sum(rooms[i] for i in full)
        open_nodes -= full
    return None


def _shares(
    run: Run, nodes: Sequence[Node], proportions: Proportions
) -> tuple[WorkerPlacement, ...]:
    """A share for each of the nodes, all of its cores with it."""
    owners = cut(run.layout, proportions)
    shares = []
    for worker, (node, proportion) in enumerate(zip(nodes, proportions, strict=True)):
        own = tuple(p for p, owner in enumerate(owners) if owner == worker)
        memory = memory_of(run.domain, run.layout, own)
        shares.append(WorkerPlacement(node.name, node.cores, memory, own, proportion))
    return tuple(shares)
