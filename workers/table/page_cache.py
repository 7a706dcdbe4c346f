"""Decoded pages of tables, in a cache of bounded size that all threads share.

The cache evicts the least recently used page first.  A thread holds the table's lock while it
decodes a page, and the cache's lock only for a lookup.  So a thread that finds its page never
waits for the disk of another.
"""

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple

from kingpair.workers.table.format import Table
from kingpair.workers.table.value import Values


class NotCached(LookupError):
    """The answer needs a page that is not in memory, and the caller does not wait for the disk."""


class PageKey(NamedTuple):
    """A page of an opened table.  A table that replaces another is a different object, so pages
    of the old one are not found under it.
    """

    table: Table
    page: int
    column: int


class PageCache:
    """Holds `held` bytes of pages: at most `limit`, unless a single page is larger."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self.hits = self.misses = 0
        self._pages: OrderedDict[PageKey, Values] = OrderedDict()
        self._lock = Lock()

    def get(self, key: PageKey, *, wait: bool = True) -> Values:
        """The values of a page; raises NotCached if they are not here and `wait` is false."""
        return self._get(key, _rows_of(key), wait)

    def value(self, key: PageKey, at: int, alone: bool) -> int:
        """One value of a page.

        The first question for a value alone decodes the page no further than this value, any other
        one the rest.
        """
        return int(self._get(key, at + 1 if alone else _rows_of(key), wait=True)[at])

    def _get(self, key: PageKey, needed: int, wait: bool) -> Values:
        """At least so many values of a page."""
        if (values := self._found(key, needed)) is not None:
            return values
        if not wait:
            raise NotCached
        with key.table.lock:
            # The thread that held the lock before may have decoded the same page.
            if (values := self._found(key, needed)) is not None:
                return values
            rows = _rows_of(key) if key in self._pages else needed
            values = key.table.page(key.page, key.column, rows)
            self._keep(key, values)
        return values

    def read_ahead(self, keys: Iterable[PageKey]) -> int:
        """Lets the system read those pages that are not here, side by side.  Returns how many."""
        with self._lock:
            missing = [key for key in keys if key not in self._pages]
        for key in missing:
            key.table.read_ahead(key.page)
        return len(missing)

    def _found(self, key: PageKey, needed: int) -> Values | None:
        with self._lock:
            values = self._pages.get(key)
            if values is None or len(values) < needed:
                return None
            self._pages.move_to_end(key)
            self.hits += 1
            return values

    def _keep(self, key: PageKey, values: Values) -> None:
        with self._lock:
            self.misses += 1
            if (shorter := self._pages.pop(key, None)) is not None:
                self.held -= shorter.nbytes
            self._pages[key] = values
            self.held += values.nbytes
            while self.held > self.limit and len(self._pages) > 1:
                self.held -= self._pages.popitem(last=False)[1].nbytes

    def forget(self, table: Table) -> None:
        """Drops the pages of a table that is gone."""
        with self._lock:
            for key in [key for key in self._pages if key.table is table]:
                self.held -= self._pages.pop(key).nbytes

    def clear(self) -> None:
        with self._lock:
            self._pages.clear()
            self.held = 0


def _rows_of(key: PageKey) -> int:
    """The number of rows of a page; the last page of a table may be shorter than the others."""
    return min(key.table.page_rows, key.table.index.rows - key.page * key.table.page_rows)
