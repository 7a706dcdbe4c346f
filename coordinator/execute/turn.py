"""The turn of a build: what runs, and how its steps reach the journal and the queue."""

from collections.abc import Sequence
from threading import Condition
from typing import Protocol

from kingpair.coordinator.execute.control import Control
from kingpair.coordinator.execute.recorder import Recorder, records_in
from kingpair.coordinator.machine.commands import Command
from kingpair.coordinator.machine.events import Event, Interrupted
from kingpair.coordinator.machine.queue_state import Turn
from kingpair.coordinator.machine.records import Record
from kingpair.coordinator.machine.state import BuildJob
from kingpair.coordinator.machine.step import step
from kingpair.workers.errors import CannotBuild


class TurnGiver(Protocol):
    """The queue, as a build at its turn knows it."""

    @property
    def is_closing(self) -> bool: ...
    def turn_of(self, name: str) -> Turn | None: ...
    def settle(self, records: Sequence[Record]) -> None: ...


class TurnOver(CannotBuild):
    """A build was told an event after its turn had been taken away."""


class RunningBuild:
    """The build whose turn it is."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.control = Control()
        self.is_on_a_cluster = False
        self.recorder: Recorder | None = None

    @property
    def build(self) -> BuildJob | None:
        """None before it has begun."""
        return self.recorder.build if self.recorder is not None else None


class TurnRecorder:
    """Records a build at its turn, and tells the queue what was settled."""

    def __init__(self, queue: TurnGiver, lock: Condition, recorder: Recorder) -> None:
        self._queue, self._lock, self._recorder = queue, lock, recorder
        self.build, self.first = recorder.build, recorder.first

    def advance(self, event: Event) -> list[Command]:
        """Takes one step.  The end of this process is no event of the build and is not recorded:
        the next process goes on with the build as this one left it.
        """
        with self._lock:
            if self._queue.turn_of(self.build.name) is None:
                raise TurnOver(f"the turn of {self.build.name} is over")
            if isinstance(event, Interrupted) and self._queue.is_closing:
                self.build, commands = step(self.build, event)
                return commands
            commands = self._recorder.advance(event)
            self.build = self._recorder.build
            self._queue.settle(records_in(commands))
            return commands

    def incarnation(self, domain: str) -> int:
        return self._recorder.incarnation(domain)
