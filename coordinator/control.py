"""What is asked of a build while it runs, from another thread: cancel, pause, resume, interrupt.

What is asked before the build has begun is kept until it does.  Asking never waits: the build heeds
it after the event at hand.
"""

from collections.abc import Callable
from threading import Lock

from coordinator.events import (
    CancelRequested,
    Event,
    Interrupted,
    PauseRequested,
    ResumeRequested,
)


class Control:
    """Held by whoever asks; the build hears of it through its queue of events."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._put: Callable[[Event], None] | None = None
        self._kept: list[Event] = []

    def cancel(self, reason: str = "asked for") -> None:
        """End it; what is committed is kept."""
        self._ask(CancelRequested(reason))

    def pause(self, reason: str = "asked for") -> None:
        """Let its workers go until it is resumed."""
        self._ask(PauseRequested(reason))

    def resume(self, reason: str = "asked for") -> None:
        self._ask(ResumeRequested(reason))

    def interrupt(self, reason: str) -> None:
        """End it for now: whoever performs it has to go."""
        self._ask(Interrupted(reason))

    def connect(self, put: Callable[[Event], None]) -> None:
        """From now on the build hears at once."""
        with self._lock:
            self._put = put
            for event in self._kept:
                put(event)
            self._kept.clear()

    def _ask(self, event: Event) -> None:
        with self._lock:
            if self._put is None:
                self._kept.append(event)
            else:
                self._put(event)
