"""A worker in a process of its own, on a node of a Ray cluster.

    serve               the build whose workers come next
    create, do, seal    calls of a worker; answers and failures are values
    rest                closes the domain, so that the process can take another
    keep                maps the memory of the workers beside it, while the process is spare
    lives               a heartbeat, on a thread of its own
    open_sets_address   the address of its open sets, on the same thread

Everything that a worker needs is imported and calculated when the process starts, which takes
seconds; creating a worker in it then takes milliseconds.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError

from kingpair.api.ray.log_machines import LogMachine, end_with_node
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.execute.tasks import (
    AnyWorker,
    created,
    done,
    failed,
    seal,
)
from kingpair.coordinator.machine.commands import Call, Create, Seal, Task
from kingpair.coordinator.machine.events import Done, Event, NodeLeft
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.limits import private_memory
from kingpair.workers.passlog.machine_logs import MachineLogs
from kingpair.workers.solve.frontiers import PackedFrontier
from kingpair.workers.solve.open_sets import Address, TakeoverPool
from kingpair.workers.table.table_store import TableStore


class Actor:
    """A process for one worker after the other."""

    def __init__(self) -> None:
        end_with_node()
        self._site: Site | None = None
        self._library: TableStore | None = None
        self._worker: AnyWorker | None = None
        self._takeover_pool = TakeoverPool()
        assert TURNED.neighbours  # derived before a call that is timed

    def serve(self, site: Site) -> None:
        """Closes the tables of the build before it; the first worker opens those of this one."""
        if self._library is not None:
            self._library.close()
        self._site, self._library = site, None

    def create(
        self,
        call: Call,
        task: Create,
        held: list[Any],
        limit: float,
        machines: Sequence[LogMachine],
    ) -> tuple[Event, tuple[int, ...]]:
        """Returns the answer, and the workers that read what the new one finds.

        The part of a node has been reserved when `held` has values.  `machines` keep logs.
        """
        try:
            ray.get(held, timeout=limit)
        except GetTimeoutError:
            return NodeLeft(task.node, f"gave no cores within {limit:.0f} s"), ()
        except RayActorError as error:
            return NodeLeft(task.node, f"gave no cores: {error}"), ()
        assert self._site is not None, "a process that serves no build"
        try:
            self._library = self._library or _tables(self._site)
            if self._library.logs is not None:
                self._library.logs.knows(machines)
            self._worker = created(
                self._site, self._library, call, task, task.cores, self._takeover_pool
            )
        except Exception as error:
            return failed(call, task, error), ()
        return Done(call), self._worker.readers

    def seal(self, call: Call, task: Seal) -> Event:
        try:
            return Done(call, seal(self._at_work(), task).result())
        except Exception as error:
            return failed(call, task, error)

    def do(self, call: Call, task: Task, *inbound: Any) -> Any:
        """Returns the answer, then an Arrow IPC stream or None for each worker that reads what this
        one finds.
        """
        frontiers: dict[int, Any] = {}
        answer: Event
        try:
            received = [PackedFrontier.from_ipc(stream) for stream in inbound]
            answer, found = done(self._at_work(), call, task, received)
            frontiers = {reader: frontier.to_ipc() for reader, frontier in found.items()}
        except Exception as error:
            answer = failed(call, task, error)
        readers = self._worker.readers if self._worker is not None else ()
        return [answer, *map(frontiers.get, readers)] if readers else answer

    def rest(self) -> int:
        """Closes the domain, and keeps only its open sets, in case the same domain is given again.

        Returns the bytes of memory that the process still holds.
        """
        worker, self._worker = self._worker, None
        if worker is not None:
            self._takeover_pool.hold(filter(None, [worker.open_sets_address]))
            worker.close()
            del worker
        return private_memory()

    def keep(self, addresses: list[Address]) -> None:
        """Maps these open sets, and closes all others."""
        self._takeover_pool.hold(addresses)

    def open_sets_address(self) -> Address | None:
        """Returns the address of this worker's open sets, or None if it has no worker."""
        return None if (worker := self._worker) is None else worker.open_sets_address

    def lives(self) -> int:
        """Answers a heartbeat with the number of the process."""
        return os.getpid()

    def _at_work(self) -> AnyWorker:
        assert self._worker is not None, "a worker that was not created"
        return self._worker


def _tables(site: Site) -> TableStore:
    return TableStore(
        Path(site.out), logs=None if site.logs is None else MachineLogs(Path(site.logs))
    )


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
            "open_sets_address": ray.method(concurrency_group="life")(Actor.open_sets_address),
            "lives": ray.method(concurrency_group="life")(Actor.lives),
        },
    )
)
"""Claims no cores itself; the reservation that starts it has claimed them."""
