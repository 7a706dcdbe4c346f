"""The builds of the service: their records, kept up to date from the journal.

    a request -> a line to the build process -> its answer, once its journal rows are applied
    the build process reports a new journal row -> rows are read -> records, and events

The build process alone writes the journal; this process reads it.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from kingpair.api.answers.builds import Json, SentEvent, eta_event, events_of, moment, positions
from kingpair.api.executors import OWN
from kingpair.api.http.build_process_client import ANSWER_SECONDS, BuildProcessClient
from kingpair.api.http.hub import Hub
from kingpair.api.http.open_tables import ServedTables
from kingpair.api.http.problems import NOT_FOUND, NOT_READY, Refused
from kingpair.api.http.times_left import TimesLeft
from kingpair.api.settings import Settings
from kingpair.coordinator.execute.recorder import JOURNAL
from kingpair.coordinator.execute.room import is_full
from kingpair.coordinator.journal.build_records import BuildRecord, BuildRecords
from kingpair.coordinator.journal.countdown import Left
from kingpair.coordinator.journal.reader import JournalReader
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import Became, PassCommitted, TablePublished
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.errors import KingpairError
from kingpair.workers.store.filesystem import uri_of

log = logging.getLogger("kingpair")
_AVERAGED = 8  # passes, of which a worker's throughput is the mean
_TICK_SECONDS = 1.0
_ROWS_AT_ONCE = 1000  # rows


class BuildService:
    """Submits builds to the process of the queue, and keeps their records up to date."""

    def __init__(self, settings: Settings, served: ServedTables) -> None:
        self._settings, self._served = settings, served
        self.records = BuildRecords()
        self.hub = Hub()
        self.workers: Mapping[str, list[Json]] = {}
        self.nodes: Mapping[str, list[Json]] = {}
        self.problems: dict[str, str] = {}
        self.starting: str | None = None  # a step before builds can begin
        self.observe = _unobserved
        self._times = TimesLeft(settings.threads)
        self.journal = JournalReader(settings.state_directory / JOURNAL)
        self._process = BuildProcessClient(settings, self._on_message)
        self._has_news = asyncio.Event()
        self._rows_applied = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def event_streams(self) -> int:
        return self._settings.event_streams

    async def begin(self) -> None:
        await self._read(is_live=False)
        is_left = any(not s.state.has_ended and s.is_queued for s in self.records.not_deleted())
        if is_left or self._settings.cluster == OWN:
            self._process.start()
        self._tasks = [asyncio.create_task(self._follow()), asyncio.create_task(self._tick())]

    async def end(self) -> None:
        self.hub.close()
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self._process.end()

    # ---- requests ----

    async def submit(self, spec: BuildSpec, key: str | None) -> tuple[BuildRecord, bool]:
        answer = await self._ask("submit", spec=spec.as_json(), key=key)
        return self.records.builds[answer["build"]], answer["is_new"]

    async def ask(self, what: str, name: str, by: str) -> BuildRecord:
        """Cancel, retry or delete."""
        self.record(name)
        await self._ask(what, build=name, by=by)
        return self.records.builds[name]

    def record(self, name: str) -> BuildRecord:
        found = self.records.builds.get(name)
        if found is None or found.deleted:
            raise Refused(NOT_FOUND, f"no build {name!r}; /api/v1/builds lists them")
        return found

    def workers_of(self, build: BuildRecord) -> list[Json]:
        """Returns the status of its workers; none once it has ended."""
        return self.workers.get(build.name, []) if build.is_active else []

    def nodes_of(self, build: BuildRecord) -> list[Json]:
        """Returns the nodes that it may use, those without a worker too; none once it has ended."""
        return self.nodes.get(build.name, []) if build.is_active else []

    def left(self, build: BuildRecord, now: float) -> Left | None:
        """Returns the time until a build is over; None if it is or is not planned yet."""
        return self._times.left(self.records, build, self._served.names, now)

    async def _ask(self, what: str, **fields: Any) -> Any:
        answer = await self._process.ask({"ask": what, **fields})
        await self._wait_for_row(answer["row"])
        return answer

    async def _wait_for_row(self, row: int) -> None:
        """Waits until the records have applied a row of the journal."""
        self._has_news.set()
        try:
            async with asyncio.timeout(ANSWER_SECONDS), self._rows_applied:
                await self._rows_applied.wait_for(lambda: self.records.row >= row)
        except TimeoutError:
            detail = "it was done, but the journal cannot be read"
            raise Refused(NOT_READY, detail, {"Retry-After": "5"}) from None

    # ---- messages of the build process ----

    def _on_message(self, message: Json) -> None:
        if "row" in message:
            self._has_news.set()
        elif "workers" in message:
            self._publish_workers(message["build"], message["workers"], message["nodes"])
        elif "troubles" in message:
            for what in ("cluster", "builds"):
                self._set_problem(what, message["troubles"].get(what))
        elif "starting" in message:
            self._set_starting(message["starting"])
        elif "ready" in message:
            self._set_problem("builds", None if message["ready"] else message["reason"])

    def _publish_workers(self, name: str | None, found: list[Json], nodes: list[Json]) -> None:
        build = self.records.builds.get(name or "")
        workers = [self._worker(build, status) for status in found] if build else []
        self.workers = {} if name is None else {name: workers}
        self.nodes = {} if name is None else {name: nodes}
        status = {"workers": workers, "nodes": nodes}
        self.hub.publish(moment("workers", name, time.time(), status))

    def _worker(self, build: BuildRecord, status: Json) -> Json:
        """Returns the status with positions per second, as the mean of the last passes: a single
        one may be too short to measure.
        """
        share: float = status.pop("share")
        domain = build.domains.get(f"{status['domain']}.{status['metric']}")
        solving = domain.under_way if domain and domain.state == "solving" else None
        passes = solving.passes[-_AVERAGED:] if solving else []
        seconds, rate = sum(pass_.seconds for pass_ in passes), None
        if domain and solving and seconds > 0:
            share *= positions(domain.material)
            if domain.levels:
                share *= solving.structures / sum(level.structures for level in domain.levels)
            rate = round(share * len(passes) / seconds)
        return status | {"positions_per_second": rate}

    # ---- rows of the journal ----

    async def _follow(self) -> None:
        """Applies new rows when the build process reports one, and now and then without that."""
        while True:
            # Not wait_for: before Python 3.12 it may lose that this task is cancelled.
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.look_every):
                    await self._has_news.wait()
            self._has_news.clear()
            await self._read(is_live=True)

    async def _read(self, is_live: bool) -> None:
        try:
            while rows := await run_in_threadpool(
                self.journal.rows, self.records.row, _ROWS_AT_ONCE
            ):
                await self._apply_rows(rows, is_live)
                if len(rows) < _ROWS_AT_ONCE:
                    break
        except KingpairError as error:
            self._set_problem("journal", str(error))
        else:
            self._set_problem("journal", None)

    async def _apply_rows(self, rows: list[Row], is_live: bool) -> None:
        if any(row.build not in self.records.builds for row in rows):
            for submitted in await run_in_threadpool(self.journal.builds):
                self.records.enter(submitted)
        if is_live and any(isinstance(row.record, TablePublished) for row in rows):
            # Clients may probe a table as soon as an event names it.
            await self._served.look()
        for row in rows:
            build = self.records.apply(row)
            if is_live and build is not None:
                self._times.see(build, row.time)
            if is_live:
                self._publish_row(row)
        async with self._rows_applied:
            self._rows_applied.notify_all()

    def _publish_row(self, row: Row) -> None:
        if isinstance(row.record, Became):
            fields = {"build": row.build, "state": row.record.state, "reason": row.record.reason}
            log.info("build", extra={"fields": fields})
        if isinstance(row.record, PassCommitted) and (pass_ := self.records.pass_of(row)):
            self.observe(pass_.seconds, pass_.exchanged)
        if self.hub.has_readers:
            for event in events_of(self.records, row):
                self.hub.publish(event)

    async def rows(self, after: int, limit: int) -> list[Row]:
        return await run_in_threadpool(self.journal.rows, after, limit)

    # ---- the state of the service ----

    async def _tick(self) -> None:
        """Looks at the disk and publishes the estimates of running builds, once a second."""
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            self._set_problem("disk", await run_in_threadpool(self._disk_problem))
            if self.hub.has_readers:
                for build in self.records.not_deleted():
                    if build.is_active:
                        now = time.time()
                        self.hub.publish(eta_event(build, self.left(build, now), now))

    def _disk_problem(self) -> str | None:
        tables = self._settings.tables
        if uri_of(tables) is not None or not is_full(tables):
            return None
        return f"the disk of {tables} is full; builds wait until there is room"

    def _set_problem(self, what: str, reason: str | None) -> None:
        """Notes a problem or its end, and publishes the state of the service if it changed."""
        if self.problems.get(what) == reason:
            return
        self.problems.pop(what, None)
        if reason is not None:
            self.problems[what] = reason
            log.error("%s: %s", what, reason)
        else:
            log.info("%s: well again", what)
        self.hub.publish(self.state_event())

    def _set_starting(self, step: str | None) -> None:
        """Notes and publishes a step before builds can begin, or that they can."""
        if step == self.starting:
            return
        self.starting = step
        log.info("builds: %s", step or "can begin")
        self.hub.publish(self.state_event())

    def state_event(self) -> SentEvent:
        state, reason = "ready", ""
        if self.problems:
            state, reason = "degraded", "; ".join(self.problems.values())
        elif self.starting is not None:
            state, reason = "starting", f"Builds wait: {self.starting}"
        return moment("service", None, time.time(), {"state": state, "reason": reason})


def _unobserved(seconds: float, exchanged: int) -> None:
    """Ignores a pass; used until there are metrics."""


async def build_service(request: Request) -> BuildService:
    found: BuildService = request.app.state.builds
    return found
