"""Builds on a local Ray cluster, with harm done to its workers at a chosen call.

    python clustered.py OUT WORKERS [HARM TASK ...]

HARM is `kill`, `two`, `all` (kills so many), `stop` (one, for longer than it may be silent) or
`end` (kills the coordinator); TASK is the kind of call that a worker has just been given.  Each
build has a directory below OUT, named HARM.TASK or `none`; a line is printed for each: `built`, its
name, what was noticed, seconds.  To be run where only loopback is, among no processes but its own.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from api.ray_cluster import connected
from api.ray_crew import Limits, RayCrew
from coordinator.build import build
from coordinator.commands import Call, Task, Win
from coordinator.crew import Site
from coordinator.events import Event, WorkerLost
from coordinator.request import Request
from workers.material import Material

LIFE_SECONDS = 3.0
HARMED = {"two": 2, "all": 100}  # processes, else one
DEPTH = 5  # of the pass in which harm is done


class HarmedCrew(RayCrew):
    """Harms whoever is given a certain call, once."""

    def __init__(self, site: Site, workers: int, harm: str, kind: str) -> None:
        super().__init__(site, workers, Limits(life=LIFE_SECONDS))
        self._harm, self._kind = harm, kind
        self.noticed: list[str] = []

    def do(self, call: Call, task: Task) -> None:
        super().do(call, task)
        fits = type(task).__name__ == self._kind and call.domain == "KQvKR.dtc"
        if self._harm and fits and getattr(task, "depth", DEPTH) in (0, DEPTH):
            if self._harm == "end":
                os.kill(os.getpid(), signal.SIGKILL)
            if self._harm == "kill":
                prepare_for(self)
            for pid in at_work(self)[: HARMED.get(self._harm, 1)]:
                os.kill(pid, signal.SIGSTOP if self._harm == "stop" else signal.SIGKILL)
            self._harm = ""

    def next(self) -> Event:
        event = super().next()
        if isinstance(event, WorkerLost):
            self.noticed.append("silence" if "no sign of life" in event.reason else "death")
        return event


class Happening(RayCrew):
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


def prepare_for(crew: RayCrew) -> None:
    """Whoever takes over has what the dead leave, as in a build that has lasted some seconds."""
    for holding in crew._held.values():
        holding.level()
    for holding in crew._held.values():
        holding.spare()


def at_work(crew: RayCrew) -> list[int]:
    """The processes of workers."""
    return [post.process() for post in crew._posts.values()]


def run(out: Path, workers: int, harm: str = "", kind: str = "") -> None:
    crews: list[HarmedCrew] = []

    def hire(site: Site, tables: object) -> HarmedCrew:
        crews.append(HarmedCrew(site, workers, harm, kind))
        return crews[0]

    start, materials = time.monotonic(), (Material.parse("KQvKR"),)
    build(Request(materials, out, workers=workers, grain=1), lambda event: None, hire)
    noticed = ",".join(sorted(set(crews[0].noticed))) or "nothing"
    print(f"\nbuilt {out.name} {noticed} {time.monotonic() - start:.1f}", flush=True)


def main(out: str, workers: str, *harms: str) -> None:
    with connected("local", int(workers)):
        if not harms:
            run(Path(out) / "none", int(workers))
        for harm, kind in zip(harms[::2], harms[1::2], strict=True):
            name = "none" if harm == "end" else f"{harm}.{kind}"
            run(Path(out) / name, int(workers), harm, kind)


if __name__ == "__main__":
    main(*sys.argv[1:])
