"""Forecasts the time of a build: the work that is left times the pace of the machine.

    left = (work of all tables - work done) * pace

Work is in seconds of a machine of reference (`kingpair.coordinator.plan.workload`), by phase: of a
material that is solved, passes and levels say how far it has come; of one that is written, its
parts; of one that is proved nothing is known before the end.  The pace of a build is measured by
the build itself, from its first table on; the paces of earlier builds are where it begins.
"""

from typing import NamedTuple

from kingpair.coordinator.journal.build_records import BuildRecord
from kingpair.coordinator.journal.domain_record import DomainRecord
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.closure import tables_of
from kingpair.coordinator.plan.workload import Work, export_work, level_work, work_of
from kingpair.workers.table.key import TableKey

PASSES = 30  # after which half of the solving is taken to be done
SPREAD = 2.0  # by how much a pace that was measured may be wrong
UNMEASURED_SPREAD = 6.0
THREADS_HELP = 0.8  # so many threads are this power of them faster
COMPACT = 6.0  # times as long to write


class Range(NamedTuple):
    """Seconds at least and at most."""

    low: float
    high: float


class Pace(NamedTuple):
    """Seconds that a machine takes for one of the reference, and how much work has shown it."""

    seconds: float
    seen: float

    @property
    def is_measured(self) -> bool:
        return self.seen > 0

    def range_of(self, work: float) -> Range:
        """Returns the seconds that work takes, at least and at most."""
        spread = SPREAD if self.is_measured else UNMEASURED_SPREAD
        return Range(work * self.seconds / spread, work * self.seconds * spread)


def pace_of(threads: int, one_thread: float = 2.0, seen: float = 0.0) -> Pace:
    """Returns the pace of so many threads, by that of one: by default a busy one's."""
    return Pace(one_thread / threads**THREADS_HELP, seen)


class Standing(NamedTuple):
    """The work of a build: all of it, what is done, and what is left of the steps under way, which
    say nothing before they end.
    """

    whole: float
    done: float
    step: float


def standing(build: BuildRecord) -> Standing:
    """Returns how far a build has come."""
    domains = [d for d in build.domains.values() if d.state != "exists" or d.syzygy]
    whole = sum(work_in(build, domain) for domain in domains)
    done = [_done(build, domain) for domain in domains]
    return Standing(whole, sum(d for d, _ in done), sum(step for _, step in done))


def fraction(build: BuildRecord) -> float:
    """The share of the work that is done; 1 only if the build has succeeded."""
    if build.state == "succeeded":
        return 1.0
    whole, done, _ = standing(build)
    return round(min(0.999, done / whole), 4) if whole else 0.0


def work_to_do(build: BuildRecord, exists: frozenset[str] = frozenset()) -> float:
    """Returns the work of a build that is not planned yet, but for the tables that are there."""
    return sum(
        work_in(build, DomainRecord.of(key))
        for wave in tables_of(build.spec)
        for key in wave
        if str(key) not in exists or (build.spec.force and key.material in build.spec.materials)
    )


def work_in(build: BuildRecord, domain: DomainRecord) -> float:
    if domain.state == "exists":
        return _export_work(build, domain)
    return sum(_work(build, domain)) + _export_work(build, domain)


def _export_work(build: BuildRecord, domain: DomainRecord) -> float:
    """The work of the Syzygy files that the build writes of a table."""
    is_asked = build.spec.syzygy and domain.metric.counts_plies and domain.state != "exists"
    return export_work(domain.material) if is_asked or domain.syzygy else 0.0


def work_under(spec: BuildSpec, table: TableKey) -> Work:
    """Returns the work of a table as a build's options want it."""
    solve, write, prove = work_of(table)
    return Work(solve, write * (COMPACT if spec.compact else 1.0), prove if spec.verify else 0.0)


def _work(build: BuildRecord, domain: DomainRecord) -> Work:
    return work_under(build.spec, domain.key.table)


def _done(build: BuildRecord, domain: DomainRecord) -> tuple[float, float]:
    """Returns the work of a domain that is done, and what is left of its step."""
    done, step = _solved(build, domain)
    if domain.syzygy == "written":
        done += _export_work(build, domain)
    elif domain.syzygy == "being written":
        step += _export_work(build, domain)
    return done, step


def _solved(build: BuildRecord, domain: DomainRecord) -> tuple[float, float]:
    """As above, but for its Syzygy files."""
    work = _work(build, domain)
    match domain.state:
        case "done":
            return sum(work), 0.0
        case "solving" if domain.levels and all(each.state == "done" for each in domain.levels):
            return work.solve, work.write
        case "solving" if domain.levels:
            return _levels_done(domain)
        case "solving":
            part = _part_of_passes(domain)
            return work.solve * part, work.solve * (1 - part)
        case "painting":
            part = domain.parts[0] / domain.parts[1]
            return work.solve + work.write * part, work.write * (1 - part)
        case "verifying":
            return work.solve + work.write, work.prove
    return 0.0, 0.0


def _levels_done(domain: DomainRecord) -> tuple[float, float]:
    done = step = 0.0
    works = level_work(domain.key.table)
    for of_level, level in zip(works, domain.levels, strict=True):
        done += of_level * level.part_solved
        work = of_level * level.part_of_slice
        if level.state == "painting":
            done += 0.9 * work
            step += 0.1 * work
        elif level.state == "solving":
            part = 0.9 * _part_of_passes(level)
            done += work * part
            step += work * (1 - part)
    return done, step


def _part_of_passes(domain: DomainRecord) -> float:
    return 1 - 1 / (1 + len(domain.passes_of_slice()) / PASSES)
