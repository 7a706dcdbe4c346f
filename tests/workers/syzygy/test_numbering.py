"""Facts about the numbers of positions in Syzygy files: python-chess computes the same.

No file of six or seven men is at hand, but numbers need none.
"""

import random

import chess
import chess.syzygy
import numpy as np
import pytest

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.syzygy.arrangement import arrangements
from kingpair.workers.syzygy.file import MEN_MAX
from kingpair.workers.syzygy.numbering import BLACK, KING, PAWN, Men, Order, numbering

NAMES = (
    *("KQRBvKRN", "KRRBvKRB", "KRRRvKNN", "KQRBNNvK", "KNNNNNvK", "KBBNvKNN", "KRBvKNN"),
    *("KQRBvKRP", "KRPvKRBP", "KRPPvKRP", "KPPvKPPP", "KPPPPPvK", "KRRPPvKB", "KBNvKPPP"),
    *("KRPvKRP", "KPPPvKQ"),
)


def by_oracle(name: str, men: Men, order: Order, squares: list[int]) -> tuple[int, int]:
    """The sub-table of a position and its number there."""
    table = chess.syzygy.WdlTable(f"{name}.rtbw")
    norm, factor = [0] * len(men), [0] * chess.syzygy.TBPIECES
    if not table.has_pawns:
        table.set_norm_piece(norm, list(men))
        table.calc_factors_piece(factor, order.leading, norm)
        return 0, table.encode_piece(norm, list(squares), factor)
    table.set_norm_pawn(norm, list(men))
    squares = list(squares)
    file = table.pawn_file(squares)
    table.calc_factors_pawn(factor, order.leading, order.pawns, norm, file)
    return file, table.encode_pawn(norm, squares, factor)


def placed(men: Men, chance: random.Random) -> list[int]:
    """Different squares for men; kings do not touch, and no pawn is on the first or last rank."""
    while True:
        squares = chance.sample(range(64), len(men))
        kings, pawns = (
            [square for man, square in zip(men, squares, strict=True) if man % BLACK == kind]
            for kind in (KING, PAWN)
        )
        if chess.square_distance(*kings) > 1 and all(8 <= square < 56 for square in pawns):
            return squares


@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_six_and_seven_men_are_those_of_python_chess(name: str) -> None:
    material, chance = Material.parse(name, MEN_MAX), random.Random(name)
    choices = list(arrangements(material))
    for men, order in chance.sample(choices, min(20, len(choices))):
        for _ in range(20):
            squares = placed(men, chance)
            file, number = by_oracle(str(material), men, order, squares)
            if material.has_pawns:
                leading = [s for man, s in zip(men, squares, strict=True) if man == men[0]]
                assert _kernels.syzygy_leading_file(leading) == file
            ours = numbering(men, order, file)
            assert number < ours.size
            assert ours.numbers(np.array([squares], np.uint8)).tolist() == [number]
