"""Actors of a Ray cluster as a crew: one for each worker, on the part of a node that it was given.

    Do(Create)       a process of that part, which is held for the build; no restarts
    a step           options(num_returns=1 + workers): the answer, and a parcel for each worker
    Batch.ref        a token for the ObjectRef of a parcel; the bytes never come here
    Do(Release)      the process rests, or is ended unless all its calls were answered well

Ray notices a process that has died, never one that is stopped or cut off: so each worker gives a
sign of life every few seconds, on a thread of its own, and one that gives none is lost.  A call has
a lease besides, for a process that lives may still wait for ever.  Nodes are looked at as often; a
new one is asked whether it is fit (the same program, the same store) before it is told of.  All
waits end.
"""

import contextlib
import re
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple

import ray
from ray.exceptions import ActorUnschedulableError, RayActorError

from api.ray_cluster import line
from api.ray_holdings import Holding, give_back, process
from api.ray_roster import Changes, Roster
from coordinator.commands import Call, Create, Lose, Release, Seal, Task, Win
from coordinator.crew import Site, lease
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
    NodesUnfit,
    Prepared,
    WorkerLost,
    Written,
)

LOOK_SECONDS = 2.0
Key = tuple[str, int, int]  # domain, incarnation, worker


class Limits(NamedTuple):
    """How long may be waited: for an answer, by the memory of whoever owes it; for a sign of life,
    and for the first one of a process; for nodes to come, for one that is there to say whether it
    is fit, and for room there that others have taken.
    """

    lease: Callable[[int], float] = lease
    life: float = 6.0
    start: float = 120.0
    nodes: float = 60.0
    fit: float = 60.0
    room: float = 10.0


class Post(NamedTuple):
    """A worker's process, the part of a node that it is on, and its memory."""

    actor: Any
    holding: Holding
    memory: int

    def process(self) -> int:
        """Its number, where it is."""
        return process(self.actor)


class Sign(NamedTuple):
    """A sign of life that was asked for, when, and how long it may take."""

    answer: Any
    since: float
    limit: float


