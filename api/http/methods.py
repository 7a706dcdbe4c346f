"""Adds HEAD and OPTIONS to all routes of GET, so that no route has to define them.

HEAD runs the route of GET, and uvicorn leaves the body out.  OPTIONS says which methods there are;
for Lichess's interface it also answers a browser that asks whether another site may read.
"""

from fastapi import FastAPI, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

SHARED = "/standard"
MAX_AGE = 86400


def with_head_and_options(app: FastAPI, routes: list[APIRoute]) -> list[APIRoute]:
    """Adds what is missing to the application; all its routes."""
    by_path: dict[str, set[str]] = {}
    for route in routes:
        by_path.setdefault(route.path, set()).update(route.methods or ())
    found = list(routes)
    for route in routes:
        if route.methods and "GET" in route.methods and "HEAD" not in by_path[route.path]:
            by_path[route.path].add("HEAD")
            found.append(_added(app, route, route.endpoint, "HEAD"))
    for path, methods in by_path.items():
        options = _options(methods | {"OPTIONS"})
        found.append(_added(app, next(r for r in routes if r.path == path), options, "OPTIONS"))
    return found


def _added(app: FastAPI, like: APIRoute, endpoint: object, method: str) -> APIRoute:
    app.router.add_api_route(
        like.path,
        endpoint,  # type: ignore[arg-type]
        methods=[method],
        response_class=like.response_class if method == "HEAD" else Response,
        response_model=like.response_model if method == "HEAD" else None,
        include_in_schema=False,
    )
    added = app.router.routes[-1]
    assert isinstance(added, APIRoute)
    return added


def _options(methods: set[str]) -> object:
    allowed = ", ".join(sorted(methods))

    async def options(request: Request) -> Response:
        headers = {"Allow": allowed}
        if request.url.path.startswith(SHARED):
            headers |= {
                "Access-Control-Allow-Origin": "*",
                "Access-Control-Allow-Methods": allowed,
                "Access-Control-Allow-Headers": "Accept, Authorization",
                "Access-Control-Max-Age": str(MAX_AGE),
            }
        return Response(status_code=204, headers=headers)

    return options
