"""The head of a cluster: whether Ray answers at its address.

Without Ray, whose own ways to connect and to notice that a head is gone take minutes: a connection,
the first words of HTTP/2, and the frame that any server of it answers with.
"""

import os
import socket
from contextlib import closing
from pathlib import Path

from workers.errors import CannotBuild

CONNECT_SECONDS = 5.0
NOTE = Path("/tmp/ray/ray_current_cluster")
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_SETTINGS = 4


def reached(where: str, limit: float = CONNECT_SECONDS) -> str:
    """The address of the head that `where` names, `auto` or HOST:PORT, once it has answered."""
    address = _known() if where == "auto" else where.strip()
    host, _, port = address.rpartition(":")
    try:
        with closing(socket.create_connection((host, int(port)), limit)) as connection:
            connection.settimeout(limit)
            connection.sendall(_PREFACE)
            answer = connection.recv(9, socket.MSG_WAITALL)
    except (OSError, ValueError) as error:
        raise CannotBuild(
            f"no cluster at {address}: {error}; use HOST:PORT of its head, auto or local"
        ) from error
    if len(answer) < 9 or answer[3] != _SETTINGS:
        raise CannotBuild(
            f"no cluster at {address}: what answers there is not Ray; "
            "use HOST:PORT of its head, auto or local"
        )
    return address


def _known() -> str:
    noted = NOTE.read_text() if NOTE.exists() else ""
    if address := os.environ.get("RAY_ADDRESS") or noted:
        return address.strip()
    raise CannotBuild("no cluster here; start one with ray start, or use --cluster local")


class Lookout:
    """Looks at a head now and then; one look in vain may be chance."""

    PATIENCE = 2  # looks in vain that make it gone
    LIMIT_SECONDS = 3.0

    def __init__(self, where: str | None) -> None:
        # A cluster of our own has no head until it is needed.
        self._where = None if where == "local" else where
        self._misses = self.PATIENCE - 1  # whoever has never seen it takes the first look's word

    def lack(self) -> str | None:
        """Why there is no cluster, if there is none; it takes two limits at most."""
        if self._where is None:
            return None
        try:
            reached(self._where, self.LIMIT_SECONDS)
        except CannotBuild as error:
            self._misses += 1
            return str(error) if self._misses >= self.PATIENCE else None
        self._misses = 0
        return None
