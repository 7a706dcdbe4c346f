"""Facts about the values: every one is the oracle's, and as many as others have published.

The rows of a table are found here from what the table's docstring says, not with the product's
geometry; a value of a table and a value of the oracle are the same number.
"""

import csv
from collections import defaultdict
from functools import cache
from itertools import product
from math import factorial, prod
from pathlib import Path

import numpy as np
import oracle
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from shared_tables import proved

from kingpair.workers import _kernels
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import every
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import SIDES as SIDE_NUMBERS
from kingpair.workers.sets.domain import Domain, popcount
from kingpair.workers.table.format import Table

GOLDEN = Path(__file__).parents[2] / "golden"
SIDES = ("white", "black")
Counts = dict[tuple[str, str, str], int]  # side to move, result, moves
Squares = NDArray[np.int64]


def rows(file: str) -> list[dict[str, str]]:
    with (GOLDEN / file).open(newline="") as lines:
        return [row for row in csv.DictReader(lines) if row.get("metric", "DTC") == "DTC"]


def materials(file: str) -> list[str]:
    return [name for name in dict.fromkeys(r["material"] for r in rows(file)) if "P" not in name]


def table_of(directory: Path, name: str) -> Table:
    return Table(directory / f"{Material.parse(name)}.dtc.arrow")


@pytest.fixture(scope="session")
def four_men() -> Path:
    """All tables of 3 and 4 men."""
    return proved(every(3) + every(4))


@pytest.fixture(scope="session")
def five_men() -> Path:
    """The tables of 5 men whose counts are published."""
    return proved(materials("dtc_5man.csv"))


# Published counts


