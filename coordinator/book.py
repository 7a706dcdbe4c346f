"""How a build begins and what becomes of its events: forgotten, or written into a journal.

In one process the pass logs say how far a build came.  On a cluster the journal beside the tables
says it too, and which incarnations were ever given out; a request that was made before is the same
build, and goes on with it.
"""

from collections.abc import Callable, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from functools import cached_property
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from coordinator.commands import Assigned, Became, Command, Record, TablePublished
from coordinator.events import Admitted, Event, Interrupted, Restarted, RetryRequested
from coordinator.request import Request
from coordinator.state import Build, State
from coordinator.step import step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coordinator.journal import Journal

JOURNAL = ".kingpair.journal"


class Book(Protocol):
    build: Build
    first: Sequence[Event]  # what sets it going

    def advance(self, build: Build, event: Event) -> tuple[Build, list[Command]]: ...
    def incarnation(self, domain: str) -> int:
        """The last one ever given out."""


class Forgetful:
    """A build of which nothing is written down but the pass logs."""

    build = Build("build")
    first: Sequence[Event] = (Admitted(),)

    def advance(self, build: Build, event: Event) -> tuple[Build, list[Command]]:
        return step(build, event)

    def incarnation(self, domain: str) -> int:
        return 0


class Journaled:
    """A build in a journal: begun, or gone on with if it has not ended well."""

    def __init__(self, journal: "Journal", build: Build) -> None:
        self._journal, self.build = journal, build
        self.first = self._first()

    def _first(self) -> Sequence[Event]:
        if self.build.state is State.QUEUED:
            return (Admitted(),)
        retried = RetryRequested("asked for again")
        if self.build.state.has_ended:
            return (retried,)
        return Restarted(), Interrupted("the coordinator had ended"), retried

    def advance(self, build: Build, event: Event) -> tuple[Build, list[Command]]:
        from coordinator.journal import advance

        return advance(self._journal, build, event)

    def incarnation(self, domain: str) -> int:
        return self._given_out.get(domain, 0)

    @cached_property
    def _given_out(self) -> dict[str, int]:
        """The last incarnation of each domain, as the journal had it at first: what this build
        gives out itself, it knows.
        """
        last: dict[str, int] = {}
        for build in self._journal.builds():
            for entry in self._journal.history(build.name):
                if isinstance(record := entry.record, Assigned):
                    last[record.domain] = max(last.get(record.domain, 0), record.incarnation)
        return last


class Heard:
    """A build that a foreman has entered, and hears of at every step.  Its events are forgotten if
    they can be: in one process, where the pass logs say how far it came.  That the foreman is
    stopped is no event of the build: the next one goes on with it.
    """

    def __init__(
        self,
        journal: "Journal",
        name: str,
        is_kept: bool,
        is_stopping: Callable[[], bool],
        hear: Callable[[Build, bool], None],
    ) -> None:
        self._journal, self._is_stopping, self._hear = journal, is_stopping, hear
        self._kept: Journaled | None = None
        self.build = Build(name)
        self.first: Sequence[Event] = (Admitted(),)
        if is_kept:
            self._kept = Journaled(journal, journal.replay(name))
            self.build, self.first = self._kept.build, self._kept.first

    def advance(self, build: Build, event: Event) -> tuple[Build, list[Command]]:
        if isinstance(event, Interrupted) and self._is_stopping():
            return step(build, event)
        if self._kept is not None:
            after, commands = self._kept.advance(build, event)
        else:
            after, commands = step(build, event)
            self._note(build, commands)
        self._hear(after, any(isinstance(command, Record) for command in commands))
        return after, commands

    def incarnation(self, domain: str) -> int:
        return 0 if self._kept is None else self._kept.incarnation(domain)

    def _note(self, build: Build, commands: Sequence[Command]) -> None:
        records = [command for command in commands if isinstance(command, Record)]
        if records:
            # Passes are durable in their logs already.
            synced = any(isinstance(record, Became | TablePublished) for record in records)
            self._journal.note(build.name, records, synced)


@contextmanager
def journaled(out: Path, request: Request) -> "Iterator[Journaled]":
    from coordinator.journal import Journal

    with closing(Journal(out / JOURNAL)) as journal:
        yield Journaled(journal, _asked_for(journal, request))


def _asked_for(journal: "Journal", request: Request) -> Build:
    """The build that was asked for by such a request before, if it has not succeeded; or a new
    one.
    """
    key = _key_of(request)
    for number in range(len(journal.builds()) + 1):
        submitted = journal.submit(f"build{len(journal.builds())}", f"{key}#{number}", key)
        build = journal.replay(submitted.name)
        is_new = build.state is State.QUEUED
        if build.state is not State.SUCCEEDED and (request.resume or is_new):
            break
    return build


def _key_of(request: Request) -> str:
    """What makes two requests the same build: not how fast it is to be done."""
    asked = asdict(request) | {
        "materials": sorted(map(str, request.materials)),
        "metrics": sorted(request.metrics),
    }
    kept = ("materials", "metrics", "compact", "verify")
    return dumps({key: asked[key] for key in kept}, default=str)
