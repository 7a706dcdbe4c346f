"""The middleware that admits or refuses requests, and the session of a browser.

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

from kingpair.api import tokens
from kingpair.api.http import admission as access
from kingpair.api.http.problems import (
    BAD_REQUEST,
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
from kingpair.workers.errors import CannotServe

router = APIRouter(prefix="/api/v1/session", tags=["Access"], responses=DOCUMENTED)
COOKIE = "kingpair"
_COST_OF_A_POSITION = 0.01  # of a batch, next to a question of its own
WRONG_PER_SECOND, WRONG_AT_ONCE = 0.5, 10
_NO_TOKEN_YET = (
    "no token was made, so only requests from this machine itself are admitted, without a proxy "
    "between; make one where the service runs: kingpair token create NAME --scope probe"
)
_SHOW_A_TOKEN = "show a token: Authorization: Bearer SECRET; kingpair token create makes one"
_ASK_FOR_ONE = {"WWW-Authenticate": 'Bearer realm="kingpair"'}


class Requester(NamedTuple):
    """The sender of a request: a token, or an address.

    `required` says whether this request needs a token, `has_shown` whether it has shown one, right
    or wrong; `advice` is the text of the refusal.
    """

    client: str
    token: tokens.Token | None
    required: bool
    has_shown: bool = False
    advice: str = _SHOW_A_TOKEN

    @property
    def scope(self) -> tokens.Scope | None:
        if not self.required:
            return tokens.Scope.ADMIN
        return self.token.scope if self.token else None


class AccessMiddleware:
    """Refuses requests by the rules of `kingpair.api.http.admission`."""

    def __init__(self, app: ASGIApp, control: "AccessControl") -> None:
        self._app, self._control = app, control

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._control.admit(scope)
        except Refused as no:
            answer = refusal(scope["path"], no.kind, no.detail, no.headers)
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)


class AccessControl:
    """Applies the rules with the tokens, the names of the service and the rate of each client."""

    def __init__(self, reader: tokens.TokenReader, names: frozenset[str], rate: float) -> None:
        self.reader, self._names = reader, names
        self._buckets = access.Buckets(rate)
        self._wrong = access.Buckets(WRONG_PER_SECOND, WRONG_AT_ONCE / WRONG_PER_SECOND)

    def admit(self, scope: Scope) -> None:
        """Stores the requester in the state of the request; raises Refused if a rule forbids it."""
        connection = HTTPConnection(scope)
        method, path, headers = scope["method"], scope["path"], connection.headers
        if len(headers.getlist("host")) > 1:
            raise Refused(BAD_REQUEST, "a request has one Host header; this one has several")
        host = headers.get("host", "")
        if not access.is_ours(host, self._names):
            raise Refused(MISDIRECTED, f"{host!r} is no name of this service; allow it with --name")
        if access.is_cross_site(method, host, headers.get("origin"), headers.get("sec-fetch-site")):
            raise Refused(CROSS_SITE, "a page of another site may not send this")
        requester = self.requester(connection)
        connection.state.requester, connection.state.access_control = requester, self
        if (needed := access.scope_of(method, path)) is not None:
            self._check(requester, needed)
        if access.is_probe(path):
            self.draw(requester, 1)

    def requester(self, connection: HTTPConnection) -> Requester:
        client = _address(connection)
        try:
            known = self.reader.known()
        except CannotServe as error:
            # Open paths stay open: they report the problem.
            if access.scope_of(connection.scope["method"], connection.scope["path"]) is None:
                return Requester(client, None, True)
            raise Refused(NOT_READY, str(error)) from error
        if not known:
            required = not _is_direct_and_local(connection)
            return Requester(client, None, required, advice=_NO_TOKEN_YET)
        secret = _secret(connection)
        token = known.get(tokens.digest(secret))
        return Requester(f"token {token.name}" if token else client, token, True, bool(secret))

    def slow_down(self, client: str) -> None:
        """Counts a wrong token; Refused once an address has shown too many.

        A right token is let in all the same: behind a proxy all clients share one address.
        """
        if wait := self._wrong.wait(client, 1, monotonic()):
            detail = f"too many wrong tokens from this address; wait {wait} s"
            raise Refused(TOO_MANY, detail, {"Retry-After": str(wait)})

    def _check(self, requester: Requester, needed: tokens.Scope) -> None:
        if requester.scope is None:
            if requester.has_shown:
                self.slow_down(requester.client)
            raise Refused(UNAUTHORIZED, requester.advice, _ASK_FOR_ONE)
        if requester.scope < needed:
            detail = f"needs a token of scope {needed}; this one's is {requester.scope}"
            raise Refused(FORBIDDEN, detail)

    def draw(self, requester: Requester, cost: float) -> None:
        if wait := self._buckets.wait(requester.client, cost, monotonic()):
            detail = f"more than {self._buckets.rate:g} positions a second; wait {wait} s"
            raise Refused(TOO_MANY, detail, {"Retry-After": str(wait)})


def draw_batch(request: Request, positions: int) -> None:
    """Counts a batch against the rate: each position costs less than a request of its own."""
    request.state.access_control.draw(request.state.requester, positions * _COST_OF_A_POSITION)


def _address(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else "none"


def _is_direct_and_local(connection: HTTPConnection) -> bool:
    """Whether a program on this machine sent this itself, without a proxy."""
    proxied = access.is_forwarded(connection.scope["headers"])
    return not proxied and access.is_this_machine(_address(connection))


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
    """The scopes of the sender.  Without tokens a client on this machine needs none."""

    required: bool
    name: str | None
    scopes: list[str]


def session_of(requester: Requester) -> Session:
    scopes = requester.scope.contained if requester.scope else []
    name = requester.token.name if requester.token else None
    return Session(required=requester.required, name=name, scopes=scopes)


@router.get("", response_model=Session)
async def session(request: Request) -> Session:
    """Whether a token is needed here, and what the client may do."""
    return session_of(request.state.requester)


@router.post("", response_model=Session)
async def begin(request: Request, offered: Offered) -> Response:
    """Keep a token in a cookie, for a browser."""
    control: AccessControl = request.state.access_control
    found = control.reader.known().get(tokens.digest(offered.token))
    if found is None:
        control.slow_down(_address(request))
        raise Refused(UNAUTHORIZED, "no such token; it may have been revoked", _ASK_FOR_ONE)
    answer = JSONResponse(session_of(Requester("", found, True)).model_dump())
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
