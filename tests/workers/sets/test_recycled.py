"""Memory that is used again: arrays that live never share it, and what is free is bounded."""

import gc

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.game.chess.material import Material
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.recycled import Recycler, recycled, small_zeros

MIB = 1 << 20
LEAST = 32 * MIB  # the smallest mapping


def test_arrays_that_live_do_not_overlap() -> None:
    recycler, chance = Recycler(), np.random.default_rng(1)
    held: dict[int, NDArray[np.uint16]] = {}
    for number in range(300):
        array = recycler.array(int(chance.integers(1, 3 * MIB)), np.uint16)
        array[:] = number
        held[number] = array[len(array) // 2 :]  # a view keeps the memory as the array does
        if len(held) > 12:
            del held[int(chance.choice(list(held)))]
        assert all((view == n).all() for n, view in held.items())


def test_the_memory_of_an_array_that_is_gone_is_handed_out_again() -> None:
    recycler = Recycler()
    first = recycler.array(40 * MIB, np.uint8)
    address = first.ctypes.data
    del first
    gc.collect()
    halves = [recycler.array(20 * MIB, np.uint8) for _ in range(2)]
    assert [half.ctypes.data - address for half in halves] == [0, 20 * MIB]
    assert recycler.mapped_bytes == 40 * MIB


def test_free_memory_beyond_a_limit_goes_back_to_the_system() -> None:
    recycler = Recycler(kept=LEAST)
    several = [recycler.array(LEAST, np.uint8) for _ in range(5)]
    assert recycler.mapped_bytes == 5 * LEAST
    del several
    gc.collect()
    assert recycler.mapped_bytes == LEAST


def test_arrays_are_aligned_to_pages() -> None:
    recycler = Recycler()
    arrays = [recycler.array(count, np.int8) for count in (0, 1, 4097)]
    assert [array.ctypes.data % 4096 for array in arrays] == [0, 0, 0]


def use_memory(size: int) -> None:
    """Leaves so many bytes, none of them zero, to the arrays that are made next."""
    recycled(size, np.uint8)[:] = 255


def test_a_zeroed_array_is_zero_where_another_array_was() -> None:
    use_memory(MIB)
    assert not small_zeros(MIB, np.uint8).any()


def test_a_layer_holds_nothing_where_another_array_was() -> None:
    use_memory(LEAST)
    layer = Domain(Material.parse("KQvKR")).layer(3)
    assert not layer.dense().any()
