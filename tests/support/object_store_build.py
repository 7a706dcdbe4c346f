"""A build on a local Ray cluster into a store of objects, with the server in the same process.

    python object_store_build.py TABLES MATERIAL [SMALLER ...]

The smaller materials are built before, in process, so that both workers are free for the other one.
It prints what the store then holds, tables and notes of their passes; the tables that are not byte
for byte in TABLES; and how many logs' segments were written on the cluster.  To be run where there
is only loopback.
"""

import sys
from pathlib import Path

from s3_server import objects

from kingpair.api.ray.cluster import connected
from kingpair.api.ray.deadlines import Limits
from kingpair.api.ray.executor import RayExecutor
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.store.filesystem import store_at


def main(tables: str, material: str, *smaller: str) -> None:
    with objects() as server:
        before = BuildSpec(tuple(map(Material.parse, smaller)))
        build(BuildRequest(before, server.uri("out")), lambda event: None)
        server.asked.clear()
        spec = BuildSpec((Material.parse(material),))
        request = BuildRequest(spec, server.uri("out"), workers=2, grain=1)
        with connected("local", 2):
            build(request, lambda event: None, lambda site, _: RayExecutor(site, 2, Limits()))
        # A worker is killed when it is not needed; the next store clears the files it leaves.
        store_at(request.out).close()
        held = server.held("out")
        arrows = [name for name in held if name.endswith(".arrow")]
        notes = [name for name in held if name.endswith((".passes.json", ".proof.json"))]
        assert len(arrows) + len(notes) == len(held), f"what is {sorted(held)}?"
        differ = [name for name in arrows if held[name] != Path(tables, name).read_bytes()]
        segments = [path for method, path in server.asked if method == "PUT" and ".log/" in path]
        writers = {path.split("/")[-2] for path in segments}
        held_ = f"held {len(arrows)} and {len(notes)}"
        print(f"\n{held_} differ {len(differ)} logs {len(writers)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
