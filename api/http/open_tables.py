"""The tables that the service has open; it notices tables that come and go."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from kingpair.api.answers.best_moves import BestMoves
from kingpair.api.answers.catalogue import Catalogue
from kingpair.api.answers.fifty import LaterPhases
from kingpair.api.http.findings import Findings
from kingpair.api.settings import Settings
from kingpair.api.tokens import TokenReader
from kingpair.workers.ask.position_report import PositionReport, report_position
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.errors import CannotServe
from kingpair.workers.game.chess.position import Position
from kingpair.workers.store.filesystem import printable
from kingpair.workers.table.directory import is_table_directory
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.page_cache import NotCached

log = logging.getLogger("kingpair")
Found = TypeVar("Found")
MOSTLY, OF_LATE, NOW_AND_THEN = 0.5, 20, 8
"""A share of the last tries to answer without the disk; of how many tries; how often one is made
while that share has failed.
"""
Make = Callable[[PositionReport, bool], Found]
"""Makes an answer of a position report; waits for the disk only if the flag allows it."""


@dataclass
class ServedTables:
    """The tables, and the answers that were computed from them."""

    settings: Settings

    def __post_init__(self) -> None:
        self._looking = Lock()
        self.tablebase = Tablebase(self.settings.cache)
        self.later = LaterPhases(self.tablebase)
        self.best = BestMoves(self.tablebase)
        self._cold, self._questions = 0.0, 0
        self.catalogue = Catalogue()
        self.findings = Findings(self.settings.threads)
        self.tokens = TokenReader(self.settings.state_directory)
        if self.settings.syzygy is not None:
            self.tablebase.add_syzygy_directory(self.settings.syzygy)
        self.tablebase.add_directory(self.settings.tables)

    def refresh(self) -> None:
        with self._looking:  # one after the other: an older look must not overwrite a newer one
            if self.tablebase.refresh():
                self.later.forget()
                self.best.forget()
                log.info("tables changed", extra={"fields": {"tables": len(self.tablebase.paths)}})

    def names(self) -> frozenset[str]:
        """Returns the tables by name, such as `KQvKR.dtc`."""
        keys = (TableKey.of_file(path.name) for path in self.tablebase.paths)
        return frozenset(str(key) for key in keys if key is not None)

    async def watch(self) -> None:
        """Looks for new and removed tables from time to time, until cancelled."""
        while True:
            await asyncio.sleep(self.settings.look_every)
            await self.look()

    async def look(self) -> None:
        """Looks for new and removed tables now."""
        try:
            await run_in_threadpool(self.refresh)
        except OSError as error:
            log.warning(
                "cannot read %s: %s", printable(self.settings.tables), error.strerror or error
            )

    async def answer(self, position: Position, make: Make[Found]) -> Found:
        """At once if all blocks are in memory, decoded or as the system has read them, else on a
        thread: the loop waits for no disk.

        While most questions need a block that is not there, the first try would be work for nothing
        and is made only now and then, to notice when blocks are there again.
        """
        self._questions += 1
        if self._cold < MOSTLY or self._questions % NOW_AND_THEN == 0:
            try:
                found = make(report_position(self.tablebase, position, wait=False), False)
            except NotCached:
                self._cold += (1 - self._cold) / OF_LATE
            else:
                self._cold -= self._cold / OF_LATE
                return found
        return await run_in_threadpool(
            lambda: make(report_position(self.tablebase, position), True)
        )

    @property
    def problem(self) -> str | None:
        """The reason why no question can be answered, None if they can."""
        if not is_table_directory(self.settings.tables):
            return f"no directory of tables at {printable(self.settings.tables)}"
        try:
            self.tokens.known()
        except CannotServe as error:
            return str(error)
        return None


async def served_tables(request: Request) -> ServedTables:
    """Returns the tables; async, because a thread for it would cost more than an answer."""
    found: ServedTables = request.app.state.served
    return found
