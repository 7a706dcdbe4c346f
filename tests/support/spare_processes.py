"""Builds on a local Ray cluster, and what becomes of the processes and of the room that they hold.

    python spare_processes.py OUT

Prints a line for each build: its name, how many workers were lost, how many there were, in how many
processes, how many cores the next build would find, whether the last process was the one to spare,
how many open sets that one held before, and whether another build had a core before the end.  To be
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
from blocked_builds import tenants
from harmed_cluster import Happening, at_work
from raylet_builds import titled
from services import until

from kingpair.api.ray.cluster import connected
from kingpair.api.ray.deadlines import Key, Limits
from kingpair.api.ray.executor import RayExecutor
from kingpair.api.ray.kept_processes import process_id
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.machine.commands import Call, Create, Task
from kingpair.coordinator.machine.events import Event, LeaseExpired, WorkerLost
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.material import Material

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
        self.spared = self.open_sets = 0
        self.lost: set[Key] = set()
        self.asked: list[Any] = []
        self.found: list[bool] = []

    def do(self, call: Call, task: Task) -> None:
        super().do(call, task)
        if isinstance(task, Create):
            worker = self._processes[call.domain, call.incarnation, call.worker]
            self.processes.append(worker.pid())

    def next(self) -> Event:
        event = super().next()
        if isinstance(event, WorkerLost):
            self.lost.add((event.domain, event.incarnation, event.worker))
        return event

    def spare(self) -> int:
        """The process to spare, once it rests."""
        (reservation,) = self._reservations.values()
        self.spared = process_id(reservation.spare().actor)
        links = (os.readlink(link) for link in Path(f"/proc/{self.spared}/fd").iterdir())
        self.open_sets = sum(link.startswith("/memfd:kingpair") for link in links)
        return self.spared

    def __exit__(self, *ended: Any) -> None:
        self.found = [bool(ray.wait([each], timeout=0)[0]) for each in self.asked]
        super().__exit__(*ended)


class Stranded(Observed):
    """Opening a smaller table waits for a lease to expire, as on a file server that is gone."""

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
    happen: Callable[[Observed], None] = lambda executor: None,
    before: Callable[[], Any] = lambda: None,
    kind: type[Observed] = Observed,
) -> None:
    """Builds, and prints what was lost and how many processes there were."""
    executors: list[Observed] = []

    def open_executor(site: Site, tables: object) -> Observed:
        executors.append(kind(site, happen))
        before()
        return executors[0]

    try:
        build(
            BuildRequest(BuildSpec((Material.parse("KQvKR"),)), out),
            lambda event: None,
            open_executor,
        )
    except CannotBuild as error:
        print(f"\n{out.name} {error}", flush=True)
        return
    (executor,) = executors
    with RayExecutor(Site("", compact=False), 1, LIMITS) as next_one:
        free = sum(node.cores for node in next_one.nodes)
    until(lambda: not titled(b"ray::Actor"))
    for each in executor.asked:
        ray.get(each, timeout=LIMIT_SECONDS)
    taken_over = executor.processes[-1] == executor.spared
    said = (
        len(executor.lost),
        len(executor.processes),
        len(set(executor.processes)),
        free,
        taken_over,
        executor.open_sets,
    )
    print(f"\n{out.name}", *said, *executor.found, flush=True)


def kill_a_worker(executor: Observed) -> None:
    executor.spare()
    os.kill(at_work(executor)[0], signal.SIGKILL)


def kill_all(executor: Observed) -> None:
    for pid in (executor.spare(), *at_work(executor)):
        os.kill(pid, signal.SIGKILL)


def want_a_core(executor: Observed) -> None:
    """As another build would, for which there is no other."""
    executor.asked.append(ray.remote(num_cpus=1)(lambda: True).remote())


def main(out: Path) -> None:
    with connected("local", CORES), ExitStack() as stack:
        built(out / "killed", kill_a_worker)
        built(out / "both", kill_all)
        built(out / "held", want_a_core)
        built(out / "stranded", kind=Stranded)
        built(out / "taken", before=lambda: stack.enter_context(tenants(CORES)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
