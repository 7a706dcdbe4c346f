"""Facts about pawn structures: how many there are, how they are numbered, where pushes lead."""

import hashlib
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kingpair.workers.index.structures import NO_SQUARE, Structures, structures
from kingpair.workers.number_types import STRONGER, WEAKER, Side

COUNTS = [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (4, 0)]
SMALL = [counts for counts in COUNTS if sum(counts) < 4]


@pytest.mark.parametrize(
    ("stronger", "weaker", "kept", "symmetric", "levels", "largest"),
    [
        (1, 0, 24, 0, 6, 4),
        (0, 1, 24, 0, 6, 4),
        (2, 0, 636, 144, 11, 108),
        (1, 1, 1_128, 0, 11, 168),
        (3, 0, 8_648, 0, 16, 1_104),
        (2, 1, 25_944, 0, 16, 3_220),
        (4, 0, 101_628, 8_676, 21, 11_848),
    ],
)
def test_structures_and_levels_are_so_many(
    stronger: int, weaker: int, kept: int, symmetric: int, levels: int, largest: int
) -> None:
    found = structures(stronger, weaker)
    assert len(found) == kept
    assert np.count_nonzero(found.symmetric) == symmetric
    assert len(found.levels) == levels
    assert max(map(len, found.levels)) == largest


def test_no_pawns_are_one_structure() -> None:
    found = structures(0, 0)
    assert len(found) == 1
    assert found.levels == (range(1),)
    assert found.find(np.empty((3, 0), np.uint8)).numbers.tolist() == [0, 0, 0]
    assert len(found.pushes(STRONGER).into) == 0


def sides_of(of: Structures, number: int) -> tuple[list[int], list[int]]:
    squares = of.squares[number].tolist()
    return squares[: of.stronger], squares[of.stronger :]


def by_file(squares: list[int]) -> list[int]:
    return sorted(squares, key=lambda square: (square & 7, square >> 3))


def key(of: Structures, number: int) -> tuple[int, list[int], list[int]]:
    """The key that structures are sorted by, as the module says."""
    ours, theirs = sides_of(of, number)
    steps = sum(6 - (s >> 3) for s in ours) + sum((s >> 3) - 1 for s in theirs)
    both = ours + theirs
    return steps, [s & 7 for s in both], [s >> 3 for s in both]


@pytest.mark.parametrize("counts", SMALL)
def test_structures_are_numbered_by_level_files_and_ranks(counts: tuple[int, int]) -> None:
    of = structures(*counts)
    keys = [key(of, number) for number in range(len(of))]
    assert all(before < after for before, after in pairwise(keys))
    for level, numbers in enumerate(of.levels):
        assert {keys[number][0] for number in numbers} == {level}
    assert [n for numbers in of.levels for n in numbers] == list(range(len(of)))


@pytest.mark.parametrize("counts", SMALL)
def test_every_placing_of_pawns_is_a_structure_or_its_mirror_image(counts: tuple[int, int]) -> None:
    of = structures(*counts)
    kept = {tuple(of.squares[number].tolist()) for number in range(len(of))}
    for ours in combinations(range(8, 56), of.stronger):
        for theirs in combinations(sorted(set(range(8, 56)) - set(ours)), of.weaker):
            here = by_file(list(ours)) + by_file(list(theirs))
            there = by_file([s ^ 7 for s in ours]) + by_file([s ^ 7 for s in theirs])
            files, mirrored = [s & 7 for s in here], [s & 7 for s in there]
            assert (tuple(here) in kept) == (files <= mirrored)
            assert (tuple(there) in kept) == (mirrored <= files)


