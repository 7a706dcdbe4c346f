"""Builds on a local Ray cluster, with harm done to its workers at a chosen call.

    python harmed_cluster.py OUT WORKERS DOMAIN [HARM TASK ...]

The material of the domain is built.
HARM is `kill`, `two`, `all` (kills so many), `stop` (one, for longer than it may be silent) or
`end` (kills the coordinator); TASK is the kind of call that a worker of it has been given.  Each
build has a directory below OUT, named HARM.TASK or `none`; a line is printed for each: `built`, its
name, what was noticed, seconds.  HELD in the environment is how many bytes of sets workers hold at
most: 0 for all of them on disk.  To be run where only loopback is, among no processes but its own.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kingpair.api.ray.cluster import connected
from kingpair.api.ray.deadlines import Limits, key_of
from kingpair.api.ray.executor import RayExecutor
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.machine.commands import Call, Task, Win
from kingpair.coordinator.machine.events import Event, WorkerLost
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.table.key import DomainKey

LIFE_SECONDS = 3.0
HARMED = {"two": 2, "all": 100, "end": 0}  # processes, else one
HELD = int(os.environ["HELD"]) if "HELD" in os.environ else None
DEPTH = 5  # of the pass in which harm is done


class HarmedExecutor(RayExecutor):
    """Harms the worker that is given a certain call, once."""

    def __init__(self, site: Site, workers: int, domain: str, harm: str, kind: str) -> None:
        super().__init__(site, workers, Limits(life=LIFE_SECONDS))
        self._domain, self._harm, self._kind = domain, harm, kind
        self.noticed: list[str] = []

    def do(self, call: Call, task: Task) -> None:
        fits = type(task).__name__ == self._kind and call.domain == self._domain
        if not (self._harm and fits and getattr(task, "depth", DEPTH) in (0, DEPTH)):
            super().do(call, task)
            return
        harm, self._harm = self._harm, ""
        if harm == "kill":
            prepare_for(self)
        victims = sorted(self._processes, key=lambda key: key != key_of(call))
        pids = [self._processes[key].pid() for key in victims[: HARMED.get(harm, 1)]]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)  # or it may have done the task before it is harmed
        super().do(call, task)
        if harm == "end":
            os.kill(os.getpid(), signal.SIGKILL)
        if harm != "stop":
            for pid in pids:
                os.kill(pid, signal.SIGKILL)

    def next(self) -> Event:
        event = super().next()
        if isinstance(event, WorkerLost):
            self.noticed.append("silence" if "no sign of life" in event.reason else "death")
        return event


class Happening(RayExecutor):
    """Lets something happen once, in the middle of a pass of such a depth."""

    depth = DEPTH

    def __init__(
        self, site: Site, workers: int | None, limits: Limits, happen: Callable[[Any], None]
    ) -> None:
        super().__init__(site, workers, limits)
        self._happen: Callable[[Any], None] | None = happen

    def do(self, call: Call, task: Task) -> None:
        super().do(call, task)
        is_time = isinstance(task, Win) and task.depth == self.depth
        if is_time and call.domain == "KQvKR.dtc" and (happen := self._happen):
            self._happen = None
            happen(self)


def prepare_for(executor: RayExecutor) -> None:
    """Gives each node a spare process that maps the workers' memory, as after some seconds of a
    build.
    """
    for reservation in executor._reservations.values():
        reservation.level()
    for reservation in executor._reservations.values():
        reservation.spare()


def at_work(executor: RayExecutor) -> list[int]:
    """The processes of workers."""
    return [process.pid() for process in executor._processes.values()]


def run(out: Path, workers: int, domain: str, harm: str = "", kind: str = "") -> None:
    executors: list[HarmedExecutor] = []

    def open_executor(site: Site, tables: object) -> HarmedExecutor:
        executors.append(HarmedExecutor(site, workers, domain, harm, kind))
        return executors[0]

    start, table = time.monotonic(), DomainKey.parse(domain).table
    spec = BuildSpec((table.material,), (table.metric,))
    build(
        BuildRequest(spec, out, workers=workers, grain=1, held=HELD),
        lambda event: None,
        open_executor,
    )
    noticed = ",".join(sorted(set(executors[0].noticed))) or "nothing"
    print(f"\nbuilt {out.name} {noticed} {time.monotonic() - start:.1f}", flush=True)


def main(out: str, workers: str, domain: str, *harms: str) -> None:
    with connected("local", int(workers)):
        if not harms:
            run(Path(out) / "none", int(workers), domain)
        for harm, kind in zip(harms[::2], harms[1::2], strict=True):
            name = "none" if harm == "end" else f"{harm}.{kind}"
            run(Path(out) / name, int(workers), domain, harm, kind)


if __name__ == "__main__":
    main(*sys.argv[1:])
