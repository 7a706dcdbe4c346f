"""A cluster that is not here, and what one core of it does in a second, as measured."""

from typing import NamedTuple

from kingpair.coordinator.plan.estimate import BASE


class Cluster(NamedTuple):
    """Equal nodes; bytes and bytes a second.  The store's are shared by all of them.  `disk` is of
    the directory in which a node keeps logs and copies of them; 0 if they go to the store.
    """

    nodes: int
    cores: int
    memory: int
    network: float
    store: float
    disk: float = 0.0

    @property
    def offered(self) -> int:
        """The memory of a node that is for workers: a process to spare has the rest."""
        return self.memory - BASE


class Constants(NamedTuple):
    """Seconds on one core, as measured; see `kingpair bench --constants`."""

    partition: float = 3.6e-6  # a pass, for each partition
    scan: float = 3.0e-10  # a pass, for each unit that is held
    unit: float = 4.9e-7  # a unit in which a pass finds anything
    near: float = 2.4e-7  # the same where a partition stays in a core's cache, up to five men
    opening: float = 4.5e-10  # a slot, before the first pass of a winner
    exit: float = 2.7e-9  # a slot of a smaller table, read and brought into the larger one's frame
    take: float = 5.6e-9  # a byte of what another worker found, taken into the copies
    paint: float = 3.0e-9  # a slot of both sides, painted and compressed
    proof: float = 8.0e-9  # a slot of both sides, proved
    step: float = 7.0e-4  # a step: asking all workers and waiting for them
    worker: float = 8.0e-4  # the same, more for each worker
