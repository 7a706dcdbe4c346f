"""For who runs the service: is it there, can it answer, what is it, how does it do."""

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.service.monitoring import Metrics
from api.service.probing import ANSWERED, answer
from api.service.problems import DOCUMENTED, NOT_READY, problem
from api.service.standard import Held
from api.version import components

router = APIRouter(tags=["Operations"])


@router.get("/healthz", response_class=PlainTextResponse)
async def healthz() -> str:
    """Whether the process answers at all."""
    return "ok\n"


@router.get("/readyz", responses=ANSWERED | {"5XX": DOCUMENTED["5XX"]})
async def readyz(held: Held) -> Response:
    """Whether there is a directory of tables to answer from."""
    if (reason := held.problem) is not None:
        return problem(NOT_READY, reason)
    return answer({"status": "ready", "tables": len(held.tablebase.paths)})


@router.get("/version", responses=ANSWERED)
async def version() -> Response:
    """The versions that a report of a fault should name."""
    return answer(components())


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """For Prometheus."""
    found: Metrics = request.app.state.metrics
    return Response(generate_latest(found.registry), media_type=CONTENT_TYPE_LATEST)
