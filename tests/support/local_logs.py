"""A build whose machines keep pass logs on their own disks; one that builds is lost.

    python local_logs.py OUT LOGS

Three hosts as in cut_off_host.py, each with a directory of its own at LOGS, which is LOGS/hN seen
from outside.  They share the last table.  In the middle of a pass one of them ends, with all of its
processes; each of the other two has a log that it reads from the other one.

The two others then share the levels of KPvK, into OUT/pawn.

Prints `lost` with the logs that this host has then, the other hosts, and the store; and `built`
with the logs of the other hosts at the end, and what was noticed.  Then `pawn` with the logs of
each host and of the store when all levels are solved, and `end` with the logs at the end.  To be
run in network, process and mount namespaces of its own, with loopback up.
"""

import os
import subprocess
import sys
from pathlib import Path

from cut_off_host import HEAD, HOSTS, await_hosts, join_hosts, start_head, start_host
from raylet_builds import Noticing

from kingpair.api.ray.cluster import connected
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.machine.commands import Call, Create, Publish, Task
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material


class Losing(Noticing):
    """Knows one of the nodes on which the last table is being built."""

    last = ""

    def do(self, call: Call, task: Task) -> None:
        if isinstance(task, Create) and call.domain == "KQvKR.dtc":
            self.last = task.node.partition("-")[0]
        super().do(call, task)


class Looking(Noticing):
    """Looks at the places of logs when a table is to be made of its parts."""

    def __init__(self, site: Site, *places: Path) -> None:
        super().__init__(site, len(places) - 1, lambda executor: None)
        self._places = places

    def do(self, call: Call, task: Task) -> None:
        if isinstance(task, Publish) and call.domain == "KPvK.dtc":
            print("\npawn", *map(logs_in, self._places), flush=True)
        super().do(call, task)


def logs_in(*places: Path) -> str:
    return ",".join(sorted({log.name for place in places for log in place.rglob("*.log")})) or "-"


def main(out: Path, logs: Path) -> None:
    join_hosts()
    start_head()
    own = {number: logs.parent / f"h{number}" for number in HOSTS}
    for place in (logs, *own.values()):
        place.mkdir()
    bound = 'mount --bind "$0" "$1" && shift && exec "$@"'

    def start(number: int) -> "subprocess.Popen[bytes]":
        return start_host(number, "sh", "-c", bound, str(logs.parent / f"h{number}"), str(logs))

    hosts = {number: start(number) for number in HOSTS}

    executors: list[Losing] = []

    def lose(executor: Noticing) -> None:
        number = int(executors[0].last.rpartition(".")[2])
        others = [place for other, place in own.items() if other != number]
        print("\nlost", logs_in(own.pop(number)), logs_in(*others), logs_in(out), flush=True)
        hosts[number].kill()
        hosts[number].wait()
        executor.await_node(leaving=True)

    def open_executor(site: Site, tables: object) -> Losing:
        executors.append(Losing(site, 3, lose))
        return executors[-1]

    with connected(f"{HEAD}:6379", 1):
        await_hosts(hosts, start)
        spec = BuildSpec((Material.parse("KQvKR"),))
        request = BuildRequest(spec, out, workers=3, grain=1, logs=logs)
        build(request, lambda event: None, open_executor)
        print("\nbuilt", logs_in(*own.values(), out), *executors[0].noticed, flush=True)
        (pawn := out / "pawn").mkdir()
        spec = BuildSpec((Material.parse("KPvK"),))
        request = BuildRequest(spec, pawn, workers=2, grain=1, logs=logs)
        build(request, lambda event: None, lambda site, _: Looking(site, *own.values(), pawn))
        print("\nend", logs_in(*own.values(), pawn), flush=True)
    os._exit(0)  # what still runs ends with this namespace


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
