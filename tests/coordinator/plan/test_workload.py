"""Facts about the work of materials, in seconds of the machine of reference."""

import pytest

from kingpair.coordinator.plan.workload import level_work, work_of
from kingpair.workers.game.chess.waves import up_to
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.key import TableKey


def test_every_material_of_six_men_and_three_metrics_is_work() -> None:
    for metric in Metric:
        tables = (TableKey(each, metric) for each in up_to(6, pawnless=True))
        assert all(min(work_of(table)) > 0 for table in tables)


@pytest.mark.parametrize(
    "few_many", [("KQvKR", "KQRvKR"), ("KRBvKR", "KRBvKBN"), ("KPvK", "KPvKP")]
)
def test_more_men_are_more_work(few_many: tuple[str, str]) -> None:
    few, many = (TableKey.named(name, "dtc") for name in few_many)
    assert sum(work_of(few)) < sum(work_of(many))
    assert work_of(many).solve < work_of(many._replace(metric=Metric.DTM)).solve


def test_the_levels_of_a_material_are_all_its_solving() -> None:
    for metric in ("dtc", "dtm"):
        table = TableKey.named("KPvKP", metric)
        levels = level_work(table)
        assert len(levels) == 11
        assert sum(levels) == pytest.approx(work_of(table).solve)
