"""Tells a build something while it runs, from another thread: cancel, pause, resume, interrupt.

Until the build has begun its events are kept.  Telling never waits: the build takes the event after
the one at hand.
"""

from collections.abc import Callable
from threading import Event as Flag
from threading import Lock

from kingpair.coordinator.machine.events import (
    CancelRequested,
    Event,
    Interrupted,
    PauseRequested,
    ResumeRequested,
)


class Control:
    """Puts events into a build's queue of events."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._put: Callable[[Event], None] | None = None
        self._kept: list[Event] = []
        self._stopping = Flag()

    @property
    def is_stopping(self) -> bool:
        """Whether the build was told to end or to pause, and not to resume after that."""
        return self._stopping.is_set()

    def cancel(self, reason: str = "asked for") -> None:
        """Ends the build; what is committed is kept."""
        self.tell(CancelRequested(reason))

    def pause(self, reason: str = "asked for") -> None:
        """Releases its workers until it is resumed."""
        self.tell(PauseRequested(reason))

    def resume(self, reason: str = "asked for") -> None:
        self.tell(ResumeRequested(reason))

    def interrupt(self, reason: str) -> None:
        """Ends the build for now: the process that runs it has to end."""
        self.tell(Interrupted(reason))

    def connect(self, put: Callable[[Event], None]) -> None:
        """Passes on the events kept so far, and from now on each at once."""
        with self._lock:
            self._put = put
            for event in self._kept:
                put(event)
            self._kept.clear()

    def tell(self, event: Event) -> None:
        if isinstance(event, CancelRequested | PauseRequested | Interrupted):
            self._stopping.set()
        elif isinstance(event, ResumeRequested):
            self._stopping.clear()
        with self._lock:
            if self._put is None:
                self._kept.append(event)
            else:
                self._put(event)
