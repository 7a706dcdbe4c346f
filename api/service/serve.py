"""Listening: where, for whom, and until when.

As long as no token was made there is no way to tell who asks, and an address that other machines
reach is refused.
"""

import errno
import ipaddress
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from api.logs import log_to_stderr
from api.service.application import create
from api.service.patience import impatient, patient
from api.settings import Settings
from workers.errors import CannotServe
from workers.store import shown, uri_of

KEEP_ALIVE = 15
GRACE = 5
"""Seconds that answers under way have once the service is to stop."""


class Server(uvicorn.Server):
    """uvicorn's, but that a signal to stop is obeyed and not passed on: to stop is no failure."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Streams of events would never end by themselves."""
        app: FastAPI = self.config.app  # type: ignore[assignment]  # ours, as given below
        app.state.works.hub.close()
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
    has_tokens = bool(app.state.holding.tokens.known())
    with listening(settings.host, settings.port, has_tokens) as opened:
        config = uvicorn.Config(
            app,
            # A client on this machine could otherwise say that it is another.
            proxy_headers=False,
            log_config=None,
            access_log=False,
            server_header=False,
            http=patient(),
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=GRACE,
        )
        count = len(app.state.holding.tablebase.paths)
        say(f"{url(opened)}  asks the {count} tables in {shown(settings.tables)}; Ctrl+C stops it")
        Server(config).run(sockets=[opened])


def _made(tables: Path) -> None:
    """A directory that is not there yet has no tables: the page says how to have some."""
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
        impatient(opened)
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
            f"{host} can be reached from other machines, and there is no token to tell who asks; "
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
