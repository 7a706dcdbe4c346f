"""Facts about connections: those that say nothing, too much, or too little at a time."""

import resource
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import pytest
from services import running

from kingpair.api.http import connections

pytestmark = pytest.mark.slow  # each starts a service

PROBE = "standard?fen=8/8/8/8/Q7/5k2/8/K3r3_w_-_-_0_1"


@pytest.fixture
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 3000:
        pytest.skip("this process may not open 3000 files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 3000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


POST = b"POST /api/v1/probe HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"


def port_of(url: str) -> int:
    return int(url.rstrip("/").rpartition(":")[2])


@pytest.mark.usefixtures("many_files")
@pytest.mark.parametrize("files", [400, 4096])
def test_two_thousand_connections_that_say_nothing_stop_no_probe(tables: Path, files: int) -> None:
    with (
        running("--tables", str(tables), "--port", "0", files=files) as (_, url),
        ExitStack() as stack,
    ):
        for number in range(2000):
            silent = stack.enter_context(socket.create_connection(("127.0.0.1", port_of(url))))
            if number % 2:
                silent.sendall(b"GET /standard?fen=")
            if number % 500 == 0:
                with urlopen(f"{url}{PROBE}", timeout=10) as answer:
                    assert answer.status == 200
        for _ in range(20):
            with urlopen(f"{url}{PROBE}", timeout=10) as answer:
                assert answer.status == 200


def test_a_head_has_an_end(tables: Path) -> None:
    with (
        running("--tables", str(tables), "--port", "0") as (_, url),
        socket.create_connection(("127.0.0.1", port_of(url)), timeout=10) as talker,
    ):
        talker.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        said = b""
        for _ in range(40):
            try:
                talker.sendall(b"X-More: " + b"x" * 4000 + b"\r\n")
            except OSError:
                break
        while piece := _read(talker):
            said += piece
        assert said == b"" or said.startswith(b"HTTP/1.1 400")


def _read(talker: socket.socket) -> bytes:
    try:
        return talker.recv(4096)
    except ConnectionError:
        return b""


def test_a_request_that_does_not_end_is_given_up(
    tables: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code = (
        "import sys; from kingpair.api.http import connections\n"
        "connections.REQUEST_SECONDS = 0.3; sys.argv = sys.argv[:1] + ['serve'] + sys.argv[1:]\n"
        "from kingpair.api.cli.main import main; main()"
    )
    script = tmp_path / "short_limits.py"
    script.write_text(code, encoding="utf-8")
    started = [sys.executable, str(script)]
    monkeypatch.setattr("services.command", lambda *words: [*started, *words])
    with running("--tables", str(tables), "--port", "0") as (_, url):
        for said in (b"", b"GET /", POST):
            with socket.create_connection(("127.0.0.1", port_of(url)), timeout=10) as talker:
                talker.sendall(said)
                assert _read(talker) == b""


def test_a_client_that_reads_nothing_is_dropped_by_the_kernel() -> None:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        connections.limit_send_time(opened)
        with socket.create_connection(opened.getsockname()) as _:
            taken, _ = opened.accept()
            limit = taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            assert limit == connections.TAKE_SECONDS * 1000
            taken.close()
