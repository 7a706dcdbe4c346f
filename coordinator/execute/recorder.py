"""Applies events to a build, and records what they settle: not at all, or in a journal.

In one process the pass logs say how far a build came.  On a cluster the journal beside the tables
says it too, and which incarnations were ever given out; a request that was made before is the same
build, and goes on with it.
"""

from collections.abc import Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.machine.commands import Command
from kingpair.coordinator.machine.events import (
    Admitted,
    Event,
    Interrupted,
    Restarted,
    RetryRequested,
)
from kingpair.coordinator.machine.records import Assigned, Became, Record, TablePublished
from kingpair.coordinator.machine.state import BuildJob, State
from kingpair.coordinator.machine.step import step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kingpair.coordinator.journal.database import Journal

JOURNAL = ".kingpair.journal"


class Recorder(Protocol):
    @property
    def build(self) -> BuildJob:
        """The build after the last event."""

    @property
    def first(self) -> Sequence[Event]:
        """The events that set the build going."""

    def advance(self, event: Event) -> list[Command]:
        """Takes one step; what it settles is recorded before the commands are returned."""

    def incarnation(self, domain: str) -> int:
        """Returns the last incarnation of a domain that was ever given out."""


class Unrecorded:
    """Keeps nothing: the pass logs say how far the build came."""

    first: Sequence[Event] = (Admitted(),)

    def __init__(self, name: str = "build") -> None:
        self.build = BuildJob(name)

    def advance(self, event: Event) -> list[Command]:
        self.build, commands = step(self.build, event)
        return commands

    def incarnation(self, domain: str) -> int:
        return 0


class RecordsOnly(Unrecorded):
    """Keeps the records of a build, not its events, which only workers of this process cause."""

    def __init__(self, journal: "Journal", name: str) -> None:
        super().__init__(name)
        self._journal = journal

    def advance(self, event: Event) -> list[Command]:
        commands = super().advance(event)
        if records := records_in(commands):
            # Passes are durable in their logs already.
            synced = any(isinstance(record, Became | TablePublished) for record in records)
            self._journal.note(self.build.name, records, synced)
        return commands


class EventsAndRecords:
    """Keeps all events of a build: it is begun, or gone on with if it has not ended well."""

    def __init__(self, journal: "Journal", name: str) -> None:
        self._journal, self.build = journal, journal.replay(name)
        self.first = self._first()

    def _first(self) -> Sequence[Event]:
        if self.build.state is State.QUEUED:
            return (Admitted(),)
        retried = RetryRequested("asked for again")
        if self.build.state.has_ended:
            return (retried,)
        return Restarted(), Interrupted("the coordinator had ended"), retried

    def advance(self, event: Event) -> list[Command]:
        from kingpair.coordinator.journal.database import advance

        self.build, commands = advance(self._journal, self.build, event)
        return commands

    def incarnation(self, domain: str) -> int:
        return self._given_out.get(domain, 0)

    @cached_property
    def _given_out(self) -> dict[str, int]:
        """The last incarnation of each domain when this build began.  Those that it gives out
        itself are in its state.
        """
        last: dict[str, int] = {}
        for build in self._journal.builds():
            for entry in self._journal.history(build.name):
                if isinstance(record := entry.record, Assigned):
                    last[record.domain] = max(last.get(record.domain, 0), record.incarnation)
        return last


def records_in(commands: Sequence[Command]) -> list[Record]:
    return [command for command in commands if isinstance(command, Record)]


@contextmanager
def journaled(out: Path, request: BuildRequest) -> "Iterator[EventsAndRecords]":
    """The build that such a request has in the journal of its directory."""
    from kingpair.coordinator.journal.database import Journal

    with closing(Journal(out / JOURNAL)) as journal:
        yield _asked_for(journal, request)


def _asked_for(journal: "Journal", request: BuildRequest) -> EventsAndRecords:
    """The build that was asked for by such a request before, if it has not succeeded; or a new
    one.
    """
    key = _key_of(request)
    for number in range(len(journal.builds()) + 1):
        submitted = journal.submit(f"build{len(journal.builds())}", f"{key}#{number}", key)
        recorder = EventsAndRecords(journal, submitted.name)
        is_new = recorder.build.state is State.QUEUED
        if recorder.build.state is not State.SUCCEEDED and (request.resume or is_new):
            break
    return recorder


def _key_of(request: BuildRequest) -> str:
    """Returns a key that requests for the same build share; memory and threads do not count."""
    spec = request.spec
    kept = {
        "materials": sorted(map(str, spec.materials)),
        "metrics": sorted(spec.metrics),
        "compact": spec.compact,
        "verify": spec.verify,
    }
    return dumps(kept | {"syzygy": True} if spec.syzygy else kept)
