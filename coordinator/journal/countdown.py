"""The time that is left of a build under way, as it is told: it does not rise without a reason.

A countdown sees the record of its build again and again.  It measures the pace of the run, and
remembers what it said last:

    pace   the pace of earlier builds, and what has been measured since the run began, each with as
           much weight as the work that has shown it
    left   the work left times the pace; what a step under way takes is counted off while it lasts
    told   `left`, if that is less than was told before; what was told before, if `left` is a little
           more; and `left` with a reason, if that is much more
"""

from typing import NamedTuple

from kingpair.coordinator.journal.build_records import BuildRecord
from kingpair.coordinator.journal.forecast import (
    SPREAD,
    UNMEASURED_SPREAD,
    Pace,
    Range,
    Standing,
    standing,
    work_in,
)
from kingpair.coordinator.machine.state import State

LITTLE = 1.25  # a rise that is not told
END = 0.2  # seconds, for the end of a build
SLACK = 1.0  # seconds by which any range is wider
SOON = 2.0  # seconds after its beginning in which nothing of a run is done yet
TRUST = 2.0  # work of a build under way that counts as much as all earlier ones
UNMEASURED_TRUST = 0.3


class Left(NamedTuple):
    """Seconds left, at least and at most, and why they rose if they did."""

    seconds: float
    range: Range
    reason: str = ""


class Countdown:
    """The time left of one build."""

    def __init__(self, pace: Pace) -> None:
        self._before = pace
        self._began: float | None = None
        self._first = self._mark = 0.0
        self._last = Standing(0.0, 0.0, 0.0)
        self._told: Left | None = None
        self._rose_from = 0.0

    def left(self, build: BuildRecord, now: float) -> Left | None:
        """Returns what is left; None before the build is planned and once it has ended."""
        if not build.is_active or not build.domains:
            self._began = self._told = None
            return None
        if build.state is State.PAUSED and self._told is not None:
            return self._told
        began = _began(build)
        now_at = standing(build)
        if began != self._began:
            self._begin(began, now_at.done if now - began < SOON else done_before(build, began))
        if now_at != self._last:
            self._mark, self._last = now, now_at
        self._told = self._tell(build, now)
        return self._told

    def _begin(self, began: float, done: float) -> None:
        """A run begins: what earlier runs have done says nothing of its pace."""
        self._began, self._first, self._mark, self._told = began, done, began, None

    def _tell(self, build: BuildRecord, now: float) -> Left:
        seconds, is_late = self._seconds(now)
        before = self._told
        spread = self._spread()
        if before is None or seconds <= before.seconds:
            reason = before.reason if before and seconds > self._rose_from else ""
            return Left(seconds, _around(seconds, spread), reason)
        if seconds <= LITTLE * before.seconds + SLACK:
            return before
        self._rose_from = before.seconds
        return Left(seconds, _around(seconds, spread), self._reason(build, is_late))

    def _seconds(self, now: float) -> tuple[float, bool]:
        whole, done, step = self._last
        since, pace = now - self._mark, self._pace(0.0, 0.0)
        is_late = since > pace * step
        if is_late:
            pace = self._pace(since, step)
        counted_off = min(since / pace, 0.9 * step) if pace else 0.0
        return (whole - done - counted_off) * pace + END, is_late

    def _pace(self, since: float, step: float) -> float:
        """Seconds for one of the reference, with `since` for a step that should have ended."""
        assert self._began is not None
        trust = TRUST if self._before.is_measured else UNMEASURED_TRUST
        took = self._mark - self._began + since
        made = self._last.done - self._first + step
        return (self._before.seconds * trust + took) / (trust + made)

    def _spread(self) -> float:
        """Of a pace: the more of the work has been seen, the nearer it is."""
        widest = SPREAD * 1.25 if self._before.is_measured else UNMEASURED_SPREAD
        part = min(1.0, 5 * self._last.done / self._last.whole) if self._last.whole else 1.0
        return widest + (SPREAD - widest) * part

    def _reason(self, build: BuildRecord, is_late: bool) -> str:
        if build.history and build.history[-1].what in ("set back", "repeated"):
            return build.history[-1].reason
        if is_late and build.latest:
            return f"{build.domains[build.latest].material} takes longer than was estimated"
        if self._before.is_measured:
            return "the machine is slower than before; other programs may use it too"
        return "the machine is slower than was assumed before it was measured"


def run_of(build: BuildRecord) -> tuple[float, float]:
    """Returns the seconds of the last run of a build that is over, and the work that it did."""
    began, ended = _began(build), build.ended or 0.0
    every = sum(work_in(build, d) for d in build.domains.values() if d.state == "done")
    return ended - began, every - done_before(build, began)


def done_before(build: BuildRecord, began: float) -> float:
    """Returns the work of the tables that were published before a run began."""
    tables = [d for d in build.domains.values() if d.state == "done"]
    return sum(work_in(build, d) for d in tables if (d.published or began) < began)


def _began(build: BuildRecord) -> float:
    """Returns when the present run began."""
    runs = [line.time for line in build.history if line.what == State.RUNNING]
    return runs[-1] if runs else build.began or build.submitted


def _around(seconds: float, spread: float) -> Range:
    return Range(max(0.0, seconds - SLACK) / spread, seconds * spread + SLACK)
