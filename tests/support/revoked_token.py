"""A service on all addresses whose last token is revoked while it runs, asked at every route.

    python revoked_token.py TABLES STATE

Prints a JSON list of [peer, method, path, status].  To be run in a network namespace whose loopback
device also has the address OTHER, from which requests come as they would from another machine.
"""

import http.client
import json
import sys
from pathlib import Path
from typing import Any

from services import running

from kingpair.api.tokens import Scope, Tokens

OTHER = "10.77.0.1"
_EXAMPLES = {"{id}": "b1", "{name}": "KQvK", "{material}": "KQvK", "{metric}": "dtc"}


def asked(address: str, port: int, method: str, path: str, secret: str = "") -> tuple[int, bytes]:
    """The answer to a request that leaves from the address that it goes to."""
    connection = http.client.HTTPConnection(address, port, 10, source_address=(address, 0))
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, b"" if "event-stream" in str(answer.headers) else answer.read()
    connection.close()
    return found


def routes(described: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    for path, item in described["paths"].items():
        for name, value in _EXAMPLES.items():
            path = path.replace(name, value)
        assert "{" not in path, path
        found += [(method.upper(), path) for method in item]
    return found


def main(tables: Path, state: Path) -> None:
    tokens = Tokens(state)
    secret = tokens.create("only", Scope.ADMIN)
    words = ("--tables", str(tables), "--state", str(state), "--host", "0.0.0.0", "--port", "0")
    with running(*words) as (_, url):
        port = int(url.rstrip("/").rpartition(":")[2])
        status, body = asked(OTHER, port, "GET", "/openapi.json")
        assert status == 200
        assert asked(OTHER, port, "GET", "/api/v1/tables", secret)[0] == 200
        tokens.revoke("only")
        found = [
            (peer, method, path, asked(peer, port, method, path, secret)[0])
            for peer in (OTHER, "127.0.0.1")
            for method, path in [*routes(json.loads(body)), ("PUT", "/no/such/path")]
        ]
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
