"""The service as the tests meet it: a client of the application, or a process of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from api.service.application import create
from api.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
OWN = "http://127.0.0.1:8000"


@contextmanager
def client_of(tables: Path, look_every: float = 60) -> Iterator[TestClient]:
    with client_with(Settings(tables=tables, look_every=look_every)) as client:
        yield client


@contextmanager
def client_with(settings: Settings) -> Iterator[TestClient]:
    with TestClient(
        create(settings),
        base_url=OWN,
        raise_server_exceptions=False,
        follow_redirects=False,
    ) as client:
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


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "api.cli", "serve", *words]


def running(*words: str) -> "AbstractContextManager[tuple[subprocess.Popen[str], str]]":
    return started(command(*words), ROOT, {"PYTHONPATH": str(ROOT)})


@contextmanager
def started(
    words: list[str], at: Path, settings: dict[str, str]
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and the address that it prints."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1"} | settings
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=at,
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            found = re.search(r"http://\S+", said)
            assert found, said + (process.stderr.read() if process.stderr else "")
            yield process, found[0]
        finally:
            process.kill()
