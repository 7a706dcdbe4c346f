"""Actors of a Ray cluster as a crew: one for each worker, on the node that it was given.

    Do(Create)       an actor with its node, cores and memory reserved; no restarts
    a step           options(num_returns=1 + workers): the answer, and a parcel for each worker
    Batch.ref        a token for the ObjectRef of a parcel; the bytes never come here
    Do(Release)      ray.kill

Ray notices a process that has died, never one that is stopped or cut off: so each worker gives a
sign of life every few seconds, on a thread of its own, and one that gives none is lost.  A call has
a lease besides, by its kind.  Nodes are looked at as often; a new one is asked whether it is fit
(the same program, the same store) before it is told of.  All waits end.
"""

import contextlib
import os
import secrets
import time
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple

import ray
from ray._private.state import available_resources_per_node
from ray.exceptions import ActorUnschedulableError, RayActorError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from api.ray_cluster import line
from api.version import components
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
from workers.store import store_at, uri_of
from workers.worker import Worker
from workers.workshop import Library

LOOK_SECONDS = 2.0
Key = tuple[str, int, int]  # domain, incarnation, worker


class Limits(NamedTuple):
    """How long may be waited: for an answer, by kind of task; for a sign of life; for nodes to
    come, and for one that is there to say whether it is fit.
    """

    create: float = 120.0
    other: float = 7200.0
    life: float = 6.0
    nodes: float = 60.0
    fit: float = 60.0

    def of(self, task: Task) -> float:
        return self.create if isinstance(task, Create) else self.other


# ---- in the actor ----


