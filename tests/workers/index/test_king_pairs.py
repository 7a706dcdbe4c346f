"""Facts about the pairs of kings: their numbers, and where the stronger king stands."""

from kingpair.workers.index.board import IDENTITY
from kingpair.workers.index.king_pairs import FIXED, TURNED


def test_symmetries_leave_462_pairs_of_3612() -> None:
    assert (len(TURNED.squares), len(FIXED.squares)) == (len(TURNED), len(FIXED)) == (462, 3612)


def test_the_stronger_king_stands_in_the_triangle_a1_d1_d4() -> None:
    triangle = {8 * rank + file for file in range(4) for rank in range(file + 1)}
    assert {stronger for stronger, _ in TURNED.squares} == triangle
    assert len(triangle) == 10


def test_a_kept_pair_is_its_own_image() -> None:
    for kings in (TURNED, FIXED):
        for pair, squares in enumerate(kings.squares):
            assert kings.placements[squares] == (pair, IDENTITY)