class RayCrew:
    """Performs calls on a cluster that is connected to."""

    def __init__(self, site: Site, workers: int | None, limits: Limits) -> None:
        self._site, self._limits = site, limits
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._held: dict[str, Holding] = {}  # by part
        self._posts: dict[Key, Post] = {}
        self._suspect: set[Key] = set()  # whose processes nobody else should be given
        self._teams: dict[tuple[str, int], int] = {}  # how many workers
        self._returned: dict[Call, list[Any]] = {}  # refs of parcels, until the answer is there
        self._parcels: dict[str, Any] = {}
        self._leases: dict[Call, float] = {}
        self._awaited: dict[int, float] = {}
        self._lives: dict[Key, Sign] = {}
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
        if isinstance(event, NodeLeft):
            self._leave(event.name)
        if isinstance(event, WorkerLost):
            self._suspect.add((event.domain, event.incarnation, event.worker))
        if isinstance(event, Failed):
            self._suspect.add(_key(event.call))
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
                self._suspect.add(_key(call))
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
        self._look_at_nodes()
        for key in list(self._lives):
            self._look_at(key, now)
        for name, holding in list(self._held.items()):
            if holding.is_idle:
                self._held.pop(name).give_back()
            else:
                holding.level()
        self._looked = time.monotonic()

    def _look_at_nodes(self) -> Changes:
        changes = self._roster.changes()
        for name in changes.gone:
            self._events.put(NodeLeft(name))
        if changes.come:
            self._events.put(NodesJoined(changes.come))
        if changes.unfit:
            self._events.put(NodesUnfit(changes.unfit))
        return changes

    def _look_at(self, key: Key, now: float) -> None:
        sign, since, limit = self._lives[key]
        # Looks that were late say nothing of the worker.
        since += max(0.0, now - self._looked - 2 * LOOK_SECONDS)
        if ray.wait([sign], timeout=0, fetch_local=False)[0]:
            sign = self._posts[key].actor.lives.remote()
            self._lives[key] = Sign(sign, now, self._limits.life)
        elif now > since + limit:
            del self._lives[key]
            self._events.put(WorkerLost(*key, f"no sign of life for {now - since:.0f} s"))
        else:
            self._lives[key] = Sign(sign, since, limit)

    # ---- calls ----

    def do(self, call: Call, task: Task) -> None:
        key = _key(call)
        if isinstance(task, Release):
            self._release(key)
            self._events.put(Done(call))
            return
        if isinstance(task, Create) and not self._is_given(key, task):
            self._events.put(NodeLeft(task.node))
            return
        actor, holding, memory = self._posts[key]
        self._leases[call] = time.monotonic() + self._limits.lease(memory)
        if isinstance(task, Create):
            self._teams[call.domain, call.incarnation] = 1 + max(task.owners)
            answer = actor.create.remote(call, task, holding.room, self._limits.room)
        elif isinstance(task, Seal):
            answer = actor.seal.remote(call, task)
        else:
            answer = self._asked(actor, call, task)
        node = task.node if isinstance(task, Create) else None
        answer.future().add_done_callback(lambda future: self._take(call, node, future))

    def _is_given(self, key: Key, task: Create) -> bool:
        """Whether there is a process for a worker; not if the node has gone."""
        if key in self._posts:
            return True  # it is asked for once more
        if (place := self._roster.place(task.node)) is None:
            return False
        if task.node not in self._held:
            self._held[task.node] = Holding(place, self._site)
        holding = self._held[task.node]
        post = self._posts[key] = Post(holding.worker(), holding, task.memory)
        self._lives[key] = Sign(post.actor.lives.remote(), time.monotonic(), self._limits.start)
        return True

    def _asked(self, actor: Any, call: Call, task: Task) -> Any:
        workers = self._teams[call.domain, call.incarnation]
        batches = task.inbound if isinstance(task, Win | Lose) else ()
        inbound = [self._parcels.pop(batch.ref) for batch in batches]
        refs = actor.do.options(num_returns=1 + workers)
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
            event = WorkerLost(call.domain, call.incarnation, call.worker, _ended(error))
        except Exception as error:
            event = Failed(call, Fault.WORKER, _full(error) or line(error))
        self._events.put(event)

    def _release(self, key: Key) -> None:
        domain, incarnation, _ = key
        self._lives.pop(key, None)
        waiting = [call for call in self._leases if _key(call) == key]
        if (post := self._posts.pop(key, None)) is not None:
            post.holding.leave(post.actor, not waiting and key not in self._suspect)
        self._suspect.discard(key)
        of_it = f"{domain}.{incarnation}."
        self._parcels = {t: ref for t, ref in self._parcels.items() if not t.startswith(of_it)}
        for call in waiting:
            del self._leases[call]
            self._returned.pop(call, None)

    def _leave(self, part: str) -> None:
        """A part has gone, or others have it; it may come again."""
        self._roster.drop(part)
        if (holding := self._held.pop(part, None)) is not None:
            holding.give_back()

    def __enter__(self) -> "RayCrew":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Whoever is interrupted is not to wait; after a failure the next build may come at once.
        give_back(self._held.values(), is_awaited=kind is None or issubclass(kind, Exception))
        self._roster.close()


def _key(call: Call) -> Key:
    return call.domain, call.incarnation, call.worker


def _ended(error: BaseException) -> str:
    """Why a process is no more: of what Ray says in a page, what helps to find out."""
    who = re.search(r"pid: (\d+).*ip: (\S+)", str(error), re.DOTALL)
    if who is None or "SYSTEM_ERROR" not in str(error):
        return line(error)
    return f"process {who[1]} of {who[2]} was killed, ran out of memory or crashed"


def _full(error: BaseException) -> str:
    """What to do if a parcel found no room; whoever was to have it finds that named in an error."""
    if not any(kind in str(error) for kind in ("OutOfDiskError", "ObjectStoreFullError")):
        return ""
    return (
        "the object store of a node is full, and the disk it spills to; make room there, or give "
        "Ray more (ray start --object-store-memory)"
    )
