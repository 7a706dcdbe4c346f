"""How long a build will take: a range, which has to hold the truth at every moment.

Time goes with the bytes of a set, M, times how often it is gone through, which nobody knows before:
passes go on until nothing more is found.  So a material takes

    between  BASE.low + RATE.low * M / t   and   BASE.high + RATE.high * M / t

on t times two threads, with rates wide enough for machines that are several times faster or slower
than those measured (0.04 to 0.6 s a MiB on two busy cores, verification included).  What this very
build has finished says more: then the rates are those seen, with a margin that shrinks as more is
seen.  Of the material at hand what has passed is taken off; one that takes longer than thought is
given as long again.

The test is recorded builds: at each of their events the truth lay within the range, also if the
machine had been four times faster or twice as slow.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from statistics import fmean
from typing import NamedTuple

from coordinator.ledger import Chapter, Story
from coordinator.plan import estimate
from workers.material import Material
from workers.metric import Metric

MIB = 1 << 20
MANY = 6  # materials of a size, of which the mean says enough
PASSES = 30  # after which half of the solving is taken to be done
_TO_DO = ("waiting", "solving", "painting", "verifying")


class Range(NamedTuple):
    """Seconds at least and at most."""

    low: float
    high: float

    def __add__(self, other: object) -> "Range":
        assert isinstance(other, Range)
        return Range(self.low + other.low, self.high + other.high)

    def times(self, factor: float) -> "Range":
        return Range(self.low * factor, self.high * factor)


BASE = Range(0.02, 1.0)
RATE = Range(0.02, 1.5)  # seconds a MiB, on two threads
DEEPER = 2.0  # to mate there are more passes, and exits that carry a depth
# Of a material's time, what painting and verifying take at least and at most.
AFTER_SOLVING = Range(0.2, 0.95)
VERIFYING = Range(0.0, 0.8)


@cache
def size_of(material: str, metric: str) -> float:
    """MiB of a set."""
    return estimate(Material.parse(material), 1, Metric(metric)).bitmap / MIB


def unseen(material: str, metric: str, threads: int) -> Range:
    """What a material takes, before anything of the kind was seen."""
    rate = Range(RATE.low, RATE.high * (DEEPER if metric == Metric.DTM else 1))
    size = size_of(material, metric)
    share = max(1.0, threads / 2)
    # More threads may help less than they should.
    return BASE + Range(rate.low * size / share, rate.high * size / min(share, 4.0))


def eta(story: Story, threads: int, now: float) -> Range | None:
    """Seconds until a build is over; None while nobody can know: nothing is planned."""
    left = [c for c in story.chapters.values() if c.state in _TO_DO]
    if not story.is_active or not story.chapters:
        return None
    done = [c for c in story.chapters.values() if c.state == "done"]
    found = Range(0.0, 2.0)  # the end has its own small things to do
    waiting = Counter(_kind(chapter) for chapter in left if chapter.state == "waiting")
    for chapter in left:
        is_one_of_many = chapter.state == "waiting" and waiting[_kind(chapter)] >= MANY
        whole = _seen(chapter, done, threads, is_one_of_many)
        found = found + (_rest(chapter, whole, now) if chapter.state != "waiting" else whole)
    return found


def fraction(story: Story) -> float:
    """How much of the work is done, as far as it can be told: by bytes, and never all too early."""
    chapters = [c for c in story.chapters.values() if c.state != "exists"]
    if story.state == "succeeded":
        return 1.0
    sizes = [0.2 + size_of(c.material, c.metric) for c in chapters]
    total = sum(sizes)
    done = sum(size * _part(c) for size, c in zip(sizes, chapters, strict=True))
    return round(min(0.999, done / total), 4) if total else 0.0


def total(ranges: Iterable[Range]) -> Range:
    return sum(ranges, start=Range(0.0, 0.0))


def _seen(chapter: Chapter, done: Sequence[Chapter], threads: int, is_one_of_many: bool) -> Range:
    """What a material takes, by those of its size that this build has finished; of many that are
    yet to come the fast make up for the slow.
    """
    size = size_of(chapter.material, chapter.metric)
    before = unseen(chapter.material, chapter.metric, threads)
    alike = [
        c.seconds / size_of(c.material, c.metric)
        for c in done
        if c.seconds and _kind(c) == _kind(chapter)
    ]
    if len(alike) < 2:
        # A machine that was slower than thought stays so.
        slow = max((s / unseen_high(c, threads) for c in done if (s := c.seconds)), default=0.0)
        return Range(before.low, before.high * max(1.0, slow * 1.5))
    if is_one_of_many and len(alike) >= MANY:
        return Range(fmean(alike) / 2.5 * size, fmean(alike) * 2.5 * size)
    margin = 2.0 + 4.0 / len(alike)
    return Range(min(alike) / margin * size, max(alike) * margin * size + BASE.high)


def unseen_high(chapter: Chapter, threads: int) -> float:
    return unseen(chapter.material, chapter.metric, threads).high


def _kind(chapter: Chapter) -> tuple[int, str]:
    """What materials are alike in."""
    return chapter.men, chapter.metric


def _rest(chapter: Chapter, whole: Range, now: float) -> Range:
    """What is left of the material at hand."""
    elapsed = now - (chapter.began or now)
    if chapter.state == "solving":
        low = max(whole.low - elapsed, whole.low * AFTER_SOLVING.low)
        return Range(low, max(whole.high - elapsed, whole.high / 2, elapsed))
    if chapter.state == "painting":
        whole = Range(0.0, whole.high * AFTER_SOLVING.high)
        return Range(0.0, max(whole.high - elapsed, whole.high / 2, elapsed))
    return Range(0.0, max(whole.high * VERIFYING.high, elapsed))


def _part(chapter: Chapter) -> float:
    if chapter.state == "done":
        return 1.0
    if chapter.state == "solving":
        return 0.5 * (1 - 1 / (1 + len(chapter.verses) / PASSES))
    if chapter.state == "painting":
        return 0.5 + 0.25 * chapter.parts[0] / chapter.parts[1]
    return 0.75 if chapter.state == "verifying" else 0.0
