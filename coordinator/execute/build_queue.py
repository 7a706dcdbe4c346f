"""The queue of builds of one directory: a thread that takes turns around a pure function.

    asked from any thread, or a turn has come to its end
        queue, commands = step(queue, event)          (machine/queue.py)
        what it settles goes to the journal, then the other commands are performed

The journal is written here alone; the service reads it.  A build at its turn is run by this thread
(build.py), and what its own steps settle is entered by turn.py.
"""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Condition, Thread

from kingpair.coordinator.execute.build import Builder, executor_for, policy_of
from kingpair.coordinator.execute.executor import OpenExecutor
from kingpair.coordinator.execute.planning import plan_of, sorted_tables
from kingpair.coordinator.execute.recorder import (
    EventsAndRecords,
    Recorder,
    RecordsOnly,
)
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.execute.room import check_store, is_full
from kingpair.coordinator.execute.turn import RunningBuild, TurnRecorder
from kingpair.coordinator.journal.database import Journal
from kingpair.coordinator.journal.rows import request_of
from kingpair.coordinator.machine.queue import find, step
from kingpair.coordinator.machine.queue_events import (
    CancelAsked,
    CloseAsked,
    ClusterLost,
    DeleteAsked,
    Enter,
    JournalRegained,
    LookForRoom,
    Note,
    Opened,
    QueueCommand,
    QueueEvent,
    QueueRestarted,
    Refuse,
    Rest,
    Rested,
    RetryAsked,
    RoomLookedFor,
    Settled,
    SubmitAsked,
    Submitted,
    TakeTurn,
    Tell,
    TurnBegun,
    TurnDeferred,
    TurnEnded,
)
from kingpair.coordinator.machine.queue_state import Queue, Turn, entered, recorded
from kingpair.coordinator.machine.records import Record
from kingpair.coordinator.machine.state import State
from kingpair.coordinator.plan.amounts import PARTS_FROM
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.domains import BuildPlan
from kingpair.workers.errors import CannotBuild, KingpairError
from kingpair.workers.store.filesystem import StoreHeld, printable, uri_of
from kingpair.workers.table.table_store import TableStore

log = logging.getLogger("kingpair")
WAIT_SECONDS = 2.0  # before a directory, a cluster or a disk is looked at again

RowListener = Callable[[int], None]
"""Called with the id of the journal's last row."""
OpenCluster = Callable[[], AbstractContextManager[OpenExecutor | None]]
"""Connects to a cluster for as long as the context lasts; gives nothing for threads."""


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """The directory that builds write to, and the resources that they may use."""

    out: Path
    threads: int
    open_cluster: OpenCluster
    memory: int | None = None
    workers: int = 1
    queued: int = 100
    has_own_cluster: bool = False  # started here before the first build, not for each one again
    scratch: Path | None = None
    logs: Path | None = None
    parts_from: int = PARTS_FROM

    def request(self, spec: BuildSpec) -> BuildRequest:
        room = self.threads, self.memory
        request = BuildRequest(spec, self.out, *room, workers=self.workers, scratch=self.scratch)
        return replace(request, logs=self.logs, parts_from=self.parts_from)


