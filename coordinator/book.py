"""How a build begins and what becomes of its events: forgotten, or written into a journal.

In one process the pass logs say how far a build came.  On a cluster the journal beside the tables
says it too, and which incarnations were ever given out; a request that was made before is the same
build, and goes on with it.
"""

from collections.abc import Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from coordinator.commands import Assigned, Command
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
    """A build in a journal: begun, or gone on with if it was asked for before and has not ended
    well.
    """

    def __init__(self, journal: "Journal", request: Request) -> None:
        self._journal = journal
        key = _key_of(request)
        for number in range(len(journal.builds()) + 1):
            submitted = journal.submit(f"build{len(journal.builds())}", f"{key}#{number}", key)
            self.build = journal.replay(submitted.name)
            if self.build.state is not State.SUCCEEDED and (request.resume or self._is_new):
                break
        self.first = self._first()

    @property
    def _is_new(self) -> bool:
        return self.build.state is State.QUEUED

    def _first(self) -> Sequence[Event]:
        if self._is_new:
            return (Admitted(),)
        retried = RetryRequested("asked for again")
        if self.build.state.has_ended:
            return (retried,)
        return Restarted(), Interrupted("the coordinator had ended"), retried

    def advance(self, build: Build, event: Event) -> tuple[Build, list[Command]]:
        from coordinator.journal import advance

        return advance(self._journal, build, event)

    def incarnation(self, domain: str) -> int:
        return max(
            (
                entry.record.incarnation
                for build in self._journal.builds()
                for entry in self._journal.history(build.name)
                if isinstance(entry.record, Assigned) and entry.record.domain == domain
            ),
            default=0,
        )


@contextmanager
def journaled(out: Path, request: Request) -> "Iterator[Journaled]":
    from coordinator.journal import Journal

    with closing(Journal(out / JOURNAL)) as journal:
        yield Journaled(journal, request)


def _key_of(request: Request) -> str:
    """What makes two requests the same build: not how fast it is to be done."""
    asked = asdict(request) | {"materials": sorted(map(str, request.materials))}
    kept = ("materials", "metric", "compact", "verify")
    return dumps({key: asked[key] for key in kept}, default=str)
