"""Facts about estimates of memory: they hold, and are not twice what was measured."""

import pytest

from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers.game.chess.material import Material

MIB = 1 << 20
PEAKS = [  # MiB resident, to conversion with so many threads, the proof included
    ("KRPvKR", 1, 667),
    ("KRPPvK", 1, 397),
    ("KRPvKP", 1, 461),
    ("KPPvKR", 1, 457),
    ("KPPPvK", 1, 423),
    ("KPPvKP", 1, 477),
    ("KQQPvK", 2, 850),  # the most of any material below KPPPvK, all in one build
]


@pytest.mark.parametrize(("name", "threads", "peak"), PEAKS)
def test_the_memory_of_a_material_with_pawns_is_what_it_took_and_some_more(
    name: str, threads: int, peak: int
) -> None:
    assert peak * MIB < estimate(Material.parse(name), threads).memory < 1.6 * peak * MIB
