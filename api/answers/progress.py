"""The progress of a build as text for a terminal, from its record.

How many passes a material takes is known only when it is solved: a pass that finds nothing lost
is the last.  What the passes found, and whether that grows or falls, is shown.  The time left comes
from the work that is left and the pace of the run (`kingpair.coordinator.journal.countdown`).

Where several materials are under way, the one that was last heard of is shown.
"""

from collections.abc import Iterator
from pathlib import Path

from kingpair.api.text import clock, columns, count, duration
from kingpair.coordinator.journal.build_records import BuildRecord
from kingpair.coordinator.journal.countdown import Left
from kingpair.coordinator.journal.domain_record import DomainRecord, PassRecord
from kingpair.coordinator.machine.records import SetBack, WavesPlanned
from kingpair.coordinator.plan.amounts import amount as size
from kingpair.workers.number_types import STRONGER, Side
from kingpair.workers.store.filesystem import printable

_BARS = "▁▂▃▄▅▆▇█"
_TREND = 24


def wave_number(build: BuildRecord) -> int:
    """The place of the wave under way, from 1."""
    waves = build.missing()
    return next((i for i, wave in enumerate(waves, 1) if build.latest in wave), len(waves))


def name_of(build: BuildRecord, domain: DomainRecord) -> str:
    """Returns the name of a domain, with its metric only if the build has several."""
    several = len(build.spec.metrics) > 1
    return str(domain.key.table if several else domain.material)


def counted(build: BuildRecord, number: int) -> str:
    return count(number, "table" if len(build.spec.metrics) > 1 else "material")


def published(build: BuildRecord) -> list[DomainRecord]:
    return [domain for domain in build.domains.values() if domain.published is not None]


def waiting(build: BuildRecord) -> list[DomainRecord]:
    """The domains that are yet to be built, but for the one under way."""
    names = (name for wave in build.missing() for name in wave if name != build.latest)
    return [d for d in map(build.domains.__getitem__, names) if d.published is None]


def analysis(domain: DomainRecord) -> list[PassRecord]:
    """The passes of the analysis under way that this build has found itself."""
    passes = domain.under_way.passes
    return [p for p in passes if p.row and p.winner == passes[-1].winner]


def found_by(passes: list[PassRecord]) -> list[int]:
    return [p.won + p.lost for p in passes]


def colour_of(winner: Side) -> str:
    return "White" if winner == STRONGER else "Black"


