"""Starts the build process, sends it questions, and replaces it when it has ended.

    ask(question) -> a line to the process -> the line with the answer -> its future is resolved
    other lines of the process -> `on_message`

The process (build_process.py) is started when there is a build to do.  If it is lost, the next one
goes on from the committed passes.
"""

import asyncio
import json
import logging
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

from kingpair.api.answers.builds import Json
from kingpair.api.http import build_process
from kingpair.api.http.problems import CONFLICT, KEY_REUSED, NOT_FOUND, NOT_READY, TOO_MANY, Refused
from kingpair.api.settings import Settings

log = logging.getLogger("kingpair")
ANSWER_SECONDS = 30.0
STOP_SECONDS = 8.0
_KINDS = {
    "conflict": CONFLICT,
    "key-reused": KEY_REUSED,
    "not-found": NOT_FOUND,
    "too-many": TOO_MANY,
}


class BuildProcessClient:
    """The service's end of the build process."""

    def __init__(self, settings: Settings, on_message: Callable[[Json], None]) -> None:
        self._settings, self._on_message = settings, on_message
        self._process: Process | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._has_reported = asyncio.Event()
        self._is_ready = False
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._numbers = count(1)
        self._reason = "the build process has not begun"

    def start(self) -> None:
        if self._supervisor is None:
            self._supervisor = asyncio.create_task(self._supervise())

    async def ask(self, question: Json) -> Any:
        """Returns the answer to a question; raises Refused if there is none."""
        self.start()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._has_reported.wait()
                if self._is_ready:
                    return await self._send(question)
                detail = self._reason
        except TimeoutError:
            detail = f"no answer from the build process: {self._reason}"
        raise Refused(NOT_READY, detail, {"Retry-After": "5"})

    async def _send(self, question: Json) -> Any:
        number = next(self._numbers)
        future = self._pending[number] = asyncio.get_running_loop().create_future()
        try:
            assert self._process is not None
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps({"id": number, **question}).encode() + b"\n")
            return await future
        finally:
            del self._pending[number]

    async def end(self) -> None:
        if self._supervisor is not None:
            self._supervisor.cancel()
            with suppress(asyncio.CancelledError):
                await self._supervisor
        if self._process is not None and self._process.returncode is None:
            await _stop(self._process)

    async def _supervise(self) -> None:
        """Starts the process, and another one each time it ends; waits if it ended quickly."""
        wait = 0.2
        while True:
            began = time.monotonic()
            try:
                self._process = await self._start_process()
            except OSError as error:  # the system is out of processes, files or memory
                self._report_not_ready(
                    f"no build process can be started: {error.strerror or error}"
                )
                self._has_reported.set()
            else:
                await self._listen(self._process)
                self._on_exit(await self._process.wait())
            wait = 0.2 if time.monotonic() - began > 10 else min(5.0, 2 * wait)
            await asyncio.sleep(wait)

    async def _start_process(self) -> Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            build_process.__name__,
            json.dumps(_options(self._settings)),
            stdin=PIPE,
            stdout=PIPE,
            limit=1 << 22,
            start_new_session=True,
        )

    async def _listen(self, process: Process) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            message = json.loads(line)
            if "id" in message:
                self._resolve(message)
                continue
            if "ready" in message:
                self._is_ready, self._reason = message["ready"], message.get("reason", self._reason)
                self._has_reported.set()
            self._on_message(message)

    def _resolve(self, message: Json) -> None:
        future = self._pending.get(message["id"])
        if future is None or future.done():
            return
        if "answer" in message:
            future.set_result(message["answer"])
        else:
            refusal = message["refused"]
            kind = _KINDS.get(refusal["kind"], NOT_READY)
            headers = {"Retry-After": "10"} if kind in (TOO_MANY, NOT_READY) else None
            future.set_exception(Refused(kind, refusal["detail"], headers))

    def _on_exit(self, code: int) -> None:
        self._is_ready = False
        has_given_reason = code == build_process.CANNOT_BEGIN
        if not has_given_reason:  # that reason holds until the next process reports
            self._has_reported.clear()
        if code == build_process.CLUSTER_LOST:  # the process has reported the cluster itself
            self._reason = "the cluster is gone, and the build process begins anew"
        elif not has_given_reason:
            self._report_not_ready(
                f"the build process was lost ({code}); another one takes its place"
            )
        for future in self._pending.values():
            if not future.done():
                future.set_exception(Refused(NOT_READY, self._reason, {"Retry-After": "2"}))

    def _report_not_ready(self, reason: str) -> None:
        self._reason = reason
        self._on_message({"ready": False, "reason": reason})


async def _stop(process: Process) -> None:
    """Ends a process.  Committed passes are kept."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        log.warning("the build process did not stop in %g s and is killed", STOP_SECONDS)
        process.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()


def _options(settings: Settings) -> Json:
    """Returns the settings that the process needs."""
    return {
        "state": str(settings.state_directory),
        "out": str(settings.tables),
        "threads": settings.threads,
        "memory": settings.memory,
        "scratch": None if settings.scratch is None else str(settings.scratch),
        "logs": None if settings.logs is None else str(settings.logs),
        "parts_from": settings.parts_from,
        "workers": settings.workers if settings.cluster else None,
        "cluster": settings.cluster,
        "queued": settings.queued_builds,
        "level": settings.level,
        "verbose": settings.verbose,
    }
