"""A build on a local Ray cluster into a store of objects, with the server in the same process.

    python stored.py TABLES [MATERIAL ...]

It prints what the store then holds that is not byte for byte in TABLES, and how many logs' segments
were written meanwhile.  To be run where only loopback is.
"""

import sys
from pathlib import Path

from objects import objects

from api.ray_cluster import connected
from api.ray_crew import Limits, RayCrew
from coordinator.build import Request, build
from workers.material import Material


def main(tables: str, *names: str) -> None:
    materials = tuple(map(Material.parse, names))
    with objects() as server, connected("local", 2):
        request = Request(materials, server.uri("out"), workers=2, grain=1)
        build(request, lambda event: None, lambda site, _: RayCrew(site, 2, Limits()))
        held = server.held("out")
        differ = [n for n, data in held.items() if data != Path(tables, n).read_bytes()]
        segments = [path for method, path in server.asked if method == "PUT" and ".log/" in path]
        writers = {path.split("/")[-2] for path in segments}
        print(f"\nheld {len(held)} differ {len(differ)} logs {len(writers)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
