"""Facts about mutual zugzwangs: how many there are of each kind, which, and that they are."""

import csv
from pathlib import Path

import chess
import numpy as np
import oracle
import pytest
from boards import images

from coordinator.build import build
from coordinator.request import Request
from workers import sections
from workers.errors import DamagedTable
from workers.material import Material, every
from workers.metric import Metric
from workers.outcome import Outcome
from workers.probe import open_tablebase
from workers.table import BLOCK, Table
from workers.threads import Threads
from workers.zugzwang import Census, Kind, Zugzwang, census, zugzwangs

EXTREMES = Path(__file__).parent / "golden" / "extremes_3_4man.csv"
COLUMNS = {
    Kind.WHITE_WINS: "mzug_wtm_draws_btm_loses",
    Kind.BLACK_WINS: "mzug_wtm_loses_btm_draws",
    Kind.WHOEVER_MOVES_LOSES: "mzug_full_point",
}
NALIMOV = {"KBBvKN": 1, "KBNvKN": 922, "KRBvKR": 17}
"""White wins with Black to move and not with White to move; of the other kinds there are none."""
SMALL = tuple(str(material) for men in (3, 4) for material in every(men))


def published() -> dict[str, dict[Kind, int]]:
    """By material; an empty cell is none."""
    with open(EXTREMES, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "DTC"]
    return {row["material"]: {k: int(row[c] or 0) for k, c in COLUMNS.items()} for row in rows}


def counted(directory: Path, name: str, keep: int | None = 0) -> Census:
    with Threads(2) as threads:
        return census(Table(directory / f"{name}.dtc.arrow"), threads, keep)


def listed(directory: Path, name: str) -> list[Zugzwang]:
    with Threads(2) as threads:
        return list(zugzwangs(Table(directory / f"{name}.dtc.arrow"), threads))


def built(out: Path, *names: str) -> Path:
    build(Request(tuple(map(Material.parse, names)), out, threads=2), lambda event: None)
    return out


@pytest.fixture(scope="session")
def four_men(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("four_men"), *SMALL)


@pytest.fixture(scope="session")
def five_men(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("five_men"), *NALIMOV)


@pytest.fixture(scope="module")
def knight(tables: Path) -> list[Zugzwang]:
    """Those of rook against knight."""
    return listed(tables, "KRvKN")


# How many


def test_rook_against_knight_has_18(tables: Path) -> None:
    assert counted(tables, "KRvKN").counts == published()["KRvKN"]
    assert published()["KRvKN"][Kind.WHITE_WINS] == 18


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_three_and_four_men_have_as_many_as_published(four_men: Path, name: str) -> None:
    assert counted(four_men, name).counts == published()[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", NALIMOV)
def test_five_men_have_as_many_as_nalimov_found(five_men: Path, name: str) -> None:
    expected = {Kind.WHITE_WINS: NALIMOV[name], Kind.BLACK_WINS: 0, Kind.WHOEVER_MOVES_LOSES: 0}
    assert counted(five_men, name).counts == expected


@pytest.mark.slow
def test_a_partition_in_several_sections_has_the_same(
    five_men: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = listed(five_men, "KBNvKN")
    monkeypatch.setattr(sections, "SLOTS", BLOCK)
    assert len(sections.places_of(Material.parse("KBNvKN"))) == 4 * 462
    assert listed(five_men, "KBNvKN") == whole


def test_it_does_not_matter_what_moves_are_counted_to(
    tables: Path, knight: list[Zugzwang], tmp_path: Path
) -> None:
    request = Request((Material.parse("KRvKN"),), tmp_path, metrics=(Metric.DTM,), threads=2)
    build(request, lambda event: None)
    with Threads(2) as threads:
        to_mate = list(zugzwangs(Table(tmp_path / "KRvKN.dtm.arrow"), threads))
    assert [each[:2] for each in to_mate] == [each[:2] for each in knight]
    assert all(mate.black <= each.black for mate, each in zip(to_mate, knight, strict=True))
    assert to_mate != knight


# Which


def test_either_side_may_be_to_move(knight: list[Zugzwang]) -> None:
    for found in knight:
        board = chess.Board(found.fen(Material.parse("KRvKN")))
        assert board.turn == chess.WHITE
        assert not board.was_into_check()
        board.turn = chess.BLACK
        assert not board.was_into_check()


def test_the_values_are_those_that_a_probe_gives(tables: Path, knight: list[Zugzwang]) -> None:
    material = Material.parse("KRvKN")
    with open_tablebase(tables) as tablebase:
        for found in knight:
            for entry in found.entries():
                answer = tablebase.probe(entry.fen(material))
                assert answer.moves == (entry.moves or 0)
                assert (
                    answer.wdl == {Outcome.WIN: 1, Outcome.DRAW: 0, Outcome.LOSS: -1}[entry.outcome]
                )


def test_a_kind_says_who_would_rather_not_move() -> None:
    assert Zugzwang(0, 0, 0, -3).kind is Kind.WHITE_WINS
    assert Zugzwang(0, 0, -3, 0).kind is Kind.BLACK_WINS
    assert Zugzwang(0, 0, -3, -1).kind is Kind.WHOEVER_MOVES_LOSES


@pytest.mark.slow
def test_they_are_all_that_the_oracle_finds(knight: list[Zugzwang]) -> None:
    solution = oracle.solve("KRvKN")
    white, black = solution.plies  # what is no position is beyond every win
    squeezed = (white <= 0) & (black <= 0) & ((white < 0) | (black < 0))
    expected = {solution.fen(oracle.WHITE, squares) for squares in np.argwhere(squeezed).tolist()}
    boards = [chess.Board(found.fen(Material.parse("KRvKN"))) for found in knight]
    turned = [image for board in boards for image in images(board) if image.turn == chess.WHITE]
    assert {image.fen() for image in turned} == expected


# Lists


def test_they_come_in_the_order_of_the_rows(knight: list[Zugzwang]) -> None:
    assert knight == sorted(knight)
    assert len(set(knight)) == 18


def test_a_list_can_be_cut_short(tables: Path, knight: list[Zugzwang]) -> None:
    assert counted(tables, "KRvKN").listed[Kind.WHITE_WINS] == []
    assert counted(tables, "KRvKN", keep=5).listed[Kind.WHITE_WINS] == knight[:5]
    assert counted(tables, "KRvKN", keep=None).listed[Kind.WHITE_WINS] == knight


def test_one_kind_can_be_asked_for_alone(tables: Path) -> None:
    with Threads(2) as threads:
        table = Table(tables / "KRvKN.dtc.arrow")
        assert census(table, threads, kinds=[Kind.BLACK_WINS]).counts == {Kind.BLACK_WINS: 0}


def test_the_first_can_be_had_without_reading_the_rest(
    tables: Path, knight: list[Zugzwang], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    before = Table.values

    def noted(table: Table, pair: int, side: int) -> object:
        read.append(pair)
        return before(table, pair, side)

    monkeypatch.setattr(Table, "values", noted)
    with Threads(2) as threads:
        each = zugzwangs(Table(tables / "KRvKN.dtc.arrow"), threads)
        assert next(each) == knight[0]
        each.close()  # type: ignore[attr-defined]
    assert max(read) <= knight[0].pair + 5


def test_a_damaged_block_is_named(tables: Path, tmp_path: Path) -> None:
    path = tmp_path / "KRvKN.dtc.arrow"
    data = bytearray((tables / path.name).read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedTable, match=r"KRvKN\.dtc\.arrow: block \d+ of column"):
        counted(tmp_path, "KRvKN")
