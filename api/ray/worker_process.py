"""The process of a worker, and the heartbeat that it is asked for."""

from typing import Any, NamedTuple

from kingpair.api.ray.kept_processes import process_id
from kingpair.api.ray.reservations import Reservation


class WorkerProcess(NamedTuple):
    """A worker's process, the reserved part of a node that it is on, and its memory."""

    actor: Any
    reservation: Reservation
    memory: int

    def pid(self) -> int:
        """Returns its number on its node."""
        return process_id(self.actor)


class Heartbeat(NamedTuple):
    """A heartbeat that was asked for, when, and how long it may take."""

    answer: Any
    since: float
    limit: float
