"""The hub: what happens goes to whoever watches, encoded once for all of them.

Nobody is waited for.  A reader that falls too far behind is dropped: its stream ends, and it can
come back and ask for what it missed.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from api.builds import Event

BEHIND = 1000  # events that may wait for a reader
HEARTBEAT_SECONDS = 15.0
HEARTBEAT = b": still here\n\n"


class Sent(NamedTuple):
    number: int
    data: bytes


class Reader:
    """Someone who watches one build, or all of them."""

    def __init__(self, build: str | None) -> None:
        self._build = build
        self._waiting: asyncio.Queue[Sent | None] = asyncio.Queue(BEHIND)
        self.is_dropped = False

    def wants(self, event: Event) -> bool:
        return self._build is None or event.build in (None, self._build)

    def put(self, sent: Sent) -> None:
        if self.is_dropped:
            return
        try:
            self._waiting.put_nowait(sent)
        except asyncio.QueueFull:
            self.drop()

    def drop(self) -> None:
        """What waits is not sent any more: memory is let go of at once."""
        self.is_dropped = True
        with suppress(asyncio.QueueEmpty):
            while True:
                self._waiting.get_nowait()
        self._waiting.put_nowait(None)

    async def events(self, after: int) -> AsyncIterator[bytes]:
        """What happens from now on, but for the rows up to one; until dropped."""
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
        self._readers: set[Reader] = set()
        self._is_closed = False

    @property
    def has_readers(self) -> bool:
        return bool(self._readers)

    @property
    def count(self) -> int:
        return len(self._readers)

    def publish(self, event: Event) -> None:
        readers = [reader for reader in self._readers if reader.wants(event)]
        if readers:
            sent = Sent(event.number, event.encoded())
            for reader in readers:
                reader.put(sent)

    @contextmanager
    def reader(self, build: str | None) -> Iterator[Reader]:
        found = Reader(build)
        if self._is_closed:
            found.drop()
        self._readers.add(found)
        try:
            yield found
        finally:
            self._readers.discard(found)

    def close(self) -> None:
        """Every stream ends."""
        self._is_closed = True
        for reader in self._readers:
            reader.drop()
