"""Facts about the walks of kings and their division among the parts of a proof."""

from collections import Counter

import numpy as np
import pytest

from kingpair.workers import _kernels
from kingpair.workers.index.king_pairs import FIXED, TURNED, KingPairs
from kingpair.workers.index.walk_parts import WALKS, walk_parts
from kingpair.workers.number_types import SIDES, Side


@pytest.mark.parametrize("side", SIDES)
def test_walks_are_those_that_the_verifier_finds_by_steps(side: Side) -> None:
    walks = [walk.tolist() for walk in TURNED.walks(side)]
    assert walks == _kernels.Verifier.walks(side)


@pytest.mark.parametrize("kings", [TURNED, FIXED], ids=["turned", "fixed"])
@pytest.mark.parametrize("side", SIDES)
def test_no_step_leads_out_of_a_walk(kings: KingPairs, side: Side) -> None:
    walks = kings.walks(side)
    assert len(walks) == (10 if kings is TURNED else 64)
    assert (np.sort(np.concatenate(walks)) == np.arange(len(kings))).all()
    for walk in map(set[int], (walk.tolist() for walk in walks)):
        assert {near for pair in walk for near in kings.entered[side][pair]} <= walk


@pytest.mark.parametrize("count", [20, 40, 160])
def test_parts_have_each_partition_once_for_each_side_to_move(count: int) -> None:
    parts = walk_parts(count)
    assert len(parts) == count
    assert sum(len(TURNED.walks(side)) for side in SIDES) == WALKS
    found = Counter((part.mover, pair) for part in parts for pair in part.pairs)
    assert found == Counter({(side, pair): 1 for side in SIDES for pair in range(len(TURNED))})
    for part in parts:
        (walk,) = (w for w in _kernels.Verifier.walks(part.mover) if part.pairs[0] in w)
        assert set(part.pairs) <= set(part.around) <= set(walk)
