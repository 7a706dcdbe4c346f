"""The works: the foreman in a process of its own, and what the service knows of builds.

    asked    -> a line to the foreman -> its answer, once the ledger has come as far
    the foreman says how far the journal has come -> rows are read -> the ledger, and events for all

A foreman is hired when there is something to build and not before.  If it is lost another one takes
its place, and goes on from what is committed.
"""

import asyncio
import json
import logging
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from api import foreman_process
from api.builds import Event, Json, eta_event, events_of, moment, positions
from api.service.holding import Holding
from api.service.hub import Hub
from api.service.problems import CONFLICT, KEY_REUSED, NOT_FOUND, NOT_READY, TOO_MANY, Refused
from api.settings import Settings
from coordinator.book import JOURNAL
from coordinator.commands import Became, PassCommitted, TablePublished
from coordinator.foreman import is_full
from coordinator.journal import Row
from coordinator.ledger import Ledger, Story
from coordinator.reading import Reading
from coordinator.wanted import Wanted
from workers.errors import KingpairError
from workers.geometry import PAIRS
from workers.store import uri_of

log = logging.getLogger("kingpair")
ROOT = Path(__file__).resolve().parent.parent.parent
STOP_SECONDS = 8.0
_ANSWER_SECONDS = 30.0
_AVERAGED = 8  # passes, of which a worker's throughput is the mean
_BEAT_SECONDS = 1.0
_AT_ONCE = 1000  # rows
_KINDS = {
    "conflict": CONFLICT,
    "key-reused": KEY_REUSED,
    "not-found": NOT_FOUND,
    "too-many": TOO_MANY,
}


