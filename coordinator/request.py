"""What is asked of a build, and what whoever watches it is told.

A build is of some materials for some metrics, and of all that their captures lead to: one build,
however many metrics.  What happens in it happens to a subject, a material for a metric, or to the
build as a whole.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from workers.material import Material
from workers.metric import Metric
from workers.passlog import Pass
from workers.subject import Subject
from workers.table import Counts


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for, and how it is to be built.

    Several `workers` share the partitions of every domain that has more than `grain` bytes.
    """

    materials: tuple[Material, ...]
    out: Path
    metrics: tuple[Metric, ...] = (Metric.DTC,)
    threads: int = 1
    memory: int | None = None
    resume: bool = True
    force: bool = False
    compact: bool = False
    verify: bool = True
    workers: int = 1
    grain: int = 64 << 20


class Planned(NamedTuple):
    """The waves of what is to be built, for all metrics, and what is there already."""

    waves: tuple[tuple[Subject, ...], ...]
    present: tuple[Subject, ...]


class Post(NamedTuple):
    """What a worker is given: cores and memory of a node, and how many partitions."""

    node: str
    cores: int
    memory: int
    partitions: int


class Started(NamedTuple):
    """A subject has got workers; `cut` counts the ordered pairs of neighbouring partitions that
    different workers own.
    """

    subject: Subject
    posts: tuple[Post, ...] = ()  # by worker
    cut: int = 0


class Restaffed(NamedTuple):
    """A subject has got other workers."""

    subject: Subject
    posts: tuple[Post, ...]
    cut: int


class Cells(NamedTuple):
    """What a pass found, by partition: distinct positions."""

    won: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()


class Work(NamedTuple):
    """What a pass took of a worker: time in its steps, and the most memory that its process ever
    had.
    """

    seconds: float
    memory: int


class Committed(NamedTuple):
    """A pass is in the log, for good; `decided` counts all positions of this analysis so far,
    `exchanged` the bytes that went from worker to worker.
    """

    subject: Subject
    winner: int
    passed: Pass
    decided: int
    seconds: float
    cells: Cells = Cells()
    exchanged: int = 0
    work: tuple[Work, ...] = ()  # by worker


class SetBack(NamedTuple):
    """A subject lost its workers and goes on from its last committed pass, with others."""

    subject: Subject
    reason: str


class Waiting(NamedTuple):
    """Nothing can go on until there are other nodes."""

    lacking: str


class Unused(NamedTuple):
    """Nodes have come that cannot be used."""

    reason: str


class Painting(NamedTuple):
    subject: Subject


class Published(NamedTuple):
    subject: Subject
    bytes: int
    seconds: float
    counts: Counts


class Verified(NamedTuple):
    """Every value of a table follows from its successors."""

    subject: Subject
    seconds: float


Event = (
    Planned
    | Started
    | Restaffed
    | Committed
    | SetBack
    | Waiting
    | Unused
    | Painting
    | Published
    | Verified
)
Listener = Callable[[Event], None]
