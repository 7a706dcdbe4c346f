"""The FastAPI application: routes, middlewares, and the start and stop of its services."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from kingpair.api.http import builds as building
from kingpair.api.http import events, operations, probing, problems, standard, studies, tables
from kingpair.api.http import guard as access
from kingpair.api.http import static as page
from kingpair.api.http.build_service import BuildService
from kingpair.api.http.methods import with_head_and_options
from kingpair.api.http.monitoring import BODY_BYTES, Metrics, MonitoringMiddleware
from kingpair.api.http.open_tables import ServedTables
from kingpair.api.settings import Settings
from kingpair.api.tokens import TokenReader
from kingpair.api.version import components

DESCRIPTION = """\
Chess endgames, solved exactly: build tables, watch them being built, ask them.

Without tokens only this machine may ask, and not through a proxy; as soon as there is one, a
request needs one of the scope that `x-scope` names.  A request has at most {body} bytes, a batch
{batch} positions, a build {materials} materials.  At most {queued} builds wait in the queue, at
most {streams} clients watch events, and a client may ask for {probes} positions a second, of which
a hundred in a batch count as one: beyond that the answer is 429, and `Retry-After` says when to ask
again.  The answer is 429, too, after {wrong} wrong tokens from one address.
"""


def create(settings: Settings) -> FastAPI:
    """Creates the application; MissingTableError if there is no directory of tables."""
    served = ServedTables(settings)
    builds = BuildService(settings, served)
    metrics = Metrics(served.tablebase, builds)
    app = FastAPI(
        title="kingpair",
        description=_description(settings),
        version=components()["kingpair"],
        lifespan=_living,
        openapi_url=None,  # a route of ours, as any other
        docs_url=None,
        redoc_url=None,
    )
    app.state.served, app.state.metrics, app.state.builds = served, metrics, builds
    routes = []
    for part in (standard, probing, tables, studies, building, events, access, operations, page):
        app.include_router(part.router)
        routes += [route for route in part.router.routes if isinstance(route, APIRoute)]
    problems.install(app, with_head_and_options(app, routes))
    app.add_exception_handler(tables.OtherSpelling, tables.redirected)
    control = access.AccessControl(
        served.tokens, frozenset(map(str.lower, settings.names)), settings.probes_per_second
    )
    app.add_middleware(access.AccessMiddleware, control=control)
    app.add_middleware(MonitoringMiddleware, metrics=metrics)
    _describe(app, served.tokens, settings)
    return app


def _description(settings: Settings) -> str:
    return DESCRIPTION.format(
        body=f"{BODY_BYTES:,}",
        batch=f"{probing.AT_ONCE:,}",
        materials=settings.materials_per_build,
        queued=settings.queued_builds,
        streams=settings.event_streams,
        wrong=access.WRONG_AT_ONCE,
        probes=f"{settings.probes_per_second:,.0f}",
    )


def _describe(app: FastAPI, reader: TokenReader, settings: Settings) -> None:
    """Adds to the description what depends on settings, and on whether there are tokens."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        schema = deepcopy(describe())
        wish = schema["components"]["schemas"]["Wish"]["properties"]
        wish["materials"]["maxItems"] = settings.materials_per_build
        return access.describe(schema, bool(reader.known()))

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI has it done


@asynccontextmanager
async def _living(app: FastAPI) -> AsyncIterator[None]:
    served: ServedTables = app.state.served
    builds: BuildService = app.state.builds
    watching = asyncio.create_task(served.watch())
    await builds.begin()
    try:
        yield
    finally:
        await builds.end()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        served.tablebase.close()
        served.tokens.close()
