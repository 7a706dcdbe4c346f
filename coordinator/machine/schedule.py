"""Which domains run side by side, and on how many nodes each of them.

A domain can start when all domains it needs are ready.  Tables that have begun come first, then the
earlier waves, and last the Syzygy files of tables that are there; what is left over goes to the
others.

    as many domains as nodes     one node for each domain
    more domains than nodes      small ones share a node, each on some of its cores
    fewer domains than nodes     nodes by the size of the domains, up to what each deserves

Domains that are yet to begin and may run beside this one count, too: those of the same and of
earlier waves.  A large one begins with the nodes that are free, and gets a larger team after a pass
when there are more.
"""

from collections.abc import Iterable, Iterator

from kingpair.coordinator.machine.placement import (
    Competition,
    FreeNode,
    deserved,
    fit_on,
    is_small,
    memory_of,
    place,
)
from kingpair.coordinator.machine.state import ANALYSING, BuildJob, Run
from kingpair.coordinator.plan.amounts import amount
from kingpair.coordinator.plan.domains import Policy, WorkerPlacement, is_larger

BESIDE = 8  # small domains that share a node at most, if there are enough of them


def placements(build: BuildJob) -> Iterator[tuple[str, tuple[WorkerPlacement, ...]]]:
    """The domains that can start now, and the shares of their workers."""
    free, policy = _free(build), _policy(build)
    waiting = _waiting(build)
    ready = _ready(build)
    beside = _beside(ready, policy, len(free))
    growing = [run for run in build.runs.values() if run.team and run.team.growing]
    held = sum(len(run.team.shares) for run in growing if run.team)
    for run in ready:
        if not any(node.cores for node in free.values()):
            return
        rivals = sum(_sizes([*_rivals(run, waiting), *growing]).values())
        if shares := place(run, policy, free, Competition(rivals, held, beside)):
            for share in shares:
                free[share.node].take(share)
            waiting.remove(run)
            yield run.domain.name, shares


def deserves_more(build: BuildJob, run: Run) -> bool:
    """Whether the free nodes would make a team larger by a quarter or more, as it deserves."""
    if run.team is None or run.team.stage not in ANALYSING or any(_ready(build)):
        return False
    policy, spare = _policy(build), sum(free.is_whole for free in _free(build).values())
    others = [
        other
        for other in build.runs.values()
        if other.team is not None and other.team.growing and other is not run
    ]
    size, rivals = max(1, run.domain.size), [*_rivals(run, _waiting(build))]
    total = size + sum(_sizes([*rivals, *others]).values())
    part = spare * size // total or (0 if rivals else min(1, spare))
    have = len(run.team.shares)
    cores = max((node.cores for node in build.nodes.values()), default=1)
    return is_larger(have, deserved(run, policy, have + part, cores))


def waiting_for_workers(build: BuildJob) -> list[Run]:
    """The domains that could start now, in the order of their turns."""
    return _ready(build)


def lacking(build: BuildJob) -> str:
    """Why nothing can start."""
    run = next(iter(_ready(build)))
    if not build.nodes:
        needed = memory_of(run.domain, run.layout, range(run.layout.partitions))
        return (
            "no node has a core to spare; end what else runs there, or add nodes: "
            f"{run.domain.name} needs {amount(needed)} of memory and a core"
        )
    return fit_on(run.domain, run.layout, _policy(build), build.nodes.values()).reason


def _policy(build: BuildJob) -> Policy:
    assert build.plan is not None, f"{build.name} has no plan"
    return build.plan.policy


def _waiting(build: BuildJob) -> list[Run]:
    """The domains that have no workers and are not done."""
    return [run for run in build.runs.values() if run.team is None and not run.is_done]


def _ready(build: BuildJob) -> list[Run]:
    ready = [
        run
        for run in _waiting(build)
        if all(build.runs[needed].is_ready for needed in run.domain.needs)
    ]

    def has_begun(run: Run) -> bool:
        below = (build.runs[name] for name in run.domain.rests_on)
        return run.incarnation > 0 or any(level.incarnation for level in below)

    def turn(run: Run) -> tuple[bool, bool, int, int]:
        return run.is_ready, not has_begun(run), run.domain.wave, -run.domain.size

    return sorted(ready, key=turn)


def _rivals(run: Run, waiting: Iterable[Run]) -> Iterator[Run]:
    """The domains that may run beside one: no domain rests on others of its wave, but for the
    levels of a table, of which one runs at a time.
    """
    for other in waiting:
        if other.domain.wave <= run.domain.wave and _table(other) != _table(run):
            yield other


def _sizes(runs: Iterable[Run]) -> dict[str, int]:
    """Bytes of a set by table, of the largest level of each."""
    sizes = dict[str, int]()
    for run in runs:
        sizes[_table(run)] = max(sizes.get(_table(run), 0), run.domain.size)
    return sizes


def _table(run: Run) -> str:
    return run.domain.table or run.domain.name


def _beside(ready: Iterable[Run], policy: Policy, nodes: int) -> int:
    """The number of small domains that share a node: as many workers as all of them deserve."""
    small = [run.domain.size for run in ready if is_small(run.domain, policy)]
    if policy.spread is not None or not nodes:
        return 1
    return max(1, min(BESIDE, len(small) // nodes, sum(small) // policy.grain // nodes))


def _free(build: BuildJob) -> dict[str, FreeNode]:
    free = {
        name: FreeNode(node, node.cores, node.memory) for name, node in sorted(build.nodes.items())
    }
    for run in build.runs.values():
        for share in run.team.held if run.team else ():
            free[share.node].take(share)
    return free
