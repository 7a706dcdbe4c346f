"""Facts about estimates: those of memory hold, and are not twice what was measured; those of tables
with pawns are about right, and rather too large.
"""

import pytest

from kingpair.coordinator.plan.estimate import estimate
from kingpair.coordinator.plan.pawn_memory import SliceNeeds, proof_memory
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric

MIB = 1 << 20
PEAKS = [  # MiB resident, to conversion with so many threads, the proof included
    ("KRBvKR", 2, 365),
    ("KBBvKN", 2, 373),
    ("KRPvKR", 1, 368),
    ("KRPPvK", 1, 353),
    ("KRPvKP", 1, 509),
    ("KPPvKR", 1, 375),
    ("KPPPvK", 1, 283),
    ("KPPvKP", 1, 562),
    ("KPPvKP", 1, 708),  # the most of all 61 in one build
    ("KQQPvK", 2, 482),  # and of five more, in one build
    ("KNNNvKP", 2, 8840),
]


@pytest.mark.parametrize(("name", "threads", "peak"), PEAKS)
def test_the_memory_of_a_material_is_what_it_took_and_some_more(
    name: str, threads: int, peak: int
) -> None:
    assert peak * MIB < estimate(Material.parse(name), threads).memory < 1.9 * peak * MIB


SIZES = {  # MiB of tables
    Metric.DTC: {
        "KRPvK": 0.89,
        "KQvKP": 1.44,
        "KRRPvK": 37.9,
        "KBBPvK": 45.2,
        "KRBPvK": 55.1,
        "KRPPvK": 13.9,
        "KPPPvK": 2.35,
        "KRPvKR": 102.8,
        "KQPvKQ": 138.1,
        "KBPvKR": 75.2,
        "KPPvKR": 29.9,
        "KRPvKP": 37.1,
        "KQRvKP": 51.9,
        "KNNNvKP": 1434,
    },
    Metric.DTM: {"KBNPvK": 144.2, "KRPPvK": 45.3, "KPPPvK": 11.7, "KQPvKR": 219.8, "KPPvKR": 64.1},
    Metric.DTZ: {"KRPvKR": 86.5, "KQRPvK": 28.2, "KRBPvK": 16.6, "KPvKP": 0.76},
}


@pytest.mark.parametrize("metric", SIZES)
def test_the_size_of_a_table_with_pawns_is_estimated_within_a_factor_of_two(metric: Metric) -> None:
    of_real = {
        name: estimate(Material.parse(name), 1, metric).table / (size * MIB)
        for name, size in SIZES[metric].items()
    }
    assert {name: part for name, part in of_real.items() if not 0.9 < part < 2.1} == {}


def test_a_slice_of_six_men_takes_what_it_took_and_some_more() -> None:
    needs = SliceNeeds(Material.parse("KRBvKBP"), Metric.DTC, 1, below=2)
    assert 2530 * MIB < (250 + 2 * 16) * MIB + needs.sets + needs.exits < 1.9 * 2530 * MIB


def test_a_level_that_does_not_fit_is_divided_until_it_does() -> None:
    whole = estimate(Material.parse("KRPvKRP"), 2)
    divided = [whole.in_room(each * MIB) for each in (12 << 10, 8 << 10, 5 << 10, 1)]
    assert [each.most for each in divided] == [None, 84, 21, 11]
    assert divided[-1].memory == (250 * MIB) + proof_memory(whole.material, 2)
