"""Decoded pages of tables, in a cache of bounded size that all threads share.

The first questions for a few values of a page find them without decoding the page, if its table can
do that; the cache remembers how many they were.  Once to find values has taken about as long as to
decode the page, the next question decodes it.  The values of all new pages of a position are found
in one call of a kernel, because much of what a page costs in Python is the same for all of them.

A page that is decoded for the first time is *recent*.  Recent pages have a small part of the cache
and leave it in the order in which they came.  The cache remembers the keys of those that left.  A
page that is asked for again, while it is recent or remembered, is *kept* and has the rest of the
cache, from which the least recently used page leaves first.  So questions about ever new positions
neither push out the pages that are asked for again and again, nor use new memory: the system takes
longer to provide it than to decode a page into memory that another one has left.

A thread holds the table's lock while it decodes a page, and the cache's lock only for a lookup.  So
a thread that finds its page never waits for the disk of another.  A caller who does not wait at all
gets what is decoded, and what can be decoded at once because the system has read it before.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple

from kingpair.workers import _kernels
from kingpair.workers.table.format import Table
from kingpair.workers.table.value import Values


class NotCached(LookupError):
    """The answer needs a page that is not in memory, and the caller does not wait for the disk."""


RECENT = 64
"""The part of the cache that recent pages have: one of so many."""
FINDS = 2
"""The questions for values of a page before it is decoded."""


class PageKey(NamedTuple):
    """A page of an opened table.  A table that replaces another is a different object, so pages
    of the old one are not found under it.
    """

    table: Table
    page: int
    column: int


RowsByPage = Mapping[PageKey, Sequence[int]]


class _PastPage(NamedTuple):
    """A page that is not here: its size, and how often its values were found without decoding it.
    One that was decoded counts as found often enough.
    """

    size: int
    finds: int


class _Pages(OrderedDict[PageKey, Values]):
    """Pages in some order, and their bytes."""

    bytes = 0

    def put(self, key: PageKey, values: Values) -> None:
        self[key] = values
        self.bytes += values.nbytes

    def take(self, key: PageKey) -> Values:
        values = self.pop(key)
        self.bytes -= values.nbytes
        return values

    def take_first(self) -> tuple[PageKey, Values]:
        key = next(iter(self))
        return key, self.take(key)


class PageCache:
    """Holds `held` bytes of pages: at most `limit`, unless a single page is larger."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.hits = self.misses = 0
        self._recent, self._kept = _Pages(), _Pages()
        self._left: OrderedDict[PageKey, _PastPage] = OrderedDict()
        self._left_bytes = 0
        self._lock = Lock()

    @property
    def held(self) -> int:
        return self._recent.bytes + self._kept.bytes

    def get(self, key: PageKey, *, wait: bool = True) -> Values:
        """The values of a page; raises NotCached if the disk has to be read for them and `wait` is
        false.
        """
        return self._get(key, _rows_of(key), wait)

    def value(self, key: PageKey, at: int, alone: bool) -> int:
        """One value of a page.

        The first question for a value alone decodes the page no further than this value, any other
        one the rest.
        """
        needed = at + 1 if alone else _rows_of(key)
        if (values := self._found(key, needed)) is None:
            if alone and (found := self._find({key: (at,)}, wait=True)):
                return found[key][0]
            values = self._get(key, needed, wait=True)
        return int(values[at])

    def values_of(self, asked: RowsByPage, *, wait: bool = True) -> list[list[int]]:
        """The values at some rows of each of some pages."""
        with self._lock:
            pages = [self._look_up(key, _rows_of(key)) for key in asked]
        missing = [key for key, values in zip(asked, pages, strict=True) if values is None]
        found = self._find({key: asked[key] for key in missing}, wait) if missing else {}
        answers = []
        for (key, rows), values in zip(asked.items(), pages, strict=True):
            if (answer := found.get(key)) is None:
                if values is None:
                    values = self._get(key, _rows_of(key), wait)
                answer = [values.item(row) for row in rows]
            answers.append(answer)
        return answers

    def _find(self, asked: RowsByPage, wait: bool) -> dict[PageKey, list[int]]:
        """The values at some rows of those pages that were asked for a few times at most, and can
        be had without decoding the pages.
        """
        keys, questions = [], []
        for key, rows in asked.items():
            past = self._left.get(key)
            if (past is None or past.finds < FINDS) and key not in self:
                table, page, column = key
                if (place := table.place_of_values(page, column, wait)) is not None:
                    keys.append(key)
                    questions.append((place, rows))
        if not questions:
            return {}
        answers = _kernels.find_values(questions, wait)
        found = {key: values for key, values in zip(keys, answers, strict=True) if values}
        with self._lock:
            self.misses += len(found)
            for key in found:
                self._remember_find(key)
        return found

    def _get(self, key: PageKey, needed: int, wait: bool) -> Values:
        """At least so many values of a page."""
        if (values := self._found(key, needed)) is not None:
            return values
        if not (wait or key.table.is_at_hand(key.page, key.column)):
            raise NotCached
        with self._decoding(key.table, wait):
            # The thread that held the lock before may have decoded the same page.
            if (values := self._found(key, needed)) is not None:
                return values
            rows = _rows_of(key) if key in self else needed
            values = key.table.page(key.page, key.column, rows)
            self._keep(key, values)
        return values

    @contextmanager
    def _decoding(self, table: Table, wait: bool) -> Iterator[None]:
        """Holds the lock of a table; another thread that has it may wait for the disk."""
        if not table.lock.acquire(blocking=wait):
            raise NotCached
        try:
            yield
        finally:
            table.lock.release()

    def read_ahead(self, keys: Iterable[PageKey]) -> int:
        """Lets the system read those pages that are not here, side by side.  Returns how many."""
        with self._lock:
            missing = [key for key in keys if key not in self]
        for key in missing:
            key.table.read_ahead(key.page)
        return len(missing)

    def __contains__(self, key: PageKey) -> bool:
        return key in self._kept or key in self._recent

    def _found(self, key: PageKey, needed: int) -> Values | None:
        with self._lock:
            return self._look_up(key, needed)

    def _look_up(self, key: PageKey, needed: int) -> Values | None:
        """At least so many values of a page that is here.  The caller holds the lock."""
        if (values := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
        else:
            values = self._recent.get(key)
        if values is None or len(values) < needed:
            return None
        if key in self._recent:
            self._kept.put(key, self._recent.take(key))
        self.hits += 1
        return values

    def _keep(self, key: PageKey, values: Values) -> None:
        with self._lock:
            self.misses += 1
            again = key in self or key in self._left
            for pages in (self._recent, self._kept):
                if key in pages:
                    pages.take(key)
            (self._kept if again else self._recent).put(key, values)
            while self._recent.bytes > self.limit // RECENT and len(self._recent) > 1:
                left, values = self._recent.take_first()
                self._remember(left, _PastPage(values.nbytes, FINDS))
            while self.held > self.limit and len(self._kept) + len(self._recent) > 1:
                oldest = self._kept if len(self._kept) > again else self._recent
                oldest.take_first()

    def _remember_find(self, key: PageKey) -> None:
        if (past := self._left.get(key)) is not None:
            self._left[key] = _PastPage(past.size, past.finds + 1)
        else:
            self._remember(key, _PastPage(_rows_of(key) * key.table.dtype.itemsize, 1))

    def _remember(self, key: PageKey, page: _PastPage) -> None:
        """Remembers the keys of as many pages as the cache could hold."""
        if (before := self._left.get(key)) is not None:
            self._left_bytes -= before.size
        self._left_bytes += page.size
        self._left[key] = page
        while self._left_bytes > self.limit:
            self._left_bytes -= self._left.popitem(last=False)[1].size

    def forget(self, table: Table) -> None:
        """Drops the pages of a table that is gone."""
        with self._lock:
            for pages in (self._recent, self._kept):
                for key in [key for key in pages if key.table is table]:
                    pages.take(key)
            for key in [key for key in self._left if key.table is table]:
                self._left_bytes -= self._left.pop(key).size

    def clear(self) -> None:
        with self._lock:
            self._recent, self._kept = _Pages(), _Pages()
            self._left.clear()
            self._left_bytes = 0


def _rows_of(key: PageKey) -> int:
    """The number of rows of a page; the last page of a table may be shorter than the others."""
    table, page, _ = key
    return min(table.page_rows, table.row_count - page * table.page_rows)
