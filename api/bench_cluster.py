"""What the death of a worker costs on a cluster: of a build on Ray with one worker, which is killed
in the middle of a pass.

    noticed     from when it is killed until it is known to be lost
    made up     from then on, until the next pass is committed

By then there is a process to spare, as in every build that has lasted some seconds.  It takes over:
makes again what was at hand, and does the one pass again.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from statistics import mean

from api.bench_figures import Figure
from api.ray_cluster import connected
from api.ray_crew import Limits, RayCrew
from coordinator.build import build
from coordinator.commands import Call, Task, Win
from coordinator.control import Control
from coordinator.crew import Site
from coordinator.events import Event, WorkerLost
from coordinator.request import Committed, Request
from coordinator.request import Event as Told
from workers.errors import Cancelled
from workers.material import Material
from workers.metric import Metric
from workers.subject import Subject

DEPTH = 30  # of the pass in the middle of which it is killed
PASSES = 2  # that a recovery may take


class Bereaved(RayCrew):
    """Kills the worker of a subject, and knows when that was noticed."""

    def __init__(self, site: Site, subject: Subject) -> None:
        super().__init__(site, 1, Limits())
        self._domain = str(subject)
        self.killed = self.noticed = 0.0

    def do(self, call: Call, task: Task) -> None:
        super().do(call, task)
        is_time = isinstance(task, Win) and task.depth == DEPTH
        if is_time and call.domain == self._domain and not self.killed:
            worker = self._posts[call.domain, call.incarnation, call.worker]
            worker.holding.spare()
            pid = worker.process()
            self.killed = time.monotonic()
            os.kill(pid, signal.SIGKILL)

    def next(self) -> Event:
        event = super().next()
        if isinstance(event, WorkerLost) and not self.noticed:
            self.noticed = time.monotonic()
        return event


def recovery(out: Path, name: str, threads: int) -> Iterator[Figure]:
    """Of a material whose smaller tables are there."""
    subject, control = Subject(Material.parse(name), Metric.DTC), Control()
    crews, seconds = list[Bereaved](), list[float]()
    recovered = 0.0

    def hire(site: Site, tables: object) -> Bereaved:
        crews.append(Bereaved(site, subject))
        return crews[0]

    def listen(event: Told) -> None:
        nonlocal recovered
        if isinstance(event, Committed) and not recovered:
            seconds.append(event.seconds)
            if crews[0].noticed:
                recovered = time.monotonic() - crews[0].noticed
                control.cancel("what was to be measured is measured")

    request = Request((subject.material,), out, threads=threads, force=True, verify=False)
    with connected("local", threads), suppress(Cancelled):
        build(request, listen, hire, control)
    noticing = crews[0].noticed - crews[0].killed
    yield Figure(f"{name} on Ray, a killed worker noticed", noticing, "s", 10)
    passes = PASSES * mean(seconds[:-1])
    yield Figure(f"{name} on Ray, a killed worker made up for", recovered, "s", passes)
