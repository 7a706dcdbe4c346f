"""The service as the tests meet it: a client of the application, no socket in between."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from api.service.application import create
from api.service.holding import Settings


@contextmanager
def client_of(tables: Path, look_every: float = 60) -> Iterator[TestClient]:
    app = create(Settings(tables, look_every))
    with TestClient(app, raise_server_exceptions=False, follow_redirects=False) as client:
        yield client


def got(client: TestClient, path: str, **parameters: str) -> Any:
    """The JSON of an answer that must be there."""
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer: Any, status: int, kind: str) -> str:
    """Why: what a problem of that kind says in detail."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert set(body) == {"type", "title", "status", "detail"}
    assert (body["type"], body["status"]) == (f"/docs#{kind}", status)
    return str(body["detail"])
