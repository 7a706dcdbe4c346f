"""A build on two raylets, one of which loses the directory of the tables in the middle of a pass.

    python broken_disk.py OUT

That raylet has mounts of its own; an empty file system is mounted over the directory there, as when
a file server is gone, and the other raylet has nothing to do.  Prints why a material was set back.
To be run where only loopback is, among no processes but its own.
"""

import os
import subprocess
import sys
from pathlib import Path

from harmed_cluster import Happening
from ray.cluster_utils import Cluster
from services import until
from silent_nodes import NODE

from kingpair.api.ray.cluster import connected
from kingpair.api.ray.deadlines import Limits
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import SetBack
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material

RAY = (sys.executable, "-m", "ray.scripts.scripts", "start", "--num-cpus", "2")
SMALL = ("--object-store-memory", str(100 << 20), "--disable-usage-stats", "--block")


def main(out: Path) -> None:
    head = {"num_cpus": 0, "object_store_memory": 100 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    where = ("--address", cluster.address, "--node-ip-address", "127.0.0.2")
    node = subprocess.Popen(["unshare", "--mount", *RAY, *SMALL, *where], stdout=2)
    with connected(cluster.address, 1):
        import ray

        until(lambda: ray.cluster_resources().get("CPU") == 2)

        def lose_directory(executor: Happening) -> None:
            mount = ["mount", "-t", "tmpfs", "tmpfs", str(out)]
            subprocess.run(["nsenter", "--mount", "--target", str(node.pid), *mount], check=True)
            cluster.add_node(**NODE)
            until(lambda: executor._look_at_nodes().come)

        def open_executor(site: Site, tables: object) -> Happening:
            return Happening(site, None, Limits(), lose_directory)

        def listen(row: Row) -> None:
            if isinstance(row.record, SetBack):
                print(f"\nset back {row.record.reason}", flush=True)

        build(BuildRequest(BuildSpec((Material.parse("KQvKR"),)), out), listen, open_executor)
        print("\nbuilt", flush=True)
    os._exit(0)  # what still runs ends with this namespace


if __name__ == "__main__":
    main(Path(sys.argv[1]))
