"""The layer that lets requests in or not, and the session of a browser.

A browser cannot add a header to what it loads by itself, such as a stream of events or a download:
so a session is the token in a cookie that no script can read and no other site can send.
"""

from time import monotonic
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from api import access, tokens
from api.service.problems import (
    CROSS_SITE,
    DOCUMENTED,
    FORBIDDEN,
    MISDIRECTED,
    NOT_READY,
    TOO_MANY,
    UNAUTHORIZED,
    Refused,
    refusal,
)
from workers.errors import CannotServe

router = APIRouter(prefix="/api/v1/session", tags=["Access"], responses=DOCUMENTED)
COOKIE = "kingpair"
_COST_OF_A_POSITION = 0.01  # of a batch, next to a question of its own


class Asker(NamedTuple):
    """Who asks: with a token, or from this machine while there is none."""

    client: str
    token: tokens.Token | None
    required: bool

    @property
    def scope(self) -> tokens.Scope | None:
        if not self.required:
            return tokens.Scope.ADMIN
        return self.token.scope if self.token else None


class Guard:
    """Who may come in: everything about it is decided in `api.access`."""

    def __init__(self, app: ASGIApp, door: "Door") -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._door.admit(scope)
        except Refused as no:
            answer = refusal(scope["path"], no.kind, no.detail, no.headers)
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)


class Door:
    """The rules with what they rest on: tokens, names, and how often each client has asked."""

    def __init__(self, reader: tokens.Reader, names: frozenset[str], rate: float) -> None:
        self.reader, self._names = reader, names
        self._buckets = access.Buckets(rate)

    def admit(self, scope: Scope) -> None:
        """Refused, or the request's state has an `asker`."""
        connection = HTTPConnection(scope)
        method, path, headers = scope["method"], scope["path"], connection.headers
        host = headers.get("host", "")
        if not access.is_ours(host, self._names):
            raise Refused(MISDIRECTED, f"{host!r} is no name of this service; allow it with --name")
        if access.is_cross_site(method, host, headers.get("origin"), headers.get("sec-fetch-site")):
            raise Refused(CROSS_SITE, "a page of another site may not send this")
        asker = self.asker(connection)
        connection.state.asker, connection.state.door = asker, self
        if (needed := access.scope_of(method, path)) is not None:
            _check(asker, needed)
        if access.is_probe(path):
            self.draw(asker, 1)

    def asker(self, connection: HTTPConnection) -> Asker:
        client = connection.client.host if connection.client else "none"
        try:
            known = self.reader.known()
        except CannotServe as error:
            # What is open to everybody stays so: it says what is the matter.
            if access.scope_of(connection.scope["method"], connection.scope["path"]) is None:
                return Asker(client, None, True)
            raise Refused(NOT_READY, str(error)) from error
        if not known:
            return Asker(client, None, False)
        token = known.get(tokens.digest(_secret(connection)))
        return Asker(f"token {token.name}" if token else client, token, True)

    def draw(self, asker: Asker, cost: float) -> None:
        if wait := self._buckets.wait(asker.client, cost, monotonic()):
            detail = f"more than {self._buckets.rate:g} positions a second; wait {wait} s"
            raise Refused(TOO_MANY, detail, {"Retry-After": str(wait)})


def draw_batch(request: Request, positions: int) -> None:
    """A batch counts too, though less than as many questions."""
    request.state.door.draw(request.state.asker, positions * _COST_OF_A_POSITION)


def _check(asker: Asker, needed: tokens.Scope) -> None:
    if asker.scope is None:
        detail = "show a token: Authorization: Bearer SECRET; kingpair token create makes one"
        raise Refused(UNAUTHORIZED, detail, {"WWW-Authenticate": 'Bearer realm="kingpair"'})
    if asker.scope < needed:
        raise Refused(FORBIDDEN, f"needs a token of scope {needed}; this one's is {asker.scope}")


def _secret(connection: HTTPConnection) -> str:
    kind, _, secret = connection.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return secret.strip()
    return connection.cookies.get(COOKIE, "") if "cookie" in connection.headers else ""


# ---- the session of a browser ----


class Offered(BaseModel):
    """A token's secret."""

    token: str = Field(max_length=200)


class Session(BaseModel):
    """What the asker may do; nothing has to be shown as long as no token was made."""

    required: bool
    name: str | None
    scopes: list[str]


def session_of(asker: Asker) -> Session:
    scopes = asker.scope.contained if asker.scope else []
    name = asker.token.name if asker.token else None
    return Session(required=asker.required, name=name, scopes=scopes)


@router.get("", response_model=Session)
async def session(request: Request) -> Session:
    """Whether a token is needed here, and what the asker may do."""
    return session_of(request.state.asker)


@router.post("", response_model=Session)
async def begin(request: Request, offered: Offered) -> Response:
    """Keep a token in a cookie, for a browser."""
    door: Door = request.state.door
    found = door.reader.known().get(tokens.digest(offered.token))
    if found is None:
        detail = "no such token; it may have been revoked"
        raise Refused(UNAUTHORIZED, detail, {"WWW-Authenticate": 'Bearer realm="kingpair"'})
    answer = JSONResponse(session_of(Asker("", found, True)).model_dump())
    secure = request.url.scheme == "https"
    answer.set_cookie(COOKIE, offered.token, httponly=True, samesite="strict", secure=secure)
    return answer


@router.delete("", status_code=204)
async def end(request: Request) -> Response:
    """Forget the token."""
    answer = Response(status_code=204)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


# ---- the description ----


def describe(schema: dict[str, Any], required: bool) -> dict[str, Any]:
    """Say of each operation what token it needs, by the rule that lets requests in."""
    if not required:
        return schema
    schemes = schema.setdefault("components", {}).setdefault("securitySchemes", {})
    schemes["token"] = {"type": "http", "scheme": "bearer"}
    schemes["session"] = {"type": "apiKey", "in": "cookie", "name": COOKIE}
    for path, item in schema["paths"].items():
        for method, operation in item.items():
            if (needed := access.scope_of(method.upper(), path)) is not None:
                operation["security"] = [{"token": []}, {"session": []}]
                operation["x-scope"] = str(needed)
    return schema
