"""Errors over HTTP: this module turns every error into a problem document (RFC 9457).

The types are stable, and each is a section of the service's page of documentation.  Lichess's
interface answers errors in plain text, with the same statuses.
"""

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from kingpair.api.text import plain_reason
from kingpair.workers.errors import (
    BadMaterial,
    BadPosition,
    BadRequest,
    BadSelection,
    CannotBuild,
    CannotServe,
    DamagedTable,
    ForeignTable,
    KingpairError,
    MissingTableError,
)

log = logging.getLogger("kingpair")


class ProblemKind(NamedTuple):
    """The last part of a problem's type, its status, and its title."""

    name: str
    status: int
    title: str


BAD_REQUEST = ProblemKind("bad-request", 400, "The request cannot be understood")
NOT_READY = ProblemKind("not-ready", 503, "The service cannot answer now")
UNAUTHORIZED = ProblemKind("unauthorized", 401, "Who asks?")
FORBIDDEN = ProblemKind("forbidden", 403, "This token does not allow it")
CROSS_SITE = ProblemKind("cross-site", 403, "Another site may not ask for this")
MISDIRECTED = ProblemKind("misdirected", 421, "This service goes by other names")
TOO_MANY = ProblemKind("too-many", 429, "Too many at once")
NOT_FOUND = ProblemKind("not-found", 404, "Nothing is here")
CONFLICT = ProblemKind("conflict", 409, "Not as things are")
KEY_REUSED = ProblemKind("key-reused", 422, "This key was used for something else")
INTERNAL = ProblemKind("internal", 500, "The service has a fault")
REFUSED = ProblemKind("http", 400, "The request was refused")  # with whatever status it was
KINDS: dict[type[KingpairError], ProblemKind] = {
    BadMaterial: ProblemKind("bad-material", 400, "No such material"),
    BadPosition: ProblemKind("bad-position", 400, "No such position"),
    BadRequest: BAD_REQUEST,
    BadSelection: BAD_REQUEST,
    CannotBuild: NOT_READY,
    CannotServe: NOT_READY,
    MissingTableError: ProblemKind("missing-table", 404, "No table"),
    DamagedTable: ProblemKind("damaged-table", 500, "A table is damaged"),
    ForeignTable: ProblemKind("foreign-table", 500, "A table is not what its name says"),
}
BY_STATUS = {
    400: BAD_REQUEST,
    404: NOT_FOUND,
    405: ProblemKind("method-not-allowed", 405, "Not this method"),
    413: ProblemKind("too-large", 413, "The request is too large"),
    416: ProblemKind("range-not-satisfiable", 416, "No such bytes"),
    500: INTERNAL,
    503: NOT_READY,
}


class Problem(BaseModel):
    """An error as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str


_UNREAD = "There was an error parsing the body"  # as FastAPI says it
MEDIA = "application/problem+json"
_CONTENT = {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}
DOCUMENTED: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Problem, "content": _CONTENT, "description": "What was wrong with it"},
    "5XX": {"model": Problem, "content": _CONTENT, "description": "What is wrong here"},
}


def problem(kind: ProblemKind, detail: str, headers: dict[str, str] | None = None) -> Response:
    body = Problem(type=f"/docs#{kind.name}", title=kind.title, status=kind.status, detail=detail)
    return JSONResponse(body.model_dump(), kind.status, headers, media_type=MEDIA)


class Refused(Exception):
    """Refuses a request for a reason that has nothing to do with tables."""

    def __init__(
        self, kind: ProblemKind, detail: str, headers: dict[str, str] | None = None
    ) -> None:
        self.kind, self.detail, self.headers = kind, detail, headers


def kind_of(error: KingpairError) -> ProblemKind:
    return next((kind for of, kind in KINDS.items() if isinstance(error, of)), INTERNAL)


def refusal(path: str, kind: ProblemKind, detail: str, headers: Any = None) -> Response:
    """A problem, or plain text where Lichess's clients look for it."""
    if path.startswith("/standard"):
        return PlainTextResponse(
            f"{detail}\n", kind.status, {**(headers or {}), "Access-Control-Allow-Origin": "*"}
        )
    return problem(kind, detail, headers)


def _answer(request: Request, kind: ProblemKind, detail: str, headers: Any = None) -> Response:
    return refusal(request.url.path, kind, detail, headers)


def install(app: FastAPI, routes: list[APIRoute]) -> None:
    app.state.routes = routes
    handlers: dict[type[Exception], Callable[..., Any]] = {
        KingpairError: _ours,
        Refused: _refused,
        RequestValidationError: _invalid,
        HTTPException: _http,
        Exception: _fault,
    }
    for of, handler in handlers.items():
        app.add_exception_handler(of, handler)


async def _ours(request: Request, error: KingpairError) -> Response:
    kind = kind_of(error)
    if kind.status >= 500:
        log.error("%s", error)
    return _answer(request, kind, str(error))


async def _refused(request: Request, error: Refused) -> Response:
    return _answer(request, error.kind, error.detail, error.headers)


async def _invalid(request: Request, error: RequestValidationError) -> Response:
    said = [f"{_place(each)}: {plain_reason(each['msg'])}" for each in error.errors()]
    return _answer(request, BAD_REQUEST, "; ".join(said)[:1000])


def _place(error: dict[str, Any]) -> str:
    """Where a request is wrong: `body.fens.0`, or `body` if it is no JSON."""
    where = error["loc"][:1] if error["type"] == "json_invalid" else error["loc"]
    return ".".join(map(str, where))


async def _http(request: Request, error: HTTPException) -> Response:
    known = BY_STATUS.get(error.status_code)
    kind = known or REFUSED._replace(status=error.status_code)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        # A path may be several routes, each of which knows its own methods alone.
        headers["Allow"] = ", ".join(sorted(_allowed(request)))
    return _answer(request, kind, _detail(request, error), headers)


def _detail(request: Request, error: HTTPException) -> str:
    """Returns the detail of an error; an advice if the framework has set none but its status."""
    if error.detail != HTTPStatus(error.status_code).phrase:
        return "the body cannot be read; send JSON" if error.detail == _UNREAD else error.detail
    if error.status_code == 404:
        return f"no path {request.url.path[:100]!r}; /docs lists the paths of this service"
    if error.status_code == 405:
        methods = ", ".join(sorted(_allowed(request)))
        return f"{request.method[:20]!r} is not a method of this path; it takes {methods}"
    return error.detail


def _allowed(request: Request) -> set[str]:
    routes: list[APIRoute] = request.app.state.routes
    path = request.url.path
    found = (route.methods or set() for route in routes if route.path_regex.match(path))
    return set().union(*found)


async def _fault(request: Request, error: Exception) -> Response:
    # The middleware outside has logged it, with its traceback.
    return _answer(request, INTERNAL, "a fault of the service; its log says more")
