"""Measures the death of a worker: one of a build on Ray with one worker, killed during a pass.

    noticed     from the kill until the build knows that the worker is lost
    made up     from then until the next pass is committed

There is a spare process by then, as in every build that has lasted some seconds.  It takes over,
computes the partitions under way again, and repeats the pass.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from statistics import mean

from kingpair.api.bench.figures import Figure
from kingpair.api.ray.cluster import connected
from kingpair.api.ray.deadlines import Limits
from kingpair.api.ray.executor import RayExecutor
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.control import Control
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.commands import Call, Task, Win
from kingpair.coordinator.machine.events import Event, WorkerLost
from kingpair.coordinator.machine.records import PassCommitted
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.errors import Cancelled
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.key import TableKey

DEPTH = 30  # of the pass in the middle of which it is killed
PASSES = 2  # that a recovery may take


class KillOnce(RayExecutor):
    """Kills the worker of a table once, and notes when that was noticed."""

    def __init__(self, site: Site, subject: TableKey) -> None:
        super().__init__(site, 1, Limits())
        self._domain = str(subject)
        self.killed = self.noticed = 0.0

    def do(self, call: Call, task: Task) -> None:
        super().do(call, task)
        is_time = isinstance(task, Win) and task.depth == DEPTH
        if is_time and call.domain == self._domain and not self.killed:
            worker = self._processes[call.domain, call.incarnation, call.worker]
            worker.reservation.spare()
            pid = worker.pid()
            self.killed = time.monotonic()
            os.kill(pid, signal.SIGKILL)

    def next(self) -> Event:
        event = super().next()
        if isinstance(event, WorkerLost) and not self.noticed:
            self.noticed = time.monotonic()
        return event


def recovery(out: Path, name: str, threads: int) -> Iterator[Figure]:
    """Measures the recovery of a build whose smaller tables are present."""
    subject, control = TableKey(Material.parse(name), Metric.DTC), Control()
    executors, times = list[KillOnce](), list[float]()
    recovered = 0.0

    def open_executor(site: Site, tables: object) -> KillOnce:
        executors.append(KillOnce(site, subject))
        return executors[0]

    def listen(row: Row) -> None:
        nonlocal recovered
        if isinstance(row.record, PassCommitted) and not recovered:
            times.append(row.time)
            if executors[0].noticed:
                recovered = time.monotonic() - executors[0].noticed
                control.cancel("what was to be measured is measured")

    request = BuildRequest(
        BuildSpec((subject.material,), force=True, verify=False), out, threads=threads
    )
    with connected("local", threads), suppress(Cancelled):
        build(request, listen, open_executor, control)
    noticing = executors[0].noticed - executors[0].killed
    yield Figure(f"{name} on Ray, a killed worker noticed", noticing, "s", 10)
    passes = PASSES * mean(b - a for a, b in pairwise(times[:-1]))
    yield Figure(f"{name} on Ray, a killed worker made up for", recovered, "s", passes)
