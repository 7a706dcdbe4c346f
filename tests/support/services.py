"""The service as the tests meet it: a client of the application, or a process of its own."""

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from starlette.testclient import TestClient

from kingpair.api.http.application import create
from kingpair.api.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
OWN = "http://127.0.0.1:8000"


@contextmanager
def client_of(tables: Path, look_every: float = 60) -> Iterator[TestClient]:
    with client_with(Settings(tables=tables, look_every=look_every)) as client:
        yield client


@contextmanager
def client_with(settings: Settings, peer: str = "127.0.0.1") -> Iterator[TestClient]:
    with TestClient(
        create(settings),
        base_url=OWN,
        client=(peer, 50000),
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


class ReceivedEvent(NamedTuple):
    """An event of a stream."""

    id: str | None
    event: str
    data: Any


def received_events(stream: IO[bytes]) -> Iterator[ReceivedEvent]:
    """The events of a stream, as a browser takes it apart."""
    fields: dict[str, str] = {}
    for line in stream:
        text = line.decode().rstrip("\n")
        if text.startswith(":"):
            continue
        if text:
            name, _, value = text.partition(": ")
            fields[name] = value
            continue
        if "data" in fields:
            yield ReceivedEvent(fields.get("id"), fields["event"], json.loads(fields["data"]))
        fields = {}


def until(is_so: Callable[[], Any], seconds: float = 150) -> Any:
    """Waits until a condition holds and returns its value; there is a limit to waiting."""
    end = time.monotonic() + seconds
    while not (found := is_so()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return found


def over(client: TestClient, name: str) -> Any:
    """A build once it has ended."""

    def ended() -> Any:
        build = got(client, f"/api/v1/builds/{name}")
        return build if build["ended"] is not None else None

    return until(ended)


def command(*words: str) -> list[str]:
    """A service builds in its own process unless a test names a cluster: Ray takes seconds."""
    where = () if "--cluster" in words else ("--in-process",)
    return [sys.executable, "-m", "kingpair", "serve", *where, *words]


def running(
    *words: str, files: int = 0, **settings: str
) -> "AbstractContextManager[tuple[subprocess.Popen[str], str]]":
    return started(command(*words), ROOT, {"PYTHONPATH": str(ROOT)} | settings, files)


@contextmanager
def started(
    words: list[str], at: Path, settings: dict[str, str], files: int = 0
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and the address that it prints; it may have so many files open, if not as many
    as we.
    """

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    environment = os.environ | {"PYTHONUNBUFFERED": "1"} | settings
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=at,
        preexec_fn=limited if files else None,
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            found = re.search(r"http://\S+", said)
            assert found, said + (process.stderr.read() if process.stderr else "")
            yield process, found[0]
        finally:
            process.kill()
