"""A build on hosts with addresses of their own, one of which is cut off in the middle of a pass.

    python cut_off_host.py OUT

A bridge joins three network namespaces, and this one with the cluster's head.  The link of a host
that builds goes down; whatever is lost is found again by the others.  Then the link is up, Ray
is started there once more, and a later build has all three.

Prints `built`, what was noticed, and for the last build the addresses of its nodes.  To be run in
network, process and mount namespaces of its own, with loopback up.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import ray
from raylet_builds import QUICK, Noticing

from kingpair.api.ray.cluster import connected
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.domains import Node
from kingpair.workers.game.chess.material import Material

HEAD = "10.77.0.254"
HOSTS = (1, 2, 3)
WAIT_SECONDS = 150.0
PATIENT = QUICK | {"health_check_initial_delay_ms": 5000, "health_check_failure_threshold": 6}
RAY = (sys.executable, "-m", "ray.scripts.scripts", "start", "--num-cpus")
SMALL = ("--object-store-memory", str(100 << 20), "--disable-usage-stats")


def run(*words: str) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def join_hosts() -> None:
    """Namespaces h1, h2, ... and the bridge."""
    run("mount", "-t", "tmpfs", "tmpfs", "/run")  # where ip keeps their names
    run("ip", "link", "add", "bridge0", "type", "bridge")
    run("ip", "addr", "add", f"{HEAD}/24", "dev", "bridge0")
    run("ip", "link", "set", "bridge0", "up")
    for number in HOSTS:
        host, end = f"h{number}", f"v{number}"
        run("ip", "netns", "add", host)
        run("ip", "link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", host)
        run("ip", "link", "set", end, "master", "bridge0", "up")
        run("ip", "-n", host, "addr", "add", f"10.77.0.{number}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            run("ip", "-n", host, "link", "set", device, "up")


def start_head() -> None:
    settings = str(PATIENT).replace("'", '"')
    run(*RAY, "0", *SMALL, "--head", "--port", "6379", "--node-ip-address", HEAD,
        "--include-dashboard=false", "--system-config", settings)  # fmt: skip


def start_host(number: int, *before: str) -> "subprocess.Popen[bytes]":
    """Processes of its own too: all that Ray starts there ends with it."""
    there = ("ip", "netns", "exec", f"h{number}", *before)
    alone = (*there, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    where = ("--address", f"{HEAD}:6379", "--node-ip-address", f"10.77.0.{number}", "--block")
    return subprocess.Popen([*alone, *RAY, "1", *SMALL, *where], stdout=subprocess.DEVNULL)


def address_of(part: Node) -> str:
    """Of the node that a part is of."""
    return part.name.partition("-")[0]


def building() -> int:
    """Returns the number of nodes that build."""
    return sum(bool(node["Alive"] and node["Resources"].get("CPU")) for node in ray.nodes())


def await_hosts(
    hosts: "dict[int, subprocess.Popen[bytes]]",
    start: "Callable[[int], subprocess.Popen[bytes]]" = start_host,
) -> None:
    """Until all are there; Ray is started again where it has ended, as it does when it is told
    that it was given up.
    """
    end = time.monotonic() + WAIT_SECONDS
    while building() != len(hosts):
        assert time.monotonic() < end, f"waited for {len(hosts)} hosts"
        for number, host in hosts.items():
            if host.poll() is not None:
                hosts[number] = start(number)
        time.sleep(0.1)


def cut_off(executor: Noticing) -> str:
    """Returns the number of the host whose link is down now."""
    number = address_of(executor.nodes[0]).rpartition(".")[2]
    run("ip", "link", "set", f"v{number}", "down")
    return number


def built(
    out: Path, workers: int, executors: list[Noticing], happen: Callable[[Noticing], None]
) -> None:
    def open_executor(site: Site, tables: object) -> Noticing:
        executors.append(Noticing(site, workers, happen))
        return executors[-1]

    request = BuildRequest(BuildSpec((Material.parse("KQvKR"),)), out, workers=workers, grain=1)
    build(request, lambda event: None, open_executor)


def build_with_all(out: Path, executors: list[Noticing]) -> None:
    """Builds again and again until all hosts take part: one that answers late is not waited for."""
    end = time.monotonic() + WAIT_SECONDS
    while True:
        built(out, len(HOSTS), executors, lambda executor: None)
        if len(executors[-1].nodes) == len(HOSTS) or time.monotonic() > end:
            return
        for table in out.glob("*.arrow"):
            table.unlink()


def main(out: Path) -> None:
    join_hosts()
    start_head()
    hosts = {number: start_host(number) for number in HOSTS}
    executors: list[Noticing] = []
    without_link: list[str] = []
    with connected(f"{HEAD}:6379", 1):
        await_hosts(hosts)
        built(out / "cut", 2, executors, lambda executor: without_link.append(cut_off(executor)))
        print("\nbuilt", *executors[0].noticed, flush=True)
        run("ip", "link", "set", f"v{without_link[0]}", "up")
        await_hosts(hosts)
        build_with_all(out / "back", executors)
        print("\nback", *sorted(map(address_of, executors[-1].nodes)), flush=True)
    os._exit(0)  # what still runs ends with this namespace


if __name__ == "__main__":
    main(Path(sys.argv[1]))
