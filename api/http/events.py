"""Events over HTTP: one stream for everything, and one for each build (server-sent events).

The stream of a build ends when the build does.  A client that then comes back with the last number
is answered 204, which tells a browser not to come again.

What the journal has carries its number and can be asked for again, by `Last-Event-ID` or `after`;
what is of the moment, workers and how long it will take, carries none.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from kingpair.api.answers.builds import eta_event, events_of, moment
from kingpair.api.http.build_service import BuildService
from kingpair.api.http.builds import Id, Service
from kingpair.api.http.hub import Subscriber
from kingpair.api.http.problems import DOCUMENTED, TOO_MANY, Refused
from kingpair.workers.errors import BadRequest

router = APIRouter(prefix="/api/v1", tags=["Events"], responses=DOCUMENTED)
SEND_SECONDS = 30.0
_AT_ONCE = 200  # rows
LastEventId = Annotated[
    str | None,
    Header(alias="Last-Event-ID", max_length=40, description="The last number that was seen."),
]
After = Annotated[str | None, Query(max_length=40, description="The same, for a first connection.")]
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
        "description": "Events as they happen",
    },
    429: {
        **DOCUMENTED["4XX"],
        "description": "As many clients watch events as may, on both routes together",
        "headers": {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds"}},
    },
}
_ENDS: dict[int | str, dict[str, Any]] = {
    **_STREAM,
    204: {"description": "The build has ended, and nothing was missed"},
}


class Stream(StreamingResponse):
    """The events of one reader, which leaves the hub when the answer ends, however it ends.

    The stream of a reader that takes no data for SEND_SECONDS ends.
    """

    media_type = "text/event-stream"

    def __init__(self, service: BuildService, build: str | None, after: int) -> None:
        self._hub, self._reader = service.hub, service.hub.enter(build)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(_events(service, self._reader, build, after), headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._hub.leave(self._reader)

    async def stream_response(self, send: Send) -> None:
        async def sending(message: Message) -> None:
            async with asyncio.timeout(SEND_SECONDS):
                await send(message)

        await super().stream_response(sending)


@router.get("/events", response_class=Response, responses=_STREAM)
async def every(
    request: Request, service: Service, last_event_id: LastEventId = None, after: After = None
) -> Response:
    """Everything that happens to any build."""
    return _stream(request, service, None, last_event_id or after)


@router.get("/builds/{id}/events", response_class=Response, responses=_ENDS)
async def of_one(
    request: Request,
    id: Id,
    service: Service,
    last_event_id: LastEventId = None,
    after: After = None,
) -> Response:
    """The events of one build, until it ends."""
    record = service.record(id)
    seen = last_event_id or after
    if seen is not None and _number(seen) >= record.row and record.state.has_ended:
        return Response(status_code=204)
    return _stream(request, service, id, seen)


def _stream(
    request: Request, service: BuildService, build: str | None, after: str | None
) -> Response:
    number = service.records.row if after is None else _number(after)
    if request.method == "HEAD":
        return Response(media_type=Stream.media_type)
    if service.hub.count >= (most := service.event_streams):
        detail = f"{most} event streams are open, which is the limit; try again later"
        raise Refused(TOO_MANY, detail, {"Retry-After": "10"})
    return Stream(service, build, number)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise BadRequest("no number of an event; use the `id` of one as it is")
    return int(text)


async def _events(
    service: BuildService, subscriber: Subscriber, build: str | None, after: int
) -> AsyncIterator[bytes]:
    """Yields the missed events, then the new ones: each once."""
    yield b"retry: 1500\n\n"
    end = service.records.row
    async for data in _missed(service, build, after, end):
        yield data
    for data in _now(service, build):
        yield data
    if _is_over(service, build) and subscriber.is_empty:
        return
    async for data in subscriber.events(end):
        yield data
        if _is_over(service, build) and subscriber.is_empty:
            return


def _is_over(service: BuildService, build: str | None) -> bool:
    """Whether a stream is of one build, and that has ended."""
    return build is not None and service.records.builds[build].state.has_ended


async def _missed(
    service: BuildService, build: str | None, after: int, end: int
) -> AsyncIterator[bytes]:
    while after < end:
        rows = await service.rows(after, _AT_ONCE)
        for row in rows:
            if row.id > end:
                return
            for event in events_of(service.records, row):
                if build in (None, event.build):
                    yield event.encoded()
            after = row.id
        if not rows:
            return


def _now(service: BuildService, build: str | None) -> list[bytes]:
    """Returns the present state as events, for a reader that has just connected."""
    now = time.time()
    found = [service.state_event()]
    for record in service.records.not_deleted():
        if record.is_active and build in (None, record.name):
            status = {"workers": service.workers_of(record), "nodes": service.nodes_of(record)}
            found += [
                moment("workers", record.name, now, status),
                eta_event(record, service.left(record, now), now),
            ]
    return [event.encoded() for event in found]
