"""The journal as those see it who only read: the service, while its foreman writes."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coordinator.journal import ROWS, DamagedJournal, JournalHeld, Row, Submitted, row_of
from workers.errors import CannotBuild

_WAIT_SECONDS = 2.0


class Reading:
    """A journal that may not be there yet.  Each reading opens it anew, so that one that is moved
    away, damaged or replaced is noticed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def builds(self) -> list[Submitted]:
        query = "select * from builds order by time, name"
        return [Submitted(*row) for row in self._found(query, ())]

    def rows(self, after: int = 0, limit: int = -1) -> list[Row]:
        """The records that come after one."""
        return [row_of(self.path, *row) for row in self._found(ROWS, (after, limit))]

    def _found(self, query: str, values: tuple[int, ...]) -> list[tuple[Any, ...]]:
        if not self.path.exists():
            return []
        address = f"file:{quote(str(self.path.absolute()))}?mode=ro"
        with self._told(), closing(sqlite3.connect(address, _WAIT_SECONDS, uri=True)) as database:
            return database.execute(query, values).fetchall()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise JournalHeld(f"the journal {self.path} is held by another program") from error
            raise CannotBuild(f"cannot read the journal {self.path}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise DamagedJournal(f"the journal {self.path} is damaged: {error}") from error
