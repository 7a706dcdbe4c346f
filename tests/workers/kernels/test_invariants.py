"""Kernels with assertions name an invariant that is broken before they read what it protects.

The bindings refuse wrong shapes in every build (test_refusals.py); these mistakes lie in what the
arrays hold.
"""

import numpy as np
import pytest
from bitmaps import Held
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.sets.memory import Layer

pytestmark = [
    pytest.mark.usefixtures("level"),
    pytest.mark.skipif(not _kernels.ASSERTED, reason="kernels with assertions: make fast"),
]

PAIR = 5
STEPS = TURNED.arrays[1][0, PAIR].reshape(-1, 3)  # of the winner
NEIGHBOURS = sorted({int(partition) for partition, *_ in STEPS if partition >= 0})


def pairs(*numbers: int) -> NDArray[np.int16]:
    return np.array(numbers, np.int16)


def held(*partitions: int) -> Held:
    return Held(Material.parse("KQvKR"), sorted({PAIR, *partitions}))


def win(held: Held, lost: Layer, open_w: Layer, won: Layer) -> None:
    _kernels.win(
        held.domain,
        pairs(PAIR),
        0,
        [],
        lost.kernel,
        open_w.kernel,
        won.kernel,
        None,
        np.zeros(1, np.uint64),
        held.scratch,
    )


def test_a_sound_state_breaks_no_invariant() -> None:
    whole = held(*NEIGHBOURS)
    win(whole, whole.empty(), whole.empty(), whole.empty())


def test_a_partition_that_the_king_enters_must_be_held() -> None:
    lacking = held(*NEIGHBOURS[1:])
    with pytest.raises(RuntimeError, match="a partition that is read or written is held"):
        win(lacking, lacking.empty(), lacking.empty(), lacking.empty())


def test_a_frontier_has_as_many_occupied_rows_as_it_says() -> None:
    whole = held(*NEIGHBOURS)
    lost = whole.empty()
    lost.live[whole.place[PAIR]] = 1
    with pytest.raises(RuntimeError, match="as many occupied rows as it says"):
        win(whole, lost, whole.empty(), whole.empty())


def test_a_layer_that_is_written_has_no_rows_where_it_is_not_live() -> None:
    whole = held(*NEIGHBOURS)
    won = whole.empty()
    whole.occupied(won, PAIR)[:] = 1
    with pytest.raises(RuntimeError, match="that is not live has no occupied row"):
        win(whole, whole.empty(), whole.empty(), won)


def test_an_open_set_has_no_more_rows_than_it_says() -> None:
    whole = held(*NEIGHBOURS)
    open_w = whole.empty()
    whole.occupied(open_w, PAIR)[:] = 1
    with pytest.raises(RuntimeError, match="no more occupied rows than it says"):
        win(whole, whole.empty(), open_w, whole.empty())
