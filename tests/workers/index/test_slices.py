"""Facts about slices: they tile the structures, and pushes lead to slices solved before."""

from itertools import chain

import pytest

from kingpair.workers.index.slices import LevelSlice, division, limits, needed
from kingpair.workers.index.structures import structures
from kingpair.workers.number_types import SIDES

PAWNS = [(1, 0), (2, 0), (1, 1)]


@pytest.mark.parametrize("pawns", PAWNS)
@pytest.mark.parametrize("most", [None, 1, 5, 100])
def test_the_slices_of_a_table_are_all_its_structures_in_order(
    pawns: tuple[int, int], most: int | None
) -> None:
    kept, divided = structures(*pawns), division(*pawns, most)
    assert list(chain(*(each.numbers(kept) for each in divided.slices))) == list(range(len(kept)))
    assert divided.sizes == tuple(len(each.placings(kept)) for each in divided.slices)
    assert max(divided.sizes) <= (most or max(map(len, kept.levels)))
    assert [LevelSlice.parse(str(each)) for each in divided.slices] == list(divided.slices)


@pytest.mark.parametrize("pawns", PAWNS)
@pytest.mark.parametrize("most", [None, 1, 5])
def test_pushes_lead_to_slices_that_are_said_to_be_below(
    pawns: tuple[int, int], most: int | None
) -> None:
    kept, divided = structures(*pawns), division(*pawns, most)
    place = [at for at, size in enumerate(divided.sizes) for _ in range(size)]
    pushes = (kept.pushes(side) for side in SIDES)
    found = {
        (place[left], place[entered])
        for each in pushes
        for left, entered in zip(each.structure, each.into, strict=True)
    }
    said = {(at, lower) for at, below in enumerate(divided.below) for lower in below}
    assert found == said if most else found < said
    assert all(lower < at for at, lower in said)


def test_a_pawn_in_slices_of_one_structure_rests_on_those_of_its_file() -> None:
    kept, divided = structures(1, 0), division(1, 0, 1)
    file = [int(each.placings(kept).squares[0, 0]) & 7 for each in divided.slices]
    for each, below in zip(divided.slices, divided.below, strict=True):
        assert {file[lower] for lower in below} <= {file[divided.slices.index(each)]}


def test_smaller_slices_need_less_at_a_time() -> None:
    assert limits(1, 0) == (2, 1)
    assert [needed(1, 0, most) for most in (None, 2, 1)] == [((4, 8),), ((2, 4),), ((1, 2),)]
    assert needed(1, 1, 84)[-1][1] < needed(1, 1, None)[-1][1]
