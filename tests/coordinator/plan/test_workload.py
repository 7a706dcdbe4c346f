"""Facts about the work of materials, in seconds of the machine of reference."""

import pytest

from kingpair.coordinator.plan.workload import level_work, work_of
from kingpair.workers.game.chess.waves import up_to


def test_every_material_of_six_men_and_three_metrics_is_work() -> None:
    for metric in ("dtc", "dtm", "dtz"):
        assert all(min(work_of(str(each), metric)) > 0 for each in up_to(6, pawnless=True))


@pytest.mark.parametrize(
    "few_many", [("KQvKR", "KQRvKR"), ("KRBvKR", "KRBvKBN"), ("KPvK", "KPvKP")]
)
def test_more_men_are_more_work(few_many: tuple[str, str]) -> None:
    few, many = few_many
    assert sum(work_of(few, "dtc")) < sum(work_of(many, "dtc"))
    assert work_of(many, "dtc").solve < work_of(many, "dtm").solve


def test_the_levels_of_a_material_are_all_its_solving() -> None:
    for metric in ("dtc", "dtm"):
        levels = level_work("KPvKP", metric)
        assert len(levels) == 11
        assert sum(levels) == pytest.approx(work_of("KPvKP", metric).solve)
