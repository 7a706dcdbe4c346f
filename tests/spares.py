"""Builds on a local Ray cluster, and what becomes of the processes and of the room that they hold.

    python spares.py OUT

Prints a line for each build: its name, how many workers were lost, how many there were, in how many
processes, how many cores the next build would find, whether the last process was the one to spare,
how many estates that one held before, and whether somebody else had a core before the end.  To be
run where only loopback is, among no processes but its own.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import ray
from clustered import Happening, at_work
from hindered import tenants
from raylets import titled
from services import until

from api.ray_cluster import connected
from api.ray_crew import Key, Limits, RayCrew
from api.ray_holdings import process
from coordinator.build import build
from coordinator.commands import Call, Create, Task
from coordinator.crew import Site
from coordinator.events import Event, LeaseExpired, WorkerLost
from coordinator.request import Request
from workers.errors import CannotBuild
from workers.material import Material

CORES = 2
LIMIT_SECONDS = 60.0
LIMITS = Limits(room=1.0, nodes=1.0)
LEASE_SECONDS = 15.0
SMALLER = ("KQvK.dtc.arrow", "KRvK.dtc.arrow")


class Observed(Happening):
    """Knows the process of each worker, and which of them were lost."""

    limits = LIMITS

    def __init__(self, site: Site, happen: Callable[["Observed"], None]) -> None:
        super().__init__(site, 1, self.limits, happen)
        self.processes: list[int] = []
        self.spared = self.estates = 0
        self.lost: set[Key] = set()
        self.asked: list[Any] = []
        self.found: list[bool] = []

    def do(self, call: Call, task: Task) -> None:
        super().do(call, task)
        if isinstance(task, Create):
            worker = self._posts[call.domain, call.incarnation, call.worker]
            self.processes.append(worker.process())

    def next(self) -> Event:
        event = super().next()
        if isinstance(event, WorkerLost):
            self.lost.add((event.domain, event.incarnation, event.worker))
        return event

    def spare(self) -> int:
        """The process to spare, once it rests."""
        (holding,) = self._held.values()
        self.spared = process(holding.spare().actor)
        links = (os.readlink(link) for link in Path(f"/proc/{self.spared}/fd").iterdir())
        self.estates = sum(link.startswith("/memfd:kingpair") for link in links)
        return self.spared

    def __exit__(self, *ended: Any) -> None:
        self.found = [bool(ray.wait([each], timeout=0)[0]) for each in self.asked]
        super().__exit__(*ended)


class Stranded(Observed):
    """Whoever opens a smaller table waits for ever, as where a file server is gone; until somebody
    mends it.
    """

    limits = LIMITS._replace(lease=lambda memory: LEASE_SECONDS)

    def do(self, call: Call, task: Task) -> None:
        if isinstance(task, Create) and call.domain == "KQvKR.dtc" and call.incarnation == 1:
            for name in SMALLER:
                self._place(name).rename(self._place(name + ".kept"))
                os.mkfifo(self._place(name))
        super().do(call, task)

    def next(self) -> Event:
        event = super().next()
        if isinstance(event, LeaseExpired):
            self.lost.add((event.call.domain, event.call.incarnation, event.call.worker))
            for name in SMALLER:
                self._place(name + ".kept").replace(self._place(name))
        return event

    def _place(self, name: str) -> Path:
        return Path(self._site.out) / name


def built(
    out: Path,
    happen: Callable[[Observed], None] = lambda crew: None,
    before: Callable[[], Any] = lambda: None,
    kind: type[Observed] = Observed,
) -> None:
    """What was lost, and how many processes there were."""
    crews: list[Observed] = []

    def hire(site: Site, tables: object) -> Observed:
        crews.append(kind(site, happen))
        before()
        return crews[0]

    try:
        build(Request((Material.parse("KQvKR"),), out), lambda event: None, hire)
    except CannotBuild as error:
        print(f"\n{out.name} {error}", flush=True)
        return
    (crew,) = crews
    with RayCrew(Site("", compact=False), 1, LIMITS) as next_one:
        free = sum(node.cores for node in next_one.nodes)
    until(lambda: not titled(b"ray::Actor"))
    for each in crew.asked:
        ray.get(each, timeout=LIMIT_SECONDS)
    taken_over = crew.processes[-1] == crew.spared
    said = (
        len(crew.lost),
        len(crew.processes),
        len(set(crew.processes)),
        free,
        taken_over,
        crew.estates,
    )
    print(f"\n{out.name}", *said, *crew.found, flush=True)


def kill_a_worker(crew: Observed) -> None:
    crew.spare()
    os.kill(at_work(crew)[0], signal.SIGKILL)


def kill_all(crew: Observed) -> None:
    for pid in (crew.spare(), *at_work(crew)):
        os.kill(pid, signal.SIGKILL)


def want_a_core(crew: Observed) -> None:
    """As another build would, for which there is no other."""
    crew.asked.append(ray.remote(num_cpus=1)(lambda: True).remote())


def main(out: Path) -> None:
    with connected("local", CORES), ExitStack() as stack:
        built(out / "killed", kill_a_worker)
        built(out / "both", kill_all)
        built(out / "held", want_a_core)
        built(out / "stranded", kind=Stranded)
        built(out / "taken", before=lambda: stack.enter_context(tenants(CORES)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