def moves(result: str, plies: str) -> str:
    """A win or a loss in so many plies, as Thompson counts."""
    if result == "draw":
        return ""
    return str((int(plies) + 1) // 2 if result == "win" else int(plies) // 2)


def published(name: str) -> Counts:
    counts: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    for row in rows("histograms_3_4man.csv"):
        if row["material"] == name:
            side = SIDES[row["stm"] == "btm"]
            key = side, row["result"], moves(row["result"], row["ply"])
            counts[key] += int(row["unlabelled_orbits"])
    return dict(counts)


def counted(table: Table) -> Counts:
    """Returns the counts that a table records of itself."""
    counts = {
        (side, result, depth): number
        for side, result in product(SIDES, ("win", "loss"))
        for depth, number in table.counts[side][result].items()
    }
    draws = {(side, "draw", ""): table.counts[side]["draw"] for side in SIDES}
    return counts | {key: number for key, number in draws.items() if number}


def test_all_materials_of_3_and_4_men_are_built(four_men: Path) -> None:
    names = {path.name for path in four_men.glob("*.dtc.arrow")}
    assert len(every(3) + every(4)) == 24
    assert {f"{material}.dtc.arrow" for material in every(3) + every(4)} <= names


@pytest.mark.parametrize("name", materials("histograms_3_4man.csv"))
def test_positions_per_move_are_those_published(four_men: Path, name: str) -> None:
    assert counted(table_of(four_men, name)) == published(name)


@pytest.mark.parametrize("name", materials("extremes_3_4man.csv"))
def test_the_longest_wins_and_losses_are_those_published(four_men: Path, name: str) -> None:
    (row,) = (row for row in rows("extremes_3_4man.csv") if row["material"] == name)
    longest = table_of(four_men, name).counts["longest"]
    for (side, stm), result in product(zip(SIDES, ("wtm", "btm"), strict=True), ("win", "loss")):
        plies, found = row[f"{stm}_{result}_ply"], longest[side].get(result)
        assert (moves(result, plies) if plies else None) == (found and str(found["moves"]))


def test_the_longest_win_is_shown_by_a_position(four_men: Path) -> None:
    with open_tablebase(four_men) as tablebase:
        for material in every(3) + every(4):
            for side, found in table_of(four_men, material.name).counts["longest"].items():
                for result, shown in found.items():
                    expected = (1 if result == "win" else -1, shown["moves"])
                    assert tuple(tablebase.probe(shown["fen"])) == expected
                    assert shown["fen"].split()[1] == side[0]


def test_kings_and_a_queen_make_28056_positions(four_men: Path) -> None:
    """Both sides to move together with those in which the side not to move is in check."""
    counts = table_of(four_men, "KQvK").counts
    for side in SIDES:
        decided = sum(counts[side]["win"].values()) + sum(counts[side]["loss"].values())
        assert decided + counts[side]["draw"] + counts[side]["illegal"] == 28056


# Like men counted as different


def weights(name: str, diagonal: bool) -> Squares:
    """How many positions each set of squares stands for if like men are told apart.

    They can stand on their squares in k! ways. Where the mirror image of a position on the
    diagonal is the same position, it pairs these ways off, unless no man moves at all.
    """
    letters = Material.parse(name).letters
    sides = Material.parse(name).sides
    squares = np.indices((64,) * len(letters), dtype=np.int8).reshape(len(letters), -1)
    like = [
        [i for i, man in enumerate(zip(letters, sides, strict=True)) if man == kind]
        for kind in sorted(set(zip(letters, sides, strict=True)))
    ]
    ways = prod(factorial(len(men)) for men in like)
    whole = np.full(squares.shape[1], ways, dtype=np.int64)
    if not diagonal:
        return whole
    mirrored = (squares & 7) << 3 | squares >> 3
    same = np.ones(squares.shape[1], dtype=np.bool_)
    for men in like:
        same &= (np.sort(squares[men], axis=0) == np.sort(mirrored[men], axis=0)).all(axis=0)
    unmoved = (squares == mirrored).all(axis=0)
    assert ways > 1 or not (same & ~unmoved).any()
    whole[same & ~unmoved] //= 2
    return whole


def labelled(table: Table) -> Counts:
    """Positions won and lost, like men told apart."""
    domain = Domain(table.material)
    scratch = _kernels.Scratch(domain.kernel)
    weight = [weights(table.material.name, diagonal) for diagonal in (False, True)]
    totals = np.zeros((2, 1 << 16), dtype=np.int64)
    for pair, side in product(TURNED.partitions, SIDE_NUMBERS):
        mask = domain.counted(pair, side, scratch)
        position = np.unpackbits(mask.view(np.uint8), bitorder="little").view(np.bool_)
        values = table.values(pair, side)[position].astype(np.int64) + 300
        each = np.bincount(values, weight[int(TURNED.diagonal[pair])][position], minlength=600)
        totals[side, :600] += each.astype(np.int64)
        assert popcount(mask) == len(values)
    return {
        (SIDES[side], "win" if value > 300 else "loss", str(abs(value - 300) - (value < 300))): int(
            totals[side, value]
        )
        for side, value in np.argwhere(totals).tolist()
        if value != 300
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", materials("dtc_5man.csv"))
def test_positions_of_five_men_are_those_published(five_men: Path, name: str) -> None:
    side = {"w": "white", "b": "black"}
    expected = {
        (side[row["to_move"]], row["result"], row["moves"]): int(row["positions"])
        for row in rows("dtc_5man.csv")
        if row["material"] == name and int(row["positions"])
    }
    assert labelled(table_of(five_men, name)) == expected


@pytest.mark.slow
def test_two_bishops_win_against_a_knight_in_at_most_66_moves(five_men: Path) -> None:
    longest = table_of(five_men, "KBBvKN").counts["longest"]
    assert longest["white"]["win"]["moves"] == longest["black"]["loss"]["moves"] == 66


# The oracle


@cache
def pair_numbers() -> dict[tuple[int, int], tuple[int, int]]:
    """The pair of every two kings, and the symmetry (its number in `turned`) that shows it."""
    apart = [
        (white, black)
        for white, black in product(range(64), range(64))
        if max(abs(white % 8 - black % 8), abs(white // 8 - black // 8)) > 1
    ]
    images = {
        kings: min((*(int(turned(g, np.array(king))) for king in kings), g) for g in range(8))
        for kings in apart
    }
    numbers = {pair: i for i, pair in enumerate(sorted({image[:2] for image in images.values()}))}
    assert len(numbers) == 462
    return {kings: (numbers[image[:2]], image[2]) for kings, image in images.items()}


def turned(symmetry: int, squares: Squares) -> Squares:
    files, ranks = squares % 8, squares // 8
    if symmetry & 1:
        files = 7 - files
    if symmetry & 2:
        ranks = 7 - ranks
    return 8 * files + ranks if symmetry & 4 else 8 * ranks + files


def row_of(material: Material, pair: int, squares: list[Squares]) -> Squares:
    """The rows of many positions with their kings in one pair: like men in ascending order."""
    squares = list(squares)
    for men in material.like_men:
        ordered = np.sort(np.stack(np.broadcast_arrays(*(squares[i] for i in men))), axis=0)
        for man, place in zip(men, ordered, strict=True):
            squares[man] = place
    row = np.asarray(pair)
    for square in squares:
        row = row * 64 + square
    return row


def rows_with_kings(material: Material, kings: tuple[int, int]) -> Squares:
    """The row of every placing of the men, man 0 (of the weaker side) on the first axis."""
    pair, symmetry = pair_numbers()[kings]
    axes = len(material.letters)
    board = np.arange(64)
    shaped = [turned(symmetry, board).reshape([-1] + [1] * (axes - 1 - i)) for i in range(axes)]
    found = row_of(material, pair, shaped)
    if all(int(turned(symmetry, np.array(king))) % 9 == 0 for king in kings):
        found = np.minimum(found, row_of(material, pair, [turned(4, square) for square in shaped]))
    return found


def assert_equals_the_oracle(directory: Path, name: str) -> None:
    material = Material.parse(name)
    whole = pa.ipc.open_file(directory / f"{name}.dtc.arrow").read_all()
    columns = [whole[side].to_numpy() for side in SIDES]
    expected = oracle.solve(name).dtc
    men, weaker = len(material.letters), len(material.weaker)
    # The oracle's axes: white king, White's men, black king, Black's men.
    order = [0, men - weaker + 1, *range(men - weaker + 2, men + 2), *range(1, men - weaker + 1)]
    ordered = [table.transpose(order) for table in expected]
    compared = 0
    for kings in pair_numbers():
        found = rows_with_kings(material, kings)
        for side in (0, 1):
            theirs = ordered[side][kings]
            legal = theirs != oracle.ILLEGAL
            assert np.array_equal(columns[side][found[legal]], theirs[legal]), (kings, SIDES[side])
            compared += int(legal.sum())
    assert compared == sum(int((table != oracle.ILLEGAL).sum()) for table in expected)


@pytest.mark.parametrize("name", ["KQvK", "KRvK", "KBvK", "KNvK"])
def test_every_value_of_three_men_is_the_oracles(four_men: Path, name: str) -> None:
    assert_equals_the_oracle(four_men, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", oracle.FOUR_MEN)
def test_every_value_of_four_men_is_the_oracles(four_men: Path, name: str) -> None:
    assert_equals_the_oracle(four_men, name)
