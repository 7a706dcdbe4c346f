"""The server: its address, its clients, its start and stop.

While no token exists, `serve` does not start on an address that other machines reach.  If the last
token is revoked later, the service goes on and admits peers on this machine only (`admission`).
"""

import errno
import ipaddress
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from kingpair.api.http.application import create
from kingpair.api.http.connections import limit_send_time, limited_connections
from kingpair.api.http.run_mark import logged
from kingpair.api.logs import log_to_stderr
from kingpair.api.settings import Settings
from kingpair.api.text import count
from kingpair.workers.errors import CannotServe
from kingpair.workers.store.filesystem import printable, uri_of

log = logging.getLogger("kingpair")
KEEP_ALIVE = 15
GRACE = 5
"""Seconds that answers under way have once the service is to stop."""


class Server(uvicorn.Server):
    """uvicorn's server; it obeys a signal to stop and does not raise it again."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Streams of events would never end by themselves."""
        app: FastAPI = self.config.app  # type: ignore[assignment]  # ours, as given below
        app.state.builds.hub.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        wanted = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(settings: Settings, say: Callable[[str], None]) -> None:
    """Answer until told to stop by SIGTERM or SIGINT."""
    log_to_stderr(settings.verbose)
    _made(settings.tables)
    app = create(settings)
    has_tokens = bool(app.state.served.tokens.known())
    if settings.names and not has_tokens:
        log.warning(
            "--name has no use yet: without a token only this machine is answered, and a proxy is "
            "not; make a token with kingpair token create NAME --scope admin"
        )
    with listening(settings.host, settings.port, has_tokens) as opened:
        config = uvicorn.Config(
            app,
            # A client on this machine could otherwise say that it is another.
            proxy_headers=False,
            log_config=None,
            access_log=False,
            server_header=False,
            http=limited_connections(),
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=GRACE,
        )
        tables = len(app.state.served.tablebase.paths)
        where = f"{count(tables, 'table')} in {printable(settings.tables)}"
        say(f"{url(opened)}  serves {where}; Ctrl+C stops it")
        with logged(settings.state_directory, url=url(opened), tables=tables):
            Server(config).run(sockets=[opened])


def _made(tables: Path) -> None:
    """Creates a missing directory of tables; the page then says how to build some."""
    if uri_of(tables) is None:
        try:
            tables.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotServe(
                f"cannot make {tables}: {error.strerror}; choose another --tables"
            ) from error


def listening(host: str, port: int, has_tokens: bool) -> socket.socket:
    """A socket that waits for connections, on this machine's own addresses alone if there are no
    tokens.
    """
    family, address = resolved(host, port, has_tokens)
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        limit_send_time(opened)
        opened.listen(4096)
    except OSError as error:
        opened.close()
        raise CannotServe(_refused(host, port, error)) from error
    return opened


def resolved(
    host: str, port: int, has_tokens: bool
) -> tuple[socket.AddressFamily, tuple[str, int]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise CannotServe(f"no address {host!r}; use --host 127.0.0.1") from error
    family, _, _, _, address = found[0]
    own = all(ipaddress.ip_address(each[4][0]).is_loopback for each in found)
    if not own and not has_tokens:
        raise CannotServe(
            f"{host} can be reached from other machines, and no token exists to identify clients; "
            "use --host 127.0.0.1, or make one with kingpair token create"
        )
    return family, (str(address[0]), int(address[1]))


def _refused(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use; choose another with --port, or 0 for any"
    if error.errno == errno.EACCES:
        return f"port {port} is not for everybody; choose one from 1024 with --port"
    return f"cannot listen on port {port} of {host}: {error.strerror or error}"


def url(opened: socket.socket) -> str:
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
