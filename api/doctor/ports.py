"""Examines ports: whether the service's is free, and which of Ray's other machines can reach.

Ray listens on all interfaces unless its node's address is 127.0.0.1, and anyone who reaches one of
its ports can run programs, unless it asks for a token.
"""

import errno
import http.client
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from kingpair.api.doctor.findings import Finding
from kingpair.api.settings import Settings

RAYS = ("gcs_server", "raylet", "ray::")
TOKEN = b"RAY_AUTH_MODE=token"
LISTENS = "0A"
ANSWER_SECONDS = 2.0


class Listener(NamedTuple):
    """A socket that waits for connections."""

    address: str
    port: int
    inode: str


def ports(settings: Settings) -> Iterator[Finding]:
    yield _service(settings.host, settings.port)
    yield _rays()


def _service(host: str, port: int) -> Finding:
    subject, name = "service", f"port {port} of {host}"
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE and _is_ours(host, port):
            return Finding(subject, f"kingpair answers on {name}")
        if error.errno == errno.EADDRINUSE:
            return Finding(subject, f"{name} is in use", "set port to another, or to 0 for any")
        return Finding(subject, f"{name}: {error.strerror}", "set host to 127.0.0.1, port to 8000")
    return Finding(subject, f"{name} is free")


def _is_ours(host: str, port: int) -> bool:
    """Whether a kingpair answers there."""
    connection = http.client.HTTPConnection(host, port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/version")
        return b'"kingpair"' in connection.getresponse().read(1000)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _rays() -> Finding:
    owners = _sockets_of_ray()
    found = [each for each in _listening() if each.inode in owners]
    if not found:
        return Finding("Ray's ports", "no Ray runs here")
    reached = [each for each in found if not ip_address(each.address).is_loopback]
    if not reached:
        return Finding("Ray's ports", "Ray listens on loopback alone")
    if all(owners[each.inode] for each in reached):
        fact = f"{_shown(reached)} can be reached by other machines, and ask for the token"
        return Finding("Ray's ports", fact)
    return Finding(
        "Ray's ports",
        f"{_shown(reached)} can be reached by other machines, which can run programs here",
        "close them to all but the nodes, and set RAY_AUTH_MODE=token on all; a cluster of this "
        "machine alone: ray start --node-ip-address=127.0.0.1",
    )


def _shown(listeners: Iterable[Listener]) -> str:
    numbers = sorted({each.port for each in listeners})
    return ", ".join(map(str, numbers[:4])) + (", ..." if len(numbers) > 4 else "")


def _listening() -> Iterator[Listener]:
    for name, width in (("tcp", 4), ("tcp6", 16)):
        with suppress(OSError):
            for line in Path("/proc/net", name).read_text(encoding="ascii").splitlines()[1:]:
                _, local, _, state, *rest = line.split()
                if state == LISTENS:
                    address, _, port = local.partition(":")
                    yield Listener(_address(address, width), int(port, 16), rest[5])


def _address(written: str, width: int) -> str:
    """The kernel writes addresses as words of four bytes, lowest first."""
    raw = bytes.fromhex(written)
    words = (raw[at : at + 4][::-1] for at in range(0, width, 4))
    address = ip_address(b"".join(words))
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


def _sockets_of_ray() -> dict[str, bool]:
    """Returns the inodes of the sockets of Ray's processes that this user may examine, and whether
    their process was started so that it asks for a token.
    """
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            title = (process / "cmdline").read_bytes().partition(b"\0")[0].decode(errors="replace")
            if os.path.basename(title).startswith(RAYS):
                asks = TOKEN in (process / "environ").read_bytes().split(b"\0")
                for link in (process / "fd").iterdir():
                    inode = os.readlink(link).removeprefix("socket:[").removesuffix("]")
                    found[inode] = asks
    return found
