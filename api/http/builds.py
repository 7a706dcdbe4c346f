"""Builds over HTTP: plan, submit, look, cancel, retry, delete."""

import time
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi import Path as PathParameter
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt
from starlette.concurrency import run_in_threadpool

from kingpair.api.answers import builds
from kingpair.api.answers.build_list import BuildFilter, page
from kingpair.api.answers.owners import owners_told
from kingpair.api.answers.partition_passes import partition_passes
from kingpair.api.answers.planning import planned
from kingpair.api.http.build_service import BuildService, build_service
from kingpair.api.http.probing import answer
from kingpair.api.http.problems import DOCUMENTED, NOT_FOUND, Refused
from kingpair.api.http.schemas.builds import (
    Build,
    BuildList,
    BuildOwners,
    BuildPasses,
    Partitions,
    Plan,
)
from kingpair.api.http.schemas.model import answers
from kingpair.api.http.standard import Served
from kingpair.coordinator.journal.build_records import BuildRecord
from kingpair.coordinator.machine.state import State
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.errors import BadMaterial, BadRequest
from kingpair.workers.game.chess.material import MEN_MAX, Material
from kingpair.workers.game.chess.waves import MEN_MIN, up_to
from kingpair.workers.game.metric import Metric
from kingpair.workers.index import KING_PAIRS
from kingpair.workers.index.board import square_name
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.table.key import TableKey

router = APIRouter(prefix="/api/v1", tags=["Builds"], responses=DOCUMENTED)
Service = Annotated[BuildService, Depends(build_service)]
Id = Annotated[str, PathParameter(max_length=40, description="As it was given.", examples=["b1"])]
ACCEPTED = answers(Build, "It will be done", 202)
FOUND = answers(Build, "One like it is not over yet")


class Wish(BaseModel):
    """A request for a build: these materials, and all that their captures lead to."""

    model_config = ConfigDict(extra="forbid")
    materials: list[Annotated[str, Field(max_length=40)]] = Field(
        default_factory=list,
        min_length=1,
        examples=[["KQvKR"]],
        description="At most `materials_per_build` of them.",
    )
    men: StrictInt | None = Field(
        default=None, ge=MEN_MIN, le=MEN_MAX, description="All materials of up to so many men, too."
    )
    pawnless: StrictBool = Field(default=False, description="With `men`: none that has pawns.")
    metrics: list[Metric] = Field(default=[Metric.DTC], min_length=1, max_length=len(Metric))
    priority: StrictInt = Field(default=0, ge=-100, le=100, description="The higher, the sooner.")
    compact: StrictBool = Field(default=False, description="Smaller tables, much slower to write.")
    verify: StrictBool = Field(default=True, description="Prove each table once it is written.")
    force: StrictBool = Field(default=False, description="Build again what is there.")
    spread: StrictInt | None = Field(
        default=None, ge=1, le=KING_PAIRS, description="Workers that share each material."
    )
    syzygy: StrictBool = Field(
        default=False, description="Write Syzygy files, too; `metrics` has dtz."
    )

    def spec(self, request: Request) -> BuildSpec:
        named = dict.fromkeys(map(Material.parse, self.materials))
        most = request.app.state.served.settings.materials_per_build
        if len(named) > most:
            raise BadMaterial(f"{len(named)} materials at once; at most {most}")
        if len(self.materials) > most:
            raise BadRequest(f"{len(self.materials)} materials at once; at most {most}")
        return BuildSpec(
            materials=tuple(named | dict.fromkeys(self._by_men(bool(named)))),
            metrics=tuple(dict.fromkeys(self.metrics)),
            priority=self.priority,
            compact=self.compact,
            verify=self.verify,
            force=self.force,
            spread=self.spread,
            syzygy=self.syzygy,
            by=_by(request),
        )

    def _by_men(self, is_named: bool) -> tuple[Material, ...]:
        """The materials that `men` stands for."""
        if self.men is not None:
            return up_to(self.men, pawnless=self.pawnless)
        if self.pawnless:
            raise BadRequest("`pawnless` goes with `men`, such as 5")
        if not is_named:
            raise BadRequest("name `materials`, such as KQvKR, or give `men`, such as 5")
        return ()


