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
from typing import Final, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.board import SQUARES, on_diagonal
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.share import whole
from kingpair.workers.number_types import Partition, Side
from kingpair.workers.sets.domain import popcount
from kingpair.workers.sets.memory import zeros
from kingpair.workers.table.statistics import labelled_counts

LONE: Final = 0  # the sides, the lone king's first in a pair
BISHOPS: Final = 1
ANYBODY: Final = -1
TABLE_1 = Path(__file__).parents[2] / "golden" / "zellner_kbbk.csv"


def is_light(square: int) -> bool:
    return (square % 8 + square // 8) % 2 == 1


LIGHT = np.array([is_light(square) for square in SQUARES])
ONE_OF_EACH: NDArray[np.uint64] = np.packbits(
    np.outer(LIGHT, ~LIGHT).ravel(), bitorder="little"
).view(np.uint64)
"""Slots with the first bishop on a light and the second on a dark square."""


def stored(to_move: Side | Literal[-1]) -> Iterator[int]:
    """For each pair how many positions."""
    men = [("B", BISHOPS), ("B", BISHOPS)]
    domain = _kernels.Domain(men, *TURNED.arrays, whole(TURNED).own, TURNED.diagonal)
    scratch = _kernels.Scratch(domain)
    for pair in range(len(TURNED)):
        legal = zeros(domain.rows * 64, np.uint64)
        _kernels.legal(domain, Partition(pair), to_move, legal, scratch)
        yield popcount(legal & ONE_OF_EACH)


def halved(pair: int) -> bool:
    """Whether the rule of the diagonal leaves out a pair, because it keeps the mirror image."""
    lone, other = TURNED.squares[pair]
    return on_diagonal(lone) and not on_diagonal(other)


def test_zellner_stores_320_680_positions() -> None:
    assert sum(stored(BISHOPS)) == 320_680


def test_zellner_would_store_443_748_with_the_lone_king_in_check() -> None:
    assert sum(stored(ANYBODY)) == 443_748


@pytest.mark.parametrize(("to_move", "positions"), [(BISHOPS, 386_904), (ANYBODY, 541_725)])
def test_zellner_would_store_more_without_the_rule_of_the_diagonal(
    to_move: Side | Literal[-1], positions: int
) -> None:
    found = enumerate(stored(to_move))
    assert sum(n * (2 if halved(pair) else 1) for pair, n in found) == positions


def test_our_table_agrees_with_zellners_but_for_two_positions(tables: Path) -> None:
    with open(TABLE_1, newline="") as file:
        published = {row["won_in_moves"]: int(row["mfreq"]) for row in csv.DictReader(file)}
    published["1"] -= 2
    with open_tablebase(tables) as tablebase:
        counts = labelled_counts(tablebase.table(Material.parse("KBBvK")))
    assert counts["white"]["win"] == published
    assert max(map(int, published)) == 19
