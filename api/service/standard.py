"""Lichess's interface: `/standard` and `/standard/mainline`, which any page may read."""

import json
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import PlainTextResponse, Response
from starlette.concurrency import run_in_threadpool

from api import cbor, lichess
from api.service.holding import Holding, holding
from workers.fen import parse_fen
from workers.survey import Survey

router = APIRouter(prefix="/standard", tags=["Lichess's interface"])
Held = Annotated[Holding, Depends(holding)]
Fen = Annotated[
    str,
    Query(
        max_length=200,
        description="The position; underscores may stand for spaces.",
        examples=["8/8/8/8/Q7/5k2/8/K3r3_w_-_-_0_1"],
    ),
]
_TEXT: dict[str, Any] = {"content": {"text/plain": {"schema": {"type": "string"}}}}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/json": {}, "application/cbor": {}}, "description": "The answer"},
    "4XX": {**_TEXT, "description": "What was wrong with it"},
    "5XX": {**_TEXT, "description": "What is wrong here"},
}


@router.get("", response_class=PlainTextResponse, responses=_RESPONSES)
async def standard(request: Request, fen: Fen, held: Held) -> Response:
    """A position and all its moves, best first; `unknown` where there is no table."""
    position = parse_fen(fen)

    def made(seen: Survey, wait: bool) -> dict[str, Any]:
        return lichess.standard(seen, partial(held.later.proven, wait=wait))

    return _encoded(request, await held.answer(position, made))


@router.get("/mainline", response_class=PlainTextResponse, responses=_RESPONSES)
async def mainline(request: Request, fen: Fen, held: Held) -> Response:
    """The best moves of both sides, until mate or until a draw can be claimed."""
    position = parse_fen(fen)
    return _encoded(request, await run_in_threadpool(lichess.mainline, held.tablebase, position))


def _encoded(request: Request, found: dict[str, Any]) -> Response:
    """As the client accepts it; pages from anywhere may read it."""
    headers = {"Access-Control-Allow-Origin": "*", "Vary": "Accept"}
    if "application/cbor" in request.headers.get("accept", ""):
        return Response(cbor.dumps(found), headers=headers, media_type="application/cbor")
    text = json.dumps(found, separators=(",", ":"))
    return Response(text, headers=headers, media_type="application/json")