def trend(found: list[int]) -> str:
    """The last passes as bars on a scale of powers of two."""
    powers = [n.bit_length() for n in found[-_TREND:]]
    lowest = min(powers)
    span = max(max(powers) - lowest, len(_BARS) - 1)
    return "".join(_BARS[(p - lowest) * (len(_BARS) - 1) // span] for p in powers)


def direction(found: list[int]) -> str:
    before, last = found[-2] if len(found) > 1 else 0, found[-1]
    return "rising" if last > before else "falling" if last < before else "steady"


# ---- lines ----


def published_line(build: BuildRecord, domain: DomainRecord) -> str:
    longest = max(domain.longest().values(), default=0)
    result = f"longest win {count(longest, domain.metric.noun)}" if longest else "all drawn"
    # One line at a time: the widths are those of six men, and of results that there can be.
    name = f"{name_of(build, domain):<{11 if len(build.spec.metrics) > 1 else 7}}"
    taken = f"{size(domain.bytes or 0):>10}  {duration(domain.seconds or 0.0):>7}"
    return f"  {name}  {result:<21}  {taken}"


def planned_lines(plan: WavesPlanned) -> Iterator[str]:
    if plan.present and (plan.waves or plan.exports):
        verb = "is" if len(plan.present) == 1 else "are"
        lacking = f", {len(plan.exports):,} without Syzygy files" if plan.exports else ""
        yield f"{count(len(plan.present), 'table')} {verb} there already{lacking}"


def exported_line(build: BuildRecord, domain: DomainRecord) -> str:
    """Tells of the Syzygy files of a table that was there."""
    width = 11 if len(build.spec.metrics) > 1 else 7
    return f"  {name_of(build, domain):<{width}}  Syzygy files written"


def set_back_line(build: BuildRecord, record: SetBack) -> str:
    domain = build.record_of(record.domain)
    assert domain is not None, f"{record.domain} is not in the plan"
    level = "" if domain.level is None else f" level {domain.level + 1}"
    name = f"{name_of(build, domain)}{level}"
    return f"  {name:<7}  set back to its last committed pass: {record.reason}"


def wave_line(build: BuildRecord) -> str:
    waves, number = build.missing(), wave_number(build)
    wave = waves[number - 1]
    first = build.domains[wave[0]]
    which = f"wave {number} of {len(waves)}"
    men, pawns = first.wave
    with_pawns = f", {count(pawns, 'pawn')}" if pawns else ""
    return f"{which}: {counted(build, len(wave))} of {count(men, 'man')}{with_pawns}"


def summary(build: BuildRecord, out: Path, now: float) -> str:
    if not build.missing() and (exports := build.exports()):
        of = count(len(exports), "table")
        return (
            f"wrote the Syzygy files of {of} in {printable(out)}: {duration(now - build.submitted)}"
        )
    if not build.missing():
        there = len(build.domains)
        all_of = "table is" if there == 1 else f"{there:,} tables are"
        return f"nothing to build: the {all_of} in {printable(out)} already"
    done = published(build)
    total = size(sum(domain.bytes or 0 for domain in done))
    took = duration(now - build.submitted)
    return f"wrote {count(len(done), 'table')} to {printable(out)}: {total}, {took}"


# ---- what changes on a terminal ----


def status(build: BuildRecord, now: float, left: Left | None) -> Iterator[str]:
    """The lines that change: what is under way, what it found, what waits, what is left."""
    domain = build.domains.get(build.latest)
    if domain is None:
        return
    yield f"{_stage(build, domain)}  {name_of(build, domain)}  {_doing(domain)}"
    if domain.under_way.passes and not domain.is_painted and (passes := analysis(domain)):
        yield from columns(_found(domain, passes), "<<")
    yield f"  elapsed  {clock(now - build.submitted)}{_waiting(build)}{_left(left)}"
    if left is not None and left.reason:
        yield f"  it will take longer: {left.reason}"


def _stage(build: BuildRecord, domain: DomainRecord) -> str:
    """Says which of how many waves is under way, or which of the tables that were there."""
    if domain.state != "exists":
        return f"wave {wave_number(build)} of {len(build.missing())}"
    exports = build.exports()
    written = sum(each.syzygy == "written" for each in exports)
    return f"table {written + 1} of {len(exports)}"


def _doing(domain: DomainRecord) -> str:
    if domain.syzygy == "being written":
        return "writing its Syzygy files"
    if domain.published is not None:
        return "verifying the table"
    if domain.is_painted:
        return "writing the table"
    solving = domain.under_way
    where = _level(domain, solving)
    if solving.state == "done" or not any(p.row for p in solving.passes):
        return f"{where}preparing"
    if solving.is_painted:
        return f"{where}writing its columns"
    last = solving.passes[-1]
    if where:
        return f"{where}pass {last.depth}, {colour_of(last.winner)} to win"
    return f"{colour_of(last.winner)} to win, pass {last.depth} of a number not yet known"


def _level(domain: DomainRecord, solving: DomainRecord) -> str:
    """Says which level is under way; levels are counted from 1."""
    if solving.level is None:
        return ""
    is_over = solving.state == "done" and solving.level + 1 < len(domain.levels)
    number = solving.level + 1 + is_over
    level = domain.levels[number - 1]
    return f"level {number} of {len(domain.levels)}, {_structures(level)}, "


def _structures(level: DomainRecord) -> str:
    """Counts the structures of a level; says which of them a slice has, counted from 1."""
    if level.slice is None or level.slice.places is None or level.state == "done":
        return count(level.structures, "structure")
    first, stop = level.slice.places
    return f"structures {first + 1} to {stop} of {level.structures}"


def _found(domain: DomainRecord, passes: list[PassRecord]) -> Iterator[tuple[str, str]]:
    found, seconds = found_by(passes), sum(p.seconds for p in passes)
    pace = sum(found) / seconds if seconds > 0 else 0.0
    decided = domain.decided_for(passes[-1].winner)
    yield "  decided", f"{decided:,} positions, {rate(pace)} positions/s"
    yield "  found", f"{trend(found)} {found[-1]:,} in the last pass, {direction(found)}"
    if (disk := passes[-1].disk).read or disk.written:
        moved = f"{size(disk.read)} read and {size(disk.written)} written in the last pass"
        yield "  disk", f"{moved}, {disk_share(passes):.0%} of the time"


def disk_share(passes: list[PassRecord]) -> float:
    """The share of the time of passes in which sets were read and written."""
    seconds = sum(p.seconds for p in passes)
    return min(1.0, sum(p.disk.seconds for p in passes) / seconds) if seconds > 0 else 0.0


def rate(positions: float) -> str:
    """Positions in a second, as the page writes them: `12.3 M`."""
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if positions >= unit:
            return f"{positions / unit:.3g}{name}"
    return f"{positions:.0f}"


def _waiting(build: BuildRecord) -> str:
    number = len(waiting(build))
    return f", {counted(build, number)} waiting" if number else ""


def _left(left: Left | None) -> str:
    if left is None:
        return ""
    return (
        f", about {clock(left.seconds)} left ({clock(left.range.low)} to {clock(left.range.high)})"
    )
