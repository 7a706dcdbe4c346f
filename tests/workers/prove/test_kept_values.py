"""Facts about the values that a proof keeps: they stay until they were found, and go after that."""

import numpy as np

from kingpair.workers.number_types import SIDES, Partition
from kingpair.workers.prove.kept_values import TOGETHER, KeptValues

FIRST, SECOND = Partition(3), Partition(7)
WHITE, _ = SIDES


def test_values_stay_until_the_walk_on_which_they_were_found_ends() -> None:
    kept = KeptValues(1, 64, np.dtype(np.int8))
    assert kept.find(FIRST, WHITE) is None
    kept.room_for(FIRST, WHITE)[:] = 5
    kept.let_go()  # the end of the first walk: nothing was found on it
    for _ in range(2):
        assert (found := kept.find(FIRST, WHITE)) is not None
        assert (found == 5).all()
    kept.let_go()
    assert kept.find(FIRST, WHITE) is None


def test_without_a_free_place_values_are_not_kept() -> None:
    kept = KeptValues(1, 64, np.dtype(np.int8))
    kept.room_for(FIRST, WHITE)[:] = 5
    assert kept.room_for(SECOND, WHITE).size == 64
    assert kept.find(SECOND, WHITE) is None
    kept.find(FIRST, WHITE)
    kept.let_go()
    kept.room_for(SECOND, WHITE)[:] = 6
    assert (found := kept.find(SECOND, WHITE)) is not None
    assert (found == 6).all()


def test_as_many_values_are_kept_as_there_are_places() -> None:
    kept = KeptValues(10, TOGETHER // 4, np.dtype(np.int8))  # four are made at a time
    for pair in range(12):
        kept.room_for(Partition(pair), WHITE)[:] = pair
    found = [kept.find(Partition(pair), WHITE) for pair in range(12)]
    assert [None if each is None else int(each[-1]) for each in found] == [*range(10), None, None]
