"""A build in this process: the closure of some materials, each solved for both colours, published
as a table and verified.

    events = [admitted, the nodes that there are]
    for each event:  build, commands = step(build, event)              (coordinator.step)
                     perform the commands, which leads to more events  (coordinator.local)

There is one node for each worker asked for, with one core: one domain is solved after the other,
each with all threads.  Nothing is tried twice: what was committed is kept, and the same request
goes on from there.  A material's logs lie beside the tables until its table is verified.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from coordinator.closure import estimates, plan_of, sorted_out
from coordinator.commands import (
    AwaitNodes,
    Call,
    Clear,
    Command,
    Create,
    Do,
    MakePlan,
)
from coordinator.domains import Node, Policy
from coordinator.events import Admitted, NodesAwaited, NodesJoined
from coordinator.events import Event as StepEvent
from coordinator.events import Planned as PlanMade
from coordinator.local import Local
from coordinator.plan import Estimate, check_directory, check_memory, waves
from coordinator.request import (
    Committed,
    Event,
    Listener,
    Painting,
    Planned,
    Published,
    Request,
    Started,
    Verified,
)
from coordinator.state import Build, State
from coordinator.step import step
from coordinator.tasks import Site, created
from coordinator.telling import Telling
from workers.errors import CannotBuild
from workers.material import Material
from workers.table import partial_of
from workers.threads import Threads
from workers.worker import Worker, verified
from workers.workshop import Tables

_UNLIMITED = 1 << 62


def build(request: Request, listen: Listener) -> None:
    """Build everything asked for that is not there; raise CannotBuild if it cannot be done."""
    if not request.out.exists():
        check_memory(estimates(request, waves(request.materials)), request.memory)
    check_directory(request.out, ())
    with _alone(request.out):
        directory = Tables(request.out, request.metric)
        try:
            InProcess(request, directory, listen).run()
        finally:
            directory.close()


class InProcess:
    """Performs what a build asks for, on threads of this process."""

    def __init__(self, request: Request, directory: Tables, listen: Listener) -> None:
        self._request, self._directory, self._listen = request, directory, listen
        self._site = Site(request.out, request.metric, request.compact)
        self._telling = Telling(listen, directory.columns)
        self._events: SimpleQueue[StepEvent] = SimpleQueue()
        self._local = Local(self._make, self._events)

    def run(self) -> None:
        build = Build("build")
        self._events.put(Admitted())
        nodes = (Node(f"node{i}", 1, _UNLIMITED) for i in range(self._request.workers))
        self._events.put(NodesJoined(tuple(nodes)))
        with self._local:
            while not build.state.has_ended:
                build, commands = step(build, self._events.get())
                for command in commands:
                    self._telling.hear(command)
                    self._perform(command)
        if build.state is not State.SUCCEEDED:
            raise next(iter(self._local.errors), CannotBuild(build.reason))

    def _perform(self, command: Command) -> None:
        match command:
            case MakePlan(attempt):
                self._events.put(self._plan(attempt))
            case Do(call, task):
                self._local.do(call, task)
            case AwaitNodes(number):  # there will never be others
                self._events.put(NodesAwaited(number))
            case Clear(domain):
                self._directory.workshop(Material.parse(domain)).clear()

    def _make(self, call: Call, task: Create) -> Worker:
        threads = max(1, self._request.threads // self._request.workers)
        return created(self._site, self._directory, call, task, threads)

    def _plan(self, attempt: int) -> PlanMade:
        """Sort out what is to be done, refuse what cannot be, clear away what is not needed."""
        request, directory = self._request, self._directory
        todo, present = sorted_out(request, directory)
        needed = estimates(request, todo)
        check_memory(needed, request.memory)
        check_directory(request.out, needed)
        self._listen(Planned(todo, present))
        for material in present:
            self._clear_remains(material)
        if not request.resume:
            for wave in todo:
                for material in wave:
                    directory.workshop(material).clear()
        policy = Policy(grain=request.grain, attempts=1, setbacks=0)
        plan = plan_of(request, directory, todo, present, policy)
        self._telling.planned(plan)
        return PlanMade(attempt, plan)

    def _clear_remains(self, material: Material) -> None:
        """A run that died after, or while replacing, a table that is there left what is not needed
        once the table has been verified.
        """
        workshop = self._directory.workshop(material)
        if workshop.exists():
            if self._request.verify:
                with Threads(self._request.threads) as threads:
                    seconds = verified(self._directory, material, threads)
                self._listen(Verified(material, seconds))
            workshop.clear()
        partial_of(self._directory.table_path(material)).unlink(missing_ok=True)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """No two builds write to one directory: the second is refused, not queued."""
    fd = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise CannotBuild(
            f"another build is writing to {out}; wait for it or choose another --out"
        ) from None
    finally:
        os.close(fd)


__all__ = [
    "Committed",
    "Estimate",
    "Event",
    "Listener",
    "Painting",
    "Planned",
    "Published",
    "Request",
    "Started",
    "Verified",
    "build",
]
