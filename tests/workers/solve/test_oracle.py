"""The oracle against published counts, and against what can be seen without any count.

`golden/histograms_3_4man.csv` counts positions per ply, a position being one orbit of the eight
symmetries of the board. The oracle knows no symmetry, so the orbits are counted here, by Burnside's
lemma: their number is the mean, over a group, of how many positions each of its elements leaves
as they are. Counting like men as different, the group is the eight symmetries; counting them as
the same, each symmetry comes with every exchange of like men.
"""

import csv
from collections import defaultdict
from functools import cache
from itertools import permutations, product
from pathlib import Path

import chess
import numpy as np
import pytest
from numpy.typing import NDArray
from oracle import BLACK, FOUR_MEN, ILLEGAL, WHITE, Flags, Material, Solution, Table, solve

GOLDEN = Path(__file__).parents[2] / "golden"
Counts = dict[int, int]
Element = tuple[NDArray[np.intp], tuple[int, ...]]  # square -> square, man -> man


@cache
def rows(file: str) -> list[dict[str, str]]:
    with (GOLDEN / file).open(newline="") as lines:
        return [row for row in csv.DictReader(lines) if row.get("metric", "DTC") == "DTC"]


def published(name: str, stm: int, column: str) -> Counts:
    """Positions per value in plies, coded as the oracle codes it."""
    mine = (r for r in rows("histograms_3_4man.csv") if r["material"] == name)
    return {coded(r): int(r[column]) for r in mine if r["stm"] == ("wtm", "btm")[stm]}


def coded(row: dict[str, str]) -> int:
    if row["result"] == "draw":
        return 0
    return int(row["ply"]) if row["result"] == "win" else -int(row["ply"]) - 1


def pawnless(file: str) -> list[str]:
    """The materials of a file, of four men those whose solutions other tests use."""
    names = dict.fromkeys(row["material"] for row in rows(file))
    return [name for name in names if "P" not in name and (len(name) < 5 or name in FOUR_MEN)]


def marked(names: list[str]) -> list[object]:
    """Four men take seconds."""
    slow = [pytest.mark.slow]
    return [pytest.param(name, marks=slow if len(name) > 4 else []) for name in names]


@pytest.fixture(scope="module", params=marked(pawnless("extremes_3_4man.csv")))
def solved(request: pytest.FixtureRequest) -> tuple[str, Solution]:
    return request.param, solve(request.param)


# Orbits


def symmetries() -> list[NDArray[np.intp]]:
    board = np.arange(64).reshape(8, 8)
    turned = [np.rot90(board, quarter) for quarter in range(4)]
    return [face.ravel() for board in turned for face in (board, board.T)]


def exchanges(material: Material) -> list[tuple[int, ...]]:
    """All ways to exchange like men of one side."""
    kinds = [(man in material.axes(WHITE), letter) for man, letter in enumerate(material.men)]
    orders = permutations(range(len(kinds)))
    return [order for order in orders if [kinds[man] for man in order] == kinds]


def group(material: Material, labelled: bool) -> list[Element]:
    same = tuple(range(len(material.men)))
    return list(product(symmetries(), [same] if labelled else exchanges(material)))


def unmoved(shape: tuple[int, ...], element: Element) -> Flags:
    """Slots in which every man is carried to the square of the man it is exchanged with."""
    square_to, man_to = element
    squares = np.ogrid[tuple(slice(0, n) for n in shape)]
    flags = np.ones(shape, dtype=np.bool_)
    for man, square in enumerate(squares):
        flags &= squares[man_to[man]] == square_to[square]
    return flags


