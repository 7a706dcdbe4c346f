"""Facts about how long a build will take: the range that is given holds the truth, and soon the
figure itself is within a factor of two.

Recorded builds are `tests/golden/recorded_builds.json`: seconds from the beginning at which each
domain was begun, committed its first and middle pass, began to be painted, was published, and was
verified, on two cores that other work was using as well.
"""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kingpair.coordinator.journal.build_records import BuildRecord
from kingpair.coordinator.journal.countdown import Countdown, Left
from kingpair.coordinator.journal.domain_record import DomainRecord, PassRecord
from kingpair.coordinator.journal.forecast import Pace, fraction, pace_of, standing, work_to_do
from kingpair.coordinator.machine.state import State
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.number_types import Depth
from kingpair.workers.table.key import TableKey

RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "recorded_builds.json").read_text())


def fresh(build: Any) -> BuildRecord:
    names = [each["name"] for each in build["domains"]]
    domains = {name: DomainRecord.of(TableKey.parse(name)) for name in names}
    metrics = list(dict.fromkeys(domain.metric for domain in domains.values()))
    spec = BuildSpec.parse({"materials": build["asked"], "metrics": metrics})
    return BuildRecord("b1", 0, spec, 0.0, True, State.RUNNING, domains=domains)


def moments(build: Any) -> Iterator[tuple[float, str, str]]:
    found = [
        (time, each["name"], what)
        for each in build["domains"]
        for what, time in each["times"].items()
    ]
    return iter(sorted(found))


def happen(domain: DomainRecord, what: str, now: float) -> None:
    match what:
        case "begun":
            domain.state, domain.began = "solving", now
        case "first pass" | "middle pass":
            domain.passes.append(PassRecord(0, 0, Depth(len(domain.passes)), 1, 1, 0, 0.0, now, 2))
        case "painting":
            domain.state, domain.painting = "painting", now
        case "published":
            domain.state, domain.published = "verifying", now
        case "verified":
            assert domain.began is not None
            domain.state, domain.seconds = "done", now - domain.began


def told(build: Any, slower: float, pace: Pace) -> list[tuple[float, Left]]:
    """Returns for each moment of a build, on a machine that is so many times slower, what was left
    in truth and what was told.
    """
    record, found, countdown = fresh(build), [], Countdown(pace)
    for time, name, what in moments(build):
        happen(record.domains[name], what, time * slower)
        left = countdown.left(record, time * slower)
        assert left is not None
        found.append(((build["end"] - time) * slower, left))
    return found


SLOWER = pytest.mark.parametrize("slower", [0.25, 1.0, 2.0])
BUILDS = pytest.mark.parametrize("build", RECORDED, ids=lambda build: build["name"])


@SLOWER
@BUILDS
def test_the_truth_is_within_the_range_at_each_moment(build: Any, slower: float) -> None:
    seen = told(build, slower, pace_of(2))
    assert [each for each in seen if not each[1].range.low <= each[0] <= each[1].range.high] == []


@SLOWER
@BUILDS
def test_after_a_fifth_of_a_build_its_time_is_known_to_a_factor_of_two(
    build: Any, slower: float
) -> None:
    end = build["end"] * slower
    seen = [each for each in told(build, slower, pace_of(2)) if 2 < each[0] <= 0.8 * end]
    assert [each for each in seen if not 0.5 <= each[1].seconds / each[0] <= 2] == []


@SLOWER
@BUILDS
def test_the_time_that_is_left_never_rises_without_a_reason(build: Any, slower: float) -> None:
    seen = [left for _, left in told(build, slower, pace_of(2))]
    rises = [b for a, b in pairwise(seen) if b.seconds > a.seconds]
    assert [left for left in rises if not left.reason] == []


def test_a_machine_that_was_measured_has_nothing_to_explain() -> None:
    build = RECORDED[0]
    pace = pace_of(2, one_thread=build["end"] / standing(fresh(build)).whole * 2**0.8, seen=50.0)
    assert {left.reason for _, left in told(build, 1.0, pace)} == {""}


@pytest.mark.parametrize("build", RECORDED, ids=lambda build: build["name"])
def test_progress_never_falls(build: Any) -> None:
    record, before = fresh(build), 0.0
    for time, name, what in moments(build):
        happen(record.domains[name], what, time)
        assert before <= fraction(record) < 1
        before = fraction(record)
    record.state = State.SUCCEEDED
    assert fraction(record) == 1


def test_nothing_is_said_before_anything_is_planned() -> None:
    record = BuildRecord("b1", 0, BuildSpec((Material.parse("KQvK"),)), 0.0, True, State.PLANNING)
    assert Countdown(pace_of(2)).left(record, 0.0) is None


def test_a_build_that_waits_has_the_work_of_the_tables_that_are_not_there() -> None:
    record = BuildRecord("b1", 0, BuildSpec((Material.parse("KQvKR"),)), 0.0, True)
    whole = work_to_do(record)
    assert work_to_do(record, frozenset({"KQvK.dtc"})) < whole
    assert work_to_do(record, frozenset({"KQvK.dtc", "KRvK.dtc", "KQvKR.dtc"})) == 0


def test_more_threads_take_less() -> None:
    assert pace_of(8).range_of(10.0) < pace_of(2).range_of(10.0)
