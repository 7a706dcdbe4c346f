"""Facts about how the verifier's kernel holds a partition: with another man last, and with captures
where captor and captive meet.
"""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import SIDES, Partition, Side, opponent
from kingpair.workers.prove.verify import _last

Squares = tuple[int, ...]


def men_of(name: str) -> list[tuple[str, int]]:
    material = Material.parse(name)
    return list(zip(material.letters, material.sides, strict=True))


def pair_of_kings(*, diagonal: bool) -> int:
    return next(p for p, ks in enumerate(TURNED.squares) if all(k % 9 == 0 for k in ks) == diagonal)


def legal_key(value: int) -> int:
    return 128 if value == 0 else (value + (value > 0)) & 255


@pytest.mark.parametrize(
    ("name", "last"),
    [("KQvK", 0), ("KNNvK", 1), ("KNNvKB", 0), ("KRBvKN", 2), ("KQNNvK", 0), ("KBBBvK", 2)],
)
def test_last_is_a_man_who_is_like_no_other(name: str, last: int) -> None:
    assert _last(men_of(name)) == last


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("kind", [np.int8, np.int16])
@pytest.mark.parametrize(
    ("name", "last", "pieces"),
    [("KBBvKB", 0, 4), ("KQNNvK", 0, 4), ("KRBvKN", 1, 4), ("KRBvKN", 2, 2), ("KNNvK", 1, 1)],
)
def test_rows_are_arranged_with_another_man_last(
    name: str, last: int, pieces: int, kind: Any
) -> None:
    men, chance = men_of(name), np.random.default_rng(1)
    rows = chance.integers(-120, 120, (64,) * len(men), kind)
    kernel, out = _kernels.Verifier(men, False, last), np.zeros(rows.size, kind)
    kernel.arrange(Partition(pair_of_kings(diagonal=False)), np.split(rows.ravel(), pieces), out)
    arranged = np.moveaxis(out.reshape(rows.shape), -1, last)
    stands = np.ones(rows.shape, np.bool_)  # like men in ascending order
    for man, (one, other) in enumerate(pairwise(men)):
        squares = np.indices(rows.shape, sparse=True)
        stands &= (squares[man] <= squares[man + 1]) | (one != other)
    assert np.array_equal(arranged[stands], rows[stands])
    assert name == "KRBvKN" or not stands.all()


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize(("name", "last"), [("KBBvKB", 0), ("KQNNvK", 0), ("KRBvKN", 1)])
def test_with_another_man_last_the_key_is_that_of_the_row_that_counts(name: str, last: int) -> None:
    men, chance = men_of(name), np.random.default_rng(1)
    rows = chance.integers(-100, 100, 64**3, np.int8)
    kernel, plain = _kernels.Verifier(men, False, last), _kernels.Verifier(men, False)
    for diagonal, side in product((False, True), SIDES):
        pair = pair_of_kings(diagonal=diagonal)
        values, keys, expected = np.zeros_like(rows), *np.full((2, rows.size), 77, np.uint8)
        kernel.arrange(Partition(pair), [rows], values)
        kernel.quiet(Partition(pair), side, values, keys)
        plain.quiet(Partition(pair), side, rows, expected)
        assert np.array_equal(np.moveaxis(keys.reshape((64,) * 3), -1, last).ravel(), expected)


def meetings(men: list[tuple[str, int]], side: Side, chance: Any) -> Iterator[tuple[int, Squares]]:
    """A captive of that side, and squares of all men in which one other, or his king, meets him."""
    kings = TURNED.squares[pair_of_kings(diagonal=False)]
    for _ in range(200):
        squares = chance.permutation([s for s in range(64) if s not in kings])[: len(men)].tolist()
        captors = [i for i, (_, of) in enumerate(men) if of != side]
        for captive in (i for i, (_, of) in enumerate(men) if of == side):
            for there in [*(squares[i] for i in captors), kings[opponent(side)]]:
                yield captive, (*squares[:captive], there, *squares[captive + 1 :])


def number(squares: Squares) -> int:
    return sum(s << 6 * place for place, s in enumerate(reversed(squares)))


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize(
    ("name", "last", "kind"),
    [
        *product(["KBBvKB"], [0, 2], [np.int8, np.int16]),
        *product(["KRBvKN"], [1], [np.int8, np.int16]),
        ("KNNvKNN", 3, np.int8),  # the last man like the one before him, and a captive
    ],
)
def test_where_captor_and_captive_meet_the_slot_holds_what_is_left(
    name: str, last: int, kind: Any
) -> None:
    men, chance, pair = men_of(name), np.random.default_rng(1), pair_of_kings(diagonal=False)
    kernel, key = _kernels.Verifier(men, False, last), np.dtype(f"u{np.dtype(kind).itemsize}")
    count = len(men)
    worths = {man: worths_of(men, men.index(man), pair, chance, key) for man in men}
    left = [worths[man] for man in men]
    for side in SIDES:
        keys = np.zeros(64**count, key)
        kernel.quiet(Partition(pair), side, np.ones(64**count, kind), keys, left)
        held = np.moveaxis(keys.reshape((64,) * count), -1, last)
        for captive, squares in meetings(men, side, chance):
            # In the kernel's order, as the smaller table's values come to be.
            order = [i for i in [*range(last), *range(last + 1, count), last] if i != captive]
            there = number(tuple(squares[i] for i in order))
            assert held[squares] == left[captive][64 ** (count - 1) * pair + there]


def worths_of(
    men: list[tuple[str, int]], captive: int, pair: int, chance: Any, key: np.dtype[Any]
) -> NDArray[np.unsignedinteger[Any]]:
    """Returns random values of taking a man in a partition, the same for like men in any order."""
    others = [man for i, man in enumerate(men) if i != captive]
    here = chance.integers(1, 120, (64,) * len(others), key)
    for man, (one, other) in enumerate(pairwise(others)):
        if one == other:
            here = np.maximum(here, here.swapaxes(man, man + 1))
    worths = np.zeros((len(TURNED), here.size), key)
    worths[pair] = here.ravel()
    return worths.ravel()
