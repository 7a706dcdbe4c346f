"""Facts about the reference twin: it is slow and obvious, but it can be wrong, too."""

import random

import pytest
from analysis_states import state

from kingpair.workers.number_types import SIDES
from kingpair.workers.solve import reference


@pytest.mark.parametrize("seed", range(8))
def test_a_move_is_the_converse_of_an_un_move(seed: int) -> None:
    s, side = state(seed), SIDES[seed // 4 % 2]
    won = set(random.Random(seed).sample(sorted(s.won), 40))
    for before in reference.unmove(s.material, won, side):
        assert not won.isdisjoint(reference.moves(s.material, before, side))
    for position in won:
        for after in reference.moves(s.material, position, side):
            if reference.is_legal(s.material, side, after):
                assert position in reference.unmove(s.material, [after], side)
