"""Builds on a cluster of two raylets that something hinders, one after the other.

    python blocked_builds.py HOME

    taken      another job has all the CPUs
    held       another coordinator builds into the store
    nowhere    there is no store
    crowded    another job fills the object stores and where they spill to, until a material has
               been set back twice, once at least because they are full, or six times
    moody      the store fails at random
    closed     the store takes nothing any more once a material is solved
    mended     and then it does
    late       a third node comes in the middle of a pass, and has no kingpair
    stranger   it is there from the beginning
    other      a third node has another version of it

Prints for each its name and what came of it: the line of a refusal, or `built` and the reasons of
its setbacks, and for which a node was not used.  What is built is then below HOME.  To be run where
only loopback is.
"""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import ray
from harmed_cluster import Happening
from ray.cluster_utils import Cluster
from ray.exceptions import OutOfDiskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from s3_server import Objects, objects
from services import until
from terminal import kingpair

from kingpair.api.ray.cluster import connected
from kingpair.api.ray.deadlines import Limits
from kingpair.api.ray.executor import RayExecutor
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import NodesPassedOver, PaintingBegan, SetBack
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.material import Material
from kingpair.workers.store.lease_owner import LeaseOwner
from kingpair.workers.store.remote import LEASE

# What Ray sends by value otherwise goes through the object store, which has the least that it may.
STORE = {"max_direct_call_object_size": 2 << 10, "oom_grace_period_s": 0}
LEAST_BYTES = 75 << 20
SPILL_MIB = 16
ENOUGH = 6  # setbacks: Ray does not always tell why a process ended


class Tenant:
    """Another job on a node."""

    def __init__(self) -> None:
        self._reservations: list[Any] = []

    def fill(self) -> int:
        """Hold so much that the object store takes nothing more, and the disk neither."""
        for size in (1 << 20, 1 << 16, 1 << 12, 1 << 10):
            with suppress(OutOfDiskError):
                while True:
                    self._reservations.append(ray.get(ray.put(np.ones(size, np.uint8))))
        return len(self._reservations)


@contextmanager
def tenants(cores: int) -> Iterator[list[Any]]:
    """One on each node that builds."""
    hired = ray.remote(num_cpus=cores)(Tenant)
    nodes = [node["NodeID"] for node in ray.nodes() if node["Resources"].get("CPU")]
    found = [
        hired.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote()
        for node in nodes
    ]
    ray.get([tenant.__ray_ready__.remote() for tenant in found])
    try:
        yield found
    finally:
        for tenant in found:
            ray.kill(tenant)


def tried(
    what: str,
    out: Path,
    listen: Any = lambda event: None,
    *,
    wait: float = 60.0,
    name: str = "KQvKR",
    happen: Callable[[RayExecutor], None] = lambda executor: None,
) -> None:
    reasons: list[str] = []

    def hear(row: Row) -> None:
        if isinstance(row.record, SetBack | NodesPassedOver):
            reasons.append(row.record.reason)
        listen(row)

    request = BuildRequest(BuildSpec((Material.parse(name),)), out, workers=2, grain=1)
    try:
        build(request, hear, lambda site, _: Happening(site, 2, Limits(nodes=wait), happen))
    except CannotBuild as error:
        print(f"\n{what} {error}", flush=True)
    else:
        print(f"\n{what} built", *dict.fromkeys(reasons), sep="; ", flush=True)


def refused(name: str, out: Path, address: str) -> None:
    done = kingpair("build", "KQvKR", "--out", out, "--cluster", address)
    said = done.stderr.strip().splitlines()[-1]  # the steps of connecting come before it
    print(f"\n{name} {done.exit_code} {said}", flush=True)


def crowded(out: Path) -> None:
    with tenants(0) as found:
        assert min(ray.get([tenant.fill.remote() for tenant in found])) > 0
        seen: list[Row] = []

        def listen(row: Row) -> None:
            if isinstance(row.record, SetBack):
                seen.append(row)
                is_known = any("object store" in str(each.record) for each in seen)
                if len(seen) >= (2 if is_known else ENOUGH):
                    for tenant in found:
                        ray.kill(tenant)

        tried("crowded", out, listen)


def closed(server: Objects, out: Path) -> None:
    def listen(row: Row) -> None:
        if row.record == PaintingBegan("KQvKR.dtc"):
            server.fail = lambda method, path: 403 if method in ("PUT", "POST") else None

    tried("closed", out, listen)
    server.fail = lambda method, path: None
    tried("mended", out)


def moody(server: Objects, out: Path) -> None:
    chance = random.Random(1)
    server.fail = lambda method, path: 503 if chance.random() < 0.05 else None
    tried("moody", out, name="KQvK")
    server.fail = lambda method, path: None
    tried("moody again", out, name="KQvK")


# A Python that starts with this does not find the packages that are installed here.
LACKING = """
import sys
class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name == "kingpair":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Lacking())
"""


def joined(cluster: Cluster, path: Path) -> Any:
    """A third node, where Python looks for modules elsewhere."""
    environment = {"PYTHONPATH": str(path)}
    return cluster.add_node(num_cpus=1, object_store_memory=LEAST_BYTES, env_vars=environment)


def late(cluster: Cluster, out: Path, path: Path) -> None:
    nodes: list[Any] = []

    def happen(executor: RayExecutor) -> None:
        nodes.append(joined(cluster, path))
        until(lambda: executor._look_at_nodes().unfit)

    with connected(cluster.address, 1):
        tried("late", out, happen=happen)
    cluster.remove_node(*nodes)


def among(cluster: Cluster, name: str, out: Path, path: Path) -> None:
    third = joined(cluster, path)
    with connected(cluster.address, 1):
        tried(name, out)
    cluster.remove_node(third)


def main(home: Path) -> None:
    os.chdir(home)  # Ray's workers look for modules where the driver was started
    for name in ("spill", "empty", "newer"):
        (home / name).mkdir()
    small = ["-t", "tmpfs", "-o", f"size={SPILL_MIB}m", "tmpfs"]
    subprocess.run(["mount", *small, str(home / "spill")], check=True)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": STORE})
    node = {"object_store_memory": LEAST_BYTES, "object_spilling_directory": str(home / "spill")}
    for _ in range(2):
        cluster.add_node(num_cpus=1, **node)
    with objects() as server:
        nowhere = Path(str(server.uri("out")).replace(f":{server.port}", ":1"))
        server.put(f"held/{LEASE}", LeaseOwner("elsewhere", 1, "today").json())
        refused("held", server.uri("held"), cluster.address)
        refused("nowhere", nowhere, cluster.address)
        with connected(cluster.address, 1):
            with tenants(1):
                tried("taken", home / "crowded", wait=1.0)
            crowded(home / "crowded")
            moody(server, server.uri("moody"))
            closed(server, server.uri("out"))
        for prefix in ("out", "moody"):
            (home / f"{prefix}.kept").mkdir()
            for name, data in server.held(prefix).items():
                (home / f"{prefix}.kept" / name).write_bytes(data)
    (home / "empty" / "sitecustomize.py").write_text(LACKING)
    late(cluster, home / "late", home / "empty")
    among(cluster, "stranger", home / "out", home / "empty")
    of_it = home / "newer" / "kingpair-99.0.dist-info"
    of_it.mkdir()
    (of_it / "METADATA").write_text("Metadata-Version: 2.1\nName: kingpair\nVersion: 99.0\n")
    others = os.pathsep.join([str(home / "newer"), os.environ["PYTHONPATH"]])
    among(cluster, "other", home / "out", Path(others))
    cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
