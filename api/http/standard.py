"""Lichess's interface: `/standard` and `/standard/mainline`, which any page may read."""

import json
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from kingpair.api.answers import lichess
from kingpair.api.http import cbor
from kingpair.api.http.open_tables import ServedTables, served_tables
from kingpair.api.http.schemas.model import answers
from kingpair.api.http.schemas.positions import LichessMainline, LichessProbe
from kingpair.workers.ask.position_report import PositionReport
from kingpair.workers.game.rules import parse_fen

router = APIRouter(prefix="/standard", tags=["Lichess's interface"])
Served = Annotated[ServedTables, Depends(served_tables)]
Fen = Annotated[
    str,
    Query(
        max_length=200,
        description="The position; underscores may stand for spaces.",
        examples=["8/8/8/8/Q7/5k2/8/K3r3_w_-_-_0_1"],
    ),
]
_TEXT: dict[str, Any] = {"content": {"text/plain": {"schema": {"type": "string"}}}}
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {**_TEXT, "description": "What was wrong with it"},
    "5XX": {**_TEXT, "description": "What is wrong here"},
}


def _described(model: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """JSON by its schema, or the same as CBOR."""
    also = {"content": {"application/cbor": _BINARY}}
    return {200: answers(model)[200] | also, **_ERRORS}


@router.get("", response_class=JSONResponse, responses=_described(LichessProbe))
async def standard(request: Request, fen: Fen, served: Served) -> Response:
    """A position and all its moves, best first; `unknown` where there is no table."""
    position = parse_fen(fen)

    def made(seen: PositionReport, wait: bool) -> dict[str, Any]:
        return lichess.standard(seen, partial(served.later.of, wait=wait))

    return _encoded(request, await served.answer(position, made))


@router.get("/mainline", response_class=JSONResponse, responses=_described(LichessMainline))
async def mainline(request: Request, fen: Fen, served: Served) -> Response:
    """The best moves of both sides, until mate or until a draw can be claimed."""
    position = parse_fen(fen)
    found = await run_in_threadpool(
        lichess.mainline, served.tablebase, served.best, position, served.later.of
    )
    return _encoded(request, found)


def _encoded(request: Request, found: dict[str, Any]) -> Response:
    """Encodes an answer as JSON or CBOR, as the client accepts; any site may read it."""
    headers = {"Access-Control-Allow-Origin": "*", "Vary": "Accept"}
    if "application/cbor" in request.headers.get("accept", ""):
        return Response(cbor.dumps(found), headers=headers, media_type="application/cbor")
    text = json.dumps(found, separators=(",", ":"))
    return Response(text, headers=headers, media_type="application/json")
