"""Facts about running the service: its metrics, its description, its beginning and its end."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from services import ROOT, client_of, command, got, running
from starlette.testclient import TestClient

from kingpair.workers.table.page_cache import FINDS

pytestmark = pytest.mark.slow  # each starts a service

LONGEST = "8/8/8/8/Q7/5k2/8/K3r3_w_-_-_0_1"


@pytest.fixture(scope="module")
def client(tables: Path) -> Iterator[TestClient]:
    with client_of(tables) as found:
        yield found


def metric(client: TestClient, name: str) -> float:
    for line in client.get("/metrics").text.splitlines():
        if line.startswith(f"{name} "):
            return float(line.rpartition(" ")[2])
    return 0


def test_requests_are_counted_by_route_and_status(client: TestClient) -> None:
    for fen, status in ((LONGEST, 200), ("x", 400)):
        name = f'kingpair_requests_total{{route="/standard",status="{status}"}}'
        before = metric(client, name)
        client.get("/standard", params={"fen": fen})
        assert metric(client, name) == before + 1
    assert metric(client, 'kingpair_request_seconds_count{route="/standard"}') >= 2


def test_a_block_is_decoded_once(client: TestClient) -> None:
    # The first answers read few blocks, later ones all of their position.  A block is decoded when
    # its values were found a few times.
    for _ in range(2 * (FINDS + 1)):
        got(client, "/standard", fen=LONGEST)
    misses, hits = (metric(client, f"kingpair_cache_{each}") for each in ("misses", "hits"))
    got(client, "/standard", fen=LONGEST)
    assert metric(client, "kingpair_cache_misses") == misses
    assert metric(client, "kingpair_cache_hits") > hits


def test_the_version_names_what_runs(client: TestClient) -> None:
    named = {"kingpair", "commit", "kernels", "ray", "python", "pyarrow"}
    assert set(got(client, "/version")) == named


def test_every_route_is_described(client: TestClient) -> None:
    described = got(client, "/openapi.json")
    assert {
        "/standard",
        "/standard/mainline",
        "/api/v1/probe",
        "/api/v1/line",
        "/api/v1/tables",
        "/api/v1/tables/{material}",
        "/api/v1/tables/{material}/statistics",
        "/api/v1/tables/{material}/statistics.parquet",
        "/api/v1/tables/{material}/file",
        "/api/v1/tables/{material}/longest",
        "/api/v1/tables/{material}/zugzwangs",
        "/api/v1/tables/{material}/sample",
        "/api/v1/tables/{material}/passes",
        "/api/v1/tables/{material}/sha256",
        "/healthz",
        "/readyz",
        "/version",
        "/api/v1/session",
        "/api/v1/plan",
        "/api/v1/builds",
        "/api/v1/builds/{id}",
        "/api/v1/builds/{id}/cancel",
        "/api/v1/builds/{id}/retry",
        "/api/v1/builds/{id}/events",
        "/api/v1/builds/{id}/owners",
        "/api/v1/builds/{id}/passes",
        "/api/v1/events",
        "/api/v1/partitions",
        "/metrics",
    } == set(described["paths"])
    answers = [
        set(operation["responses"])
        for item in described["paths"].values()
        for operation in item.values()
    ]
    assert not any("422" in each for each in answers)


# A real server


def test_it_answers_and_stops_when_told(tables: Path) -> None:
    with running("--tables", str(tables), "--port", "0") as (process, url):
        assert url.startswith("http://127.0.0.1:")
        with urlopen(f"{url}standard?fen={LONGEST}", timeout=10) as answer:
            assert json.load(answer)["dtc"] == 31
        with urlopen(url, timeout=10) as answer:
            assert b"kingpair" in answer.read()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_every_route_of_get_has_head_and_options(client: TestClient) -> None:
    for route in client.app.state.routes:  # type: ignore[attr-defined]
        path = re.sub("{material}", "KQvKR", re.sub("{name}", "main.js", route.path))
        if (
            "GET" in route.methods
            and "{" not in path
            and "fen" not in str(route.dependant.query_params)
        ):
            assert client.head(path).status_code == 200, path
            assert client.options(path).status_code == 204, path


def said(process: "subprocess.Popen[str]") -> list[dict[str, object]]:
    assert process.stderr is not None
    return [json.loads(line) for line in process.stderr]


def test_a_clean_stop_is_told_from_a_crash_in_the_log(tables: Path, tmp_path: Path) -> None:
    words = ("--tables", str(tables), "--state", str(tmp_path), "--port", "0")
    for how in (signal.SIGKILL, signal.SIGTERM):
        with running(*words) as (process, url):
            with urlopen(f"{url}healthz", timeout=10):
                pass
            process.send_signal(how)
            process.wait(10)
            messages = [entry["message"] for entry in said(process)]
        if how == signal.SIGKILL:
            assert messages == ["service started"]
    crashed = "the last service crashed or was killed"
    assert messages == [crashed, "service started", "service stopped"]
    with running(*words) as (process, url):
        process.send_signal(signal.SIGTERM)
        process.wait(10)
        assert crashed not in [entry["message"] for entry in said(process)]


def test_a_connection_that_says_nothing_stops_nobody(tables: Path) -> None:
    with running("--tables", str(tables), "--port", "0") as (process, url):
        port = int(url.rstrip("/").rpartition(":")[2])
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
        began = time.monotonic()
        with urlopen(f"{url}standard?fen={LONGEST}", timeout=10) as answer:
            assert answer.status == 200
        assert time.monotonic() - began < 5
        for each in silent:
            each.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def refusal(*words: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command(*words), capture_output=True, text=True, env=environment, timeout=60
    )
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_other_machines_are_not_let_in(tables: Path, host: str) -> None:
    assert "--host 127.0.0.1" in refusal("--tables", str(tables), "--host", host)


def test_a_directory_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    at = tmp_path / "new" / "tables"
    with running("--tables", str(at), "--port", "0") as (_, url):
        with urlopen(f"{url}readyz", timeout=10) as answer:
            assert json.load(answer)["tables"] == 0
        assert at.is_dir()


def test_a_directory_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "choose another --tables" in refusal("--tables", str(tmp_path / "file" / "tables"))


def test_a_port_in_use_is_said_in_one_line(tables: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "--port" in refusal("--tables", str(tables), "--port", port)
