"""Access: what a request must show before anybody looks at it.  Pure: a request is four strings.

Host              an address, localhost or a name of ours: a page that has rebound its own name
                  to this machine's address is not served
Origin, Sec-...   whatever changes something comes from our own page or from no page at all
a token           none as long as none was made, for then only this machine can ask
its scope         by path and method; what nobody thought of is the administrator's alone
how often         a bucket for each client, that fills steadily and that each probe draws from
"""

import ipaddress
import math
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from api.tokens import Scope

SAFE = {"GET", "HEAD", "OPTIONS"}
OPEN = {"/", "/docs", "/openapi.json", "/healthz", "/readyz", "/version", "/api/v1/session"}
"""For everybody: nothing of the tables is in them."""
_PROBES = ("/standard", "/api/v1/probe", "/api/v1/line")
_BUILDING = ("/api/v1/builds",)
_READ_BY_POST = {"/api/v1/probe", "/api/v1/plan"}


def scope_of(method: str, path: str) -> Scope | None:
    """What a request needs; None if it is open to everybody."""
    if path in OPEN or path.startswith("/page/"):
        return None
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
    """How much each client may still ask: `rate` a second, and what gathers in `seconds` of rest.

    Nothing is kept of a client that has rested: its bucket is full.
    """

    rate: float
    seconds: float = 2.0
    most: int = 10_000
    _levels: "OrderedDict[str, tuple[float, float]]" = field(default_factory=OrderedDict)

    def wait(self, client: str, cost: float, now: float) -> int:
        """Whole seconds until this can be asked: 0, and it is drawn, or how long to wait."""
        full = self.rate * self.seconds
        level, since = self._levels.pop(client, (full, now))
        level = min(full, level + (now - since) * self.rate)
        # Whoever asks for more than a bucket holds pays with all of the next ones.
        may = level >= min(cost, full)
        self._levels[client] = (level - cost if may else level), now
        if len(self._levels) > self.most:
            self._levels.popitem(last=False)
        return 0 if may else max(1, math.ceil((min(cost, full) - level) / self.rate))
