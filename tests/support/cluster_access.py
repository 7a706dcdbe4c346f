"""A local cluster as others see it: where it listens, and how it answers without a token.

    python cluster_access.py listening | stranger

To be run in a network namespace of its own: what listens there is the cluster's.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import ray

from kingpair.api.ray.cluster import connected
from kingpair.workers.errors import CannotBuild

_LISTEN = "0A"


def listening() -> Iterator[str]:
    """The addresses on which anything listens for TCP."""
    for family, name in ((socket.AF_INET, "tcp"), (socket.AF_INET6, "tcp6")):
        for line in Path("/proc/net", name).read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            if state == _LISTEN:
                words = bytes.fromhex(local.partition(":")[0])
                swapped = b"".join(words[i : i + 4][::-1] for i in range(0, len(words), 4))
                yield socket.inet_ntop(family, swapped).removeprefix("::ffff:")


def stranger(address: str) -> str:
    """Returns the answer to a client with a wrong token."""
    others = {name: value for name, value in os.environ.items() if "RAY_AUTH" not in name}
    told = subprocess.run(
        [sys.executable, __file__, address],
        env=others | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "b" * 64},
        capture_output=True,
        text=True,
    )
    return told.stdout.strip()


def main(what: str) -> None:
    with connected("local", 1):
        if what == "listening":
            print(*sorted(set(listening())))
        else:
            print(stranger(ray.get_runtime_context().gcs_address))


def ask(address: str) -> None:
    try:
        with connected(address, 1):
            print(f"in, with {len(ray.nodes())} nodes")
    except CannotBuild as error:
        print(f"CannotBuild: {error}")


if __name__ == "__main__":
    main(sys.argv[1]) if ":" not in sys.argv[1] else ask(sys.argv[1])
