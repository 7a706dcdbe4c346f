"""The constants of `kingpair model`, from builds that are watched.

A material of five men is built on one core; with it a line is fitted through its passes:

    seconds of a pass = constant + units found x slope

The slope is what a unit costs where partitions stay in the cache, the constant what a pass costs
that finds nothing.  What was found is known here, so no guess about the course of a solution
enters.

What takes minutes is measured only if asked for.  One of six men says what a unit costs where
partitions do not stay in the cache; once more with two workers, what it costs a worker to take in
what the other one found.  A material of four men, whose passes are nearly nothing, says what it
costs to ask one and two workers of a local cluster, where Ray is there, and to wait for them.
"""

import importlib.util
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from api.hiring import hiring
from coordinator.build import build
from coordinator.course import occupied, placed
from coordinator.crew import Hire
from coordinator.model import STEPS, UNIT_SLOTS, Constants, smaller_slots
from coordinator.request import Committed, Event, Painting, Published, Request, Verified
from workers.domain import domain_of
from workers.geometry import PAIRS
from workers.material import Material, closure
from workers.table import rows_of

FOUR_MEN, FIVE_MEN, SIX_MEN = map(Material.parse, ("KQvKR", "KBBvKN", "KRBvKBN"))


class Watched(NamedTuple):
    """What a build told, and when; the processor time that it took of this process."""

    material: Material
    events: tuple[tuple[float, Event], ...]
    work: float = 0.0

    def passes(self) -> list[Committed]:
        return [e for _, e in self.events if isinstance(e, Committed) and e.passed.depth > 0]

    def openings(self) -> list[Committed]:
        """With pass 0 of each winner: the exits are read and the sets opened before it."""
        return [e for _, e in self.events if isinstance(e, Committed) and e.passed.depth == 0]

    def exchanged(self) -> int:
        return sum(e.exchanged for _, e in self.events if isinstance(e, Committed))

    def waiting(self) -> float:
        """Seconds of a pass, as a rule, in which no worker is in a step."""
        return median(e.seconds - max(w.seconds for w in e.work) for e in self.passes())

    def painting(self) -> float:
        (begun,), (ended,) = self._times(Painting), self._times(Published)
        return ended - begun

    def proof(self) -> float:
        return next(e.seconds for _, e in self.events if isinstance(e, Verified))

    def _times(self, kind: type[Event]) -> list[float]:
        return [at for at, event in self.events if isinstance(event, kind)]


def measured(full: bool) -> Constants:
    """The constants of this machine; with those that take minutes."""
    with TemporaryDirectory(prefix="kingpair-bench-") as at:
        out = Path(at)
        found = of_five_men(_watched(out, FIVE_MEN))
        if full:
            alone, together = (_watched(out, SIX_MEN, workers) for workers in (1, 2))
            found = of_two_workers(alone, together, of_six_men(alone, found))
        if full and importlib.util.find_spec("ray") is not None:
            found = of_a_cluster(_on_ray(out, 1), _on_ray(out, 2), found)
    return found


def _watched(out: Path, material: Material, workers: int = 1, hire: Hire | None = None) -> Watched:
    """A build in which each worker has a thread."""
    smaller = tuple(m for wave in closure((material,)) for m in wave if m != material)
    build(Request(smaller, out, verify=False), lambda event: None)
    events: list[tuple[float, Event]] = []
    request = Request((material,), out, force=True, workers=workers, grain=1)
    start = time.process_time()
    build(request, lambda event: events.append((time.perf_counter(), event)), hire)
    return Watched(material, tuple(events), time.process_time() - start)


def _on_ray(out: Path, workers: int) -> Watched:
    with hiring("local", workers, workers) as hire:
        return _watched(out, FOUR_MEN, workers, hire)


def of_five_men(seen: Watched) -> Constants:
    usual, (constant, near) = Constants(), _line(seen)
    return _with_the_rest(usual._replace(partition=constant / len(PAIRS), near=near), seen)


def of_six_men(seen: Watched, found: Constants) -> Constants:
    constant, unit = _line(seen)
    units = rows_of(seen.material) / UNIT_SLOTS
    scan = max(0.0, constant - found.partition * len(PAIRS)) / units
    return _with_the_rest(found._replace(scan=scan, unit=unit), seen)


def of_two_workers(alone: Watched, together: Watched, found: Constants) -> Constants:
    """Both read the smaller tables; all else that two do beyond one is to take in."""
    more = together.work - alone.work - smaller_slots(alone.material) * found.exit
    return found._replace(take=max(0.0, more) / together.exchanged())


def of_a_cluster(alone: Watched, together: Watched, found: Constants) -> Constants:
    """From what is waited in the passes of one worker and of two."""
    one, two = (seen.waiting() / STEPS for seen in (alone, together))
    worker = max(0.0, two - one)
    return found._replace(step=max(0.0, one - worker), worker=worker)


def _with_the_rest(found: Constants, seen: Watched) -> Constants:
    slots, opened = rows_of(seen.material), [e.seconds for e in seen.openings()]
    predicted = smaller_slots(seen.material) * found.exit + len(opened) * slots * found.opening
    slower = sum(opened) / predicted
    return found._replace(
        exit=found.exit * slower,
        opening=found.opening * slower,
        paint=seen.painting() / slots,
        proof=seen.proof() / slots,
    )


def _line(seen: Watched) -> tuple[float, float]:
    """Seconds of a pass that finds nothing, and of each unit found."""
    found, seconds = _units(seen.material, seen.passes()), [e.seconds for e in seen.passes()]
    slope, constant = np.polyfit(found, seconds, 1)
    return max(0.0, float(constant)), max(0.0, float(slope))


def _units(material: Material, passes: Sequence[Committed]) -> list[float]:
    units, positions = rows_of(material) / UNIT_SLOTS, domain_of(material).placements()
    part = placed(material.men) / positions
    return [units * occupied(e.passed.won * part) if e.passed.won else 0.0 for e in passes]


def text(found: Constants) -> Iterable[str]:
    return (f"{name:<10}  {value:.3g} s" for name, value in found._asdict().items())
