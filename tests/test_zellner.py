"""Facts about two bishops against a king, as Zellner stored them: 320,680 positions.

He keeps the lone king in a triangle of ten squares and, when it is on the long diagonal, the other
king on one side of that diagonal.  These are our 462 pairs with the lone king named first, so his
number is counted with our kernels on our pairs: one bishop on light squares, one on dark ones, all
men on different squares, White to move, Black not in check.  Both kings on the diagonal: a
position and its mirror image are two of his.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from workers import _kernels
from workers.bits import zeros
from workers.domain import popcount
from workers.geometry import PAIRS, SQUARES, king_arrays, on_diagonal
from workers.material import Material
from workers.probe import open_tablebase
from workers.share import WHOLE
from workers.statistics import labelled

LONE, BISHOPS = 0, 1  # the sides, the lone king's first in a pair
ANYBODY = -1
TABLE_1 = Path(__file__).parent / "golden" / "zellner_kbbk.csv"


def is_light(square: int) -> bool:
    return (square % 8 + square // 8) % 2 == 1


LIGHT = np.array([is_light(square) for square in SQUARES])
ONE_OF_EACH: NDArray[np.uint64] = np.packbits(
    np.outer(LIGHT, ~LIGHT).ravel(), bitorder="little"
).view(np.uint64)
"""Slots with the first bishop on a light and the second on a dark square."""


def stored(to_move: int) -> Iterator[int]:
    """For each pair how many positions."""
    men = [("B", BISHOPS), ("B", BISHOPS)]
    domain = _kernels.Domain(men, *king_arrays(), WHOLE.own)
    scratch = _kernels.Scratch(domain)
    for pair in range(len(PAIRS)):
        legal = zeros(domain.rows * 64, np.uint64)
        _kernels.legal(domain, pair, to_move, legal, scratch)
        yield popcount(legal & ONE_OF_EACH)


def halved(pair: int) -> bool:
    """Whether the rule of the diagonal has left out the mirror image of a pair."""
    lone, other = PAIRS[pair]
    return on_diagonal(lone) and not on_diagonal(other)


def test_he_stores_320_680_positions() -> None:
    assert sum(stored(BISHOPS)) == 320_680


def test_443_748_if_the_lone_king_may_be_in_check() -> None:
    assert sum(stored(ANYBODY)) == 443_748


@pytest.mark.parametrize(("to_move", "positions"), [(BISHOPS, 386_904), (ANYBODY, 541_725)])
def test_more_without_the_rule_of_the_diagonal(to_move: int, positions: int) -> None:
    found = enumerate(stored(to_move))
    assert sum(n * (2 if halved(pair) else 1) for pair, n in found) == positions


def test_his_table_is_ours_but_for_two_positions_without_a_bishop(tables: Path) -> None:
    with open(TABLE_1, newline="") as file:
        published = {row["won_in_moves"]: int(row["mfreq"]) for row in csv.DictReader(file)}
    published["1"] -= 2
    with open_tablebase(tables) as tablebase:
        counts = labelled(tablebase.table(Material.parse("KBBvK")))
    assert counts["white"]["win"] == published
    assert max(map(int, published)) == 19
