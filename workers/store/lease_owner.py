"""The process that holds the lease of a store, as the lease says it."""

import json
import os
import socket
import time
from pathlib import Path
from typing import NamedTuple


class LeaseOwner(NamedTuple):
    """The process that holds the lease of a store."""

    host: str
    process: int
    since: str
    space: str = ""  # the namespace of the process number; a container may have its own

    @staticmethod
    def this() -> "LeaseOwner":
        space = os.readlink("/proc/self/ns/pid")
        return LeaseOwner(socket.gethostname(), os.getpid(), time.strftime("%F %T"), space)

    def __str__(self) -> str:
        return f"{self.host}, process {self.process}, since {self.since}"

    def json(self) -> bytes:
        return json.dumps(self._asdict()).encode()

    @property
    def is_gone(self) -> bool:
        """Whether the process ran on this machine and has ended."""
        here = LeaseOwner.this()
        beside = (self.host, self.space) == (here.host, here.space)
        return beside and not Path("/proc", str(self.process)).exists()
