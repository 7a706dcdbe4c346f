"""Our own interface to positions: one, many, and the best line."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from api import positions
from api.service.access import draw_batch
from api.service.problems import DOCUMENTED
from api.service.standard import Fen, Held
from workers.fen import parse_fen
from workers.metric import Metric

router = APIRouter(prefix="/api/v1", tags=["Positions"], responses=DOCUMENTED)
AT_ONCE = 10_000
ByMetric = Annotated[Metric, Query(description="To mate or conversion, dtc, or to mate, dtm.")]
OBJECT: dict[str, Any] = {"content": {"application/json": {"schema": {"type": "object"}}}}
ANSWERED: dict[int | str, dict[str, Any]] = {200: {**OBJECT, "description": "The answer"}}


class Batch(BaseModel):
    """Positions of one question, and which of the values is wanted."""

    fens: list[Annotated[str, Field(max_length=200)]] = Field(
        max_length=AT_ONCE, examples=[["8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"]]
    )
    metric: Metric = Metric.DTC


@router.get("/probe", responses=ANSWERED)
async def probe(fen: Fen, held: Held, metric: ByMetric = Metric.DTC) -> Response:
    """A position's result for its side to move, and that of every move, best first.

    `result` is null where there is no table for it.
    """
    position = parse_fen(fen)
    return answer(
        await held.answer(position, lambda seen, _: positions.probed(held.tablebase, seen, metric))
    )


@router.post("/probe", responses=ANSWERED)
async def probe_many(request: Request, batch: Batch, held: Held) -> Response:
    """The results of up to ten thousand positions, in their order."""
    draw_batch(request, len(batch.fens))
    found = await run_in_threadpool(held.tablebase.probe_batch, batch.fens, batch.metric)
    return answer(positions.batch(found, batch.metric))


@router.get("/line", responses=ANSWERED)
async def line(fen: Fen, held: Held, metric: ByMetric = Metric.DTC) -> Response:
    """The best moves of both sides to mate, each with the position after it, and the PGN."""
    position = parse_fen(fen)
    return answer(await run_in_threadpool(positions.line, held.tablebase, position, metric))


def answer(found: Any, status: int = 200) -> Response:
    """Made already of what JSON has: nothing needs to be looked through again."""
    return Response(json.dumps(found, separators=(",", ":")), status, media_type="application/json")
