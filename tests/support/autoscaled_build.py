"""A build on a cluster that has no node to build on, and an autoscaler that can add some.

    python autoscaled_build.py OUT

Prints what the build waited for, and `built` with the number of nodes that were added.  To be run
where only loopback is, among no processes but its own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import ray

from kingpair.api.ray.cluster import connected
from kingpair.api.ray.deadlines import Limits
from kingpair.api.ray.executor import RayExecutor
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import NodesLacking
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material

WORKER = {
    "resources": {"CPU": 1, "memory": 4 << 30, "object_store_memory": 100 << 20},
    "node_config": {},
    "min_workers": 0,
    "max_workers": 2,
}


HEAD = {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0}
COMMANDS = ("setup", "head_setup", "worker_setup", "head_start_ray", "worker_start_ray")
CONFIG = {
    "cluster_name": "fake",
    "max_workers": 2,
    "idle_timeout_minutes": 5.0,
    "provider": {"type": "external", "module": "raylet_provider.Raylets"},
    "available_node_types": {"ray.head.default": HEAD, "worker": WORKER},
    "head_node_type": "ray.head.default",
    "upscaling_speed": 1.0,
    "auth": {},
    "docker": {},
    "file_mounts": {},
    "cluster_synced_files": [],
    "file_mounts_sync_continuously": False,
    "initialization_commands": [],
} | {f"{name}_commands": [] for name in COMMANDS}
FAKE = {"RAY_FAKE_CLUSTER": "1", "AUTOSCALER_UPDATE_INTERVAL_S": "1"}


def begin(place: Path) -> None:
    """Starts a head whose autoscaler starts further raylets on this machine."""
    file = place.with_name("autoscaler.json")
    file.write_text(json.dumps(CONFIG))
    words = (sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--num-cpus", "0")
    more = ("--object-store-memory", str(100 << 20), "--disable-usage-stats")
    command = [*words, *more, "--include-dashboard=false", f"--autoscaling-config={file}"]
    subprocess.run(command, check=True, stdout=2, env=os.environ | FAKE)


def main(out: Path) -> None:
    begin(out)

    def listen(row: Row) -> None:
        if isinstance(row.record, NodesLacking):
            print(f"\nwaits {row.record.reason}", flush=True)

    with connected("auto", 1):
        spec = BuildSpec((Material.parse("KQvKR"),))
        request = BuildRequest(spec, out)
        build(request, listen, lambda site, _: RayExecutor(site, None, Limits(nodes=20.0)))
        alive = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        print("\nbuilt", len(alive), flush=True)
    os._exit(0)  # what still runs ends with this namespace


if __name__ == "__main__":
    main(Path(sys.argv[1]))
