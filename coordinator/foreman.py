"""The foreman: a queue of builds in one directory, and the one that is being built.

    submit -> queued -> its turn, by priority and then by age -> Builder -> over
                 ^                                                 |
                 +---- another build writes there: wait -----------+
                 +---- no room on the disk: paused, until there is +

Whatever happens is a row of the journal, which the foreman alone writes to; who asks and who looks
are somewhere else.  What was not over when a foreman was lost, or told to stop, the next one goes
on with; but a build that has cost several of them without getting further is left alone.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Event, Thread

from coordinator.book import Heard
from coordinator.build import Builder, crew_of, policy_of
from coordinator.closure import plan_of, sorted_out
from coordinator.commands import Became, Deleted, Record
from coordinator.control import Control
from coordinator.crew import Hire
from coordinator.domains import Plan
from coordinator.events import Admitted, Planned
from coordinator.journal import Journal
from coordinator.ledger import Ledger, Story
from coordinator.plan import check_store
from coordinator.request import Event as BuildEvent
from coordinator.request import Request
from coordinator.state import Build, State
from coordinator.wanted import Wanted, parsed
from workers.errors import CannotBuild, KingpairError
from workers.metric import Metric
from workers.store import StoreHeld, shown, store_at, uri_of
from workers.workshop import Library

log = logging.getLogger("kingpair")
WAIT_SECONDS = 2.0  # before a directory, a cluster or a disk is looked at again
FALLS = 3  # foremen that one build may cost
ROOM = 64 << 20  # bytes that a disk has when it is not full

Tell = Callable[[int], None]
"""Told how far the journal has come."""
Hiring = Callable[[], AbstractContextManager[Hire | None]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where is built, and with what."""

    out: Path
    threads: int
    hiring: Hiring
    memory: int | None = None
    workers: int = 1
    queued: int = 100


def is_full(out: Path) -> bool:
    """Whether there is no room left; a store that cannot tell is never full."""
    store = store_at(out)
    try:
        room = store.room()
    except OSError:
        return False  # whatever is the matter, it is not that
    finally:
        store.close()
    return room is not None and room < ROOM


def _by(who: str) -> str:
    return f" by {who}" if who else ""


def _deaf(event: BuildEvent) -> None:
    """The journal's records are what is listened to."""


def _no_incarnation(domain: str) -> int:
    return 0


class Refused(CannotBuild):
    """What a foreman is asked that cannot be done; `kind` is for programs."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class NobodyToHire(CannotBuild):
    """There is no cluster at the moment."""


class Job:
    """The build that is being built."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.control = Control()
        self.is_cancelled = False
        self.build: Build | None = None
        self.is_on_a_cluster = False

    def cancel(self, reason: str) -> None:
        self.is_cancelled = True
        self.control.cancel(reason)


