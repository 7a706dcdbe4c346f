"""A store that speaks S3, on loopback: a real server, that can be told to fail.

    with objects() as store:
        store.uri("tables")           for --out and --tables
        store.fail = lambda method, path: ...   the status to answer with, 0 to cut, or None

It notes its requests, and its contents can be listed without a request.
"""

import logging
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

BUCKET = "lab"
WHY = {403: "AccessDenied", 503: "SlowDown", 507: "QuotaExceeded"}
Fail = Callable[[str, str], int | None]


class Objects:
    """The server's application with faults before it, and a client of it."""

    def __init__(self) -> None:
        self._app = DomainDispatcherApplication(create_backend_app)
        self.fail: Fail = lambda method, path: None
        self.asked: list[tuple[str, str]] = []
        self._server = make_server("127.0.0.1", 0, self, threaded=True)
        self.port: int = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.asked.append((method, path))
        status = self.fail(method, path)
        if status is None:
            found: Iterable[bytes] = self._app(environ, start)
            return found
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        if status == 0:
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            raise ConnectionError("cut")
        code = WHY[status]
        start(f"{status} {code}", [("Content-Type", "application/xml")])
        return [f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()]

    def uri(self, prefix: str, bucket: str = BUCKET) -> Path:
        """As typed; a path, for that is what the command line makes of it."""
        at = f"endpoint_override=127.0.0.1:{self.port}&scheme=http&region=us-east-1"
        return Path(f"s3://key:hidden@{bucket}/{prefix}?{at}")

    def held(self, prefix: str) -> dict[str, bytes]:
        """Returns the names below a prefix, without folders."""
        client, before = self._client(), self.fail
        self.fail = lambda method, path: None
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=f"{prefix}/")
        keys = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        found = {
            key.removeprefix(f"{prefix}/"): client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
            for key in keys
            if not key.endswith("/")
        }
        self.fail = before
        return found

    def put(self, key: str, data: bytes) -> None:
        self._client().put_object(Bucket=BUCKET, Key=key, Body=data)

    def _client(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{self.port}",
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="hidden",
        )

    def __enter__(self) -> "Objects":
        self._thread.start()
        self._client().create_bucket(Bucket=BUCKET)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def objects() -> Iterator[Objects]:
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    with Objects() as found:
        yield found
