"""The application: its parts put together, and what lives as long as it does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from api.service import (
    access,
    building,
    events,
    operations,
    page,
    probing,
    problems,
    standard,
    tables,
)
from api.service.holding import Holding
from api.service.monitoring import BODY_BYTES, Metrics, Watched
from api.service.works import Works
from api.settings import Settings
from api.tokens import Reader
from api.version import components

DESCRIPTION = """\
Chess endgames without pawns, solved exactly: build tables, watch them being built, ask them.

Without tokens only this machine may ask; as soon as there is one, a request needs one of the scope
that `x-scope` names.  A request has at most {body} bytes, a batch {batch} positions, a build
{materials} materials.  At most {queued} builds wait in the queue, and a client may ask for {probes}
positions a second, of which a hundred in a batch count as one: beyond that the answer is 429, and
`Retry-After` says when to ask again.
"""


def create(settings: Settings) -> FastAPI:
    """MissingTableError if there is no directory of tables."""
    held = Holding(settings)
    works = Works(settings, held)
    metrics = Metrics(held.tablebase, works)
    app = FastAPI(
        title="kingpair",
        description=_description(settings),
        version=components()["kingpair"],
        lifespan=_living,
        docs_url=None,
        redoc_url=None,
    )
    app.state.holding, app.state.metrics, app.state.works = held, metrics, works
    routes = []
    for part in (standard, probing, tables, building, events, access, operations, page):
        app.include_router(part.router)
        routes += [route for route in part.router.routes if isinstance(route, APIRoute)]
    problems.install(app, routes)
    app.add_exception_handler(tables.Elsewhere, tables.redirected)
    door = access.Door(
        held.tokens, frozenset(map(str.lower, settings.names)), settings.probes_per_second
    )
    app.add_middleware(access.Guard, door=door)
    app.add_middleware(Watched, metrics=metrics)
    _describe_access(app, held.tokens)
    return app


def _description(settings: Settings) -> str:
    return DESCRIPTION.format(
        body=f"{BODY_BYTES:,}",
        batch=f"{probing.AT_ONCE:,}",
        materials=settings.materials_per_build,
        queued=settings.queued_builds,
        probes=f"{settings.probes_per_second:,.0f}",
    )


def _describe_access(app: FastAPI, reader: Reader) -> None:
    """What the description says of tokens depends on whether there are any."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        return access.describe(deepcopy(describe()), bool(reader.known()))

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI has it done


@asynccontextmanager
async def _living(app: FastAPI) -> AsyncIterator[None]:
    held: Holding = app.state.holding
    works: Works = app.state.works
    watching = asyncio.create_task(held.watch())
    await works.begin()
    try:
        yield
    finally:
        await works.end()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        held.tablebase.close()
        held.tokens.close()
