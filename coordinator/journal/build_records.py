"""The records of every build: a fold of the journal's rows, which the command line, the page and
the metrics show.

    BuildRecord              a build: its specification, its state, its history
      DomainRecord           a table, a material for a metric: its state, its levels if it has any
        PassRecord           a committed pass: what it found, how long it took

Domains go by their names, such as `KRBvKR.dtm`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from kingpair.coordinator.journal.domain_record import (
    DomainFact,
    DomainRecord,
    PassRecord,
    take,
    take_of_level,
)
from kingpair.coordinator.journal.logged_before import begun
from kingpair.coordinator.journal.rows import Row, Submission
from kingpair.coordinator.machine.records import (
    Assigned,
    Became,
    Deleted,
    ExportBegan,
    ExportDone,
    LogUncopied,
    NodesLacking,
    NodesPassedOver,
    PassCommitted,
    Repeated,
    SetBack,
    TableVerified,
    WavesPlanned,
)
from kingpair.coordinator.machine.state import ACTIVE, State
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.turn_order import by_turn
from kingpair.workers.index.slices import LevelSlice
from kingpair.workers.table.key import DomainKey, TableKey


@dataclass(slots=True)
class HistoryEntry:
    """A line of a build's history."""

    row: int
    time: float
    what: str
    reason: str


@dataclass(slots=True)
class BuildRecord:
    """A build."""

    name: str
    number: int
    spec: BuildSpec
    submitted: float
    is_queued: bool
    state: State = State.QUEUED
    reason: str = ""
    began: float | None = None
    ended: float | None = None
    deleted: bool = False
    domains: dict[str, DomainRecord] = field(default_factory=dict)  # of tables, by name
    levels: dict[str, DomainRecord] = field(default_factory=dict)  # of their levels
    waves: list[list[str]] = field(default_factory=list)  # of domains
    history: list[HistoryEntry] = field(default_factory=list)
    row: int = 0
    latest: str = ""  # the domain that was last heard of, until it is verified

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    def apply(self, row: Row) -> None:
        """Takes in a row of this build."""
        self.row = row.id
        _tell(self, row)

    def record_of(self, domain: str) -> DomainRecord | None:
        """The record of a domain: a table, or the level of one that a slice is of."""
        if (found := self.domains.get(domain) or self.levels.get(domain)) is not None:
            return found
        table, slice_ = DomainKey.parse(domain)
        return slice_ and self.levels.get(str(DomainKey(table, LevelSlice(slice_.level))))

    def exports(self) -> list[DomainRecord]:
        """The tables that were there, and whose Syzygy files this build writes."""
        return [d for d in self.domains.values() if d.syzygy and d.state == "exists"]

    def missing(self) -> list[list[str]]:
        """The domains to be built, wave by wave."""
        waves = ([n for n in wave if self.domains[n].state != "exists"] for wave in self.waves)
        return [wave for wave in waves if wave]


class BuildRecords:
    """All builds, by name, in the order in which they were asked for."""

    def __init__(self) -> None:
        self.builds: dict[str, BuildRecord] = {}
        self.row = 0

    def enter(self, submitted: Submission) -> None:
        if submitted.name not in self.builds:
            self.builds[submitted.name] = BuildRecord(
                submitted.name,
                len(self.builds),
                submitted.spec,
                submitted.time,
                submitted.is_queued,
            )

    def apply(self, row: Row) -> BuildRecord | None:
        """Takes in a row; returns the build that it is about."""
        self.row = max(self.row, row.id)
        build = self.builds.get(row.build)
        if build is not None:
            build.apply(row)
        return build

    def pass_of(self, row: Row) -> PassRecord | None:
        """Returns the pass of a row, unless that pass was found again since."""
        build = self.builds.get(row.build)
        if build is None or not isinstance(row.record, PassCommitted):
            return None
        domain = build.record_of(row.record.domain)
        passes = reversed(domain.passes) if domain is not None else iter(())
        return next((pass_ for pass_ in passes if pass_.row == row.id), None)

    def not_deleted(self) -> Iterator[BuildRecord]:
        """Returns the builds that are not deleted."""
        return (build for build in self.builds.values() if not build.deleted)

    def queue(self) -> list[BuildRecord]:
        """Returns the builds that wait, in the order of their turns."""
        waiting = [s for s in self.not_deleted() if s.state is State.QUEUED and s.is_queued]
        succeeded = (s for s in self.builds.values() if s.state is State.SUCCEEDED and s.is_queued)
        return by_turn(waiting, succeeded)

    def ahead(self, build: BuildRecord) -> int | None:
        """The number of builds that run before this one; None if its turn has come."""
        queue = self.queue()
        if build not in queue:
            return None
        return queue.index(build) + sum(s.is_active and s.is_queued for s in self.not_deleted())


