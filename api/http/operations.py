"""Routes for operators: health, readiness, version and metrics."""

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.concurrency import run_in_threadpool

from kingpair.api.http.builds import Service
from kingpair.api.http.monitoring import Metrics
from kingpair.api.http.probing import answer
from kingpair.api.http.problems import DOCUMENTED, NOT_READY, problem
from kingpair.api.http.schemas.model import answers
from kingpair.api.http.schemas.operations import Readiness, Version
from kingpair.api.http.standard import Served
from kingpair.api.version import components

router = APIRouter(tags=["Operations"], responses=DOCUMENTED)


@router.get("/healthz", response_class=PlainTextResponse)
async def healthz() -> str:
    """Whether the process answers at all."""
    return "ok\n"


@router.get("/readyz", responses=answers(Readiness))
async def readyz(served: Served, service: Service) -> Response:
    """Whether positions can be asked; `degraded` if they can, but something else is the matter.

    A load balancer keeps sending requests while, for example, builds wait for a disk.
    """
    # On a thread, so that a disk or a store that hangs does not block other requests.
    if (reason := await run_in_threadpool(lambda: served.problem)) is not None:
        return problem(NOT_READY, reason)
    problems = [{"what": what, "reason": reason} for what, reason in service.problems.items()]
    status = "degraded" if problems else "ready"
    found = {"status": status, "tables": len(served.tablebase.paths)}
    if service.starting is not None:
        found["starting"] = service.starting
    return answer(found | {"problems": problems} if problems else found)


@router.get("/version", responses=answers(Version))
async def version() -> Response:
    """The versions that a report of a fault should name."""
    return answer(components())


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """For Prometheus."""
    found: Metrics = request.app.state.metrics
    return Response(generate_latest(found.registry), media_type=CONTENT_TYPE_LATEST)
