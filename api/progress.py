"""How far a build has come: a fold over its events, and the words for it.

How many passes a material takes is known only when it is solved: a pass that finds nothing lost
is the last.  So no time is given for the material under way; what its passes found, and whether
that grows or falls, is shown instead.  For the materials that wait, two times are given: at the
best pace of any with as many men, which few will better, and at the mean pace.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from api.figures import longest_win
from api.text import clock, columns, count, duration
from coordinator.plan import gib as size
from coordinator.request import (
    Committed,
    Event,
    Painting,
    Planned,
    Published,
    SetBack,
    Started,
    Verified,
)
from workers.material import STRONGER
from workers.metric import Metric
from workers.store import shown
from workers.subject import Subject

_BARS = "▁▂▃▄▅▆▇█"
_TREND = 24


# ---- what has happened so far ----


@dataclass
class Progress:
    """A build so far, as a fold over its events.  Where several materials are under way, what is
    told of is the last one that anything was heard of.
    """

    waves: tuple[tuple[Subject, ...], ...] = ()
    present: int = 0
    metrics: frozenset[Metric] = frozenset()
    began: float = field(default_factory=time.monotonic)
    done: list[Published] = field(default_factory=list)
    subject: Subject | None = None
    latest: Committed | None = None
    painting: bool = False
    verifying: bool = False
    found: list[int] = field(default_factory=list)
    """What each pass of the analysis under way found."""
    seconds: float = 0.0
    """What these passes took."""

    def follow(self, event: Event) -> None:
        match event:
            case Planned(waves, present):
                self.waves, self.present = waves, len(present)
                every = (*present, *(subject for wave in waves for subject in wave))
                self.metrics = frozenset(subject.metric for subject in every)
            case Started(subject):
                self.subject, self.latest = subject, None
                self.painting = self.verifying = False
            case Committed(passed=passed, seconds=seconds):
                self._begin_analysis_of(event)
                self.subject, self.latest = event.subject, event
                self.painting = self.verifying = False
                self.found.append(passed.won + passed.lost)
                self.seconds += seconds
            case Painting(subject):
                self.subject, self.painting = subject, True
            case Published(subject):
                self.done.append(event)
                self.subject, self.verifying = subject, True
            case Verified(subject) if subject == self.subject:
                self.subject = None

    def _begin_analysis_of(self, event: Committed) -> None:
        analysis = event.subject, event.winner
        if self.latest is None or (self.latest.subject, self.latest.winner) != analysis:
            self.found, self.seconds = [], 0.0

    @property
    def wave(self) -> int:
        """The place of the wave under way, from 1."""
        return next((i for i, w in enumerate(self.waves, 1) if self.subject in w), len(self.waves))

    def name(self, subject: Subject) -> str:
        """With its metric only if there are several."""
        return str(subject if len(self.metrics) > 1 else subject.material)

    def counted(self, number: int) -> str:
        return count(number, "table" if len(self.metrics) > 1 else "material")

    def waiting(self) -> list[Subject]:
        finished = {event.subject for event in self.done} | {self.subject}
        return [subject for wave in self.waves for subject in wave if subject not in finished]

    @property
    def rate(self) -> float:
        """Positions decided a second, in the analysis under way."""
        return sum(self.found) / self.seconds if self.seconds > 0 else 0.0

    def left(self) -> tuple[float, float | None] | None:
        """Seconds for what waits, at the best pace so far and at the mean; None if unknown.

        The pace of small materials says nothing of larger ones, nor that of a metric of another:
        only those with as many men count.
        Where some that wait have none such, the rest is still a lower bound, but there is no mean.
        """
        taken: dict[tuple[int, Metric], list[float]] = {}
        for event in self.done:
            taken.setdefault(_kind(event.subject), []).append(event.seconds)
        waiting = [taken.get(_kind(subject)) for subject in self.waiting()]
        known = [seconds for seconds in waiting if seconds]
        if not known:
            return None
        whole = len(known) == len(waiting)
        return sum(map(min, known)), sum(map(fmean, known)) if whole else None


def _kind(subject: Subject) -> tuple[int, Metric]:
    return subject.material.men, subject.metric


def colour_of(winner: int) -> str:
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


def published_line(progress: Progress, event: Published) -> str:
    longest = longest_win(event.counts)
    result = f"longest win {count(longest, 'move')}" if longest else "all drawn"
    # One line at a time: the widths are those of six men, and of results that there can be.
    name = f"{progress.name(event.subject):<{11 if len(progress.metrics) > 1 else 7}}"
    taken = f"{size(event.bytes):>10}  {duration(event.seconds):>7}"
    return f"  {name}  {result:<21}  {taken}"


def planned_lines(event: Planned) -> Iterator[str]:
    if event.present and event.waves:
        verb = "is" if len(event.present) == 1 else "are"
        yield f"{count(len(event.present), 'table')} {verb} there already"


def set_back_line(progress: Progress, event: SetBack) -> str:
    return (
        f"  {progress.name(event.subject):<7}  set back to its last committed pass: {event.reason}"
    )


def wave_line(progress: Progress) -> str:
    wave = progress.waves[progress.wave - 1]
    which = f"wave {progress.wave} of {len(progress.waves)}"
    return f"{which}: {progress.counted(len(wave))} of {count(wave[0].material.men, 'man')}"


def summary(progress: Progress, out: Path) -> str:
    if not progress.waves:
        all_of = "table is" if progress.present == 1 else f"{progress.present:,} tables are"
        return f"nothing to build: the {all_of} in {shown(out)} already"
    took = duration(time.monotonic() - progress.began)
    total = size(sum(event.bytes for event in progress.done))
    return f"wrote {count(len(progress.done), 'table')} to {shown(out)}: {total}, {took}"


# ---- what changes on a terminal ----


def status(progress: Progress, now: float) -> Iterator[str]:
    """The lines that change: what is under way, what it found, what waits."""
    if progress.subject is None:
        return
    name = progress.name(progress.subject)
    yield f"wave {progress.wave} of {len(progress.waves)}  {name}  {_doing(progress)}"
    if progress.latest is not None and not progress.painting:
        yield from columns(_found(progress, progress.latest), "<<")
    yield f"  elapsed  {clock(now - progress.began)}{_left(progress)}"


def _doing(progress: Progress) -> str:
    if progress.verifying:
        return "verifying the table"
    if progress.painting:
        return "writing the table"
    if progress.latest is None:
        return "preparing"
    winner, depth = colour_of(progress.latest.winner), progress.latest.passed.depth
    return f"{winner} to win, pass {depth} of a number not yet known"


def _found(progress: Progress, latest: Committed) -> Iterator[tuple[str, str]]:
    last = f"{progress.found[-1]:,} in the last pass, {direction(progress.found)}"
    yield "  decided", f"{latest.decided:,} positions, {rate(progress.rate)} a second"
    yield "  found", f"{trend(progress.found)} {last}"


def rate(positions: float) -> str:
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if positions >= unit:
            return f"{positions / unit:.1f} {name}"
    return f"{positions:.0f}"


def _left(progress: Progress) -> str:
    waiting = len(progress.waiting())
    if not waiting:
        return ""
    said = f", {progress.counted(waiting)} waiting"
    if (left := progress.left()) is None:
        return said
    best, mean = left
    return f"{said}: at least {clock(best)}" + (f", {clock(mean)} at the mean pace" if mean else "")
