"""The constants of `kingpair model`, from builds that are watched.

A material of five men is built on one core; with it a line is fitted through its passes:

    seconds of a pass = constant + units found x slope

The slope is what a unit costs where partitions stay in the cache, the constant what a pass costs
that finds nothing.  One of six men, minutes on a core, says what a unit costs when they do not.
What was found is known here, so no guess about the course of a solution enters.  What it costs to
ask the workers of a cluster and to wait for them is not measured here, and stays as it is.
"""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from coordinator.build import build
from coordinator.course import occupied, placed
from coordinator.model import UNIT_SLOTS, Constants, smaller_slots
from coordinator.request import Committed, Event, Painting, Published, Request, Verified
from workers.domain import domain_of
from workers.geometry import PAIRS
from workers.material import Material, closure
from workers.table import rows_of

FIVE_MEN, SIX_MEN = Material.parse("KBBvKN"), Material.parse("KRBvKBN")


class Watched(NamedTuple):
    """What a build on one core told, and when."""

    material: Material
    events: tuple[tuple[float, Event], ...]

    def passes(self) -> list[Committed]:
        return [e for _, e in self.events if isinstance(e, Committed) and e.passed.depth > 0]

    def openings(self) -> list[Committed]:
        """With pass 0 of each winner: the exits are read and the sets opened before it."""
        return [e for _, e in self.events if isinstance(e, Committed) and e.passed.depth == 0]

    def painting(self) -> float:
        (begun,), (ended,) = self._times(Painting), self._times(Published)
        return ended - begun

    def proof(self) -> float:
        return next(e.seconds for _, e in self.events if isinstance(e, Verified))

    def _times(self, kind: type[Event]) -> list[float]:
        return [at for at, event in self.events if isinstance(event, kind)]


def measured(full: bool) -> Constants:
    """The constants of this machine; those of six men too, if minutes do not matter."""
    with TemporaryDirectory(prefix="kingpair-bench-") as at:
        found = of_five_men(_watched(Path(at), FIVE_MEN))
        return of_six_men(_watched(Path(at), SIX_MEN), found) if full else found


def _watched(out: Path, material: Material) -> Watched:
    smaller = tuple(m for wave in closure((material,)) for m in wave if m != material)
    build(Request(smaller, out, verify=False), lambda event: None)
    events: list[tuple[float, Event]] = []
    request = Request((material,), out, threads=1)
    build(request, lambda event: events.append((time.perf_counter(), event)))
    return Watched(material, tuple(events))


def of_five_men(seen: Watched) -> Constants:
    usual, (constant, near) = Constants(), _line(seen)
    return _with_the_rest(usual._replace(partition=constant / len(PAIRS), near=near), seen)


def of_six_men(seen: Watched, found: Constants) -> Constants:
    constant, unit = _line(seen)
    units = rows_of(seen.material) / UNIT_SLOTS
    scan = max(0.0, constant - found.partition * len(PAIRS)) / units
    return _with_the_rest(found._replace(scan=scan, unit=unit), seen)


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
