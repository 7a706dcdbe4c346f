"""Facts about how long a build will take: the range that is given holds the truth.

Recorded builds are `tests/golden/recorded_builds.json`: seconds from the beginning at which each
domain was begun, committed its first and middle pass, began to be painted, was published, and was
verified, on two cores that other work was using as well.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator.forecast import Range, eta, fraction, unseen
from coordinator.ledger import Chapter, Story, Verse
from coordinator.state import State
from coordinator.wanted import Wanted

RECORDED = json.loads((Path(__file__).parent / "golden" / "recorded_builds.json").read_text())


def fresh(build: Any) -> Story:
    chapters = {name: Chapter.of(name) for name in (each["name"] for each in build["domains"])}
    metrics = tuple(dict.fromkeys(chapter.metric for chapter in chapters.values()))
    wanted = Wanted(tuple(build["asked"]), metrics)
    return Story("b1", 0, wanted, 0.0, True, State.RUNNING, chapters=chapters)


def moments(build: Any) -> Iterator[tuple[float, str, str]]:
    found = [
        (time, each["name"], what)
        for each in build["domains"]
        for what, time in each["times"].items()
    ]
    return iter(sorted(found))


def happen(chapter: Chapter, what: str, now: float) -> None:
    match what:
        case "begun":
            chapter.state, chapter.began = "solving", now
        case "first pass" | "middle pass":
            chapter.verses.append(Verse(0, 0, len(chapter.verses), 1, 1, 0, 0.0, now, 2))
        case "painting":
            chapter.state, chapter.painting = "painting", now
        case "published":
            chapter.state, chapter.published = "verifying", now
        case "verified":
            assert chapter.began is not None
            chapter.state, chapter.seconds = "done", now - chapter.began


@pytest.mark.parametrize("slower", [0.25, 1.0, 2.0])
@pytest.mark.parametrize("build", RECORDED, ids=lambda build: build["name"])
def test_the_truth_is_within_the_range_at_each_moment(build: Any, slower: float) -> None:
    story, end = fresh(build), build["end"] * slower
    wrong = []
    for time, name, what in moments(build):
        now = time * slower
        happen(story.chapters[name], what, now)
        found = eta(story, 2, now)
        assert found is not None
        if not found.low <= end - now <= found.high:
            wrong.append((name, what, found, end - now))
    assert wrong == []


@pytest.mark.parametrize("build", RECORDED, ids=lambda build: build["name"])
def test_the_range_is_of_use(build: Any) -> None:
    """Half way through a build of many materials it is known to a factor of ten."""
    if len(build["domains"]) < 20:
        return
    story = fresh(build)
    for time, name, what in moments(build):
        happen(story.chapters[name], what, time)
        if time > build["end"] / 2:
            break
    found = eta(story, 2, time)
    assert found is not None
    assert found.high < 10 * found.low


@pytest.mark.parametrize("build", RECORDED, ids=lambda build: build["name"])
def test_what_is_done_never_becomes_less(build: Any) -> None:
    story, before = fresh(build), 0.0
    for time, name, what in moments(build):
        happen(story.chapters[name], what, time)
        assert before <= fraction(story) < 1
        before = fraction(story)
    story.state = State.SUCCEEDED
    assert fraction(story) == 1


def test_nothing_is_said_before_anything_is_planned() -> None:
    story = Story("b1", 0, Wanted(("KQvK",), ("dtc",)), 0.0, True, State.PLANNING)
    assert eta(story, 2, 0.0) is None


def test_more_men_take_longer_and_more_threads_less() -> None:
    assert unseen("KQvKR", "dtc", 2).high < unseen("KQRvKR", "dtc", 2).high
    assert unseen("KRBvKBN", "dtc", 8).low < unseen("KRBvKBN", "dtc", 2).low
    assert unseen("KRBvKBN", "dtm", 2).high > unseen("KRBvKBN", "dtc", 2).high


def test_what_is_counted_to_mate_says_nothing_of_what_is_not() -> None:
    """Seconds of one metric are not taken for the other's."""
    (build,) = (each for each in RECORDED if len(fresh(each).wanted.metrics) > 1)
    story = fresh(build)
    for time, name, what in moments(build):
        if name.endswith(".dtc"):
            happen(story.chapters[name], what, time)
    left = {name: c for name, c in story.chapters.items() if c.state == "waiting"}
    assert {chapter.metric for chapter in left.values()} == {"dtm"}
    found = eta(story, 2, build["end"])
    story.chapters = left
    alone = eta(story, 2, build["end"])
    assert isinstance(found, Range)
    assert isinstance(alone, Range)
    assert found.low == alone.low
