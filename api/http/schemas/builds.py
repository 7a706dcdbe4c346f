"""Answers about builds: the plan, the list, and one of them."""

from typing import Annotated, Literal

from pydantic import Field

from kingpair.api.http.schemas.model import Model
from kingpair.coordinator.machine.state import State
from kingpair.workers.game.metric import Metric
from kingpair.workers.solve.sets_mode import SetsMode

Range = Annotated[list[float], Field(min_length=2, max_length=2)]
"""At least and at most."""


class PlannedMaterial(Model):
    material: str
    metric: Metric
    men: int
    pawns: int
    wave: int
    exists: bool
    bitmap_bytes: int
    memory_bytes: int
    sets: SetsMode = Field(description="How much of its sets an analysis holds in memory.")
    sets_on_disk: bool
    slices: int | None = Field(description="With pawns: those that are solved one after the other.")
    pass_read_bytes: int = Field(description="Bytes of sets that a pass reads at most.")
    pass_written_bytes: int = Field(description="Bytes of sets that a pass writes at most.")
    read_bytes: int = Field(description="Bytes of sets that all passes read at most.")
    written_bytes: int = Field(description="Bytes of sets that are written in all, at most.")
    table_bytes: int
    log_bytes: int
    scratch_bytes: int = Field(description="Sets that do not fit in memory.")
    seconds: Range


class PlannedTotals(Model):
    memory_bytes: int
    disk_bytes: int
    scratch_bytes: int
    table_bytes: int
    seconds: Range
    to_build: int
    exists: int


class Room(Model):
    memory_bytes: int | None
    disk_bytes: int | None
    scratch_bytes: int | None = Field(description="Null if sets lie beside the tables.")


class Plan(Model):
    """The time and space that a build would take."""

    materials: list[PlannedMaterial]
    waves: list[list[str]]
    totals: PlannedTotals
    room: Room
    fits: bool
    reasons: list[str]


class BuildProgress(Model):
    fraction: float
    decided: int
    left: float | None = Field(description="Seconds left, with those that it waits in the queue.")
    eta: Range | None = Field(description="The same, at least and at most.")
    why_longer: str | None = Field(description="Why more is left than was said before.")


class BuildSummary(Model):
    id: str
    state: State
    reason: str
    materials: list[str]
    metrics: list[Metric]
    priority: int
    compact: bool
    verify: bool
    force: bool
    spread: int | None = Field(description="Workers that share each material; null: as it needs.")
    syzygy: bool
    by: str | None
    submitted: str
    started: str | None
    ended: str | None
    ahead: int | None
    progress: BuildProgress
    last_event: str


class BuildList(Model):
    builds: list[BuildSummary]
    next: str | None = Field(description="The cursor of the next page.")


class LongestBySide(Model):
    white: int
    black: int


class BuildPass(Model):
    winner: Literal["white", "black"]
    depth: int
    won: int
    lost: int
    seconds: float | None
    exchanged_bytes: int
    read_bytes: int = Field(description="Of sets that are not in memory.")
    written_bytes: int
    disk_seconds: float | None = Field(description="Of its time, spent waiting for these bytes.")
    event: int
    time: str | None
    slice: tuple[int, int] | None = Field(
        default=None,
        description="Of a level that is divided: the places in it of the structures solved.",
    )


class Cells(Model):
    """Positions found, by partition, in the order of `/api/v1/partitions`."""

    won: list[int]
    lost: list[int]


class PassCells(Model):
    winner: Literal["white", "black"]
    depth: int
    cells: Cells


class BuildPasses(Model):
    """The passes of a material in a build."""

    material: str
    metric: Metric
    passes: list[PassCells]


class BuildLevel(Model):
    """The structures with equally many pawn steps to go, which are solved together."""

    level: int
    structures: int
    state: str
    decided: int
    passes: list[BuildPass]


class PhaseTimes(Model):
    """The times at which the phases of a material began."""

    solving: str | None
    painting: str | None = Field(description="When its table began to be written.")
    verifying: str | None
    done: str | None


class BuildShare(Model):
    """A worker of a material, with the number of its partitions."""

    node: str
    partitions: int


class Border(Model):
    """The partitions of a worker that border on those of another: it is sent what they find."""

    sender: int
    receiver: int
    partitions: list[int]
    bytes: int = Field(description="Sent from one to the other in the last pass.")
    bytes_in_all: int = Field(description="Sent from one to the other in all passes so far.")


class BuildOwners(Model):
    """Which worker has which partition of a material, in the order of `/api/v1/partitions`."""

    material: str
    metric: Metric
    shares: list[BuildShare]
    owners: list[int]
    borders: list[Border]


class BuildMaterial(Model):
    material: str
    metric: Metric
    state: str
    bytes: int | None
    seconds: float | None
    positions: int
    decided: int
    syzygy: str | None = Field(
        description="Of Syzygy files that the build writes: missing, being written, written."
    )
    longest: LongestBySide | None
    passes: list[BuildPass]
    levels: list[BuildLevel] = Field(description="Of a material with pawns; else none.")
    phases: PhaseTimes
    shares: list[BuildShare] = Field(description="Its workers, by number; none before it begins.")


class BuildWave(Model):
    men: int
    pawns: int
    materials: list[BuildMaterial]


class HistoryLine(Model):
    time: str
    what: str
    reason: str


class BuildWorker(Model):
    id: str
    node: str
    domain: str
    metric: Metric
    level: int | None = Field(description="The level of its material, if that has pawns.")
    doing: str | None
    memory_bytes: int
    memory_limit_bytes: int | None
    positions_per_second: int | None


class BuildNode(Model):
    name: str
    cores: int
    memory_bytes: int


class Build(BuildSummary):
    """A build with all that has happened in it."""

    waves: list[BuildWave]
    history: list[HistoryLine]
    workers: list[BuildWorker]
    nodes: list[BuildNode] = Field(description="That it may use, those without a worker too.")


class Partitions(Model):
    pairs: list[Annotated[list[str], Field(min_length=2, max_length=2)]]
