"""For who runs the service: is it there, can it answer, what is it, how does it do."""

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.concurrency import run_in_threadpool

from api.service.building import AtWork
from api.service.monitoring import Metrics
from api.service.probing import ANSWERED, answer
from api.service.problems import DOCUMENTED, NOT_READY, problem
from api.service.standard import Held
from api.version import components

router = APIRouter(tags=["Operations"], responses=DOCUMENTED)


@router.get("/healthz", response_class=PlainTextResponse)
async def healthz() -> str:
    """Whether the process answers at all."""
    return "ok\n"


@router.get("/readyz", responses=ANSWERED)
async def readyz(held: Held, at: AtWork) -> Response:
    """Whether positions can be asked; `degraded` if they can, but something else is the matter.

    Whoever sends requests here goes on doing so while builds wait for a disk, say.
    """
    # On a thread: a disk or a store that hangs is not to hold up who else asks.
    if (reason := await run_in_threadpool(lambda: held.problem)) is not None:
        return problem(NOT_READY, reason)
    problems = [{"what": what, "reason": reason} for what, reason in at.problems.items()]
    status = "degraded" if problems else "ready"
    found = {"status": status, "tables": len(held.tablebase.paths)}
    return answer(found | {"problems": problems} if problems else found)


@router.get("/version", responses=ANSWERED)
async def version() -> Response:
    """The versions that a report of a fault should name."""
    return answer(components())


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """For Prometheus."""
    found: Metrics = request.app.state.metrics
    return Response(generate_latest(found.registry), media_type=CONTENT_TYPE_LATEST)
