"""Actors of a Ray cluster as a crew: one for each worker, on the node that it was given.

    Do(Create)       an actor with its node, cores and memory reserved; no restarts
    a step           options(num_returns=1 + workers): the answer, and a parcel for each worker
    Batch.ref        a token for the ObjectRef of a parcel; the bytes never come here
    Do(Release)      ray.kill

A call has a lease by its kind: whoever does not answer is done with, since Ray never notices a
process that is stopped.  Nodes are looked at every few seconds.  All waits end.
"""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple

import ray
from ray.exceptions import ActorUnschedulableError, RayActorError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from coordinator.commands import Call, Create, Lose, Release, Seal, Task, Win
from coordinator.crew import Site
from coordinator.domains import Node
from coordinator.events import (
    Computed,
    Damaged,
    Done,
    Event,
    Failed,
    Fault,
    LeaseExpired,
    NodeLeft,
    NodesAwaited,
    NodesJoined,
    Prepared,
    WorkerLost,
    Written,
)
from coordinator.tasks import Parcels, created, done, failed, sealed
from workers.errors import CannotBuild
from workers.worker import Worker
from workers.workshop import Tables

STORE_BYTES = 512 << 20  # of the object store of a cluster of our own
CONNECT_SECONDS = 5.0
_LOOK_SECONDS = 2.0


class Limits(NamedTuple):
    """How long may be waited: for an answer, by kind of task, and for nodes to come."""

    create: float = 120.0
    step: float = 900.0
    other: float = 7200.0
    nodes: float = 60.0

    def of(self, task: Task) -> float:
        if isinstance(task, Create):
            return self.create
        return self.step if isinstance(task, Win | Lose | Seal) else self.other


# ---- in the actor ----


