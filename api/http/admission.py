"""The rules of access that a request must meet.  Pure: a request is four strings.

Host              an address, localhost or a name of ours: a page that has rebound its own name
                  to this machine's address is not served
Origin, Sec-...   a request that changes something comes from our own page or from no page
a token           without tokens only a peer on this machine is admitted, without a proxy between
its scope         by path and method; a path that has no rule is the administrator's alone
how often         a bucket for each client, that fills steadily and that each probe draws from
"""

import ipaddress
import math
from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from kingpair.api.tokens import Scope

SAFE = {"GET", "HEAD", "OPTIONS"}
OPEN = {"/", "/docs", "/openapi.json", "/healthz", "/readyz", "/version", "/api/v1/session"}
"""Paths that need no token: they show nothing of the tables."""
_PROBES = ("/standard", "/api/v1/probe", "/api/v1/line")
_SHARED = ("/standard",)
_BUILDING = ("/api/v1/builds",)
_READ_BY_POST = {"/api/v1/probe", "/api/v1/plan"}


def scope_of(method: str, path: str) -> Scope | None:
    """The scope that a request needs; None if it needs no token."""
    if path in OPEN or path.startswith("/page/"):
        return None
    if method == "OPTIONS" and under(path, _SHARED):
        return None  # a browser asks without the token that it is going to send
    if method in SAFE or path in _READ_BY_POST:
        return Scope.PROBE
    return Scope.BUILD if under(path, _BUILDING) else Scope.ADMIN


def is_probe(path: str) -> bool:
    return under(path, _PROBES)


def under(path: str, prefixes: Collection[str]) -> bool:
    return any(path == prefix or path.startswith(f"{prefix}/") for prefix in prefixes)


@lru_cache(maxsize=1000)
def is_ours(host: str, names: frozenset[str]) -> bool:
    """Whether a Host header names this service.  An address cannot be rebound."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    return name == "localhost" or name in names or is_address(name)


_FORWARDED = (b"forwarded", b"x-real-ip", b"via", b"true-client-ip", b"cf-connecting-ip")


def is_forwarded(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a request has a header that a proxy adds: the peer is the proxy then, not the client.

    Names of headers are in lower case.
    """
    return any(name.startswith(b"x-forwarded-") or name in _FORWARDED for name, _ in headers)


def is_this_machine(peer: str | None) -> bool:
    """Whether the address of a connection's other end is a loopback address."""
    try:
        address = ipaddress.ip_address(peer or "")
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_cross_site(method: str, host: str, origin: str | None, site: str | None) -> bool:
    """Whether a page of another site has sent what would change something."""
    if method in SAFE:
        return False
    if site is not None and site not in ("same-origin", "none"):
        return True
    return origin is not None and _host_of(origin) != host.lower()


def _host_of(origin: str) -> str | None:
    try:
        found = urlsplit(origin)
    except ValueError:
        return None
    return found.netloc.lower() if found.scheme in ("http", "https") else None


@dataclass
class Buckets:
    """Counts the requests that each client has left: `rate` a second, saved up for `seconds`.

    A client whose bucket is full again is forgotten.
    """

    rate: float
    seconds: float = 2.0
    most: int = 10_000
    _levels: "OrderedDict[str, tuple[float, float]]" = field(default_factory=OrderedDict)

    def wait(self, client: str, cost: float, now: float) -> int:
        """Draws `cost` from the client's bucket and returns 0, or returns the seconds to wait."""
        full = self.rate * self.seconds
        level, since = self._levels.pop(client, (full, now))
        level = min(full, level + (now - since) * self.rate)
        # A request that costs more than a full bucket leaves a debt for the next ones.
        may = level >= min(cost, full)
        self._levels[client] = (level - cost if may else level), now
        if len(self._levels) > self.most:
            self._levels.popitem(last=False)
        return 0 if may else max(1, math.ceil((min(cost, full) - level) / self.rate))
