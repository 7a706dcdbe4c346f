"""Builds over HTTP: plan, submit, look, cancel, retry, delete."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi import Path as PathParameter
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt
from starlette.concurrency import run_in_threadpool

from api import builds
from api.planning import planned
from api.service.probing import ANSWERED, OBJECT, answer
from api.service.problems import DOCUMENTED
from api.service.standard import Held
from api.service.works import Works, works
from coordinator.ledger import Story
from coordinator.state import State
from coordinator.wanted import Wanted, wanted_of
from workers.errors import BadMaterial
from workers.geometry import PAIRS, square_name
from workers.material import Material
from workers.metric import Metric

router = APIRouter(prefix="/api/v1", tags=["Builds"], responses=DOCUMENTED)
AtWork = Annotated[Works, Depends(works)]
Id = Annotated[str, PathParameter(max_length=40, description="As it was given.", examples=["b1"])]
MATERIALS = 200
ACCEPTED: dict[int | str, dict[str, Any]] = {202: {**OBJECT, "description": "It will be done"}}


class Wish(BaseModel):
    """What is to be built: these materials, and all that their captures lead to."""

    model_config = ConfigDict(extra="forbid")
    materials: list[Annotated[str, Field(max_length=40)]] = Field(
        min_length=1, max_length=MATERIALS, examples=[["KQvKR"]]
    )
    metrics: list[Metric] = Field(default=[Metric.DTC], min_length=1, max_length=2)
    priority: StrictInt = Field(default=0, ge=-100, le=100, description="The higher, the sooner.")
    compact: StrictBool = Field(default=False, description="Smaller tables, much slower to write.")
    verify: StrictBool = Field(default=True, description="Prove each table once it is written.")
    force: StrictBool = Field(default=False, description="Build again what is there.")

    def wanted(self, request: Request) -> Wanted:
        found = wanted_of(self.model_dump(mode="json") | {"by": _by(request)})
        most = request.app.state.holding.settings.materials_per_build
        if len(found.materials) > most:
            raise BadMaterial(f"{len(found.materials)} materials at once; at most {most}")
        return found


@router.post("/plan", responses=ANSWERED)
async def plan(request: Request, wish: Wish, held: Held) -> Response:
    """What a build would take, what of it is there, and whether it fits; nothing is begun."""
    s = held.settings
    wanted = wish.wanted(request)
    return answer(await run_in_threadpool(planned, wanted, s.tables, s.threads, s.memory))


@router.post("/builds", status_code=202, responses=ANSWERED | ACCEPTED)
async def submit(
    request: Request,
    wish: Wish,
    at: AtWork,
    idempotency_key: Annotated[
        str | None,
        Header(max_length=200, description="The same key is the same build, for ever."),
    ] = None,
) -> Response:
    """Ask for a build.  One like it that is not over is the same one, and answered with 200."""
    key = None if idempotency_key is None else f"{_by(request)}: {idempotency_key}"
    story, is_new = await at.submit(wish.wanted(request), key)
    return _one(at, story, 202 if is_new else 200)


@router.get("/builds", responses=ANSWERED)
async def every(
    at: AtWork,
    state: Annotated[list[State] | None, Query(description="May be given several times.")] = None,
    material: Annotated[str | None, Query(max_length=40, examples=["KQvKR"])] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """The builds, the newest first; `next` is the cursor of the next page."""
    name = None if material is None else str(Material.parse(material))
    asked = builds.Asked(frozenset(state or ()), name, limit)
    found, after = builds.page(at.ledger, asked, cursor)
    now = time.time()
    listed = [builds.summary(at.ledger, story, at.threads, now) for story in found]
    return answer({"builds": listed, "next": after})


@router.get("/builds/{id}", responses=ANSWERED)
async def one(id: Id, at: AtWork) -> Response:
    """A build with its waves, materials, passes, workers and history."""
    return _one(at, at.story(id))


@router.post("/builds/{id}/cancel", status_code=202, responses=ACCEPTED)
async def cancel(request: Request, id: Id, at: AtWork) -> Response:
    """End it; what is committed is kept, for a retry or another build."""
    return _one(at, await at.ask("cancel", id, _by(request)), 202)


@router.post("/builds/{id}/retry", status_code=202, responses=ACCEPTED)
async def retry(request: Request, id: Id, at: AtWork) -> Response:
    """Go on with one that was cancelled, failed or was interrupted."""
    return _one(at, await at.ask("retry", id, _by(request)), 202)


@router.delete("/builds/{id}", status_code=204)
async def delete(request: Request, id: Id, at: AtWork) -> Response:
    """Forget a build that is over.  Its tables stay."""
    await at.ask("delete", id, _by(request))
    return Response(status_code=204)


@router.get("/partitions", responses=ANSWERED)
async def partitions() -> Response:
    """The 462 places of the two kings, the stronger side's first, in the order of `cells`."""
    return answer({"pairs": [[square_name(s), square_name(w)] for s, w in PAIRS]})


def _one(at: Works, story: Story, status: int = 200) -> Response:
    whole = builds.whole(at.ledger, story, at.lanes(story), at.threads, time.time())
    found = answer(whole, status)
    found.headers["Location"] = f"/api/v1/builds/{story.name}"
    return found


def _by(request: Request) -> str:
    token = request.state.asker.token
    return token.name if token else ""
