"""Answers for which a whole table is read: one reading at a time; the last ones are kept."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool

from kingpair.workers.sets.threads import Threads

KEPT = 64


class Findings:
    """Answers by a key that names the table by its contents."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._reading = asyncio.Lock()
        self._kept: OrderedDict[tuple[object, ...], Any] = OrderedDict()

    async def find(self, key: tuple[object, ...], read: Callable[[Threads], Any]) -> Any:
        """Returns what was found before under the same key, or reads the table now."""
        async with self._reading:
            if key not in self._kept:
                self._kept[key] = await run_in_threadpool(self._read, read)
                if len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            return self._kept[key]

    def _read(self, read: Callable[[Threads], Any]) -> Any:
        with Threads(self._threads) as threads:
            return read(threads)
