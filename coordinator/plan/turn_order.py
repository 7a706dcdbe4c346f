"""The order in which builds of one priority have their turns: short ones first, then by age.

    work        seconds of processor time of all tables that a build leaves behind (workload.py)
    size        0 if the work is 20 s or less, and one more for each factor of four
    order       by size, then by age; but first of all, by age, the builds that have waited enough
    overtaken   the work of the builds that were asked for later and have succeeded, each of them 20
                s or more; three times its own work, and a build has waited enough

A build under way gives way to one of a smaller size than what is left of it, if that is at least
four times as much work.  An interruption costs the pass that is under way and the opening of the
sets; there are no more of them than `overtaken` allows.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable
from functools import cache
from itertools import accumulate
from math import ceil, log
from typing import Protocol, TypeVar

from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.closure import tables_of
from kingpair.coordinator.plan.workload import work_of
from kingpair.workers.errors import BadMaterial

LEAST_SECONDS = 20.0
FACTOR = 4
PATIENCE = 3  # times its own work that a build is overtaken


class Asked(Protocol):
    """A build that was asked for, as the number of the builds before it."""

    @property
    def number(self) -> int: ...
    @property
    def spec(self) -> BuildSpec: ...


AskedBuild = TypeVar("AskedBuild", bound=Asked)


def by_turn(waiting: Collection[AskedBuild], succeeded: Iterable[Asked]) -> list[AskedBuild]:
    """Returns the builds that wait, in the order of their turns."""
    if len(waiting) < 2:
        return list(waiting)
    overtaken = Overtaken(succeeded)

    def place(build: AskedBuild) -> tuple[int, int, int]:
        size = -1 if overtaken.is_enough_for(build) else _size(work_of_build(build.spec))
        return -build.spec.priority, size, build.number

    return sorted(waiting, key=place)


def is_shorter(build: Asked, left: float) -> bool:
    """Whether a build should go before one under way that has so much work left."""
    work = work_of_build(build.spec)
    return _size(work) < _size(left) and FACTOR * work <= left


class Overtaken:
    """The work of the builds that have succeeded, by age."""

    def __init__(self, succeeded: Iterable[Asked]) -> None:
        done = sorted(succeeded, key=lambda build: build.number)
        self._numbers = [build.number for build in done]
        self._sums = [0.0, *accumulate(work_of_build(build.spec) for build in done)]

    def is_enough_for(self, build: Asked) -> bool:
        """Whether so many later builds went before this one that no further one may."""
        later = self._sums[-1] - self._sums[bisect_right(self._numbers, build.number)]
        return later >= PATIENCE * work_of_build(build.spec)


def work_of_build(spec: BuildSpec) -> float:
    """Returns the work of a build, at least LEAST_SECONDS."""
    return max(LEAST_SECONDS, work_left(spec, frozenset()))


def work_left(spec: BuildSpec, built: Collection[str]) -> float:
    """Returns the work of the tables that are not built yet."""
    return sum(work for table, work in _works(spec) if table not in built)


@cache
def _works(spec: BuildSpec) -> tuple[tuple[str, float], ...]:
    try:
        keys = [key for wave in tables_of(spec) for key in wave]
    except BadMaterial:
        return ()  # the build ends as soon as it is planned
    return tuple((str(key), sum(work_of(key))) for key in keys)


def _size(work: float) -> int:
    return max(0, ceil(log(work / LEAST_SECONDS, FACTOR))) if work else 0