@given(st.data(), st.sampled_from(COUNTS))
def test_a_placing_is_found_in_any_order_and_from_either_side(
    data: st.DataObject, counts: tuple[int, int]
) -> None:
    of = structures(*counts)
    number = data.draw(st.integers(0, len(of) - 1))
    ours, theirs = map(data.draw, map(st.permutations, sides_of(of, number)))
    here = np.array([[*ours, *theirs]], np.uint8)
    assert [x.tolist() for x in of.find(here)] == [[number], [False]]
    image = of.find(here ^ 7)
    if of.symmetric[number]:
        assert image.numbers.tolist() == [of.mirror[number]]
        assert not image.mirrored.any()
    else:
        assert [x.tolist() for x in image] == [[number], [True]]
        assert of.mirror[number] == number


def test_the_mirror_image_of_a_mirror_image_is_the_structure() -> None:
    of = structures(2, 0)
    assert of.mirror[of.mirror].tolist() == list(range(len(of)))
    assert set(of.mirror[of.symmetric].tolist()) == set(np.flatnonzero(of.symmetric).tolist())
    # Two pawns of one rank on the files a and h, b and g, c and f, d and e are their own image.
    own = of.symmetric & (of.mirror == np.arange(len(of)))
    assert np.count_nonzero(own) == 4 * 6


def pushes_by_hand(of: Structures, side: Side) -> list[tuple[int, int, int, int, int]]:
    forward, first, last = ((8, 1, 6), (-8, 6, 1))[side]
    found = []
    for number in range(len(of)):
        standing = of.squares[number].tolist()
        for pawn, square in enumerate(standing):
            if of.sides[pawn] != side or square >> 3 == last or square + forward in standing:
                continue
            found.append((number, pawn, square, NO_SQUARE, square + forward))
            if square >> 3 == first and square + 2 * forward not in standing:
                found.append((number, pawn, square, square + forward, square + 2 * forward))
    return found


@pytest.mark.parametrize("counts", SMALL)
@pytest.mark.parametrize("side", [STRONGER, WEAKER])
def test_pushes_are_all_steps_to_free_squares(counts: tuple[int, int], side: Side) -> None:
    of = structures(*counts)
    pushes = of.pushes(side)
    columns = (pushes.structure, pushes.pawn, pushes.left, pushes.passed, pushes.entered)
    found = list(zip(*(column.tolist() for column in columns), strict=True))
    assert found == pushes_by_hand(of, side)


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("side", [STRONGER, WEAKER])
def test_a_push_moves_one_pawn_down_a_level_or_two(counts: tuple[int, int], side: Side) -> None:
    of = structures(*counts)
    pushes = of.pushes(side)
    level = np.concatenate([np.full(len(n), at) for at, n in enumerate(of.levels)])
    lower = level[pushes.structure] - level[pushes.into]
    assert np.array_equal(lower, 1 + (pushes.passed != NO_SQUARE))
    after = of.squares[pushes.structure]
    entries = np.arange(len(after))
    assert np.array_equal(after[entries, pushes.pawn], pushes.left)
    after[entries, pushes.pawn] = pushes.entered
    assert np.array_equal(after, of.squares[pushes.into])


def test_one_pawn_is_numbered_from_the_seventh_rank_down() -> None:
    assert structures(1, 0).squares.ravel().tolist() == [
        8 * rank + file for rank in (6, 5, 4, 3, 2, 1) for file in range(4)
    ]


def test_the_digest_is_that_of_the_squares() -> None:
    of = structures(1, 1)
    squares = bytes(square for number in range(len(of)) for square in of.squares[number])
    assert of.digest == hashlib.sha256(squares).hexdigest()


@pytest.mark.parametrize(
    ("counts", "digest"),
    [
        ((1, 0), "e7868c47b48e"),
        ((2, 0), "97dcddb7c374"),
        ((1, 1), "395bd1aa0dd0"),
        ((3, 0), "a09fa1dc9ad3"),
        ((2, 1), "06d687fcaec2"),
        ((4, 0), "cb075f983ddf"),
    ],
)
def test_the_numbering_has_not_changed(counts: tuple[int, int], digest: str) -> None:
    assert structures(*counts).digest.startswith(digest)
