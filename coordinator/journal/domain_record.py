"""The record of a domain, from the journal: its state, its passes, its table.

DomainRecord           a material for a metric, or a level of one with pawns
  PassRecord           a committed pass: what it found, how long it took

The record of a level takes in those of its slices (workers/index/slices.py) if it is divided.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import (
    Assigned,
    ExportBegan,
    ExportDone,
    LevelSolved,
    PaintingBegan,
    PartWritten,
    PassCommitted,
    TablePublished,
    TableVerified,
)
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import wave_of
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.slices import LevelSlice
from kingpair.workers.index.structures import structures
from kingpair.workers.number_types import Depth, Side
from kingpair.workers.sets.disk_use import NO_DISK_USE, DiskUse
from kingpair.workers.table.key import DomainKey, TableKey

DomainFact = (
    Assigned
    | PassCommitted
    | PaintingBegan
    | PartWritten
    | LevelSolved
    | TablePublished
    | TableVerified
    | ExportBegan
    | ExportDone
)


def structures_by_level(material: Material) -> list[int]:
    """The number of structures of each level of a material, none without pawns."""
    if not material.has_pawns:
        return []
    return [len(level) for level in structures(*material.pawns).levels]


@dataclass(slots=True)
class PassRecord:
    """A committed pass; `decided` counts what both analyses have decided so far."""

    row: int
    winner: Side
    depth: Depth
    won: int
    lost: int
    exchanged: int
    seconds: float
    time: float
    decided: int
    over: bool = False
    disk: DiskUse = NO_DISK_USE
    slice: LevelSlice | None = None


@dataclass(slots=True)
class DomainRecord:
    """A material for a metric, on its way to its table; or a level of it, with its structures.  Of
    a level that is divided `slice` is the one that was heard of last, and `solved` has those that
    are.
    """

    key: DomainKey
    state: str = "waiting"
    bytes: int | None = None
    began: float | None = None
    seconds: float | None = None
    painting: float | None = None
    published: float | None = None
    decided: int = 0
    parts: tuple[int, int] = (0, 1)
    teams: int = 0  # that have had it
    is_painted: bool = False  # it is analysed, and its table is written or being written
    is_to_be_verified: bool = True
    syzygy: str = ""  # its Syzygy files are "missing", "being written" or "written", if it has any
    passes: list[PassRecord] = field(default_factory=list)
    last: float = 0.0
    structures: int = 0
    slice: LevelSlice | None = None
    solved: set[LevelSlice] = field(default_factory=set)
    levels: list["DomainRecord"] = field(default_factory=list)
    phases: dict[str, float] = field(default_factory=dict)  # when each began, by its state
    shares: tuple[tuple[str, int], ...] = ()  # the node and the partitions of each worker
    proportions: tuple[int, ...] = ()  # that it was cut in; none if they are equal
    sent: tuple[tuple[int, int, int], ...] = ()  # sender, receiver, bytes of the last pass
    sent_in_all: dict[tuple[int, int], int] = field(default_factory=dict)  # by these workers

    @staticmethod
    def of(table: TableKey) -> "DomainRecord":
        record = DomainRecord(DomainKey(table))
        for level, kept in enumerate(structures_by_level(table.material)):
            of_level = DomainKey(table, LevelSlice(level))
            record.levels.append(DomainRecord(of_level, structures=kept))
        return record

    @property
    def material(self) -> Material:
        return self.key.table.material

    @property
    def metric(self) -> Metric:
        return self.key.table.metric

    @property
    def level(self) -> int | None:
        return self.key.level

    @property
    def part_solved(self) -> float:
        """The part of its structures that is solved."""
        if self.state == "done":
            return 1.0
        return sum(each.size or self.structures for each in self.solved) / max(1, self.structures)

    def note_solved(self, slice_: LevelSlice | None) -> None:
        """Notes that a slice is solved; the level is done once all of them are."""
        assert slice_ is not None, f"{self.key}: no level"
        self.solved.add(slice_)
        self.state = "done" if self.part_solved == 1.0 else "solving"

    @property
    def part_of_slice(self) -> float:
        """The part of its structures that is in the slice that is under way; none between two."""
        if self.slice is None or self.slice in self.solved:
            return 0.0
        return (self.slice.size or self.structures) / self.structures

    def passes_of_slice(self) -> list[PassRecord]:
        """The passes of the slice that was heard of last; all of them if the level is one."""
        return [pass_ for pass_ in self.passes if pass_.slice == self.slice]

    @property
    def under_way(self) -> "DomainRecord":
        """The level that is under way or was last, or the domain itself if it has none."""
        begun = [level for level in self.levels if level.state != "waiting"]
        return max(begun, key=lambda level: level.last) if begun else self

    def every_pass(self) -> Iterator[PassRecord]:
        """Yields the passes of the domain, or of its levels."""
        yield from self.passes
        for level in self.levels:
            yield from level.passes

    @property
    def wave(self) -> tuple[int, int]:
        """The numbers of men and of pawns."""
        return wave_of(self.material)

    def decided_for(self, winner: Side) -> int:
        """The positions that one side's analysis has decided so far."""
        return sum(p.won + p.lost for p in self.every_pass() if p.winner == winner)

    def longest(self) -> dict[int, int]:
        """The longest win of each side, as the metric counts it."""
        found: dict[int, int] = {}
        for pass_ in self.every_pass():
            if pass_.won:
                longest = self.metric.distance(pass_.depth, won=True)
                found[pass_.winner] = max(found.get(pass_.winner, 0), longest)
        return found