@router.post("/plan", responses=answers(Plan))
async def plan(request: Request, wish: Wish, served: Served) -> Response:
    """The time and space that a build would take, and whether it fits; nothing is begun."""
    s = served.settings
    spec = wish.spec(request)
    room = s.threads, s.memory, s.scratch
    return answer(await run_in_threadpool(planned, spec, s.tables, *room))


@router.post("/builds", status_code=202, responses=ACCEPTED | FOUND)
async def submit(
    request: Request,
    wish: Wish,
    service: Service,
    idempotency_key: Annotated[
        str | None,
        Header(max_length=200, description="The same key is the same build, for ever."),
    ] = None,
) -> Response:
    """Ask for a build.  One like it that is not over is the same one, and answered with 200."""
    key = None if idempotency_key is None else f"{_by(request)}: {idempotency_key}"
    record, is_new = await service.submit(wish.spec(request), key)
    return _one(service, record, 202 if is_new else 200)


@router.get("/builds", responses=answers(BuildList))
async def every(
    service: Service,
    state: Annotated[list[State] | None, Query(description="May be given several times.")] = None,
    material: Annotated[str | None, Query(max_length=40, examples=["KQvKR"])] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """The builds, the newest first; `next` is the cursor of the next page."""
    of = None if material is None else Material.parse(material)
    wanted = BuildFilter(frozenset(state or ()), of, limit)
    found, after = page(service.records, wanted, cursor)
    now = time.time()
    listed = [builds.summary(service.records, each, service.left(each, now)) for each in found]
    return answer({"builds": listed, "next": after})


@router.get("/builds/{id}", responses=answers(Build))
async def one(id: Id, service: Service) -> Response:
    """A build with its waves, materials, passes, workers and history."""
    return _one(service, service.record(id))


@router.get("/builds/{id}/passes", responses=answers(BuildPasses))
async def passes(
    id: Id,
    service: Service,
    material: Annotated[str, Query(max_length=40, examples=["KQvKR"])],
    metric: Metric = Metric.DTC,
) -> Response:
    """The passes of one material that this build has made, by partition of the kings."""
    key = TableKey(Material.parse(material), metric)
    name = service.record(id).name
    found = await run_in_threadpool(service.journal.passes, name, str(key))
    return answer(partition_passes(key, found))


@router.get("/builds/{id}/owners", responses=answers(BuildOwners))
async def owners(
    id: Id,
    service: Service,
    material: Annotated[str, Query(max_length=40, examples=["KQvKR"])],
    metric: Metric = Metric.DTC,
) -> Response:
    """The worker that owns each partition of a material; the borders between workers, and the bytes
    that crossed them in the last pass and in all.
    """
    key = str(TableKey(Material.parse(material), metric))
    if (domain := service.record(id).domains.get(key)) is None:
        raise Refused(NOT_FOUND, f"build {id} has no table {key}; /api/v1/builds/{id} lists them")
    return answer(await run_in_threadpool(owners_told, domain))


@router.post("/builds/{id}/cancel", status_code=202, responses=ACCEPTED)
async def cancel(request: Request, id: Id, service: Service) -> Response:
    """End it; what is committed is kept, for a retry or another build."""
    return _one(service, await service.ask("cancel", id, _by(request)), 202)


@router.post("/builds/{id}/retry", status_code=202, responses=ACCEPTED)
async def retry(request: Request, id: Id, service: Service) -> Response:
    """Go on with one that was cancelled, failed or was interrupted."""
    return _one(service, await service.ask("retry", id, _by(request)), 202)


@router.delete("/builds/{id}", status_code=204)
async def delete(request: Request, id: Id, service: Service) -> Response:
    """Forget a build that is over.  Its tables stay."""
    await service.ask("delete", id, _by(request))
    return Response(status_code=204)


@router.get("/partitions", responses=answers(Partitions))
async def partitions() -> Response:
    """The 462 places of the two kings, the stronger side's first, in the order of `cells`."""
    return answer({"pairs": [[square_name(s), square_name(w)] for s, w in TURNED.squares]})


def _one(service: BuildService, record: BuildRecord, status: int = 200) -> Response:
    found = builds.details(service.records, record, service.left(record, time.time()))
    found |= {"workers": service.workers_of(record), "nodes": service.nodes_of(record)}
    location = {"Location": f"/api/v1/builds/{record.name}"}
    response = answer(found, status)
    response.headers.update(location)
    return response


def _by(request: Request) -> str:
    token = request.state.requester.token
    return token.name if token else ""
