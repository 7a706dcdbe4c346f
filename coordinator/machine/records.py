"""The settled facts of a build, for the journal and its readers.

A record is a command of `step` that the journal keeps.  Fields that were added later have a
default: an old journal is read as ever.
"""

from dataclasses import dataclass

from kingpair.coordinator.plan.domains import Logged
from kingpair.workers.number_types import Depth, Side
from kingpair.workers.sets.disk_use import NO_DISK_USE, DiskUse


@dataclass(frozen=True, slots=True)
class Became:
    """The build is in another state now."""

    state: str
    reason: str


@dataclass(frozen=True, slots=True)
class WavesPlanned:
    """The tables to build, wave by wave, those that exist, and the passes logged already."""

    waves: tuple[tuple[str, ...], ...]
    present: tuple[str, ...]
    logged: tuple[Logged, ...]
    exports: tuple[str, ...] = ()  # tables that exist and lack their Syzygy files


@dataclass(frozen=True, slots=True)
class Assigned:
    """A domain has got workers.  For worker 0, 1, ...: its node and how many partitions it has, the
    cores and the memory that it was given.  `links_cut` counts the ordered pairs of neighbouring
    partitions that different workers own.  The domain was cut in these `proportions`; in equal ones
    if there are none.
    """

    domain: str
    incarnation: int
    shares: tuple[tuple[str, int], ...]
    links_cut: int
    given: tuple[tuple[int, int], ...] = ()
    proportions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PassCommitted:
    """Distinct positions found, by partition; bytes that went from worker to worker; how long the
    slowest worker was in its steps.  `work` has for worker 0, 1, ... the seconds in its steps, and
    the most memory that its process ever had.  `sent` has a sender, a receiver and the bytes that
    went from one to the other, for each pair of workers between which something went; `disk` is the
    use of the disk by sets that are not in memory.
    """

    domain: str
    winner: Side
    depth: Depth
    incarnation: int
    won: tuple[int, ...]
    lost: tuple[int, ...]
    exchanged: int
    over: bool
    seconds: float = 0.0
    work: tuple[tuple[float, int], ...] = ()
    sent: tuple[tuple[int, int, int], ...] = ()
    disk: DiskUse = NO_DISK_USE


@dataclass(frozen=True, slots=True)
class PaintingBegan:
    """All of a domain is analysed, and workers write the parts of its table."""

    domain: str


@dataclass(frozen=True, slots=True)
class PartWritten:
    """A part of a table is durable; its table has so many `parts`."""

    domain: str
    part: int
    parts: int
    bytes: int


@dataclass(frozen=True, slots=True)
class LevelSolved:
    """A level is analysed, and all parts of its columns are written."""

    domain: str


@dataclass(frozen=True, slots=True)
class TablePublished:
    """A table has its name and is whole."""

    domain: str
    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class TableVerified:
    """Every value of a table follows from its successors.  `seconds` is what the proof took while
    the plan was made; 0 of a worker, which takes the time since the table was published.
    """

    domain: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ExportBegan:
    """A worker writes the Syzygy files of a table."""

    domain: str


@dataclass(frozen=True, slots=True)
class ExportDone:
    """Both Syzygy files of a table have their names and are whole."""

    domain: str


@dataclass(frozen=True, slots=True)
class SetBack:
    """A domain lost its workers and goes on from its last committed pass with others."""

    domain: str
    incarnation: int
    reason: str


@dataclass(frozen=True, slots=True)
class Repeated:
    """A task failed and was given to the same worker again."""

    domain: str
    worker: int
    task: str
    attempt: int
    reason: str


@dataclass(frozen=True, slots=True)
class NodesLacking:
    """Nothing can begin on the nodes that are there: others are waited for, until workers are
    assigned or the build is something else than running.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class NodesPassedOver:
    """Nodes have come that cannot be used: the build goes on without them."""

    reason: str


@dataclass(frozen=True, slots=True)
class LogUncopied:
    """No other machine takes a copy of a log: it is on one disk.  Said once in a build."""

    reason: str


@dataclass(frozen=True, slots=True)
class Deleted:
    """The build is not shown any more; the journal keeps it."""

    reason: str


Record = (
    Became
    | WavesPlanned
    | Assigned
    | PassCommitted
    | PaintingBegan
    | PartWritten
    | LevelSolved
    | TablePublished
    | TableVerified
    | ExportBegan
    | ExportDone
    | SetBack
    | Repeated
    | NodesLacking
    | NodesPassedOver
    | LogUncopied
    | Deleted
)
