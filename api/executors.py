"""Opens executors of builds: actors of a cluster if one is named, else threads of this process.

The service starts a cluster of its own before the first build, and builds in its own process if Ray
cannot be started.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kingpair.workers.errors import BadSettings, CannotBuild

if TYPE_CHECKING:
    from kingpair.coordinator.execute.executor import OpenExecutor
    from kingpair.coordinator.plan.domains import Node

OWN = "local"
"""Names the cluster that is started here, and ends with this process."""
ReportStep = Callable[[str], None]


class Machines(NamedTuple):
    """Machines for builds: a cluster (None: threads of this process), and how much of this machine.

    A cluster that is not our own has as many cores and as much memory as its nodes say.
    """

    cluster: str | None
    cores: int
    workers: int | None
    memory: int | None = None
    awaits_nodes: bool = False  # for as long as it takes; else for a minute

    @property
    def has_own_cluster(self) -> bool:
        return self.cluster == OWN


def nodes_of(cluster: str, cores: int) -> "tuple[Node, ...]":
    """Returns the nodes of a cluster; CannotBuild if there are none."""
    from kingpair.coordinator.execute.executor import Site
    from kingpair.workers.table.table_store import TableStore

    with connected_executors(Machines(cluster, cores, None)) as open_executor:
        assert open_executor is not None
        with open_executor(Site("", False), TableStore(Path())) as executor:
            if not executor.nodes:
                raise CannotBuild(f"the cluster {cluster} has no node with a core to spare")
            return executor.nodes


def _unreported(step: str) -> None:
    """Ignores a step."""


@contextmanager
def connected_executors(
    machines: Machines, report: ReportStep = _unreported
) -> "Iterator[OpenExecutor | None]":
    """Yields what opens an executor, for as long as the cluster is connected to; None for threads
    of this process.  Reports each step that takes seconds before it begins.
    """
    cluster, cores, workers, memory, awaits_nodes = machines
    if cluster is None:
        if workers is not None:
            raise BadSettings("--workers needs --cluster; without a cluster use --threads")
        yield None
        return
    report("loading Ray (1 of 3)" if machines.has_own_cluster else f"connecting to {cluster}")
    from kingpair.api.ray.cluster import connected
    from kingpair.api.ray.deadlines import Limits
    from kingpair.api.ray.executor import RayExecutor
    from kingpair.api.ray.kept_processes import KeptProcesses
    from kingpair.coordinator.plan.estimate import BASE

    if not machines.has_own_cluster:
        with connected(cluster, cores):
            limits = Limits(nodes=float("inf")) if awaits_nodes else Limits()
            yield lambda site, tables: RayExecutor(site, workers, limits)
        return
    report("starting Ray on this machine (2 of 3)")
    # The limit is the workers'; what is left for spare processes comes on top of it.
    room = None if memory is None else memory + BASE * (workers or 1)
    with connected(cluster, cores, memory=room):
        kept = KeptProcesses()
        report("starting worker processes (3 of 3)")
        kept.start(workers or 1)
        yield lambda site, tables: RayExecutor(site, workers, Limits(), kept)


@contextmanager
def guarded(machines: Machines, advice: str) -> Iterator[None]:
    """Ends this process, with a line that says so and the advice, if the head of its cluster is
    gone while the block runs.
    """
    if machines.cluster is None:
        yield
        return
    from kingpair.api.ray.cluster import addresses
    from kingpair.api.ray.head_guard import guarded_head

    # If others started the cluster, the build outlives the loss of any node but the head.
    watched = addresses() if machines.has_own_cluster else addresses()[:1]
    with guarded_head(watched, advice):
        yield


@contextmanager
def executors_or_threads(
    machines: Machines, report: ReportStep, regret: Callable[[str], None]
) -> "Iterator[OpenExecutor | None]":
    """Connects as `connected_executors` does.  If a cluster of our own cannot be started, calls
    `regret` with the reason and yields None: threads of this process build then.
    """
    with ExitStack() as stack:
        try:
            opener = stack.enter_context(connected_executors(machines, report))
        except (CannotBuild, ImportError) as error:
            if not machines.has_own_cluster:
                raise
            regret(f"Ray cannot be started, so builds run without it: {error}")
            opener = None
        yield opener
