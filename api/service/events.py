"""Events over HTTP: one stream for everything, and one for each build (server-sent events).

What the journal has carries its number and can be asked for again, by `Last-Event-ID` or `after`;
what is of the moment, workers and how long it will take, carries none.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response, StreamingResponse
from starlette.types import Message, Send

from api.builds import eta_event, events_of, moment
from api.service.building import AtWork, Id
from api.service.problems import DOCUMENTED, TOO_MANY, Refused
from api.service.works import Works
from workers.errors import BadRequest

router = APIRouter(prefix="/api/v1", tags=["Events"], responses=DOCUMENTED)
SEND_SECONDS = 30.0
READERS = 1000
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
    }
}


class Stream(StreamingResponse):
    """A reader that takes nothing for too long is let go of."""

    media_type = "text/event-stream"

    async def stream_response(self, send: Send) -> None:
        async def sending(message: Message) -> None:
            async with asyncio.timeout(SEND_SECONDS):
                await send(message)

        await super().stream_response(sending)


@router.get("/events", response_class=Response, responses=_STREAM)
async def every(at: AtWork, last_event_id: LastEventId = None, after: After = None) -> Response:
    """Everything that happens to any build."""
    return _stream(at, None, last_event_id or after)


@router.get("/builds/{id}/events", response_class=Response, responses=_STREAM)
async def of_one(
    id: Id, at: AtWork, last_event_id: LastEventId = None, after: After = None
) -> Response:
    """What happens to one build."""
    at.story(id)
    return _stream(at, id, last_event_id or after)


def _stream(at: Works, build: str | None, after: str | None) -> Response:
    number = at.ledger.row if after is None else _number(after)
    if at.hub.count >= READERS:
        raise Refused(TOO_MANY, f"{READERS} watch already", {"Retry-After": "10"})
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Stream(_events(at, build, number), headers=headers)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise BadRequest("no number of an event; use the `id` of one as it is")
    return int(text)


async def _events(at: Works, build: str | None, after: int) -> AsyncIterator[bytes]:
    """First what was missed, then what happens; nothing twice and nothing left out."""
    with at.hub.reader(build) as reader:
        yield b"retry: 1500\n\n"
        end = at.ledger.row
        async for data in _missed(at, build, after, end):
            yield data
        for data in _now(at, build):
            yield data
        async for data in reader.events(end):
            yield data


async def _missed(at: Works, build: str | None, after: int, end: int) -> AsyncIterator[bytes]:
    while after < end:
        rows = await at.rows(after, _AT_ONCE)
        for row in rows:
            if row.id > end:
                return
            for event in events_of(at.ledger, row):
                if build in (None, event.build):
                    yield event.encoded()
            after = row.id
        if not rows:
            return


def _now(at: Works, build: str | None) -> list[bytes]:
    """How things are, for one who has just come."""
    now = time.time()
    found = [at.state_event()]
    for story in at.ledger.there():
        if story.is_active and build in (None, story.name):
            lanes = {"workers": at.lanes(story)}
            found += [moment("workers", story.name, now, lanes), eta_event(story, at.threads, now)]
    return [event.encoded() for event in found]