class Works:
    """Builds as the service knows them."""

    def __init__(self, settings: Settings, held: Holding) -> None:
        self._settings, self._held = settings, held
        self.ledger = Ledger()
        self.hub = Hub()
        self.workers: Mapping[str, list[Json]] = {}
        self.problems: dict[str, str] = {}
        self.observe = _unobserved
        self._reading = Reading(settings.state_directory / JOURNAL)
        self._line = Line(settings, self._hear)
        self._news = asyncio.Event()
        self._further = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def threads(self) -> int:
        return self._settings.threads

    async def begin(self) -> None:
        await self._read(is_live=False)
        if any(not s.state.has_ended and s.is_queued_here for s in self.ledger.there()):
            self._line.hire()
        self._tasks = [asyncio.create_task(self._follow()), asyncio.create_task(self._beat())]

    async def end(self) -> None:
        self.hub.close()
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self._line.end()

    # ---- asked ----

    async def submit(self, wanted: Wanted, key: str | None) -> tuple[Story, bool]:
        answer = await self._ask("submit", wanted=asdict(wanted), key=key)
        return self.ledger.stories[answer["build"]], answer["is_new"]

    async def ask(self, what: str, name: str, by: str) -> Story:
        """Cancel, retry or delete."""
        self.story(name)
        await self._ask(what, build=name, by=by)
        return self.ledger.stories[name]

    def story(self, name: str) -> Story:
        found = self.ledger.stories.get(name)
        if found is None or found.deleted:
            raise Refused(NOT_FOUND, f"no build {name!r}")
        return found

    def lanes(self, story: Story) -> list[Json]:
        """What its workers do; that of a build that has just ended may not have been told yet."""
        return self.workers.get(story.name, []) if story.is_active else []

    async def _ask(self, what: str, **fields: Any) -> Any:
        answer = await self._line.ask({"ask": what, **fields})
        await self._come_to(answer["row"])
        return answer

    async def _come_to(self, row: int) -> None:
        self._news.set()
        try:
            async with asyncio.timeout(_ANSWER_SECONDS), self._further:
                await self._further.wait_for(lambda: self.ledger.row >= row)
        except TimeoutError:
            detail = "it was done, but the journal cannot be read"
            raise Refused(NOT_READY, detail, {"Retry-After": "5"}) from None

    # ---- what the foreman says ----

    def _hear(self, said: Json) -> None:
        if "row" in said:
            self._news.set()
        elif "workers" in said:
            self._at_work(said["build"], said["workers"])
        elif "troubles" in said:
            for what in ("cluster", "builds"):
                self._is(what, said["troubles"].get(what))
        elif "ready" in said:
            self._is("builds", None if said["ready"] else said["reason"])

    def _at_work(self, name: str | None, found: list[Json]) -> None:
        story = self.ledger.stories.get(name or "")
        lanes = [self._lane(story, lane) for lane in found] if story else []
        self.workers = {} if name is None else {name: lanes}
        self.hub.publish(moment("workers", name, time.time(), {"workers": lanes}))

    def _lane(self, story: Story, lane: Json) -> Json:
        """With the positions that it goes through in a second, by the last passes: a single one may
        take no time that a clock shows.
        """
        partitions = lane.pop("partitions")
        chapter = story.chapters.get(f"{lane['domain']}.{lane['metric']}")
        verses = chapter.verses[-_AVERAGED:] if chapter and chapter.state == "solving" else []
        seconds, rate = sum(verse.seconds for verse in verses), None
        if seconds > 0:
            share = positions(lane["domain"]) * partitions / len(PAIRS)
            rate = round(share * len(verses) / seconds)
        return lane | {"positions_per_second": rate}

    # ---- what the journal says ----

    async def _follow(self) -> None:
        while True:
            # Not wait_for: before Python 3.12 it may lose that this task is cancelled.
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.look_every):
                    await self._news.wait()
            self._news.clear()
            await self._read(is_live=True)

    async def _read(self, is_live: bool) -> None:
        try:
            while rows := await run_in_threadpool(self._reading.rows, self.ledger.row, _AT_ONCE):
                await self._take_in(rows, is_live)
                if len(rows) < _AT_ONCE:
                    break
        except KingpairError as error:
            self._is("journal", str(error))
        else:
            self._is("journal", None)

    async def _take_in(self, rows: list[Row], is_live: bool) -> None:
        if any(row.build not in self.ledger.stories for row in rows):
            for submitted in await run_in_threadpool(self._reading.builds):
                self.ledger.enter(submitted)
        if is_live and any(isinstance(row.record, TablePublished) for row in rows):
            # Whoever hears of a table may ask it at once.
            await self._held.look()
        for row in rows:
            self.ledger.apply(row)
            if is_live:
                self._tell(row)
        async with self._further:
            self._further.notify_all()

    def _tell(self, row: Row) -> None:
        if isinstance(row.record, Became):
            fields = {"build": row.build, "state": row.record.state, "reason": row.record.reason}
            log.info("build", extra={"fields": fields})
        if isinstance(row.record, PassCommitted) and (verse := self.ledger.verse(row)):
            self.observe(verse.seconds, verse.exchanged)
        if self.hub.has_readers:
            for event in events_of(self.ledger, row):
                self.hub.publish(event)

    async def rows(self, after: int, limit: int) -> list[Row]:
        return await run_in_threadpool(self._reading.rows, after, limit)

    # ---- the state of things ----

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            self._is("disk", await run_in_threadpool(self._disk_problem))
            if self.hub.has_readers:
                for story in self.ledger.there():
                    if story.is_active:
                        self.hub.publish(eta_event(story, self.threads, time.time()))

    def _disk_problem(self) -> str | None:
        tables = self._settings.tables
        if uri_of(tables) is not None or not is_full(tables):
            return None
        return f"the disk of {tables} is full; builds wait until there is room"

    def _is(self, what: str, reason: str | None) -> None:
        """Note what is the matter, and tell whoever watches if that is news."""
        if self.problems.get(what) == reason:
            return
        self.problems.pop(what, None)
        if reason is not None:
            self.problems[what] = reason
            log.error("%s: %s", what, reason)
        else:
            log.info("%s: well again", what)
        self.hub.publish(self.state_event())

    def state_event(self) -> Event:
        state = "degraded" if self.problems else "ready"
        reason = "; ".join(self.problems.values())
        return moment("service", None, time.time(), {"state": state, "reason": reason})


