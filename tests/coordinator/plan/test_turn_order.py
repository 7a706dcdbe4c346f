"""The order of turns: short builds first, but none may wait for ever."""

from typing import NamedTuple

from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.turn_order import (
    LEAST_SECONDS,
    PATIENCE,
    by_turn,
    is_shorter,
    work_left,
    work_of_build,
)


class Asked(NamedTuple):
    number: int
    spec: BuildSpec


def asked(number: int, material: str, priority: int = 0) -> Asked:
    found = {"materials": [material], "metrics": ["dtc"], "priority": priority}
    return Asked(number, BuildSpec.parse(found))


LONG, SHORT = asked(0, "KRBvKBN"), asked(1, "KQvKR")


def test_a_short_build_goes_before_long_ones_that_were_asked_for_before() -> None:
    other = asked(2, "KQRvKRB")
    assert by_turn([LONG, SHORT, other], []) == [SHORT, LONG, other]


def test_builds_of_a_few_seconds_go_by_age() -> None:
    waiting = [asked(0, "KRBvKR"), asked(1, "KQvK"), asked(2, "KQRvKR")]
    assert by_turn(waiting[::-1], []) == waiting


def test_priority_goes_before_size() -> None:
    urgent = asked(2, "KQRvKRB", priority=1)
    assert by_turn([LONG, SHORT, urgent], [])[0] == urgent


def test_a_long_build_is_first_when_later_ones_have_made_three_times_its_work() -> None:
    enough = int(PATIENCE * work_of_build(LONG.spec) / LEAST_SECONDS) + 1
    later = [asked(number, "KQvK") for number in range(2, enough + 2)]
    assert by_turn([LONG, SHORT], later[:-1])[0] == SHORT
    assert by_turn([LONG, SHORT], later)[0] == LONG


def test_work_that_was_asked_for_before_overtakes_nobody() -> None:
    before = [asked(0, "KQRvKRB") for _ in range(50)]
    waiting = [LONG._replace(number=1), SHORT._replace(number=2)]
    assert by_turn(waiting, before)[0] == waiting[1]


def test_a_build_is_shorter_than_four_times_its_work_or_more() -> None:
    work = work_of_build(SHORT.spec)
    assert work == LEAST_SECONDS
    assert not is_shorter(SHORT, 3.9 * work)
    assert is_shorter(SHORT, 4 * work + 1)
    assert not is_shorter(LONG, work_of_build(LONG.spec))


def test_tables_that_are_built_leave_no_work() -> None:
    whole = work_left(SHORT.spec, ())
    assert 0 < work_left(SHORT.spec, {"KQvK.dtc"}) < whole
    assert work_left(SHORT.spec, {"KQvK.dtc", "KRvK.dtc", "KQvKR.dtc"}) == 0
