"""Measures the constants of `kingpair model`, from the events of builds.

A material of five men is built on one core; with it a line is fitted through its passes:

    seconds of a pass = constant + units found x slope

The slope is the cost of a unit where partitions stay in the cache, the constant the cost of a pass
that finds nothing.  The findings of each pass are known here, so nothing is guessed.

The rest takes minutes and is measured with --full.  A material of six men gives the cost of a unit
where partitions do not stay in the cache; with two workers, also the cost of taking in the other
worker's findings.  A material of four men, whose passes take almost no time, gives the cost of
asking one and two workers of a local cluster and waiting for them, if Ray is installed.
"""

import importlib.util
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from kingpair.api.executors import Machines, connected_executors
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.executor import OpenExecutor
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.build_records import BuildRecord
from kingpair.coordinator.journal.domain_record import PassRecord
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import (
    PaintingBegan,
    PassCommitted,
    Record,
    TablePublished,
    TableVerified,
)
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.cluster import Constants
from kingpair.coordinator.plan.domain_work import STEPS, UNIT_SLOTS, smaller_slots
from kingpair.coordinator.plan.pass_statistics import occupied, placed
from kingpair.coordinator.plan.sharing import Sharing
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import closure
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.material_index import rows_of
from kingpair.workers.sets.material_domain import domain_of

FOUR_MEN, FIVE_MEN, SIX_MEN = map(Material.parse, ("KQvKR", "KBBvKN", "KRBvKBN"))


class RecordedBuild(NamedTuple):
    """The rows of a build, and the processor time that it took of this process."""

    material: Material
    rows: tuple[Row, ...]
    work: float = 0.0

    def passes(self) -> list[PassRecord]:
        return [p for p in self._record() if p.depth > 0]

    def openings(self) -> list[PassRecord]:
        """Returns pass 0 of each winner: exits are read and sets opened before it."""
        return [p for p in self._record() if p.depth == 0]

    def exchanged(self) -> int:
        return sum(p.exchanged for p in self._record())

    def waiting(self) -> float:
        """Returns the median seconds of a pass in which no worker was in a step."""
        steps = {row.id: row.record for row in self.rows if isinstance(row.record, PassCommitted)}
        return median(p.seconds - steps[p.row].seconds for p in self.passes())

    def painting(self) -> float:
        return self._time(TablePublished) - self._time(PaintingBegan)

    def proof(self) -> float:
        return self._time(TableVerified) - self._time(TablePublished)

    def _record(self) -> list[PassRecord]:
        spec = BuildSpec((self.material,))
        build = BuildRecord("build", 0, spec, 0.0, is_queued=False)
        for row in self.rows:
            build.apply(row)
        return [p for domain in build.domains.values() for p in domain.passes]

    def _time(self, kind: type[Record]) -> float:
        return next(row.time for row in self.rows if isinstance(row.record, kind))


def measured(full: bool) -> Constants:
    """Measures the constants of this machine; with `full`, also those that take minutes."""
    with TemporaryDirectory(prefix="kingpair-bench-") as at:
        out = Path(at)
        found = of_five_men(_recorded(out, FIVE_MEN))
        if full:
            alone, together = (_recorded(out, SIX_MEN, workers) for workers in (1, 2))
            found = of_two_workers(alone, together, of_six_men(alone, found))
        if full and importlib.util.find_spec("ray") is not None:
            found = of_a_cluster(_on_ray(out, 1), _on_ray(out, 2), found)
    return found


def _recorded(
    out: Path, material: Material, workers: int = 1, open_executor: OpenExecutor | None = None
) -> RecordedBuild:
    """Builds with one thread for each worker, and keeps the events."""
    smaller = tuple(m for wave in closure((material,)) for m in wave if m != material)
    build(BuildRequest(BuildSpec(smaller, verify=False), out), lambda event: None)
    rows: list[Row] = []
    request = BuildRequest(BuildSpec((material,), force=True), out, workers=workers, grain=1)
    start = time.process_time()
    build(request, rows.append, open_executor)
    return RecordedBuild(material, tuple(rows), time.process_time() - start)


def _on_ray(out: Path, workers: int) -> RecordedBuild:
    with connected_executors(Machines("local", workers, workers)) as open_executor:
        return _recorded(out, FOUR_MEN, workers, open_executor)


def of_five_men(seen: RecordedBuild) -> Constants:
    usual, (constant, near) = Constants(), _line(seen)
    return _with_the_rest(usual._replace(partition=constant / len(TURNED), near=near), seen)


def of_six_men(seen: RecordedBuild, found: Constants) -> Constants:
    constant, unit = _line(seen)
    units = rows_of(seen.material) / UNIT_SLOTS
    scan = max(0.0, constant - found.partition * len(TURNED)) / units
    return _with_the_rest(found._replace(scan=scan, unit=unit), seen)


def of_two_workers(alone: RecordedBuild, together: RecordedBuild, found: Constants) -> Constants:
    """Adds the cost of taking in: the work of two workers beyond one, without reading tables."""
    again = sum(Sharing.of(2).held) - 1
    more = together.work - alone.work - again * smaller_slots(alone.material) * found.exit
    return found._replace(take=max(0.0, more) / together.exchanged())


def of_a_cluster(alone: RecordedBuild, together: RecordedBuild, found: Constants) -> Constants:
    """Adds the cost of a step, from the waiting in passes of one and of two workers."""
    one, two = (seen.waiting() / STEPS for seen in (alone, together))
    worker = max(0.0, two - one)
    return found._replace(step=max(0.0, one - worker), worker=worker)


def _with_the_rest(found: Constants, seen: RecordedBuild) -> Constants:
    slots, opened = rows_of(seen.material), [e.seconds for e in seen.openings()]
    predicted = smaller_slots(seen.material) * found.exit + len(opened) * slots * found.opening
    slower = sum(opened) / predicted
    return found._replace(
        exit=found.exit * slower,
        opening=found.opening * slower,
        paint=seen.painting() / slots,
        proof=seen.proof() / slots,
    )


def _line(seen: RecordedBuild) -> tuple[float, float]:
    """Returns the seconds of a pass that finds nothing, and of each unit found."""
    found, seconds = _units(seen.material, seen.passes()), [e.seconds for e in seen.passes()]
    slope, constant = np.polyfit(found, seconds, 1)
    return max(0.0, float(constant)), max(0.0, float(slope))


def _units(material: Material, passes: Sequence[PassRecord]) -> list[float]:
    units, positions = rows_of(material) / UNIT_SLOTS, domain_of(material).placements()
    part = placed(material.men) / positions
    return [units * occupied(e.won * part) if e.won else 0.0 for e in passes]


def text(found: Constants) -> Iterable[str]:
    return (f"{name:<10}  {value:.3g} s" for name, value in found._asdict().items())
