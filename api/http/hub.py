"""The hub sends each event to all clients that watch, encoded once for all of them.

It waits for no client.  A reader that falls too far behind is dropped: its stream ends, and it can
come back and ask for what it missed.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import NamedTuple

from kingpair.api.answers.builds import SentEvent

BEHIND = 1000  # events that may wait for a reader
HEARTBEAT_SECONDS = 15.0
HEARTBEAT = b": still here\n\n"


class EncodedEvent(NamedTuple):
    number: int
    data: bytes


class Subscriber:
    """A client that watches one build, or all of them."""

    def __init__(self, build: str | None) -> None:
        self._build = build
        self._waiting: asyncio.Queue[EncodedEvent | None] = asyncio.Queue(BEHIND)
        self.is_dropped = False

    def wants(self, event: SentEvent) -> bool:
        return self._build is None or event.build in (None, self._build)

    @property
    def is_empty(self) -> bool:
        return self._waiting.empty()

    def put(self, sent: EncodedEvent) -> None:
        if self.is_dropped:
            return
        try:
            self._waiting.put_nowait(sent)
        except asyncio.QueueFull:
            self.drop()

    def drop(self) -> None:
        """Discards the events that wait, and ends the stream."""
        self.is_dropped = True
        with suppress(asyncio.QueueEmpty):
            while True:
                self._waiting.get_nowait()
        self._waiting.put_nowait(None)

    async def events(self, after: int) -> AsyncIterator[bytes]:
        """Yields events from now on, without the rows up to `after`, until dropped."""
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    sent = await self._waiting.get()
            except TimeoutError:
                yield HEARTBEAT
                continue
            if sent is None:
                return
            if not 0 < sent.number <= after:
                yield sent.data


class Hub:
    def __init__(self) -> None:
        self._subscribers: set[Subscriber] = set()
        self._is_closed = False

    @property
    def has_readers(self) -> bool:
        return bool(self._subscribers)

    @property
    def count(self) -> int:
        return len(self._subscribers)

    def publish(self, event: SentEvent) -> None:
        subscribers = [subscriber for subscriber in self._subscribers if subscriber.wants(event)]
        if subscribers:
            sent = EncodedEvent(event.number, event.encoded())
            for subscriber in subscribers:
                subscriber.put(sent)

    def enter(self, build: str | None) -> Subscriber:
        """A new reader: counted from now on, until it leaves."""
        found = Subscriber(build)
        if self._is_closed:
            found.drop()
        self._subscribers.add(found)
        return found

    def leave(self, subscriber: Subscriber) -> None:
        self._subscribers.discard(subscriber)

    def close(self) -> None:
        """Ends every stream."""
        self._is_closed = True
        for subscriber in self._subscribers:
            subscriber.drop()
