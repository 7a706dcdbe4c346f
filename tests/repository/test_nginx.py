"""Facts about nginx in front of the service, with the file in deploy/."""

import re
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest
from deploy_files import DEPLOY, checked, text_of, tool
from services import running, until

from kingpair.api.tokens import Scope, Tokens

CONF = DEPLOY / "nginx" / "kingpair.conf"
NAME = "tables.example.org"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Front(NamedTuple):
    """Where nginx listens, and the certificate that it shows."""

    plain: int
    secure: int
    certificate: Path

    @contextmanager
    def ask(self, path: str, headers: Mapping[str, str] | None = None) -> Iterator[HTTPResponse]:
        trusted = ssl.create_default_context(cafile=str(self.certificate))
        with closing(HTTPSConnection("127.0.0.1", self.secure, timeout=20)) as link:
            connected = socket.create_connection(("127.0.0.1", self.secure), 20)
            link.sock = trusted.wrap_socket(connected, server_hostname=NAME)
            link.request("GET", path, headers={"Host": NAME, **(headers or {})})
            with link.getresponse() as answer:
                yield answer

    def status(self, path: str, headers: Mapping[str, str] | None = None) -> int:
        with self.ask(path, headers) as answer:
            answer.read()
            return answer.status


def written(place: Path, upstream: int) -> Front:
    """The file as it stands, with a certificate, and on ports that anybody may have."""
    front = Front(free_port(), free_port(), place / "fullchain.pem")
    key = place / "privkey.pem"
    subject = ("-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}")
    new = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    checked(tool("openssl"), *new, *subject, "-keyout", key, "-out", front.certificate)
    text = re.sub(r".*listen \[::\].*\n", "", text_of(CONF))
    for before, after in (
        ("server 127.0.0.1:8000", f"server 127.0.0.1:{upstream}"),
        ("listen 80", f"listen 127.0.0.1:{front.plain}"),
        ("listen 443", f"listen 127.0.0.1:{front.secure}"),
        ("/etc/ssl/kingpair", str(place)),
    ):
        assert before in text
        text = text.replace(before, after)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {place}/{kind};\n" for kind in kinds)
    (place / "kingpair.conf").write_text(text, encoding="utf-8")
    (place / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {place}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; {places} include {place}/kingpair.conf; }}\n",
        encoding="utf-8",
    )
    return front


@contextmanager
def front_of(place: Path, upstream: int) -> Iterator[Front]:
    """nginx at work before what listens on a port."""
    front = written(place, upstream)
    command = [tool("nginx"), "-p", str(place), "-c", str(place / "nginx.conf")]
    with subprocess.Popen(command) as process:
        try:
            until(lambda: listens(front.secure), 20)
            yield front
        finally:
            process.terminate()


def listens(port: int) -> bool:
    with socket.socket() as link:
        return link.connect_ex(("127.0.0.1", port)) == 0


def test_nginx_understands_the_front(tmp_path: Path) -> None:
    written(tmp_path, 8000)
    checked(tool("nginx"), "-t", "-p", tmp_path, "-c", tmp_path / "nginx.conf")


@pytest.mark.slow
def test_the_front_passes_on_what_is_asked_and_who_asks(tables: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tables, tmp_path / "tables")
    secret = Tokens(copy).create("reader", Scope.PROBE)
    told = ("--tables", str(copy), "--port", "0", "--name", NAME)
    with running(*told) as (_, url), front_of(tmp_path, int(url.split(":")[2][:-1])) as front:
        assert front.status("/healthz") == 200
        assert front.status("/api/v1/tables") == 401
        shown = {"Authorization": f"Bearer {secret}"}
        assert front.status("/api/v1/tables", shown) == 200
        assert front.status("/api/v1/tables", {"Cookie": f"kingpair={secret}"}) == 200
        assert front.status("/healthz", {"Host": "elsewhere.example.org"}) == 421
        with front.ask("/api/v1/tables/KQvKR/file", shown) as answer:
            assert answer.read() == (copy / "KQvKR.dtc.arrow").read_bytes()
        with closing(HTTPConnection("127.0.0.1", front.plain, timeout=20)) as plain:
            plain.request("GET", "/docs", headers={"Host": NAME})
            with plain.getresponse() as answer:
                assert answer.headers["Location"] == f"https://{NAME}/docs"


@pytest.mark.slow
def test_the_front_passes_on_each_event_as_it_comes(tmp_path: Path) -> None:
    seen = threading.Event()

    class Stream(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b"data: first\n\n")
            # The second only once the first has arrived: where it is held back, neither comes.
            self.wfile.write(b"data: second\n\n" if seen.wait(20) else b"data: nobody\n\n")

    with ThreadingHTTPServer(("127.0.0.1", 0), Stream) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with front_of(tmp_path, server.server_port) as front:
            for path in ("/api/v1/events", "/api/v1/builds/b17/events"):
                seen.clear()
                with front.ask(path) as answer:
                    assert answer.readline() == b"data: first\n"
                    seen.set()
                    assert answer.read() == b"\ndata: second\n\n"
        server.shutdown()
