"""Performs calls on actors of a Ray cluster: one for each worker, on the part of a node given to
it.

    Do(Create)       takes a process of that part, which is reserved for the build; no restarts
    a step           options(num_returns=1 + readers): the answer, and a frontier for each worker
                     that reads some of what this one finds
    SentFrontier.ref names the ObjectRef of a frontier; Ray carries small frontiers, below 100 KB,
                     inside its own messages through this process, and larger ones from node to node
    Do(Release)      sends the process to rest, or ends it unless all its calls were answered well

Ray notices a process that has died, but not one that is stopped or cut off.  So each worker answers
a heartbeat every few seconds, on a thread of its own, and a worker that does not is lost.  Each
call has a lease as well, because a live process may wait for ever.  Nodes are examined as often
(`node_pool`).  Every wait has a limit.
"""

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any

import ray
from ray.exceptions import ActorUnschedulableError, RayActorError

from kingpair.api.ray.autoscaler import Demand, is_launching
from kingpair.api.ray.cluster import advice_on_room, ending, line
from kingpair.api.ray.deadlines import Deadlines, Key, Limits, key_of
from kingpair.api.ray.fitness import unwritable
from kingpair.api.ray.kept_processes import KeptProcesses
from kingpair.api.ray.log_machines import LogMachines
from kingpair.api.ray.node_pool import Changes, NodePool
from kingpair.api.ray.reservations import Reservation, give_back
from kingpair.api.ray.worker_process import Heartbeat, WorkerProcess
from kingpair.coordinator.execute.executor import Site, pause
from kingpair.coordinator.machine.commands import Call, Create, Lose, Release, Seal, Task, Win
from kingpair.coordinator.machine.demand import WantedNode
from kingpair.coordinator.machine.events import (
    Answer,
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
)

LOOK_SECONDS = 1.0


