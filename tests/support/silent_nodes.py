"""Builds on a cluster of two raylets, of which some are stopped, with Ray's own patience.

    python silent_nodes.py OUT

    stopped    in the middle of a pass the raylet that builds is stopped, with its processes, while
               the other one has nothing to do
    listed     a raylet was stopped before the build began
    waited     both were, and go on when the build says that it waits
    asked      a raylet is stopped just before cores of it are asked for

Prints for each build its name, `listed` if Ray still lists every node as alive at its end, the
number of nodes that were told of as silent, and seconds: until other workers were given out after
the stop, and until their first pass.  To be run where only loopback is, among no processes but its
own.
"""

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray
from harmed_cluster import Happening
from ray.cluster_utils import Cluster

from kingpair.api.ray.cluster import connected
from kingpair.api.ray.deadlines import Limits
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.commands import Call, Create, Task
from kingpair.coordinator.machine.events import Event, NodeLeft
from kingpair.coordinator.machine.records import Assigned, NodesLacking, PassCommitted
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material

NODE = {"num_cpus": 1, "object_store_memory": 100 << 20}
Happen = Callable[["Stopping"], None]


class Stopping(Happening):
    """Knows when a raylet was stopped, and the nodes that were told of as silent."""

    stopped = 0.0
    silent = 0
    depth = 20

    def __init__(self, site: Site, workers: int, happen: Happen, at_once: bool) -> None:
        super().__init__(site, workers, Limits(), happen)
        self._at_once = at_once

    def do(self, call: Call, task: Task) -> None:
        if self._at_once and isinstance(task, Create) and task.node == self.nodes[0].name:
            self._at_once = False
            assert self._happen is not None
            self._happen(self)
        super().do(call, task)

    def next(self) -> Event:
        event = super().next()
        self.silent += isinstance(event, NodeLeft) and not event.is_counted
        return event


def raylet_of(cluster: Cluster, name: str) -> int:
    """The process of the raylet whose node has a part of this name."""
    digits = re.fullmatch(r".*-(\w+)\.\d+", name)
    assert digits is not None
    (node,) = [node for node in cluster.worker_nodes if node.node_id.startswith(digits[1])]
    return int(node.all_processes["raylet"][0].process.pid)


def raylets(cluster: Cluster) -> list[int]:
    return [node.all_processes["raylet"][0].process.pid for node in cluster.worker_nodes]


def with_children(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def send(number: signal.Signals, *pids: int) -> None:
    for pid in pids:
        os.kill(pid, number)


def run(
    out: Path, workers: int, happen: Happen, hear: Callable[[Row], None], at_once: bool = False
) -> None:
    executors: list[Stopping] = []
    seconds: dict[type, float] = {}

    def listen(row: Row) -> None:
        hear(row)
        record: Any = row.record
        is_new = isinstance(record, Assigned | PassCommitted)
        is_new = is_new and (at_once or record.incarnation > 1)
        if is_new and executors[0].stopped:
            seconds.setdefault(type(record), time.monotonic() - executors[0].stopped)

    def open_executor(site: Any, tables: object) -> Stopping:
        executors.append(Stopping(site, workers, happen, at_once))
        return executors[0]

    spec = BuildSpec((Material.parse("KQvKR"),))
    build(BuildRequest(spec, out, workers=workers, grain=1), listen, open_executor)
    listed = "listed" if all(node["Alive"] for node in ray.nodes()) else "noticed"
    took = (f"{each:.1f}" for each in seconds.values())
    print(f"\n{out.name}", listed, executors[0].silent, *took, flush=True)


def main(out: Path) -> None:
    head: dict[str, Any] = {"num_cpus": 0, "object_store_memory": 100 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        cluster.add_node(**NODE)

    def nothing(anything: object) -> None:
        """Lets nothing happen."""

    def stop(executor: Stopping) -> None:
        executor.stopped = time.monotonic()
        send(signal.SIGSTOP, *with_children(raylet_of(cluster, executor.nodes[0].name)))

    def go_on(row: Row) -> None:
        if isinstance(row.record, NodesLacking):
            send(signal.SIGCONT, *raylets(cluster))

    with connected(cluster.address, 1):
        send(signal.SIGSTOP, raylets(cluster)[0])
        run(out / "listed", 2, nothing, nothing)
        send(signal.SIGSTOP, *raylets(cluster))
        run(out / "waited", 2, nothing, go_on)
        run(out / "asked", 2, stop, nothing, at_once=True)
        for raylet in raylets(cluster):
            send(signal.SIGCONT, *with_children(raylet))
        run(out / "stopped", 1, stop, nothing)
    os._exit(0)  # those that are stopped end with this namespace


if __name__ == "__main__":
    main(Path(sys.argv[1]))