def orbits(table: Table, elements: list[Element]) -> Counts:
    """Positions per value, one per orbit."""
    total: defaultdict[int, int] = defaultdict(int)
    for element in elements:
        values = table[unmoved(table.shape, element) & (table != ILLEGAL)]
        for value, count in enumerate(np.bincount(values + 500)):
            total[value - 500] += int(count)
    assert all(count % len(elements) == 0 for count in total.values())
    return {value: count // len(elements) for value, count in total.items() if count}


def test_the_board_has_8_symmetries() -> None:
    assert len({tuple(symmetry) for symmetry in symmetries()}) == 8


def test_kings_apart_are_462_orbits() -> None:
    kings = solve("KvK").plies[WHITE]
    assert orbits(kings, group(Material.parse("KvK"), labelled=True)) == {0: 462}


# Counts


def test_two_materials_have_no_published_histogram() -> None:
    counted = pawnless("histograms_3_4man.csv")
    assert set(pawnless("extremes_3_4man.csv")) - set(counted) == {"KBNvK", "KRvKN"}


@pytest.mark.parametrize("solved", marked(pawnless("histograms_3_4man.csv")), indirect=True)
@pytest.mark.parametrize("stm", [WHITE, BLACK], ids=["wtm", "btm"])
@pytest.mark.parametrize("column", ["unlabelled_orbits", "labelled_orbits"])
def test_positions_per_ply_are_those_published(
    solved: tuple[str, Solution], column: str, stm: int
) -> None:
    name, solution = solved
    elements = group(solution.material, labelled=column == "labelled_orbits")
    assert orbits(solution.plies[stm], elements) == published(name, stm, column)


def test_mutual_zugzwangs_are_those_published(solved: tuple[str, Solution]) -> None:
    name, solution = solved
    white, black = solution.plies
    either = (white != ILLEGAL) & (black != ILLEGAL)
    zugzwangs = {
        "mzug_wtm_draws_btm_loses": either & (white == 0) & (black < 0),
        "mzug_wtm_loses_btm_draws": either & (white < 0) & (black == 0),
        "mzug_full_point": either & (white < 0) & (black < 0),
    }
    elements = group(solution.material, labelled=False)
    counted = {
        key: orbits(np.int16(1) * flags, elements).get(1, 0) for key, flags in zugzwangs.items()
    }
    (row,) = (r for r in rows("extremes_3_4man.csv") if r["material"] == name)
    assert counted == {key: int(row[key]) for key in zugzwangs}


def test_moves_are_plies_halved_as_thompson_counts(solved: tuple[str, Solution]) -> None:
    halves = np.array([halved(n) for n in range(-500, 501)])
    for plies, moves in zip(solved[1].plies, solved[1].dtc, strict=True):
        legal = plies != ILLEGAL
        assert np.array_equal(halves[plies[legal] + 500], moves[legal])
        assert (moves[~legal] == ILLEGAL).all()


def halved(n: int) -> int:
    if n == 0:
        return 0
    return (n + 1) // 2 if n > 0 else -((-n - 1) // 2) - 1


def test_the_longest_wins_and_losses_are_those_published(solved: tuple[str, Solution]) -> None:
    name, solution = solved
    (row,) = (r for r in rows("extremes_3_4man.csv") if r["material"] == name)
    for side, plies in zip(("wtm", "btm"), solution.plies, strict=True):
        values = plies[plies != ILLEGAL]
        best, worst = int(values.max()), int(values.min())
        assert row[f"{side}_win_ply"] == (str(best) if best > 0 else "")
        assert row[f"{side}_loss_ply"] == (str(-worst - 1) if worst < 0 else "")


def test_zellner_counted_what_the_oracle_does_and_2_mates_of_other_material() -> None:
    zellner = {2 * int(r["won_in_moves"]) - 1: int(r["mfreq"]) for r in rows("zellner_kbbk.csv")}
    wins = {n: count for n, count in published("KBBvK", WHITE, "labelled_orbits").items() if n > 0}
    assert zellner == wins | {1: wins[1] + 2}


# Rules


def test_every_value_follows_from_the_moves_that_the_rules_allow(
    solved: tuple[str, Solution],
) -> None:
    solution = solved[1]
    dice = np.random.default_rng(1986)
    for _ in range(1000):
        stm, *slot = dice.integers(0, [2, *solution.material.shape]).tolist()
        value = int(solution.plies[stm][tuple(slot)])
        assert value == by_the_rules(solution, stm, slot), solution.fen(stm, slot)


def by_the_rules(solution: Solution, stm: int, slot: list[int]) -> int:
    """The value of one slot from those of the slots its moves lead to, moves by python-chess."""
    board = chess.Board(solution.fen(stm, slot))
    if len(set(slot)) < len(slot) or board.was_into_check():
        return ILLEGAL
    values = [after(solution, stm, slot, move) for move in board.legal_moves]
    return max(values, key=liking, default=-1 if board.is_check() else 0)


def after(solution: Solution, stm: int, slot: list[int], move: chess.Move) -> int:
    """Returns the value of a move to its player."""
    moved = [move.to_square if here == move.from_square else here for here in slot]
    if move.to_square not in slot:
        return answer(int(solution.plies[1 - stm][tuple(moved)]))
    taken = slot.index(move.to_square)
    left = smaller(solution.material.without(taken)).plies[1 - stm]
    return (-2, 0, 1)[1 - np.sign(left[tuple(moved[:taken] + moved[taken + 1 :])])]


def answer(value: int) -> int:
    """Lost in n: won in n + 1 for the other side, and the reverse."""
    return -value if value <= 0 else -(value + 2)


def liking(value: int) -> int:
    """Short wins, then long ones, draws, long losses, short ones."""
    return int(np.sign(value)) * 1000 - value


smaller = cache(solve)


# Single positions


def square(name: str) -> int:
    return 8 * (int(name[1]) - 1) + "abcdefgh".index(name[0])


def squares(names: str) -> tuple[int, ...]:
    return tuple(map(square, names.split()))


@pytest.mark.parametrize(
    ("name", "stm", "men", "moves"),
    [
        pytest.param("KQvK", BLACK, "g6 g7 h8", -1, id="mated"),
        pytest.param("KQvK", BLACK, "g6 f7 h8", 0, id="stalemated"),
        pytest.param("KQvK", WHITE, "g6 b7 h8", 1, id="mates"),
        pytest.param("KQvK", BLACK, "a1 g7 h8", 0, id="takes the queen"),
        pytest.param("KQvK", WHITE, "g6 g7 h8", ILLEGAL, id="other side in check"),
        pytest.param("KRvK", BLACK, "e4 a8 e5", ILLEGAL, id="kings adjacent"),
        pytest.param("KRvK", BLACK, "e4 e4 h8", ILLEGAL, id="two men on a square"),
        pytest.param("KRvK", WHITE, "c3 d3 f3", ILLEGAL, id="check along a rank"),
    ],
)
def test_a_value_anyone_can_see(name: str, stm: int, men: str, moves: int) -> None:
    assert solve(name).dtc[stm][squares(men)] == moves


def test_a_king_may_stand_between_a_rook_and_the_other_king() -> None:
    assert solve("KRvK").dtc[WHITE][squares("d3 a3 f3")] != ILLEGAL


@pytest.mark.parametrize(("name", "longest"), [("KQvK", 10), ("KRvK", 16)])
def test_the_longest_win_and_the_longest_loss_are_equal(name: str, longest: int) -> None:
    white, black = solve(name).dtc
    assert white[white != ILLEGAL].max() == longest
    assert black.min() == -(longest + 1)


@pytest.mark.parametrize(("name", "exchanged"), [("KQvK", "KvKQ"), ("KRvK", "KvKR")])
def test_exchanging_the_colours_changes_nothing(name: str, exchanged: str) -> None:
    here, there = solve(name), solve(exchanged)
    for stm in (WHITE, BLACK):
        assert np.array_equal(here.dtc[stm], there.dtc[1 - stm].transpose(1, 2, 0))


def test_a_slot_has_a_fen() -> None:
    fen = solve("KQvK").fen(BLACK, squares("g6 a1 h8"))
    assert fen == "7k/8/6K1/8/8/8/8/Q7 b - - 0 1"


@pytest.mark.parametrize("name", ["", "KPvK", "QvK", "KQK", "kqvk", "KQvKR "])
def test_a_name_that_is_no_pawnless_material_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no pawnless material"):
        solve(name)
