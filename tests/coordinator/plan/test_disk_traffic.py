"""Facts about what sets on disk cost: bytes of a pass, and of all passes."""

import pytest

from kingpair.coordinator.plan.estimate import estimate
from kingpair.coordinator.plan.pass_statistics import DEEPEST
from kingpair.coordinator.plan.sets_on_disk import disk_traffic
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.solve.sets_mode import SetsMode

KRBVKBN = estimate(Material.parse("KRBvKBN"), 2)


@pytest.mark.parametrize(
    ("mode", "read", "written"),
    [(SetsMode.ALL, 0, 0), (SetsMode.TWO, 0, 0), (SetsMode.ONE, 1, 1), (SetsMode.WALKS, 3, 2)],
)
def test_a_mode_moves_so_many_sets_in_a_pass(mode: SetsMode, read: int, written: int) -> None:
    memory = {needs.mode: needs.memory for needs in KRBVKBN.smaller_modes}
    needs = KRBVKBN.in_room(memory.get(mode, KRBVKBN.memory))
    assert needs.mode is mode
    moved, passes = disk_traffic(needs, Metric.DTC), 2 * DEEPEST[Metric.DTC][6]
    assert moved.read_by_pass == read * needs.bitmap
    assert moved.written_by_pass == written * needs.bitmap
    assert moved.read == passes * moved.read_by_pass
    assert moved.written == (passes + 2 * bool(written)) * moved.written_by_pass
    assert (moved.seconds > 0) == (read > 0)


def test_a_bare_king_has_no_passes() -> None:
    krbnvk, krbvkn = (
        estimate(Material.parse(name), 2).in_room(0) for name in ("KQRBNvK", "KRBvKBN")
    )
    one, two = disk_traffic(krbnvk, Metric.DTM), disk_traffic(krbvkn, Metric.DTM)
    assert 0 < 2 * one.written == two.written