class Actor:
    """A worker in a process of its own.  Answers and failures are values."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._library = Library(Path(site.out))
        self._worker: Worker | None = None

    def create(self, call: Call, task: Create) -> Event:
        try:
            self._worker = created(self._site, self._library, call, task, task.cores)
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

    def lives(self) -> None:
        """A sign of life."""

    def _at_work(self) -> Worker:
        assert self._worker is not None, "a worker that was not created"
        return self._worker


_REMOTE: Any = ray.remote(
    max_restarts=0, max_task_retries=0, concurrency_groups={"seals": 1, "life": 1}
)(
    type(
        "Actor",
        (Actor,),
        {
            "seal": ray.method(concurrency_group="seals")(Actor.seal),
            "lives": ray.method(concurrency_group="life")(Actor.lives),
        },
    )
)


def unfit(version: str, where: str, mark: str) -> str:
    """What a node lacks to work here; nothing, if it is fit."""
    if (found := components()["kingpair"]) != version:
        return (
            f"has kingpair {found}, this machine {version}; install the same version on every node"
        )
    if mark and not os.access(mark, os.R_OK | os.W_OK):
        return f"cannot write {where}; build to a directory or a store that all nodes share"
    if where and not mark:
        try:
            store_at(where).check()
        except CannotBuild as error:
            return f"cannot use the store: {error}"
    return ""


_UNFIT: Any = ray.remote(num_cpus=0, max_retries=0)(unfit)


# ---- in the coordinator ----


class RayCrew:
    """Performs calls on a cluster that is connected to."""

    def __init__(self, site: Site, workers: int | None, limits: Limits) -> None:
        self._site, self._limits = site, limits
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._actors: dict[Key, Any] = {}
        self._teams: dict[tuple[str, int], int] = {}  # how many workers
        self._returned: dict[Call, list[Any]] = {}  # refs of parcels, until the answer is there
        self._parcels: dict[str, Any] = {}
        self._leases: dict[Call, float] = {}
        self._awaited: dict[int, float] = {}
        self._lives: dict[Key, tuple[Any, float]] = {}  # the sign asked for, and when
        self._looked = time.monotonic()
        self.errors: list[BaseException] = []
        self._roster = Roster(site, workers, limits.fit)
        self.nodes = self._roster.first()

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
        """Until the next limit, but not longer than until the next look."""
        ends = min((*self._leases.values(), *self._awaited.values()), default=float("inf"))
        return max(0.01, min(LOOK_SECONDS, ends - time.monotonic()))

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

    # ---- what is looked at ----

    def _look(self) -> None:
        """Tell of nodes that have come or gone since the last look, and of workers that give no
        sign of life.
        """
        now = time.monotonic()
        if now < self._looked + LOOK_SECONDS:
            return
        come, gone = self._roster.changes()
        for name in gone:
            self._events.put(NodeLeft(name))
        if come:
            self._events.put(NodesJoined(come))
        for key in list(self._lives):
            self._look_at(key, now)
        self._looked = time.monotonic()

    def _look_at(self, key: Key, now: float) -> None:
        sign, since = self._lives[key]
        # Looks that were late say nothing of the worker.
        since += max(0.0, now - self._looked - 2 * LOOK_SECONDS)
        if sign is None or ray.wait([sign], timeout=0, fetch_local=False)[0]:
            self._lives[key] = self._actors[key].lives.remote(), now
        elif now > since + self._limits.life:
            del self._lives[key]
            self._events.put(WorkerLost(*key, f"no sign of life for {now - since:.0f} s"))
        else:
            self._lives[key] = sign, since

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
            # It has been created, so it can give signs of life.
            self._lives.setdefault(key, (None, 0.0))
            answer = self._asked(key, call, task)
        node = task.node if isinstance(task, Create) else None
        answer.future().add_done_callback(lambda future: self._take(call, node, future))

    def _hired(self, task: Create) -> Any:
        return _REMOTE.options(
            num_cpus=task.cores,
            memory=task.memory,
            scheduling_strategy=_on(task.node.rpartition(".")[0]),
        ).remote(self._site)

    def _asked(self, key: Key, call: Call, task: Task) -> Any:
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
            event = NodeLeft(node) if node else Failed(call, Fault.WORKER, line(error))
        except RayActorError as error:
            event = WorkerLost(call.domain, call.incarnation, call.worker, line(error))
        except Exception as error:
            event = Failed(call, Fault.WORKER, _full(error) or line(error))
        self._events.put(event)

    def _release(self, key: Key) -> None:
        domain, incarnation, _ = key
        self._lives.pop(key, None)
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
        self._roster.close()


def _full(error: BaseException) -> str:
    """What to do if a parcel found no room; whoever was to have it finds that named in an error."""
    if not any(kind in str(error) for kind in ("OutOfDiskError", "ObjectStoreFullError")):
        return ""
    return (
        "the object store of a node is full, and the disk it spills to; make room there, or give "
        "Ray more (ray start --object-store-memory)"
    )


def _on(node: str) -> NodeAffinitySchedulingStrategy:
    return NodeAffinitySchedulingStrategy(node, soft=False)


# ---- nodes ----


class Roster:
    """The nodes that may be used, each in as many parts as there are to be workers on it.

    What others have taken of a node when it comes is not ours.  There are no more parts than
    workers are wanted: what comes when there are enough waits until a node leaves.
    """

    def __init__(self, site: Site, workers: int | None, limit: float) -> None:
        self._workers, self._limit = workers, limit
        self._parts: dict[str, list[Node]] = {}
        self._asked: dict[str, tuple[Any, float]] = {}  # since when
        self._fit: set[str] = set()
        self._unfit: dict[str, str] = {}
        self._where = site.out
        # What a node can read and write if it shares the directory.
        self._mark: Path | None = None
        if site.out and uri_of(site.out) is None:
            self._mark = Path(site.out) / f".kingpair.{secrets.token_hex(8)}"
            self._mark.touch()

    def close(self) -> None:
        if self._mark is not None:
            self._mark.unlink(missing_ok=True)

    def first(self) -> tuple[Node, ...]:
        """The nodes at the beginning; one that is not fit is a mistake of whoever set it up."""
        alive = self._alive()
        self._ask(alive)
        if asked := [asked for asked, _ in self._asked.values()]:
            ray.wait(asked, num_returns=len(asked), timeout=self._limit)
        self._hear(time.monotonic() + self._limit)
        for node, lack in self._unfit.items():
            self.close()
            raise CannotBuild(f"node {alive[node]['NodeManagerAddress']} {lack}")
        return self._come(alive)

    def changes(self) -> tuple[tuple[Node, ...], list[str]]:
        """The parts that have come, and the names of those that are gone."""
        alive = self._alive()
        gone = [node for node in self._parts if node not in alive]
        names = [part.name for node in gone for part in self._parts.pop(node)]
        self._fit &= alive.keys()
        self._ask(alive)
        self._hear(time.monotonic())
        return self._come(alive), names

    def _alive(self) -> dict[str, Any]:
        return {node["NodeID"]: node for node in ray.nodes() if node["Alive"]}

    def _ask(self, alive: dict[str, Any]) -> None:
        for node in alive.keys() - self._fit - self._asked.keys() - self._unfit.keys():
            if alive[node]["Resources"].get("CPU", 0) >= 1:
                wanted = components()["kingpair"], self._where, str(self._mark or "")
                asked = _UNFIT.options(scheduling_strategy=_on(node)).remote(*wanted)
                self._asked[node] = asked, time.monotonic()

    def _hear(self, now: float) -> None:
        """Who is fit, of those that have answered or should have."""
        for node, (asked, since) in list(self._asked.items()):
            if ray.wait([asked], timeout=0)[0]:
                lack = self._answer(asked)
            elif now > since + self._limit:
                lack = f"does not answer within {self._limit:.0f} s; see ray status"
            else:
                continue
            del self._asked[node]
            if lack:
                self._unfit[node] = lack
            else:
                self._fit.add(node)

    @staticmethod
    def _answer(asked: Any) -> str:
        try:
            return str(ray.get(asked))
        except Exception as error:
            if "No module named" in str(error):
                return "has no kingpair; install kingpair[cluster] on every node"
            return f"cannot be used: {line(error)}"

    def _come(self, alive: dict[str, Any]) -> tuple[Node, ...]:
        """Divide the nodes that are new, as far as workers are wanted."""
        new = sorted(self._fit - self._parts.keys())
        free = available_resources_per_node() if new else {}
        come: list[Node] = []
        for at, node in enumerate(new):
            cores = int(free.get(node, {}).get("CPU", 0))
            if parts := min(self._wanted(len(new) - at), cores):
                memory = int(free[node].get("memory", 0)) // parts
                divided = [Node(f"{node}.{i}", cores // parts, memory) for i in range(parts)]
                self._parts[node] = divided
                come += divided
        return tuple(come)

    def _wanted(self, nodes: int) -> int:
        """How many parts the next of so many nodes should have."""
        if self._workers is None:
            return 1
        have = sum(map(len, self._parts.values()))
        return max(0, -(-(self._workers - have) // nodes))