class RayExecutor:
    """Performs calls on the cluster that this process is connected to.

    A cluster of our own keeps processes between builds, and its nodes are fit: they are this one.
    """

    def __init__(
        self, site: Site, workers: int | None, limits: Limits, kept: KeptProcesses | None = None
    ) -> None:
        self._site, self._limits, self._kept = site, limits, kept
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._reservations: dict[str, Reservation] = {}  # by part
        self._processes: dict[Key, WorkerProcess] = {}
        self._suspect: set[Key] = set()  # their processes are not used again
        self._readers: dict[Key, tuple[int, ...]] = {}  # the workers that read what one finds
        # References of frontiers by receiver, until the answer is there.
        self._returned: dict[Call, dict[int, Any]] = {}
        self._frontiers: dict[str, Any] = {}
        self._deadlines, self._demand = Deadlines(), Demand()
        self._heartbeats: dict[Key, Heartbeat] = {}
        self._looked = time.monotonic()
        self.errors: list[BaseException] = []
        self._pool = NodePool(site, workers, limits.fit, is_own=kept is not None)
        self.nodes = self._pool.first()
        self._logs = LogMachines(None if site.logs is None else Path(site.logs))

    shares_memory = False

    @property
    def expects_nodes(self) -> bool:
        return self._pool.expects_nodes

    # ---- events ----

    def put(self, event: Event) -> None:
        self._events.put(event)

    def next(self) -> Event:
        while True:
            self._look()
            for call, task in self._deadlines.due(time.monotonic()):
                self._do(call, task)
            if (late := self._late(time.monotonic())) is not None:
                return late
            with contextlib.suppress(Empty):
                return self._settled(self._events.get(timeout=self._patience()))

    def _settled(self, event: Event) -> Event:
        """Ends the lease of an answered call, and keeps its frontiers; finds out failed disks."""
        if isinstance(event, Failed) and (left := self._without_disk(event)) is not None:
            event = left
        if isinstance(event, NodeLeft):
            self._leave(event.name)
        if isinstance(event, WorkerLost):
            self._suspect.add((event.domain, event.incarnation, event.worker))
        if isinstance(event, Failed):
            self._suspect.add(key_of(event.call))
        if isinstance(event, Answer | Failed | Damaged):
            self._deadlines.answered(event.call)
            frontiers = self._returned.pop(event.call, None)
            # None: the worker has been released meanwhile.
            if frontiers is not None and isinstance(event, Prepared | Computed):
                self._frontiers |= {batch.ref: frontiers[batch.receiver] for batch in event.sent}
        return event

    def _without_disk(self, event: Failed) -> NodeLeft | None:
        """Stops using a node whose own disk has failed; this machine can still write the tables.
        The node's other parts leave too, which is no further setback.
        """
        process = self._processes.get(key_of(event.call))
        is_tried = event.fault is Fault.WORKER or event.call.attempt > 1
        if not event.is_of_disk or not is_tried or process is None or unwritable(self._site.out):
            return None
        mine = process.reservation.place.part.name
        for name in self._pool.put_off(mine):
            if name != mine:
                self._events.put(NodeLeft(name, event.reason, is_counted=False))
        return NodeLeft(mine, event.reason)

    def _patience(self) -> float:
        """Returns the seconds until the next limit or the next look, whichever is first."""
        return max(0.01, min(LOOK_SECONDS, self._deadlines.next() - time.monotonic()))

    def _late(self, now: float) -> Event | None:
        late = self._deadlines.late(now)
        if isinstance(late, LeaseExpired):
            self._suspect.add(key_of(late.call))
        if isinstance(late, NodesAwaited) and self._kept is None and is_launching():
            self.await_nodes(late.number)  # an autoscaler is at it
            return None
        return late

    def await_nodes(self, number: int) -> None:
        self._deadlines.await_nodes(number, time.monotonic() + self._limits.nodes)

    def demand(self, wanted: tuple[WantedNode, ...]) -> None:
        if self._kept is None:
            self._demand.ask(wanted)

    def clear_logs(self, beginnings: Sequence[str]) -> None:
        self._logs.clear(beginnings)

    # ---- nodes and heartbeats ----

    def _look(self) -> None:
        """Reports nodes that joined or left, and workers without a heartbeat."""
        now = time.monotonic()
        if now < self._looked + LOOK_SECONDS:
            return
        self._look_at_nodes()
        for key in list(self._heartbeats):
            self._look_at(key, now)
        for name, reservation in list(self._reservations.items()):
            if reservation.is_idle:
                self._reservations.pop(name).give_back()
            else:
                reservation.level()
        self._looked = time.monotonic()

    def _look_at_nodes(self) -> Changes:
        self._demand.withdraw()
        changes = self._pool.changes()
        for name in changes.gone:
            is_silent = name in changes.silent
            why = "does not answer" if is_silent else "left"
            self._events.put(NodeLeft(name, why, is_counted=not is_silent))
        if changes.come:
            self._events.put(NodesJoined(changes.come))
        if changes.unfit:
            self._events.put(NodesUnfit(changes.unfit))
        return changes

    def _look_at(self, key: Key, now: float) -> None:
        sign, since, limit = self._heartbeats[key]
        # A late look says nothing about the worker.
        since += max(0.0, now - self._looked - 2 * LOOK_SECONDS)
        if ray.wait([sign], timeout=0, fetch_local=False)[0]:
            sign = self._processes[key].actor.lives.remote()
            self._heartbeats[key] = Heartbeat(sign, now, self._limits.life)
        elif now > since + limit:
            del self._heartbeats[key]
            self._events.put(WorkerLost(*key, f"no sign of life for {now - since:.0f} s"))
        else:
            self._heartbeats[key] = Heartbeat(sign, since, limit)

    # ---- calls ----

    def do(self, call: Call, task: Task) -> None:
        """Performs a call; one that failed before is repeated after a pause."""
        if call.attempt > 1:
            self._deadlines.repeat(call, task, time.monotonic() + pause(call.attempt))
        else:
            self._do(call, task)

    def _do(self, call: Call, task: Task) -> None:
        key = key_of(call)
        if isinstance(task, Release):
            self._release(key)
            self._events.put(Done(call))
            return
        if isinstance(task, Create) and not self._is_given(key, task):
            self._events.put(NodeLeft(task.node))
            return
        actor, reservation, memory = self._processes[key]
        self._deadlines.lease(call, time.monotonic() + self._limits.lease(memory))
        if isinstance(task, Create):
            machines = self._logs.on(self._pool.machines)
            answer = actor.create.remote(call, task, reservation.held, self._limits.room, machines)
        elif isinstance(task, Seal):
            answer = actor.seal.remote(call, task)
        else:
            answer = self._asked(actor, call, task)
        node = task.node if isinstance(task, Create) else None
        answer.future().add_done_callback(lambda future: self._take(call, node, future))

    def _is_given(self, key: Key, task: Create) -> bool:
        """Gives a worker a process.  Returns False if the node has gone."""
        if key in self._processes:
            return True  # the call is repeated
        if (place := self._pool.place(task.node)) is None:
            return False
        if task.node not in self._reservations:
            self._reservations[task.node] = Reservation(place, self._site, self._kept)
        reservation = self._reservations[task.node]
        process = self._processes[key] = WorkerProcess(
            reservation.worker(), reservation, task.memory
        )
        self._heartbeats[key] = Heartbeat(
            process.actor.lives.remote(), time.monotonic(), self._limits.start
        )
        return True

    def _asked(self, actor: Any, call: Call, task: Task) -> Any:
        readers = self._readers[key_of(call)]
        batches = task.inbound if isinstance(task, Win | Lose) else ()
        inbound = [self._frontiers.pop(batch.ref) for batch in batches]
        asked = actor.do.options(num_returns=1 + len(readers)).remote(call, task, *inbound)
        answer, *frontiers = asked if readers else [asked]
        self._returned[call] = dict(zip(readers, frontiers, strict=True))
        return answer

    def _take(self, call: Call, node: str | None, future: Any) -> None:
        """Turns an answer, or its failure, into an event."""
        try:
            found = future.result()
            event: Event = found if node is None else found[0]
            if node is not None:
                self._readers[key_of(call)] = found[1]
        except ActorUnschedulableError as error:
            event = NodeLeft(node) if node else Failed(call, Fault.WORKER, line(error))
        except RayActorError as error:
            event = WorkerLost(call.domain, call.incarnation, call.worker, ending(error))
        except Exception as error:
            event = Failed(call, Fault.WORKER, advice_on_room(error) or line(error))
        self._events.put(event)

    def _release(self, key: Key) -> None:
        domain, incarnation, _ = key
        self._heartbeats.pop(key, None)
        waiting = self._deadlines.release(key)
        if (process := self._processes.pop(key, None)) is not None:
            process.reservation.leave(process.actor, not waiting and key not in self._suspect)
        self._suspect.discard(key)
        self._readers.pop(key, None)
        of_it = f"{domain}.{incarnation}."
        self._frontiers = {t: ref for t, ref in self._frontiers.items() if not t.startswith(of_it)}
        for call in waiting:
            self._returned.pop(call, None)

    def _leave(self, part: str) -> None:
        """Gives up a part that has gone or that another build has; it may come again."""
        self._pool.drop(part)
        if (reservation := self._reservations.pop(part, None)) is not None:
            reservation.give_back()

    def __enter__(self) -> "RayExecutor":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # An interruption must not wait; after a failure the next build may start at once.
        give_back(
            self._reservations.values(), is_awaited=kind is None or issubclass(kind, Exception)
        )
        self._logs.close()
        self._demand.ask(())
        self._pool.close()
