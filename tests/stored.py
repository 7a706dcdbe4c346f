"""A build on a local Ray cluster into a store of objects, with the server in the same process.

    python stored.py TABLES [MATERIAL ...]

It prints what the store then holds, tables and notes of their passes; the tables that are not byte
for byte in TABLES; and how many logs' segments were written meanwhile.  To be run where there is
only loopback.
"""

import sys
from pathlib import Path

from objects import objects

from api.ray_cluster import connected
from api.ray_crew import Limits, RayCrew
from coordinator.build import build
from coordinator.request import Request
from workers.material import Material
from workers.store import store_at


def main(tables: str, *names: str) -> None:
    materials = tuple(map(Material.parse, names))
    with objects() as server:
        request = Request(materials, server.uri("out"), workers=2, grain=1)
        with connected("local", 2):
            build(request, lambda event: None, lambda site, _: RayCrew(site, 2, Limits()))
        # A worker is killed when it is done with; what it leaves here, whoever comes next clears.
        store_at(request.out).close()
        held = server.held("out")
        arrows = [name for name in held if name.endswith(".arrow")]
        notes = [name for name in held if name.endswith(".passes.json")]
        assert len(arrows) + len(notes) == len(held), f"what is {sorted(held)}?"
        differ = [name for name in arrows if held[name] != Path(tables, name).read_bytes()]
        segments = [path for method, path in server.asked if method == "PUT" and ".log/" in path]
        writers = {path.split("/")[-2] for path in segments}
        held_ = f"held {len(arrows)} and {len(notes)}"
        print(f"\n{held_} differ {len(differ)} logs {len(writers)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
