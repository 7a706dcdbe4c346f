"""Checks whether Ray answers at the address of a cluster's head.

Ray itself takes minutes to connect or to notice that a head is gone.  So this module opens a
connection, sends the first bytes of HTTP/2, and expects the frame that every HTTP/2 server answers.
"""

import os
import socket
from contextlib import closing
from pathlib import Path

from kingpair.workers.errors import CannotBuild

CONNECT_SECONDS = 5.0
NOTE = Path("/tmp/ray/ray_current_cluster")
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_SETTINGS = 4


def reached(where: str, limit: float = CONNECT_SECONDS) -> str:
    """Returns the address of the head that `where` names (`auto` or HOST:PORT), once it has
    answered.
    """
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


class HeadMonitor:
    """Checks a head from time to time, or the head and the nodes of a cluster of our own; a single
    failed check is ignored.
    """

    PATIENCE = 2  # failed checks after which the head counts as gone
    LIMIT_SECONDS = 3.0

    def __init__(self, *where: str | None) -> None:
        # A cluster of our own has no address before it is started.
        self._where = [address for address in where if address and address != "local"]
        self._misses = self.PATIENCE - 1  # before the first success one failure is enough

    def lack(self) -> str | None:
        """Returns why there is no cluster, or None; takes two limits at most."""
        try:
            for address in self._where:
                reached(address, self.LIMIT_SECONDS)
        except CannotBuild as error:
            self._misses += 1
            return str(error) if self._misses >= self.PATIENCE else None
        self._misses = 0
        return None