class RequestRefused(CannotBuild):
    """A queue was asked for something that cannot be done; `kind` is for programs."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class ClusterMissing(CannotBuild):
    """There is no cluster at the moment."""


class BuildQueue:
    """Takes requests from any thread; builds on a thread of its own."""

    def __init__(self, journal: Journal, options: QueueOptions, listen: RowListener) -> None:
        self._journal, self._options, self._listen = journal, options, listen
        self._changed = Condition()
        self._turn: str | None = None  # given out, and not yet taken
        self._running: RunningBuild | None = None
        self._timers: list[tuple[float, Callable[[], None]]] = []
        self._thread = Thread(target=self._work, name="builds")
        self._cluster = ExitStack()
        self._open_executor: OpenExecutor | None = None
        self._connected = False
        self.troubles: dict[str, str] = {}  # with the cluster, or with builds altogether
        self._queue = self._from_journal()
        self._take(QueueRestarted("its builder ended meanwhile"))

    # ---- asked, from any thread ----

    def submit(self, spec: BuildSpec, key: str | None = None) -> tuple[str, bool]:
        """Returns the build's name, and whether it is a new one."""
        asked = SubmitAsked(spec, key)
        with self._changed:
            is_known = find(self._queue, asked) is not None
        if not is_known:
            # Looks into a store that may be far away: not under the lock.
            asked = replace(asked, plan=self._plan_without_work(spec))
        found = self._take(asked)
        assert found is not None, "a submission is answered or refused"
        return found.name, found.is_new

    def cancel(self, name: str, by: str = "") -> None:
        self._take(CancelAsked(name, by))

    def retry(self, name: str, by: str = "") -> None:
        self._take(RetryAsked(name, by))

    def delete(self, name: str, by: str = "") -> None:
        self._take(DeleteAsked(name, by))

    def running(self) -> RunningBuild | None:
        return self._running

    @property
    def row(self) -> int:
        """The id of the journal's last row."""
        return self._journal.last_row

    @property
    def is_connected(self) -> bool:
        """Whether a cluster is in use, from the moment it was connected to until it was left."""
        return self._connected

    # ---- its life ----

    def start(self) -> None:
        self._take(Opened())
        self._thread.start()

    def stop(self, limit: float | None = None) -> bool:
        """Ends soon: what is not committed is abandoned; the next process goes on.  Returns whether
        the thread came to its end within the limit.
        """
        self._take(CloseAsked())
        self._thread.join(limit)
        if self._thread.is_alive():
            return False
        self._cluster.close()
        return True

    def leave(self, reason: str) -> None:
        """Takes the turn from a build whose cluster is gone: its thread would wait for a minute.
        This process has to end then, and the next one goes on.
        """
        self._take(ClusterLost(reason))

    def _work(self) -> None:
        if self._options.has_own_cluster:
            with suppress(ClusterMissing):  # the next turn tries again, and tells
                self._connection()
        while (task := self._next()) is not None:
            name = self._turn
            try:
                task()
            except CannotBuild as error:
                self._regain_journal(name, str(error))

    def _next(self) -> Callable[[], None] | None:
        """Waits for something to do; None when it is time to stop."""
        with self._changed:
            while self._queue.is_open:
                if self._turn is not None:
                    return partial(self._take_turn, self._turn)
                now = time.monotonic()
                due = min(self._timers, key=lambda timer: timer[0], default=None)
                if due is not None and due[0] <= now:
                    self._timers.remove(due)
                    return due[1]
                if not self._queue.waiting():
                    # No build needs the cluster: what it lacked before is out of date.
                    self.troubles = {k: why for k, why in self.troubles.items() if k != "cluster"}
                self._changed.wait(None if due is None else due[0] - now)
        return None

    # ---- steps of the queue ----

    def _take(self, event: QueueEvent) -> Submitted | None:
        """Takes a step of the queue: the journal has it before anything else is done."""
        with self._changed:
            after, commands = step(self._queue, event)
            try:
                for command in commands:
                    self._enter(command)
            except CannotBuild:
                with suppress(CannotBuild):  # some of it may have been entered
                    self._queue = replace(self._queue, builds=self._from_journal().builds)
                raise
            self._queue = after
            if any(isinstance(command, Note) for command in commands):
                self._listen(self._journal.last_row)
            found = [self._perform(command) for command in commands]
            self._changed.notify_all()
        return next((submitted for submitted in found if submitted is not None), None)

    def _enter(self, command: QueueCommand) -> None:
        match command:
            case Enter(name, key, spec):
                self._journal.submit(name, key, request_of(spec))
            case Note(name, records):
                self._journal.note(name, records, synced=True)

    def _perform(self, command: QueueCommand) -> Submitted | None:
        match command:
            case Submitted():
                return command
            case Refuse(kind, detail):
                raise RequestRefused(kind, detail)
            case TakeTurn(name):
                self._turn, self._running = name, RunningBuild(name)
            case Tell(event) if self._running is not None:
                self._running.control.tell(event)
            case Rest():
                self._later(lambda: self._take(Rested()))
            case LookForRoom():
                self._later(lambda: self._take(RoomLookedFor(not is_full(self._options.out))))
        return None

    def _later(self, do: Callable[[], object]) -> None:
        def task() -> None:
            do()

        self._timers.append((time.monotonic() + WAIT_SECONDS, task))

    def _from_journal(self) -> Queue:
        queue = Queue(limit=self._options.queued)
        for submission in self._journal.builds():
            queue = entered(
                queue, submission.name, submission.key, submission.spec, submission.is_queued
            )
        for row in self._journal.rows():
            if row.build in queue.builds:
                queue = recorded(queue, row.build, [row.record])
        return queue

    def _regain_journal(self, name: str | None, reason: str) -> None:
        """The journal cannot be written, as on a full disk: nothing is done until it can."""
        self.troubles = {"builds": reason}
        while self._queue.is_open:
            with self._changed:
                self._turn = self._running = None
                self._timers.clear()
                self._changed.wait_for(lambda: not self._queue.is_open, WAIT_SECONDS)
            if is_full(self._options.out):
                continue
            with suppress(CannotBuild), self._changed:
                self._queue = replace(self._from_journal(), is_open=self._queue.is_open)
                self._take(QueueRestarted("the journal could not be written"))
                if name is not None:
                    self._take(JournalRegained(name))
                self.troubles = {}
                return

    # ---- a turn ----

    def _take_turn(self, name: str) -> None:
        running = self._running
        assert running is not None, f"the turn of {name} is not given out"
        self._turn = None
        try:
            self._run(running)
            ended: QueueEvent = TurnEnded(on_cluster=running.is_on_a_cluster)
        except (StoreHeld, ClusterMissing) as error:
            ended = TurnDeferred(str(error))
        except Exception as error:
            if not (self._options.has_own_cluster and isinstance(error, KingpairError)):
                self._disconnect()
            ended = self._ended_by(error, running)
        finally:
            with self._changed:
                self._running = None
        self._take(ended)

    def _run(self, running: RunningBuild) -> None:
        request = self._options.request(self._queue.builds[running.name].spec)
        with closing(TableStore(request.out, logs=request.machine_logs)) as tables:
            check_store(tables.store, ())
            with tables.store.hold():
                opener = self._connection()
                self._take(TurnBegun())
                if self.turn_of(running.name) is None:
                    return  # cancelled meanwhile
                running.is_on_a_cluster = opener is not None
                running.recorder = self._recorder(running)
                executor, policy = (
                    executor_for(request, tables, opener),
                    policy_of(request, tables, opener),
                )
                recorder, control = running.recorder, running.control
                Builder(request, tables, _ignore, executor, recorder, policy, control).run()

    def _recorder(self, running: RunningBuild) -> Recorder:
        """Events are for workers that outlive this process: those of a cluster of others."""
        is_shared = running.is_on_a_cluster and not self._options.has_own_cluster
        kind = EventsAndRecords if is_shared else RecordsOnly
        return TurnRecorder(self, self._changed, kind(self._journal, running.name))

    def _ended_by(self, error: Exception, running: RunningBuild) -> TurnEnded:
        """Returns the event for a turn that an error ended.  Its build has mostly noted that."""
        state = self._queue.builds[running.name].state
        if not state.has_ended and not isinstance(error, KingpairError | OSError | MemoryError):
            log.error("a fault while building %s", running.name, exc_info=error)
        reason = " ".join(str(error).split()) or type(error).__name__
        lacks = ""
        if state not in (State.SUCCEEDED, State.CANCELLED) and is_full(self._options.out):
            lacks = (
                f"the disk of {printable(self._options.out)} is full; it goes on when there is room"
            )
        return TurnEnded(reason, lacks, running.is_on_a_cluster)

    def settle(self, records: Sequence[Record]) -> None:
        """Takes in what the build at its turn has settled; the journal has it already."""
        if records:
            self._take(Settled(tuple(records)))
            self._listen(self._journal.last_row)

    def turn_of(self, name: str) -> Turn | None:
        """The turn of a build that has begun and is not over."""
        turn = self._queue.turn
        return turn if turn is not None and turn.name == name and turn.has_begun else None

    @property
    def is_closing(self) -> bool:
        return not self._queue.is_open

    def _plan_without_work(self, spec: BuildSpec) -> BuildPlan | None:
        """The plan, if all tables are there, with the Syzygy files that are asked for."""
        request = self._options.request(spec)
        if uri_of(request.out) is None and not request.out.is_dir():
            return None
        with (
            suppress(KingpairError, OSError),  # its turn will tell
            closing(TableStore(request.out, logs=request.machine_logs)) as tables,
        ):
            found = sorted_tables(spec, tables)
            if not found.missing:
                policy = policy_of(request, tables, None)
                plan = plan_of(request, tables, found, policy, request.threads)
                return None if any(domain.lacks_files for domain in plan.domains) else plan
        return None

    # ---- the cluster ----

    def _connection(self) -> OpenExecutor | None:
        """Connects to the cluster once, and again after anything went wrong."""
        if not self._connected:
            try:
                self._open_executor = self._cluster.enter_context(self._options.open_cluster())
            except CannotBuild as error:
                self.troubles = {**self.troubles, "cluster": str(error)}
                raise ClusterMissing(str(error)) from error
            self._connected, self.troubles = True, {}
        return self._open_executor

    def _disconnect(self) -> None:
        if self._connected:
            try:
                self._cluster.close()
            finally:
                self._connected = False


def _ignore(event: object) -> None:
    """The service reads the records from the journal."""
