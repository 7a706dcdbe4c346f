"""Facts about estimates of memory: they hold, and are not twice what was measured."""

import pytest

from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers.game.chess.material import Material

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
