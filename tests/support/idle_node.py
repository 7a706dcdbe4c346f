"""A service on a cluster of two nodes, one of which a build leaves idle.

    python idle_node.py OUT

Prints how many nodes the build may use, how many of them have a worker, and what is known of one
without a worker; then the nodes of the build once it has ended.  To be run where only loopback is,
among no processes but its own.
"""

import os
import subprocess
import sys
import tempfile
from typing import Any

from lost_head import HEAD, PORT, REST, asked, begin, end
from services import running, until


def join(place: str) -> None:
    """Starts a second node on this machine."""
    words = ["ray", "start", "--address", f"127.0.0.1:{PORT}", "--node-ip-address", "127.0.0.2"]
    words += ["--num-cpus", "1", "--object-store-memory", "100000000", "--disable-usage-stats"]
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    subprocess.run(words, check=True, capture_output=True, env=os.environ | {"PATH": path})


def idle(build: Any) -> list[Any]:
    """The nodes without a worker, while another node has one."""
    busy = {worker["node"] for worker in build["workers"]}
    return [node for node in build["nodes"] if node["name"] not in busy] if busy else []


def main(out: str) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as place:
        begin(place)
        join(place)
        with running("--cluster", f"127.0.0.1:{PORT}", "--tables", out, "--port", "0") as (_, url):
            watch(url)
        end(HEAD, REST)


def watch(url: str) -> None:
    wish = {"materials": ["KRBvKR"], "spread": 1}
    path = f"api/v1/builds/{asked(url, 'api/v1/builds', wish)['id']}"

    def seen() -> Any:
        build = asked(url, path)
        assert build["state"] not in ("failed", "succeeded"), build["reason"]
        return build if len(build["nodes"]) == 2 and len(idle(build)) == 1 else None

    build = until(seen)
    busy = {worker["node"] for worker in build["workers"]}
    print("nodes", len(build["nodes"]), "busy", len(busy))
    print("idle", *(f"{key}={value}" for key, value in sorted(idle(build)[0].items())))
    ended = until(lambda: (found := asked(url, path))["ended"] and found)
    print("ended", ended["state"], ended["nodes"])


if __name__ == "__main__":
    main(*sys.argv[1:])