class Actor:
    """A worker in a process of its own.  Answers and failures are values."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._tables = Tables(Path(site.out), site.metric)
        self._worker: Worker | None = None

    def create(self, call: Call, task: Create) -> Event:
        try:
            self._worker = created(self._site, self._tables, call, task, task.cores)
        except Exception as error:
            return failed(call, task, error)
        return Done(call)

    def seal(self, call: Call, task: Seal) -> Event:
        try:
            self._at_work().seal(sealed(task)).result()
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

    def _at_work(self) -> Worker:
        assert self._worker is not None, "a worker that was not created"
        return self._worker


# ---- in the coordinator ----


class RayCrew:
    """Performs calls on a cluster that is connected to."""

    def __init__(self, site: Site, workers: int | None, limits: Limits) -> None:
        self._site, self._workers, self._limits = site, workers, limits
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._actors: dict[tuple[str, int, int], Any] = {}
        self._teams: dict[tuple[str, int], int] = {}  # how many workers
        self._returned: dict[Call, list[Any]] = {}  # refs of parcels, until the answer is there
        self._parcels: dict[str, Any] = {}
        self._leases: dict[Call, float] = {}
        self._awaited: dict[int, float] = {}
        self._looked = 0.0
        self.errors: list[BaseException] = []
        self.nodes = tuple(self._seen())
        self._known = {node.name for node in self.nodes}

    # ---- events ----

    def put(self, event: Event) -> None:
        self._events.put(event)

    def next(self) -> Event:
        while True:
            self._look()
            if (late := self._late(time.monotonic())) is not None:
                return late
            with contextlib.suppress(Empty):
                return self._settled(self._events.get(timeout=self._patience()))

    def _settled(self, event: Event) -> Event:
        """No lease any more for a call that is answered; of its parcels, those that were sent."""
        if isinstance(event, Done | Prepared | Computed | Written | Failed | Damaged):
            self._leases.pop(event.call, None)
            parcels = self._returned.pop(event.call, None)
            # None: whoever answered has been released meanwhile.
            if parcels is not None and isinstance(event, Prepared | Computed):
                self._parcels |= {batch.ref: parcels[batch.receiver] for batch in event.sent}
        return event

    def _patience(self) -> float:
        """Until the next limit, but not longer than until the nodes are looked at again."""
        ends = min((*self._leases.values(), *self._awaited.values()), default=float("inf"))
        return max(0.01, min(_LOOK_SECONDS, ends - time.monotonic()))

    def _late(self, now: float) -> Event | None:
        for call, end in self._leases.items():
            if end < now:
                del self._leases[call]
                return LeaseExpired(call)
        for number, end in self._awaited.items():
            if end < now:
                del self._awaited[number]
                return NodesAwaited(number)
        return None

    def await_nodes(self, number: int) -> None:
        self._awaited[number] = time.monotonic() + self._limits.nodes

    # ---- nodes ----

    def _look(self) -> None:
        """Tell of nodes that have come or gone since the last look."""
        if time.monotonic() < self._looked + _LOOK_SECONDS:
            return
        seen = {node.name: node for node in self._seen()}
        for name in self._known - seen.keys():
            self._events.put(NodeLeft(name))
        if come := [node for name, node in seen.items() if name not in self._known]:
            self._events.put(NodesJoined(tuple(come)))
        self._known = set(seen)

    def _seen(self) -> Iterator[Node]:
        """The nodes that are alive, each in as many parts as there are to be workers on it."""
        self._looked = time.monotonic()
        alive = [n for n in ray.nodes() if n["Alive"] and n["Resources"].get("CPU", 0) >= 1]
        parts = -(-(self._workers or 0) // max(1, len(alive))) or 1
        for node in sorted(alive, key=lambda n: str(n["NodeID"])):
            cores, memory = int(node["Resources"]["CPU"]), int(node["Resources"].get("memory", 0))
            for part in range(min(parts, cores)):
                yield Node(f"{node['NodeID']}.{part}", cores // min(parts, cores), memory // parts)

    # ---- calls ----

    def do(self, call: Call, task: Task) -> None:
        key = call.domain, call.incarnation, call.worker
        if isinstance(task, Release):
            self._release(key)
            self._events.put(Done(call))
            return
        self._leases[call] = time.monotonic() + self._limits.of(task)
        if isinstance(task, Create):
            self._teams[call.domain, call.incarnation] = 1 + max(task.owners)
            self._actors[key] = self._hired(task)
            answer = self._actors[key].create.remote(call, task)
        elif isinstance(task, Seal):
            answer = self._actors[key].seal.remote(call, task)
        else:
            answer = self._asked(key, call, task)
        node = task.node if isinstance(task, Create) else None
        answer.future().add_done_callback(lambda future: self._take(call, node, future))

    def _hired(self, task: Create) -> Any:
        node = task.node.rpartition(".")[0]
        return _REMOTE.options(
            num_cpus=task.cores,
            memory=task.memory,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        ).remote(self._site)

    def _asked(self, key: tuple[str, int, int], call: Call, task: Task) -> Any:
        workers = self._teams[call.domain, call.incarnation]
        batches = task.inbound if isinstance(task, Win | Lose) else ()
        inbound = [self._parcels.pop(batch.ref) for batch in batches]
        refs = self._actors[key].do.options(num_returns=1 + workers)
        answer, *parcels = refs.remote(call, task, workers, *inbound)
        self._returned[call] = parcels
        return answer

    def _take(self, call: Call, node: str | None, future: Any) -> None:
        """An answer has come, or will never come."""
        try:
            event: Event = future.result()
        except ActorUnschedulableError as error:
            event = NodeLeft(node) if node else Failed(call, Fault.WORKER, _line(error))
        except RayActorError as error:
            event = WorkerLost(call.domain, call.incarnation, call.worker, _line(error))
        except Exception as error:
            event = Failed(call, Fault.WORKER, _line(error))
        self._events.put(event)

    def _release(self, key: tuple[str, int, int]) -> None:
        domain, incarnation, _ = key
        if (actor := self._actors.pop(key, None)) is not None:
            ray.kill(actor)
        of_it = f"{domain}.{incarnation}."
        self._parcels = {t: ref for t, ref in self._parcels.items() if not t.startswith(of_it)}
        for call in [c for c in self._leases if (c.domain, c.incarnation, c.worker) == key]:
            del self._leases[call]
            self._returned.pop(call, None)

    def __enter__(self) -> "RayCrew":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for key in list(self._actors):
            self._release(key)


_REMOTE: Any = ray.remote(max_restarts=0, max_task_retries=0, concurrency_groups={"seals": 1})(
    type("Actor", (Actor,), {"seal": ray.method(concurrency_group="seals")(Actor.seal)})
)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


# ---- the connection ----


@contextlib.contextmanager
def connected(address: str, cores: int) -> Iterator[None]:
    """A cluster of our own (`local`), the one that this machine is part of (`auto`), or that at an
    address.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")
    settings: dict[str, Any] = {"address": address, "log_to_driver": False}
    if address == "local":
        settings |= {
            "num_cpus": cores,
            "include_dashboard": False,
            "object_store_memory": STORE_BYTES,
        }
    else:
        settings["address"] = _reachable(address)
    with _handlers_kept():
        try:
            ray.init(**settings)
        except Exception as error:
            raise CannotBuild(f"cannot use the cluster {address}: {_line(error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _reachable(address: str) -> str:
    """Connecting to an address where nobody is would take minutes."""
    if address == "auto":
        known = Path("/tmp/ray/ray_current_cluster")
        address = os.environ.get("RAY_ADDRESS") or (known.read_text() if known.exists() else "")
        if not address:
            raise CannotBuild("no cluster here; start one with ray start, or use --cluster local")
    host, _, port = address.strip().rpartition(":")
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        raise CannotBuild(
            f"no cluster at {address}: {error}; use HOST:PORT of its head, auto or local"
        ) from error
    return address.strip()


@contextlib.contextmanager
def _handlers_kept() -> Iterator[None]:
    """Ray replaces them."""
    handlers = {s: signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
