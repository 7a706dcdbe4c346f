"""A queue of builds, the thread that takes its turns, and everything that can befall them.

One seed is one history.  Each turn of the loop a user asks for something, the build whose turn it
is gets its next event, a timer ends, or harm is done; which of them is drawn.

    build      fails, is interrupted, finds the disk full, loses its cluster or its workers
    directory  is held by another build, or there is no cluster
    disk       fills up, so that the journal cannot be written; has room again
    process    dies between any two events, its commands performed or not; is stopped
    user       submits builds like others, cancels, retries, deletes

Harm stops after a while, and then every build must end.  After every event the queue must be the
fold of the journal, and every change of a state one that the lifecycle has.
"""

import random
from collections import Counter
from dataclasses import dataclass, field, replace

from driven import domain, plan

from kingpair.coordinator.execute.recorder import records_in
from kingpair.coordinator.machine import commands, queue_events
from kingpair.coordinator.machine.between_turns import LOSSES
from kingpair.coordinator.machine.commands import Call, Do, MakePlan, Task
from kingpair.coordinator.machine.events import (
    Admitted,
    Computed,
    Done,
    Event,
    Failed,
    Fault,
    Interrupted,
    NodesJoined,
    Painted,
    Planned,
    Prepared,
    Unplannable,
    WorkerLost,
    Written,
)
from kingpair.coordinator.machine.queue import step
from kingpair.coordinator.machine.queue_events import (
    CancelAsked,
    CloseAsked,
    ClusterLost,
    DeleteAsked,
    JournalRegained,
    Opened,
    QueueEvent,
    QueueRestarted,
    Rested,
    RetryAsked,
    RoomLookedFor,
    Settled,
    SubmitAsked,
    TurnBegun,
    TurnDeferred,
    TurnEnded,
)
from kingpair.coordinator.machine.queue_state import Queue, QueuedBuild, entered, recorded
from kingpair.coordinator.machine.records import Became, Record
from kingpair.coordinator.machine.state import ACTIVE, BuildJob, State
from kingpair.coordinator.machine.step import step as step_of_build
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.domains import Node
from kingpair.coordinator.plan.turn_order import work_of_build
from kingpair.workers.game.chess.material import Material

MATERIALS = tuple(map(Material.parse, ("KQvK", "KRvK", "KBvK", "KRBvKBN")))  # the last is long
TINY = plan(domain("D", winners=(0,), together=8), setbacks=1, attempts=2)
NODE = Node("node0", 1, 1000)
QUIET_TURNS_MAX = 3000
S = State
LIFECYCLE = {
    (S.QUEUED, S.QUEUED), (S.QUEUED, S.PLANNING), (S.QUEUED, S.CANCELLED), (S.QUEUED, S.FAILED),
    (S.PLANNING, S.RUNNING), (S.PLANNING, S.CANCELLING), (S.PLANNING, S.FAILED),
    (S.PLANNING, S.INTERRUPTED), (S.RUNNING, S.SUCCEEDED), (S.RUNNING, S.CANCELLING),
    (S.RUNNING, S.FAILED), (S.RUNNING, S.INTERRUPTED), (S.CANCELLING, S.CANCELLED),
    (S.INTERRUPTED, S.PAUSED), (S.FAILED, S.PAUSED), (S.INTERRUPTED, S.QUEUED),
    (S.FAILED, S.QUEUED), (S.CANCELLED, S.QUEUED), (S.PAUSED, S.QUEUED), (S.PAUSED, S.CANCELLED),
}  # fmt: skip


class DiskFull(Exception):
    """The journal cannot be written."""


class Died(Exception):
    """The process is no more."""


@dataclass
class Journal:
    """Submitted builds and records, as they lie on the disk."""

    builds: list[tuple[str, str, BuildSpec]] = field(default_factory=list)
    rows: list[tuple[str, Record]] = field(default_factory=list)
    folded: Queue = field(default_factory=Queue)  # as far as it goes

    def enter(self, name: str, key: str, spec: BuildSpec) -> None:
        self.builds.append((name, key, spec))
        self.folded = entered(self.folded, name, key, spec)

    def append(self, name: str, record: Record) -> None:
        self.rows.append((name, record))
        self.folded = recorded(self.folded, name, [record])

    def fold(self) -> Queue:
        queue = Queue(limit=5)
        for build in self.builds:
            queue = entered(queue, *build)
        for name, record in self.rows:
            queue = recorded(queue, name, [record])
        return queue