class Foreman:
    """Takes what is asked from any thread; builds on one of its own."""

    def __init__(self, journal: Journal, place: Place, tell: Tell) -> None:
        self._journal, self._place, self._tell = journal, place, tell
        self._changed = Condition()
        self._ledger = Ledger()
        self._job: Job | None = None
        self._stopping = Event()
        self._thread = Thread(target=self._work, name="foreman")
        self._resources = ExitStack()
        self._hire: Hire | None = None
        self._connected = False
        self.troubles: dict[str, str] = {}  # with the cluster, or with builds altogether
        for submitted in journal.builds():
            self._ledger.enter(submitted)
        self._read()
        self._take_over()

    # ---- asked, from any thread ----

    def submit(self, wanted: Wanted, key: str | None = None) -> tuple[str, bool]:
        """The build's name, and whether it is a new one."""
        with self._changed:
            known = self._known(wanted, key)
        # Looks into a store that may be far away: not under the lock.
        plan = self._plan_without_work(wanted) if known is None else None
        with self._changed:
            if (known := self._known(wanted, key)) is not None:
                return known.name, False
            if len(self._ledger.queue()) >= self._place.queued:
                raise Refused("too-many", f"{self._place.queued} builds are queued; wait for some")
            name = f"b{1 + sum(s.is_queued_here for s in self._ledger.stories.values())}"
            submitted = self._journal.submit(name, key or name, wanted.dumps())
            self._ledger.enter(submitted)
            self._note(name, Became(State.QUEUED, f"asked for{_by(wanted.by)}"))
            if plan is not None:
                self._succeed_at_once(name, plan)
            self._changed.notify_all()
        return name, True

    def cancel(self, name: str, by: str = "") -> None:
        with self._changed:
            story = self._there(name)
            reason = f"cancelled{_by(by)}"
            if story.state in (State.CANCELLING, State.CANCELLED):
                return
            if story.state.has_ended:
                raise Refused("conflict", f"{name} has {story.state}; nothing is left to cancel")
            if self._job is not None and self._job.name == name:
                self._job.cancel(reason)
            if story.state in (State.QUEUED, State.PAUSED):
                self._note(name, Became(State.CANCELLED, reason))
            self._changed.notify_all()

    def retry(self, name: str, by: str = "") -> None:
        with self._changed:
            story = self._there(name)
            if story.state is State.SUCCEEDED:
                raise Refused("conflict", f"{name} has succeeded; nothing is left to do")
            if story.state.has_ended:
                self._note(name, Became(State.QUEUED, f"asked for again{_by(by)}"))
                self._changed.notify_all()

    def delete(self, name: str, by: str = "") -> None:
        with self._changed:
            story = self._there(name)
            if not story.state.has_ended:
                raise Refused("conflict", f"{name} is {story.state}; cancel it first")
            self._note(name, Deleted(f"deleted{_by(by)}"))

    def job(self) -> Job | None:
        return self._job

    @property
    def row(self) -> int:
        """How far the journal has come."""
        return self._ledger.row

    @property
    def is_connected(self) -> bool:
        """Whether it has to do with a cluster, from when it was connected to until it was left."""
        return self._connected

    # ---- its life ----

    def start(self) -> None:
        self._thread.start()

    def stop(self, limit: float | None = None) -> bool:
        """End soon: what is not committed is abandoned; the next foreman goes on.  Whether it came
        to its end within the limit.
        """
        with self._changed:
            self._stopping.set()
            if self._job is not None:
                self._job.control.interrupt("the service was stopped")
            self._changed.notify_all()
        self._thread.join(limit)
        if self._thread.is_alive():
            return False
        self._resources.close()
        return True

    def leave(self, reason: str) -> None:
        """The cluster is gone, and whoever waits for it would do so for a minute: the build is
        left as it is.  This process has to end then, and the next foreman goes on.
        """
        with self._changed:
            self._stopping.set()
            story = self._ledger.stories[self._job.name] if self._job is not None else None
            if story is not None and story.state in (State.PLANNING, State.RUNNING):
                self._note(story.name, Became(State.INTERRUPTED, reason))
                self._await_the_cluster(story)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            story = self._ledger.stories[job.name]
            try:
                self._perform(story, job)
            except CannotBuild as error:
                self._recover(story, str(error))
            finally:
                with self._changed:
                    self._job = None

    def _recover(self, story: Story, reason: str) -> None:
        """The journal cannot be written, as on a full disk: nothing is done until it can."""
        while not self._stopping.is_set():
            self.troubles = {"builds": reason}
            with self._changed:
                self._job = None
                self._changed.wait_for(self._stopping.is_set, WAIT_SECONDS)
            if is_full(self._place.out):
                continue
            with suppress(CannotBuild):
                self._take_over("the journal could not be written")
                self._go_on_where_full(story)
                self.troubles = {}
                return

    def _next(self) -> Job | None:
        """The build whose turn it is; None when it is time to stop."""
        while True:
            self._resume_paused()
            with self._changed:
                if self._stopping.is_set():
                    return None
                if queue := self._ledger.queue():
                    self._job = Job(queue[0].name)
                    return self._job
                # Nobody asks for the cluster: what it lacked when it was last asked for is old.
                self.troubles = {k: why for k, why in self.troubles.items() if k != "cluster"}
                self._changed.wait(WAIT_SECONDS if self._paused() else None)

    # ---- a build ----

    def _perform(self, story: Story, job: Job) -> None:
        try:
            self._build(story, job)
        except (StoreHeld, NobodyToHire) as error:
            self._wait(story, job, str(error))
        except Exception as error:
            # Most often the journal has it already: the build has ended, and says why.
            self._disconnect()
            if not self._stopping.is_set():
                self._fail(story, error)
        self._pause_if_full(story)
        self._try_again(story, job)

    def _build(self, story: Story, job: Job) -> None:
        request = self._request(story.wanted)
        with closing(Library(request.out)) as library:
            check_store(library.store, ())
            self._build_held(story, job, request, library)

    def _build_held(self, story: Story, job: Job, request: Request, library: Library) -> None:
        with library.store.hold():
            if job.is_cancelled:
                return
            hire = self._connection()
            job.is_on_a_cluster = hire is not None
            crew = crew_of(request, library, hire)
            book = self._book(story.name, hire is not None, job)
            policy = policy_of(request, library, hire)
            Builder(request, library, _deaf, crew, book, policy).run(job.control)

    def _book(self, name: str, is_kept: bool, job: Job) -> Heard:
        def hear(build: Build, is_news: bool) -> None:
            job.build = build
            if is_news:
                self._told()

        return Heard(self._journal, name, is_kept, self._stopping.is_set, hear)

    def _request(self, wanted: Wanted) -> Request:
        place = self._place
        return Request(
            parsed(wanted.materials),
            place.out,
            tuple(map(Metric, wanted.metrics)),
            threads=place.threads,
            memory=place.memory,
            force=wanted.force,
            compact=wanted.compact,
            verify=wanted.verify,
            workers=place.workers,
        )

    def _connection(self) -> Hire | None:
        """Who hires; connected to once, and again after anything went wrong."""
        if not self._connected:
            try:
                self._hire = self._resources.enter_context(self._place.hiring())
            except CannotBuild as error:
                self.troubles = {**self.troubles, "cluster": str(error)}
                raise NobodyToHire(str(error)) from error
            self._connected, self.troubles = True, {}
        return self._hire

    def _disconnect(self) -> None:
        if self._connected:
            try:
                self._resources.close()
            finally:
                self._connected = False

    def _wait(self, story: Story, job: Job, reason: str) -> None:
        """Nothing can begin now: it stays in the queue, and says why."""
        with self._changed:
            self._job = None
            if job.is_cancelled:
                return
            if story.state is not State.QUEUED or story.reason != reason:
                self._note(story.name, Became(State.QUEUED, reason))
            self._changed.wait_for(self._stopping.is_set, WAIT_SECONDS)

    def _fail(self, story: Story, error: Exception) -> None:
        with self._changed:
            self._read()
            if story.state.has_ended:
                return
            if not isinstance(error, KingpairError | OSError | MemoryError):
                log.error("a fault while building %s", story.name, exc_info=error)
            reason = " ".join(str(error).split()) or type(error).__name__
            self._note(story.name, Became(State.FAILED, reason))

    def _succeed_at_once(self, name: str, plan: Plan) -> None:
        """What is all there needs no turn."""
        book = self._book(name, False, Job(name))
        build, _ = book.advance(book.build, Admitted())
        book.advance(build, Planned(1, plan))

    def _plan_without_work(self, wanted: Wanted) -> Plan | None:
        """The plan, if all is there."""
        request = self._request(wanted)
        if uri_of(request.out) is None and not request.out.is_dir():
            return None
        with (
            suppress(KingpairError, OSError),  # its turn will tell
            closing(Library(request.out)) as library,
        ):
            todo, present = sorted_out(request, library)
            if not todo:
                none, cores = _no_incarnation, request.threads
                policy = policy_of(request, library, None)
                return plan_of(request, library, (), present, policy, none, cores)
        return None

    def _try_again(self, story: Story, job: Job) -> None:
        """A cluster that has gone away may come back: then its build goes on by itself."""
        if job.is_on_a_cluster and story.state is State.INTERRUPTED:
            self._await_the_cluster(story)

    def _await_the_cluster(self, story: Story) -> None:
        if story.falls < FALLS:
            self._note(story.name, Became(State.QUEUED, "goes on as soon as the cluster can"))

    # ---- a full disk ----

    def _pause_if_full(self, story: Story) -> None:
        has_failed = story.state in (State.INTERRUPTED, State.FAILED)
        if has_failed and is_full(self._place.out) and not self._stopping.is_set():
            reason = f"the disk of {shown(self._place.out)} is full; it goes on when there is room"
            self._note(story.name, Became(State.PAUSED, reason))

    def _go_on_where_full(self, story: Story) -> None:
        """The disk was too full to note even that its build is paused."""
        if story.state in (State.INTERRUPTED, State.FAILED):
            self._note(story.name, Became(State.QUEUED, "there is room on the disk again"))

    def _paused(self) -> list[Story]:
        return [story for story in self._ledger.there() if story.state is State.PAUSED]

    def _resume_paused(self) -> None:
        """The disk is looked at without the lock: it may be far away."""
        with self._changed:
            if not self._paused():
                return
        if not is_full(self._place.out):
            with self._changed, suppress(CannotBuild):  # if the journal is held: the next time
                for story in self._paused():
                    self._note(story.name, Became(State.QUEUED, "there is room on the disk again"))

    # ---- the journal ----

    def _take_over(self, reason: str = "its builder ended meanwhile") -> None:
        """Nobody is at work: what was under way is not so any more."""
        for story in list(self._ledger.there()):
            if story.state is State.CANCELLING:
                self._note(story.name, Became(State.CANCELLED, story.reason))
            elif story.is_active and story.state is not State.PAUSED:
                self._note(story.name, Became(State.INTERRUPTED, reason))
                if story.is_queued_here and story.falls < FALLS:
                    further = "goes on from what is committed"
                    self._note(story.name, Became(State.QUEUED, further))

    def _known(self, wanted: Wanted, key: str | None) -> Story | None:
        """The build that was asked for under this key, or one like it that is not over."""
        for submitted in self._journal.builds() if key is not None else ():
            if submitted.key == key:
                story = self._ledger.stories[submitted.name]
                if story.wanted.identity != wanted.identity:
                    raise Refused("key-reused", "this Idempotency-Key was sent with another build")
                return story
        alike = (s for s in self._ledger.there() if s.is_queued_here and not s.state.has_ended)
        return next((s for s in alike if s.wanted.identity == wanted.identity), None)

    def _there(self, name: str) -> Story:
        self._read()
        story = self._ledger.stories.get(name)
        if story is None or story.deleted:
            raise Refused("not-found", f"no build {name!r}")
        return story

    def _note(self, name: str, record: Record) -> None:
        self._journal.note(name, [record], synced=True)
        self._told()

    def _told(self) -> None:
        self._read()
        self._tell(self._ledger.row)

    def _read(self) -> None:
        with self._changed:
            for row in self._journal.rows(self._ledger.row):
                self._ledger.apply(row)
