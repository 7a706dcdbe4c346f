"""What the service holds: the tables of its directory, watched as they come and go."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from api.catalogue import Catalogue
from api.fifty import LaterPhases
from api.settings import Settings
from api.tokens import Reader
from workers.blockcache import Cold
from workers.directory import is_there
from workers.errors import CannotServe
from workers.position import Position
from workers.probe import Tablebase
from workers.store import shown
from workers.survey import Survey, survey

log = logging.getLogger("kingpair")
Found = TypeVar("Found")
Make = Callable[[Survey, bool], Found]
"""What makes an answer of a survey; it waits for the disk only if it is told that it may."""


@dataclass
class Holding:
    """The tables, and what was worked out from them."""

    settings: Settings

    def __post_init__(self) -> None:
        self._looking = Lock()
        self.tablebase = Tablebase(self.settings.cache)
        self.later = LaterPhases(self.tablebase)
        self.catalogue = Catalogue()
        self.tokens = Reader(self.settings.state_directory)
        self.tablebase.add_directory(self.settings.tables)

    def refresh(self) -> None:
        with self._looking:  # one after the other: what an earlier look saw must not come last
            if self.tablebase.refresh():
                self.later.forget()
                log.info("tables changed", extra={"fields": {"tables": len(self.tablebase.paths)}})

    async def watch(self) -> None:
        """Notice tables that come and go, until cancelled."""
        while True:
            await asyncio.sleep(self.settings.look_every)
            await self.look()

    async def look(self) -> None:
        """Notice them now."""
        try:
            await run_in_threadpool(self.refresh)
        except OSError as error:
            log.warning("cannot read %s: %s", shown(self.settings.tables), error.strerror or error)

    async def answer(self, position: Position, make: Make[Found]) -> Found:
        """At once if all blocks are in memory; else on a thread, and nobody waits for a disk."""
        try:
            return make(survey(self.tablebase, position, wait=False), False)
        except Cold:
            return await run_in_threadpool(lambda: make(survey(self.tablebase, position), True))

    @property
    def problem(self) -> str | None:
        """Why no question can be answered, if none can."""
        if not is_there(self.settings.tables):
            return f"no directory of tables at {shown(self.settings.tables)}"
        try:
            self.tokens.known()
        except CannotServe as error:
            return str(error)
        return None


async def holding(request: Request) -> Holding:
    """Not on a thread of its own, as what is not async would be: that costs more than an answer."""
    found: Holding = request.app.state.holding
    return found
