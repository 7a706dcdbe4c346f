"""Reads the journal while another process writes it: the service, while its queue does."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kingpair.coordinator.journal.database import ROWS, row_of, told
from kingpair.coordinator.journal.rows import Row, Submission
from kingpair.coordinator.machine.records import PassCommitted

_PASSES = (
    "select id, build, seq, time, kind, body from records "
    f"where build = ? and kind = '{PassCommitted.__name__}' order by id"
)
_WAIT_SECONDS = 2.0


class JournalReader:
    """Reads a journal that may not be there yet.  Each call opens it anew, so that a file that is
    moved away, damaged or replaced is noticed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def builds(self) -> list[Submission]:
        query = "select * from builds order by time, name"
        return [Submission(*row) for row in self._found(query, ())]

    def rows(self, after: int = 0, limit: int = -1) -> list[Row]:
        """The records that come after one."""
        return [row_of(self.path, *row) for row in self._found(ROWS, (after, limit))]

    def passes(self, build: str, domain: str) -> list[PassCommitted]:
        """The passes of a domain that a build has committed.

        If passes were made again after a damaged log was set back, the latest of each stand.
        """
        found: list[PassCommitted] = []
        for row in self._found(_PASSES, (build,)):
            record = row_of(self.path, *row).record
            if not isinstance(record, PassCommitted) or record.domain != domain:
                continue
            kept = (p for p in found if p.winner != record.winner or p.depth < record.depth)
            found = [*kept, record]
        return found

    def _found(self, query: str, values: tuple[int | str, ...]) -> list[tuple[Any, ...]]:
        if not self.path.exists():
            return []
        address = f"file:{quote(str(self.path.absolute()))}?mode=ro"
        with (
            told(self.path),
            closing(sqlite3.connect(address, _WAIT_SECONDS, uri=True)) as database,
        ):
            return database.execute(query, values).fetchall()