def take(domain: DomainRecord, record: DomainFact, row: Row) -> None:
    """Takes in a record of a domain."""
    _TAKEN[type(record)](domain, record, row)


def _assigned(domain: DomainRecord, record: Assigned, row: Row) -> None:
    domain.state = "verifying" if domain.published else "solving"
    if (slice_ := DomainKey.parse(record.domain).slice) is not None:
        domain.slice, domain.is_painted = slice_, False
        domain.solved.discard(slice_)
    domain.began = domain.began or row.time
    domain.teams += 1
    domain.last = row.time
    domain.shares, domain.proportions = record.shares, record.proportions
    domain.sent, domain.sent_in_all = (), {}
    # The levels are solved: its workers join their parts.
    domain.phases.setdefault("painting" if domain.levels else "solving", row.time)


def _committed(domain: DomainRecord, record: PassCommitted, row: Row) -> None:
    """A pass may be found again after a log was damaged: what came after it is gone."""
    slice_ = DomainKey.parse(record.domain).slice
    this = slice_, record.winner, record.depth
    if any((v.slice, v.winner, v.depth) == this for v in domain.passes):
        of_this = this[:2]
        keep = [
            v for v in domain.passes if (v.slice, v.winner) != of_this or v.depth < record.depth
        ]
        domain.passes = keep
        domain.decided = sum(v.won + v.lost for v in keep)
    won, lost = sum(record.won), sum(record.lost)
    domain.decided += won + lost
    domain.passes.append(
        PassRecord(
            row.id,
            record.winner,
            record.depth,
            won,
            lost,
            record.exchanged,
            max(0.0, row.time - domain.last),
            row.time,
            domain.decided,
            record.over,
            record.disk,
            slice_,
        )
    )
    domain.slice = slice_
    domain.last, domain.sent = row.time, record.sent
    for sender, receiver, count in record.sent:
        before = domain.sent_in_all.get((sender, receiver), 0)
        domain.sent_in_all[sender, receiver] = before + count


def _painting(domain: DomainRecord, record: PaintingBegan, row: Row) -> None:
    domain.is_painted, domain.state = True, "painting"
    domain.phases["painting"] = row.time


def _painted(domain: DomainRecord, record: PartWritten, row: Row) -> None:
    domain.state = "painting"
    domain.painting = domain.painting or domain.last
    domain.parts = record.part + 1, record.parts


def _solved(domain: DomainRecord, record: LevelSolved, row: Row) -> None:
    domain.note_solved(DomainKey.parse(record.domain).slice)
    domain.last = row.time


def take_of_level(table: DomainRecord, row: Row) -> None:
    """Takes in what a record of one of its levels says of a table."""
    table.state = "solving"
    table.began = table.began or row.time
    table.last = row.time
    table.phases.setdefault("solving", row.time)
    table.decided = sum(level.decided for level in table.levels)


def _published(domain: DomainRecord, record: TablePublished, row: Row) -> None:
    domain.bytes, domain.published = record.bytes, row.time
    domain.state = "verifying" if domain.is_to_be_verified else "done"
    domain.phases[domain.state] = row.time
    domain.seconds = None if domain.began is None else row.time - domain.began


def _verified(domain: DomainRecord, record: TableVerified, row: Row) -> None:
    if domain.state == "exists":
        return  # what an earlier build had left unverified
    domain.state = "done"
    domain.phases["done"] = row.time
    domain.seconds = None if domain.began is None else row.time - domain.began


def _export_began(domain: DomainRecord, record: ExportBegan, row: Row) -> None:
    domain.syzygy = "being written"


def _exported(domain: DomainRecord, record: ExportDone, row: Row) -> None:
    domain.syzygy = "written"


_TAKEN: Mapping[type[DomainFact], Callable[[DomainRecord, Any, Row], None]] = {
    Assigned: _assigned,
    PassCommitted: _committed,
    PaintingBegan: _painting,
    PartWritten: _painted,
    LevelSolved: _solved,
    TablePublished: _published,
    TableVerified: _verified,
    ExportBegan: _export_began,
    ExportDone: _exported,
}
