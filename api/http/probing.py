"""Our own interface to positions: one, many, and the best line."""

import json
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from kingpair.api.answers import positions
from kingpair.api.http.guard import draw_batch
from kingpair.api.http.problems import DOCUMENTED
from kingpair.api.http.schemas.model import answers
from kingpair.api.http.schemas.positions import BatchValues, BestLine, Probe
from kingpair.api.http.standard import Fen, Served
from kingpair.workers.ask.position_report import PositionReport
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.rules import parse_fen

router = APIRouter(prefix="/api/v1", tags=["Positions"], responses=DOCUMENTED)
AT_ONCE = 10_000
ByMetric = Annotated[
    Metric, Query(description="Counts to conversion, dtc; to mate, dtm; plies to zeroing, dtz.")
]


class Batch(BaseModel):
    """Positions of one question, and which of the values is wanted."""

    fens: list[Annotated[str, Field(max_length=200)]] = Field(
        max_length=AT_ONCE, examples=[["8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"]]
    )
    metric: Metric = Metric.DTC


@router.get("/probe", responses=answers(Probe))
async def probe(fen: Fen, served: Served, metric: ByMetric = Metric.DTC) -> Response:
    """A position's result for its side to move, and that of every move, best first.

    `result` is null where there is no table for it.
    """
    position = parse_fen(fen)

    def made(seen: PositionReport, wait: bool) -> dict[str, Any]:
        phases = partial(served.later.of, wait=wait)
        return positions.probed(served.tablebase, seen, metric, phases)

    return answer(await served.answer(position, made))


@router.post("/probe", responses=answers(BatchValues))
async def probe_many(request: Request, batch: Batch, served: Served) -> Response:
    """The results of up to ten thousand positions, in their order."""
    draw_batch(request, len(batch.fens))
    found = await run_in_threadpool(served.tablebase.probe_batch, batch.fens, batch.metric)
    return Response(positions.batch(found, batch.metric), media_type="application/json")


@router.get("/line", responses=answers(BestLine))
async def line(
    fen: Fen,
    served: Served,
    metric: ByMetric = Metric.DTC,
    until_claim: Annotated[
        bool, Query(description="End where a draw can be claimed under the fifty-move rule.")
    ] = False,
) -> Response:
    """The best moves of both sides to mate, each with the position after it, and the PGN."""
    position = parse_fen(fen)
    return answer(
        await run_in_threadpool(
            positions.line, served.tablebase, served.best, position, metric, until_claim
        )
    )


def answer(found: Any, status: int = 200) -> Response:
    """Plain JSON as an answer; it is not validated again, which would cost more than a probe."""
    return Response(json.dumps(found, separators=(",", ":")), status, media_type="application/json")
