"""A worker in a process of its own, on a node of a Ray cluster.

    create, do, seal    what a worker is asked; answers and failures are values
    rest                lets go of the domain, so that the process can be given another
    keep                holds what others would leave behind, while it is to spare
    lives, estate       a sign of life, and what it would leave, on a thread of its own

All that a worker needs is imported and calculated when the process starts, which takes seconds; to
create a worker in it then takes milliseconds.
"""

import os
from pathlib import Path
from typing import Any

import ray
from ray.util.placement_group import PlacementGroup

from coordinator.commands import Call, Create, Seal, Task
from coordinator.crew import Site
from coordinator.events import Done, Event, NodeLeft
from coordinator.tasks import Parcels, created, done, failed, sealed
from workers.estate import Address, Heirlooms
from workers.geometry import neighbours
from workers.limits import held
from workers.worker import Worker
from workers.workshop import Library


class Actor:
    """A process for one worker after the other."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._library = Library(Path(site.out))
        self._worker: Worker | None = None
        self._heirlooms = Heirlooms()
        neighbours()

    def create(self, call: Call, task: Create, room: PlacementGroup, limit: float) -> Event:
        if not room.wait(limit):
            return NodeLeft(task.node)  # to others
        try:
            self._worker = created(
                self._site, self._library, call, task, task.cores, self._heirlooms
            )
        except Exception as error:
            return failed(call, task, error)
        return Done(call)

    def seal(self, call: Call, task: Seal) -> Event:
        try:
            self._at_work().seal(sealed(task), task.seconds).result()
        except Exception as error:
            return failed(call, task, error)
        return Done(call)

    def do(self, call: Call, task: Task, workers: int, *inbound: Any) -> Any:
        """The answer, then a parcel or None for each worker."""
        parcels: Parcels = {}
        answer: Event
        try:
            answer, parcels = done(self._at_work(), call, task, inbound)
        except Exception as error:
            answer = failed(call, task, error)
        return [answer, *(parcels.get(receiver) for receiver in range(workers))]

    def rest(self) -> int:
        """Let go of the domain, but for what this process itself may go on from if it is given the
        same again; the bytes of memory that are kept all the same.
        """
        worker, self._worker = self._worker, None
        if worker is not None:
            self._heirlooms.keep(filter(None, [worker.estate]))
            worker.close()
            del worker
        return held()

    def keep(self, estates: list[Address]) -> None:
        """Hold these and no others."""
        self._heirlooms.keep(estates)

    def estate(self) -> Address | None:
        """What this process would leave, if it works."""
        return None if (worker := self._worker) is None else worker.estate

    def lives(self) -> int:
        """A sign of life: the process."""
        return os.getpid()

    def _at_work(self) -> Worker:
        assert self._worker is not None, "a worker that was not created"
        return self._worker


REMOTE: Any = ray.remote(
    num_cpus=0,
    max_restarts=0,
    max_task_retries=0,
    concurrency_groups={"seals": 1, "life": 1},
)(
    type(
        "Actor",
        (Actor,),
        {
            "seal": ray.method(concurrency_group="seals")(Actor.seal),
            "estate": ray.method(concurrency_group="life")(Actor.estate),
            "lives": ray.method(concurrency_group="life")(Actor.lives),
        },
    )
)
"""It takes nothing of a node by itself: what it may take is reserved by whoever starts it."""
