"""What is asked of a build, and what whoever watches it is told."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from workers.material import Material
from workers.metric import Metric
from workers.passlog import Pass
from workers.table import Counts


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for, and how it is to be built.

    Several `workers` share the partitions of every domain that has more than `grain` bytes.
    """

    materials: tuple[Material, ...]
    out: Path
    metric: Metric = Metric.DTC
    threads: int = 1
    memory: int | None = None
    resume: bool = True
    force: bool = False
    compact: bool = False
    verify: bool = True
    workers: int = 1
    grain: int = 64 << 20


class Planned(NamedTuple):
    """The waves of what is to be built, and what is there already."""

    waves: tuple[tuple[Material, ...], ...]
    present: tuple[Material, ...]


class Started(NamedTuple):
    material: Material


class Committed(NamedTuple):
    """A pass is in the log, for good; `decided` counts all positions of this analysis so far."""

    material: Material
    winner: int
    passed: Pass
    decided: int
    seconds: float


class Painting(NamedTuple):
    material: Material


class Published(NamedTuple):
    material: Material
    bytes: int
    seconds: float
    counts: Counts


class Verified(NamedTuple):
    """Every value of a table follows from its successors."""

    material: Material
    seconds: float


Event = Planned | Started | Committed | Painting | Published | Verified
Listener = Callable[[Event], None]
