"""Worker processes that are kept from one build to the next.

Starting a process takes a second or two: Python, Arrow and the kernels are loaded.  On a cluster of
our own, processes are therefore started with the cluster and kept until it ends.  On a cluster that
others share they end with the build: Ray counts a node with a process as busy, and an autoscaler
could never take the node away.

Sets of up to five men are private to a worker on a cluster of our own: memory that a spare process
can map costs them a third more processor time, and to read the log again takes less than a second.
"""

from contextlib import suppress
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayError

from kingpair.api.ray.actor import REMOTE
from kingpair.api.ray.resource_holder import placed_on
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.plan.estimate import BASE
from kingpair.workers.errors import CannotBuild

START_SECONDS = 60.0
LEAST_SHARED = 64 << 20  # bytes of a set; one of five men has 14 MiB, one of six 0.9 GiB
HEARTBEAT_SECONDS = 1.0  # for a spare process to answer, which takes a millisecond


class SpareProcess(NamedTuple):
    """A process, and its answer to the call of `rest`: how much memory it keeps."""

    actor: Any
    kept: Any

    def is_on_its_way(self) -> bool:
        """Whether it is starting or has not come to rest yet."""
        return not ray.wait([self.kept], timeout=0)[0]

    def rests(self) -> bool:
        """Whether it has come to rest and keeps no more memory than it may."""
        with suppress(RayError):
            return not self.is_on_its_way() and int(ray.get(self.kept)) <= BASE
        return False

    def lives(self) -> bool:
        with suppress(RayError):
            return process_id(self.actor, HEARTBEAT_SECONDS) > 0
        return False


class KeptProcesses:
    """Spare processes that belong to no build, by node.  At most twice as many are kept on a node
    as were started there: a worker has a process to spare.
    """

    def __init__(self) -> None:
        self._spares: dict[str, list[SpareProcess]] = {}
        self._most = 0

    def start(self, count: int) -> None:
        """Starts so many processes on each node, and waits until they rest."""
        self._most = 2 * count
        nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
        self._spares = {node: [resting(started(node)) for _ in range(count)] for node in nodes}
        awaited = [spare.kept for spares in self._spares.values() for spare in spares]
        ready, late = ray.wait(awaited, num_returns=len(awaited), timeout=START_SECONDS)
        if late:
            raise CannotBuild(f"no worker process began within {START_SECONDS:.0f} s")
        ray.get(ready)

    def take(self, node: str, site: Site) -> list[SpareProcess]:
        """Returns a process of that node that serves this build from now on, if one is kept."""
        while spares := self._spares.get(node):
            spare = spares.pop()
            if spare.is_on_its_way() or (spare.rests() and spare.lives()):
                spare.actor.serve.remote(site)
                return [spare]
            ray.kill(spare.actor)
        return []

    def keep(self, node: str, actor: Any) -> None:
        """Keeps a process whose build has ended, or ends it if enough are kept there."""
        spares = self._spares.setdefault(node, [])
        if len(spares) < self._most:
            actor.keep.remote([])
            spares.append(resting(actor))
        else:
            ray.kill(actor)


def started(node: str) -> Any:
    """Starts a process on a node."""
    return REMOTE.options(**placed_on(node)).remote()


def resting(actor: Any) -> SpareProcess:
    return SpareProcess(actor, actor.rest.remote())


def process_id(actor: Any, limit: float = START_SECONDS) -> int:
    """Returns the number of an actor's process on its node, which is its heartbeat."""
    number: int = ray.get(actor.lives.remote(), timeout=limit)
    return number
