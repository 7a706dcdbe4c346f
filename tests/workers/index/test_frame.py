"""Facts about the frame of Chinese chess: its placements, and the sizes that Wu and Beal printed.

Three sizes of each of their 108 endgames follow from our geometry:

    all        9 squares for each king, 5 for each advisor, 7 for each elephant, 90 for each cannon
               and 55 for each pawn, multiplied
    real       placings of all men on different squares in which the kings do not see each other;
               like men count as different
    database   men in groups, each group's placings multiplied, but of one group mirror images count
               once: of that group with which the product is smallest. The groups are each kind of
               free men, and of each side its frame; a frame of four men or more is divided into
               king and advisors, and elephants, and men of both may then stand on one square
"""

import csv
from math import factorial, prod
from pathlib import Path

import numpy as np
import pytest

from kingpair.workers.game.xiangqi.board import EVERYWHERE, FILES, PAWNS
from kingpair.workers.game.xiangqi.material import XiangqiMaterial
from kingpair.workers.index.frame import SideFrame, side_frame
from kingpair.workers.index.material_index import table_index

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
ROWS = list(csv.DictReader((GOLDEN / "xiangqi_wu_beal.csv").read_text().splitlines()))

Group = tuple[int, int]  # placings, and those that are their own mirror image


def men_of(code: str) -> tuple[list[int], list[int]]:
    """The numbers of advisors, elephants, cannons and pawns of each side."""
    white, black = ([int(digits[i]) for i in (0, 1, 4, 5)] for digits in code.split("-"))
    return white, black


def group_of(advisors: int, elephants: int) -> Group:
    placements = side_frame(advisors, elephants, upper=False).all
    return len(placements), sum(p == p.mirrored for p in placements)


def groups_of(advisors: int, elephants: int) -> list[Group]:
    if advisors + elephants < 3:
        return [group_of(advisors, elephants)]
    return [group_of(advisors, 0), {1: (7, 1), 2: (21, 3)}[elephants]]


def database_size(code: str) -> int:
    white, black = men_of(code)
    groups = groups_of(*white[:2]) + groups_of(*black[:2])
    groups += [(90, 10)] * (white[2] + black[2]) + [(55, 7)] * (white[3] + black[3])
    sizes = [count for count, _ in groups]
    return min(
        (count + symmetric) // 2 * prod(sizes[:i] + sizes[i + 1 :])
        for i, (count, symmetric) in enumerate(groups)
    )


def free_placings(cannons: int, pawns: int, blocked: set[int]) -> int:
    """Ways to place at most one cannon and one pawn outside of some squares."""
    cannon, pawn = (sum(s not in blocked for s in squares) for squares in (EVERYWHERE, PAWNS))
    if cannons and pawns:
        return pawn * (cannon - 1)
    return cannon if cannons else pawn if pawns else 1


def real_size(code: str) -> int:
    white, black = men_of(code)
    total = 0
    for lower in side_frame(white[0], white[1], upper=False).all:
        for upper in side_frame(black[0], black[1], upper=True).all:
            standing = {*lower.squares, *upper.squares}
            total += free_placings(white[2], white[3], standing)
            between = set(range(lower.king + FILES, upper.king, FILES))
            if lower.king % FILES == upper.king % FILES and not between & standing:
                total -= free_placings(white[2], white[3], standing | between)
    return total * prod(factorial(n) for n in (*white[:2], *black[:2]))


@pytest.mark.parametrize(
    ("men", "placements", "blocks"),
    [
        ((0, 0), 9, 6),
        ((1, 0), 40, 21),
        ((2, 0), 70, 38),
        ((0, 1), 62, 32),
        ((0, 2), 183, 96),
        ((1, 1), 275, 138),
        ((2, 1), 480, 242),
        ((1, 2), 810, 408),
        ((2, 2), 1410, 714),
    ],
)
def test_frames_have_as_many_placements_as_derived_by_hand(
    men: tuple[int, int], placements: int, blocks: int
) -> None:
    assert len(side_frame(*men, upper=False)) == placements
    assert len(side_frame(*men, upper=True)) == blocks


def test_all_108_printed_sizes_of_all_placings_are_ours() -> None:
    for row in ROWS:
        white, black = men_of(row["code"])
        frame = [white[i] + black[i] for i in range(4)]
        assert 81 * 5 ** frame[0] * 7 ** frame[1] * 90 ** frame[2] * 55 ** frame[3] == int(
            row["all"]
        )


def test_all_108_printed_sizes_of_databases_are_ours() -> None:
    assert [database_size(row["code"]) for row in ROWS] == [int(row["database"]) for row in ROWS]


@pytest.mark.slow
def test_small_printed_numbers_of_real_positions_are_ours() -> None:
    small = [row for row in ROWS if int(row["all"]) < 100_000]
    assert len(small) > 25
    assert [real_size(row["code"]) for row in small] == [int(row["real"]) for row in small]


@pytest.mark.slow
def test_all_108_printed_numbers_of_real_positions_are_ours() -> None:
    assert [real_size(row["code"]) for row in ROWS] == [int(row["real"]) for row in ROWS]


def moves_back(frame: SideFrame) -> set[tuple[int, int]]:
    kept = {
        (i, frame.keep(m.after).number) for i, p in enumerate(frame.kept) for m in frame.moves(p)
    }
    return {(b, a) for a, b in kept}


def test_every_frame_move_can_be_taken_back() -> None:
    for upper in (False, True):
        frame = side_frame(2, 1, upper)
        assert moves_back(frame) == {(b, a) for a, b in moves_back(frame)}


def test_a_row_is_found_from_the_squares_that_it_shows() -> None:
    material = XiangqiMaterial.parse("KCPAvKAB")
    index = table_index(material)
    some = np.arange(0, index.rows, 40 * 7919)
    rows = index.rows_of(index.squares(some))
    assert (index.rows_of(index.squares(rows)) == rows).all()
    assert (rows <= some).all()
