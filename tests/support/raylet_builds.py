"""A build on a cluster of several raylets on this machine, to which something happens.

    python raylet_builds.py OUT raylet      a node is lost in the middle of a pass; a third waits
    python raylet_builds.py OUT join        a second node comes in the middle of a pass
    python raylet_builds.py OUT log         a committed pass of a log is damaged, its worker killed
    python raylet_builds.py OUT unequal     nothing; the nodes have one core, one and four
    python raylet_builds.py OUT room        the store is full, until room is made

Prints `noticed` and the events that the build reported: nodes that left or came, lost workers,
damaged logs, new workers, and why the build failed.  To be run where only loopback is, among no
processes but its own.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harmed_cluster import Happening, at_work
from ray.cluster_utils import Cluster

from kingpair.api.ray.cluster import connected
from kingpair.api.ray.deadlines import Limits
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.events import (
    Damaged,
    Event,
    NodeLeft,
    NodesJoined,
    Proved,
    WorkerLost,
)
from kingpair.coordinator.machine.records import Assigned
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.material import Material

LIMIT_SECONDS = 60.0
QUICK = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 3,
}
NODE = {"num_cpus": 1, "object_store_memory": 100 << 20}


class Noticing(Happening):
    """Knows what was told of nodes, workers and logs."""

    depth = 20

    def __init__(self, site: Site, workers: int | None, happen: Callable[["Noticing"], None]):
        super().__init__(site, workers, Limits(), happen)
        self.noticed: list[str] = []

    def next(self) -> Event:
        event = super().next()
        if isinstance(event, NodeLeft | NodesJoined | WorkerLost | Damaged | Proved):
            self.noticed.append(type(event).__name__)
        return event

    def await_node(self, leaving: bool = False) -> None:
        """Until one that has come, or one that is gone, is told of."""
        end, is_told = time.monotonic() + LIMIT_SECONDS, False
        while not is_told:
            assert time.monotonic() < end, "no node was told of"
            changes = self._look_at_nodes()
            is_told = bool(changes.gone if leaving else changes.come)
            time.sleep(0.1)


def titled(title: bytes) -> list[int]:
    """The processes of a title."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if title in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return sorted(found)


def lose_a_raylet(cluster: Cluster) -> Callable[[Noticing], None]:
    def happen(executor: Noticing) -> None:
        used = re.fullmatch(r".*-(\w+)\.\d+", executor.nodes[0].name)
        assert used
        (lost,) = [node for node in cluster.worker_nodes if node.node_id.startswith(used[1])]
        os.kill(lost.all_processes["raylet"][0].process.pid, signal.SIGKILL)
        executor.await_node(leaving=True)

    return happen


def join(cluster: Cluster) -> Callable[[Noticing], None]:
    def happen(executor: Noticing) -> None:
        cluster.add_node(**NODE)
        executor.await_node()

    return happen


def damage(out: Path) -> Callable[[Noticing], None]:
    def happen(executor: Noticing) -> None:
        log = next((out / ".KQvKR.dtc.build").glob("*.0.log"))
        with open(log, "r+b") as file:
            file.seek(log.stat().st_size // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        os.kill(at_work(executor)[0], signal.SIGKILL)

    return happen


def run(out: Path, workers: int | None, happen: Callable[[Noticing], None]) -> None:
    executors: list[Noticing] = []
    told: list[str] = []
    begun: set[str] = set()

    def open_executor(site: Site, tables: object) -> Noticing:
        executors.append(Noticing(site, workers, happen))
        return executors[-1]

    def listen(row: Row) -> None:
        if isinstance(assigned := row.record, Assigned):
            if assigned.domain in begun:
                told.append(f"on-{len(assigned.shares)}")
            begun.add(assigned.domain)
            shares = "+".join(str(partitions) for _, partitions in assigned.shares)
            told.append(f"{assigned.domain}={shares}")

    request = BuildRequest(
        BuildSpec((Material.parse("KQvKR"),)), out, workers=workers or 2, grain=1
    )
    try:
        build(request, listen, open_executor)
    except CannotBuild as error:
        print(f"\nfailed {error}", flush=True)
    else:
        print("\nnoticed", *executors[-1].noticed, *told, flush=True)


def main(out: Path, what: str) -> None:
    nodes = {"raylet": 3, "join": 1}.get(what, 2)
    head: dict[str, Any] = {"num_cpus": 0, "object_store_memory": 100 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=head | {"_system_config": QUICK})
    for cores in [1, 1, 4] if what == "unequal" else [1] * nodes:
        cluster.add_node(**NODE | {"num_cpus": cores})
    with connected(cluster.address, 1):
        if what == "raylet":
            run(out, 2, lose_a_raylet(cluster))
        elif what == "join":
            run(out, None, join(cluster))
        elif what == "log":
            run(out, 2, damage(out))
        elif what == "unequal":
            run(out, None, lambda executor: None)
        else:
            mount = ["mount", "-t", "tmpfs", "-o"]
            subprocess.run([*mount, "size=2m", "tmpfs", str(out)], check=True)
            run(out, 2, lambda executor: None)
            subprocess.run([*mount, "remount,size=64m", "tmpfs", str(out)], check=True)
            run(out, 2, lambda executor: None)
            kept = out.with_name("kept")  # what is mounted goes with this namespace
            kept.mkdir()
            for path in out.glob("*.arrow"):
                shutil.copy(path, kept)
    cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