class Line:
    """The line to the foreman's process, for as long as one is hired."""

    def __init__(self, settings: Settings, hear: Callable[[Json], None]) -> None:
        self._settings, self._hear = settings, hear
        self._process: Process | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._has_said = asyncio.Event()
        self._is_ready = False
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._numbers = count(1)
        self._reason = "the foreman has not begun"

    def hire(self) -> None:
        if self._keeping is None:
            self._keeping = asyncio.create_task(self._keep())

    async def ask(self, question: Json) -> Any:
        self.hire()
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await self._has_said.wait()
                if self._is_ready:
                    return await self._answered(question)
                detail = self._reason
        except TimeoutError:
            detail = f"no answer from the foreman: {self._reason}"
        raise Refused(NOT_READY, detail, {"Retry-After": "5"})

    async def _answered(self, question: Json) -> Any:
        number = next(self._numbers)
        future = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            assert self._process is not None
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps({"id": number, **question}).encode() + b"\n")
            return await future
        finally:
            del self._asked[number]

    async def end(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeping
        if self._process is not None and self._process.returncode is None:
            await _stopped(self._process)

    async def _keep(self) -> None:
        """Hire a foreman, and another one whenever it is lost; sooner at first."""
        wait = 0.2
        while True:
            began = time.monotonic()
            try:
                self._process = await self._hired()
            except OSError as error:  # no process, no file or no memory is left
                self._missing(f"no foreman can be started: {error.strerror or error}")
                self._has_said.set()
            else:
                await self._listen(self._process)
                self._lost(await self._process.wait())
            wait = 0.2 if time.monotonic() - began > 10 else min(5.0, 2 * wait)
            await asyncio.sleep(wait)

    async def _hired(self) -> Process:
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            foreman_process.__name__,
            json.dumps(_told(self._settings)),
            stdin=PIPE,
            stdout=PIPE,
            limit=1 << 22,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )

    async def _listen(self, process: Process) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            said = json.loads(line)
            if "id" in said:
                self._settle(said)
                continue
            if "ready" in said:
                self._is_ready, self._reason = said["ready"], said.get("reason", self._reason)
                self._has_said.set()
            self._hear(said)

    def _settle(self, said: Json) -> None:
        future = self._asked.get(said["id"])
        if future is None or future.done():
            return
        if "answer" in said:
            future.set_result(said["answer"])
        else:
            no = said["refused"]
            kind = _KINDS.get(no["kind"], NOT_READY)
            headers = {"Retry-After": "10"} if kind in (TOO_MANY, NOT_READY) else None
            future.set_exception(Refused(kind, no["detail"], headers))

    def _lost(self, code: int) -> None:
        self._is_ready = False
        has_said_why = code == foreman_process.CANNOT_BEGIN
        if not has_said_why:  # else that goes for the next one until it says more
            self._has_said.clear()
        if code == foreman_process.CLUSTER_LOST:  # what became of the cluster is told already
            self._reason = "the cluster is gone, and the foreman begins anew"
        elif not has_said_why:
            self._missing(f"the foreman was lost ({code}); another one takes its place")
        for future in self._asked.values():
            if not future.done():
                future.set_exception(Refused(NOT_READY, self._reason, {"Retry-After": "2"}))

    def _missing(self, reason: str) -> None:
        self._reason = reason
        self._hear({"ready": False, "reason": reason})


async def _stopped(process: Process) -> None:
    """Let it come to rest; what is committed is committed."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        log.warning("the foreman did not stop in %g s and is killed", STOP_SECONDS)
        process.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()


def _told(settings: Settings) -> Json:
    """What a foreman has to know."""
    return {
        "state": str(settings.state_directory),
        "out": str(settings.tables),
        "threads": settings.threads,
        "memory": settings.memory,
        "workers": settings.workers if settings.cluster else None,
        "cluster": settings.cluster,
        "queued": settings.queued_builds,
        "level": settings.level,
        "verbose": settings.verbose,
    }


def _unobserved(seconds: float, exchanged: int) -> None:
    """Until there are metrics."""


async def works(request: Request) -> Works:
    found: Works = request.app.state.works
    return found
