"""Facts about builds that are rehearsed on clusters that are not here."""

from functools import cache

import pytest

from kingpair.coordinator.machine.rehearsal import ClosureForecast, predict_all
from kingpair.coordinator.plan.cluster import Cluster, Constants
from kingpair.coordinator.plan.domain_work import Part
from kingpair.coordinator.plan.estimate import waves
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import up_to
from kingpair.workers.game.metric import Metric

ENDLESS = 1e15  # bytes a second


@cache
def six_men(nodes: int, store: float) -> ClosureForecast:
    on = Cluster(nodes, 32, 256 << 30, 25e9 / 8, store)
    return predict_all(waves(up_to(6, pawnless=True)), Metric.DTC, on, Constants())


def test_all_materials_of_six_men_and_what_they_rest_on_are_rehearsed() -> None:
    found = six_men(4, 2e9)
    assert len(found.domains) == 254
    assert sum(domain.material.men == 6 for domain in found.domains) == 170
    assert found.fits


@pytest.mark.parametrize("nodes", [4, 16])
def test_a_wave_is_shared_as_if_perfectly_where_the_store_is_fast(nodes: int) -> None:
    assert six_men(nodes, ENDLESS).ratio < 1.1


@pytest.mark.parametrize("nodes", [1, 4, 16, 64])
def test_no_closure_is_faster_than_its_store(nodes: int) -> None:
    found = six_men(nodes, 2e9)
    assert found.seconds >= found.stored / 2e9


def test_while_there_are_as_many_materials_as_nodes_each_has_one() -> None:
    assert {domain.workers for domain in six_men(64, 2e9).domains} == {1}


def test_a_material_alone_is_rehearsed_as_it_is_predicted() -> None:
    on = Cluster(4, 2, 64 << 30, 1e9, 1e9)
    whole = predict_all(waves([Material.parse("KRBvKBN")]), Metric.DTC, on, Constants())
    last = whole.domains[-1]
    assert last.workers == 4
    *below, _ = waves([Material.parse("KRBvKBN")])
    smaller = predict_all(below, Metric.DTC, on, Constants())
    assert whole.seconds == pytest.approx(smaller.seconds + last.seconds, rel=0.01)
    assert last.seconds == pytest.approx(last.opening + last.solving + last.painting + last.proof)


def test_storing_beside_the_work_takes_the_longer_of_both() -> None:
    assert Part("passes", 3.0, 8.0, beside=True).alone(2.0) == 4.0
    assert Part("painting", 3.0, 8.0).alone(2.0) == 7.0