def _tell(build: BuildRecord, row: Row) -> None:
    match row.record:
        case Became(state, reason):
            _became(build, State(state), reason, row)
        case WavesPlanned():
            _planned(build, row.record)
            for domain in build.domains.values():
                domain.is_to_be_verified = build.spec.verify
        case Deleted(reason):
            build.deleted = True
            # It cannot be asked for any more: what remains is that it existed.
            build.domains, build.levels, build.waves = {}, {}, []
            build.history = [HistoryEntry(row.id, row.time, "deleted", reason)]
        case SetBack() | Repeated() | NodesLacking() | NodesPassedOver() | LogUncopied():
            build.history.append(HistoryEntry(row.id, row.time, *hitch(row.record)))
        case record:
            found = build.record_of(record.domain)
            if found is not None:
                build.latest = _latest(build, record, found)
                take(found, record, row)
                if found.level is not None:
                    take_of_level(build.domains[build.latest], row)


def _latest(build: BuildRecord, record: DomainFact, found: DomainRecord) -> str:
    """The table that is under way, as far as one can be named."""
    table = str(found.key.table)
    if isinstance(record, TableVerified | ExportDone):
        return "" if build.latest == table else build.latest
    if isinstance(record, ExportBegan):
        return build.latest or table  # a table that is solved meanwhile says more
    is_of_others = isinstance(record, Assigned) and found.teams > 0 and found.level is None
    return build.latest if is_of_others else table


def hitch(
    record: SetBack | Repeated | NodesLacking | NodesPassedOver | LogUncopied,
) -> tuple[str, str]:
    """Says what holds a build up without ending it, and why."""
    match record:
        case SetBack(domain, _, reason):
            return "set back", f"{domain}: {reason}"
        case Repeated(domain, _, task, attempt, reason):
            return "repeated", f"{domain}: {task}, for the {attempt}. time: {reason}"
        case NodesLacking(reason):
            return "waiting for nodes", reason
        case NodesPassedOver(reason):
            return "nodes not used", reason
        case LogUncopied(reason):
            return "no copy", reason


def _became(build: BuildRecord, state: State, reason: str, row: Row) -> None:
    build.history.append(HistoryEntry(row.id, row.time, state.value, reason))
    if state is State.PLANNING and build.began is None:
        build.began = row.time
    build.state, build.reason = state, reason
    build.ended = row.time if state.has_ended else None
    if state.has_ended:
        _leave(build, state)


def _leave(build: BuildRecord, state: State) -> None:
    """Takes back the states of domains that were under way."""
    for domain in build.domains.values():
        if domain.state in ("solving", "painting", "verifying"):
            domain.state = "failed" if state is State.FAILED else "waiting"
        if domain.syzygy == "being written":
            domain.syzygy = "missing"


def _planned(build: BuildRecord, plan: WavesPlanned) -> None:
    """Keeps what was seen of a domain before, unless it begins anew."""
    for wave in plan.waves:
        for name in wave:
            if name not in build.domains:
                build.domains[name] = begun(name, plan)
    for name in plan.present:
        if name not in build.domains:
            build.domains[name] = DomainRecord.of(TableKey.parse(name))
        if build.domains[name].state != "done":
            build.domains[name].state = "exists"
    for domain in build.domains.values():
        build.levels |= {str(level.key): level for level in domain.levels}
    for name in plan.exports:
        build.domains[name].syzygy = "missing"
    build.waves = _waves(build)


def _waves(build: BuildRecord) -> list[list[str]]:
    """Domains by the numbers of their men and of their pawns."""
    waves = sorted({domain.wave for domain in build.domains.values()})
    return [[name for name, c in build.domains.items() if c.wave == wave] for wave in waves]
