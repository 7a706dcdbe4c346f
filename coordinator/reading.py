"""The journal as those see it who only read: the service, while its foreman writes."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coordinator.journal import ROWS, Row, Submitted, row_of, told

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
        with (
            told(self.path),
            closing(sqlite3.connect(address, _WAIT_SECONDS, uri=True)) as database,
        ):
            return database.execute(query, values).fetchall()