@dataclass
class World:
    """A queue, what performs its commands, and what its users want."""

    chance: random.Random
    harm: int = 120  # turns in which harm is done
    journal: Journal = field(default_factory=Journal)
    queue: Queue = field(default_factory=Queue)
    build: BuildJob | None = None  # at its turn, once it has begun
    mail: list[Event] = field(default_factory=list)  # to that build
    todo: list[object] = field(default_factory=list)  # commands to the thread: a turn, or timers
    is_full: bool = False
    done: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.harm_rate = self.chance.choice((0.03, 0.1, 0.2))
        self._restart()

    def run(self) -> None:
        for _ in range(self.harm):
            self._turn()
        self.harm, self.is_full = 0, False
        for _ in range(QUIET_TURNS_MAX):
            if not self._is_busy():
                break
            self._turn()
        self.at_the_end()

    def at_the_end(self) -> None:
        """Each build has ended; those that were interrupted had cost too many processes."""
        for build in self.queue.known():
            assert build.state.has_ended, f"{build.name} is {build.state}: {build.reason}"

    def _is_busy(self) -> bool:
        return bool(self.todo or self.mail or self.build or self.queue.turn)

    # ---- turns ----

    def _turn(self) -> None:
        try:
            if self.harm and self.chance.random() < self.harm_rate:
                self._harm()
            elif self.harm and self.chance.random() < 0.15:
                self._user_asks()
            else:
                self._go_on()
        except DiskFull:
            self._regain()
        except Died:
            self.done["process dies"] += 1
            self._restart()

    def _go_on(self) -> None:
        if self.mail:
            self._deliver(self.mail.pop(self.chance.randrange(len(self.mail))))
        elif self.todo:
            self._perform(self.todo.pop(self.chance.randrange(len(self.todo))))

    def take(self, event: QueueEvent) -> None:
        """A step of the queue, the journal first."""
        before = self.queue
        after, found = step(self.queue, event)
        for command in found:
            if isinstance(command, queue_events.Enter | queue_events.Note):
                self._write(command)
        self.queue = after
        self._check(before)
        for command in found:
            match command:
                case queue_events.TakeTurn() | queue_events.Rest() | queue_events.LookForRoom():
                    self.todo.append(command)
                case queue_events.Tell(told):
                    self.mail.append(told)

    def _write(self, command: queue_events.Enter | queue_events.Note) -> None:
        if self.is_full:
            raise DiskFull
        match command:
            case queue_events.Enter(name, key, spec):
                self.journal.enter(name, key, spec)
            case queue_events.Note(name, records):
                self._append(name, records)

    def _append(self, name: str, records: tuple[Record, ...]) -> None:
        for record in records:
            if isinstance(record, Became):
                build = self.journal.folded.builds[name]
                change = build.state, State(record.state)
                assert change in LIFECYCLE, f"{name}: {change}"
                goes_on = record.reason.startswith("goes on")
                assert not goes_on or build.losses < LOSSES, f"{name} has cost {build.losses}"
            self.journal.append(name, record)

    def _perform(self, command: object) -> None:
        match command:
            case queue_events.TakeTurn(name):
                self._begin(name)
            case queue_events.Rest():
                self.take(Rested())
            case queue_events.LookForRoom():
                self.take(RoomLookedFor(not self.is_full))

    def _begin(self, name: str) -> None:
        if self.harm and self.chance.random() < 0.1:
            self.done["turn is deferred"] += 1
            self.take(TurnDeferred(self.chance.choice(("another build", "no cluster"))))
            return
        self.take(TurnBegun())
        if self.queue.turn is None or not self.queue.turn.has_begun:
            self.take(TurnEnded())
            return
        self.build = BuildJob(name)
        self.mail = [*self.mail, NodesJoined((NODE,))]
        self._deliver(Admitted())

    def _deliver(self, event: Event) -> None:
        """An event of the build at its turn; it is over once the build has ended."""
        if self.build is None:
            return  # a message that came too late
        self._advance(event)
        if self.build is not None and self.build.state.has_ended:
            self._end("")

    def _advance(self, event: Event) -> None:
        assert self.build is not None
        if isinstance(event, Interrupted) and not self.queue.is_open:
            self.build, _ = step_of_build(self.build, event)
            return
        after, found = step_of_build(self.build, event)
        records = tuple(records_in(found))
        if records and self.is_full:
            raise DiskFull
        self.build = after
        if records:
            self._append(after.name, records)
            self.take(Settled(records))
        for command in found:
            if isinstance(command, MakePlan):
                self.mail.append(self._planned(command.attempt))
            elif isinstance(command, Do):
                self.mail.append(self._answer(command.call, command.task))

    def _end(self, failure: str) -> None:
        self.build, self.mail = None, []
        lacks = "the disk is full" if self.harm and self.chance.random() < 0.3 else ""
        self.take(TurnEnded(failure, lacks, self.chance.random() < 0.5))

    def _planned(self, attempt: int) -> Event:
        if self.harm and self.chance.random() < 0.1:
            return Unplannable(attempt, self.chance.choice((Fault.STORE, Fault.FINAL)), "damaged")
        return Planned(attempt, TINY)

    def _answer(self, call: Call, task: Task) -> Event:
        if self.harm and self.chance.random() < 0.05:
            fault = self.chance.choice(tuple(Fault))
            return Failed(call, fault, "as drawn")
        match task:
            case commands.Prepare():
                return Prepared(call, 1, ())
            case commands.LoseAtOnce() | commands.Win() | commands.Lose():
                count = int(getattr(task, "depth", 0) < 2)
                return Computed(call, (count,) * 8, ())
            case commands.Paint(parts):
                return Painted(call, (1,) * len(parts))
            case commands.Publish():
                return Written(call, 1)
        return Done(call)

    # ---- users ----

    def _user_asks(self) -> None:
        chance, names = self.chance, [*self.queue.builds, "b99"]
        spec = BuildSpec((chance.choice(MATERIALS),), priority=chance.randint(0, 2))
        complete = TINY if chance.random() < 0.2 else None
        if complete is not None:
            complete = replace(complete, present=("D",))
        key = chance.choice((None, None, "a", "b"))
        name = chance.choice(names)
        asked: QueueEvent = chance.choice(
            (
                SubmitAsked(spec, key, complete),
                SubmitAsked(spec),
                CancelAsked(name),
                RetryAsked(name),
                DeleteAsked(name),
            )
        )
        self.done[type(asked).__name__] += 1
        try:
            self.take(asked)
        except DiskFull:
            self.queue = replace(self.queue, builds=self.journal.fold().builds)

    # ---- harm ----

    def _harm(self) -> None:
        harms = [
            self._build_fails,
            self._worker_is_lost,
            self._cluster_is_lost,
            self._disk_fills,
            self._disk_has_room,
            self._process_dies,
            self._process_is_stopped,
        ]
        harm = self.chance.choice(harms)
        self.done[harm.__name__.strip("_").replace("_", " ")] += 1
        harm()

    def _build_fails(self) -> None:
        if self.build is not None:
            self._end("a fault of the program")

    def _worker_is_lost(self) -> None:
        if self.build is not None and (run := self.build.runs.get("D")) is not None:
            self.mail.append(WorkerLost("D", run.incarnation, 0, "killed"))

    def _cluster_is_lost(self) -> None:
        self.take(ClusterLost("the cluster is gone"))
        self._restart()

    def _disk_fills(self) -> None:
        self.is_full = True

    def _disk_has_room(self) -> None:
        self.is_full = False

    def _process_dies(self) -> None:
        raise Died

    def _process_is_stopped(self) -> None:
        self.take(CloseAsked())
        while self.mail and self.build is not None:
            self._go_on()
        self._restart()

    def _restart(self) -> None:
        """Another process begins; the disk has room, or it would not have begun."""
        self.is_full, self.build, self.mail, self.todo = False, None, [], []
        self.queue = self.journal.fold()
        assert self.queue.builds == self.journal.folded.builds
        self.take(QueueRestarted("its builder ended meanwhile"))
        assert not [b for b in self.queue.known() if b.state in ACTIVE - {State.PAUSED}]
        self.take(Opened())

    def _regain(self) -> None:
        """The journal could not be written: nothing is done until it can."""
        self.done["journal cannot be written"] += 1
        name = self.queue.turn.name if self.queue.turn is not None else None
        self.is_full, self.build, self.mail, self.todo = False, None, [], []
        self.queue = replace(self.journal.fold(), is_open=True)
        self.take(QueueRestarted("the journal could not be written"))
        if name is not None:
            self.take(JournalRegained(name))

    # ---- what must hold ----

    def _check(self, before: Queue) -> None:
        queue = self.queue
        assert queue.builds == self.journal.folded.builds, "the queue is not the journal's fold"
        busy = {b.name for b in queue.known() if b.state in ACTIVE - {State.PAUSED}}
        turn = {queue.turn.name} if queue.turn is not None else set()
        assert busy <= turn or not queue.is_open, f"{busy} without a turn"
        if queue.turn is not None and queue.turn != before.turn and not queue.turn.has_begun:
            given = queue.builds[queue.turn.name]
            for b in queue.waiting():
                assert b.spec.priority <= given.spec.priority, f"{b.name} is more urgent"
                is_next = given.number <= b.number or _work(given) < _work(b)
                is_as_urgent = b.spec.priority == given.spec.priority
                assert is_next or not is_as_urgent, f"{b.name} is older and no longer"
        if queue.is_open and not queue.is_resting and queue.turn is None:
            assert not queue.waiting(), "builds wait, and no turn is given out"
        if queue.is_open and any(b.state is State.PAUSED for b in queue.known()):
            assert queue.is_looking, "a build is paused, and the queue does not look for room"


def _work(build: QueuedBuild) -> float:
    return work_of_build(build.spec)
