"""Facts about mutual zugzwangs: how many there are of each kind, which, and that they are."""

import csv
from pathlib import Path

import chess
import numpy as np
import oracle
import pytest
from boards import images
from shared_tables import proved

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import DamagedTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import every
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.outcome import Outcome
from kingpair.workers.number_types import Side, Slot
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study.zugzwang import (
    MutualZugzwang,
    ZugzwangCensus,
    ZugzwangResult,
    census,
    zugzwangs,
)
from kingpair.workers.table import scan
from kingpair.workers.table.format import BLOCK, Table

EXTREMES = Path(__file__).parents[2] / "golden" / "extremes_3_4man.csv"
COLUMNS = {
    ZugzwangResult.WHITE_WINS: "mzug_wtm_draws_btm_loses",
    ZugzwangResult.BLACK_WINS: "mzug_wtm_loses_btm_draws",
    ZugzwangResult.MOVER_LOSES: "mzug_full_point",
}
NALIMOV = {"KBBvKN": 1, "KBNvKN": 922, "KRBvKR": 17}
"""White wins with Black to move and not with White to move; of the other kinds there are none."""
SMALL = tuple(str(material) for men in (3, 4) for material in every(men))


def published() -> dict[str, dict[ZugzwangResult, int]]:
    """The published numbers by material; an empty cell is 0."""
    with open(EXTREMES, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "DTC"]
    return {row["material"]: {k: int(row[c] or 0) for k, c in COLUMNS.items()} for row in rows}


def counted(directory: Path, name: str, keep: int | None = 0) -> ZugzwangCensus:
    with Threads(2) as threads:
        return census(Table(directory / f"{name}.dtc.arrow"), threads, keep)


def listed(directory: Path, name: str) -> list[MutualZugzwang]:
    with Threads(2) as threads:
        return list(zugzwangs(Table(directory / f"{name}.dtc.arrow"), threads))


@pytest.fixture(scope="session")
def four_men() -> Path:
    return proved(SMALL)


@pytest.fixture(scope="session")
def five_men() -> Path:
    return proved(NALIMOV)


@pytest.fixture(scope="module")
def knight(tables: Path) -> list[MutualZugzwang]:
    """The zugzwangs of rook against knight."""
    return listed(tables, "KRvKN")


# Their number


def test_rook_against_knight_has_18_zugzwangs(tables: Path) -> None:
    assert counted(tables, "KRvKN").counts == published()["KRvKN"]
    assert published()["KRvKN"][ZugzwangResult.WHITE_WINS] == 18


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_three_and_four_men_have_the_published_number_of_zugzwangs(
    four_men: Path, name: str
) -> None:
    assert counted(four_men, name).counts == published()[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", NALIMOV)
def test_five_men_have_the_number_of_zugzwangs_that_nalimov_found(
    five_men: Path, name: str
) -> None:
    expected = {
        ZugzwangResult.WHITE_WINS: NALIMOV[name],
        ZugzwangResult.BLACK_WINS: 0,
        ZugzwangResult.MOVER_LOSES: 0,
    }
    assert counted(five_men, name).counts == expected


@pytest.mark.slow
def test_a_partition_in_several_sections_has_the_same_zugzwangs(
    five_men: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = listed(five_men, "KBNvKN")
    monkeypatch.setattr(scan, "SECTION_SLOTS", BLOCK)
    assert len(scan.section_starts(Material.parse("KBNvKN"))) == 4 * 462
    assert listed(five_men, "KBNvKN") == whole


def test_the_metric_does_not_change_the_zugzwangs(
    tables: Path, knight: list[MutualZugzwang], tmp_path: Path
) -> None:
    request = BuildRequest(
        BuildSpec((Material.parse("KRvKN"),), metrics=(Metric.DTM,)), tmp_path, threads=2
    )
    build(request, lambda event: None)
    with Threads(2) as threads:
        to_mate = list(zugzwangs(Table(tmp_path / "KRvKN.dtm.arrow"), threads))
    assert [each[:2] for each in to_mate] == [each[:2] for each in knight]
    assert all(mate.black <= each.black for mate, each in zip(to_mate, knight, strict=True))
    assert to_mate != knight


# The positions


def test_a_zugzwang_is_legal_with_either_side_to_move(knight: list[MutualZugzwang]) -> None:
    for found in knight:
        board = chess.Board(found.fen(Material.parse("KRvKN")))
        assert board.turn == chess.WHITE
        assert not board.was_into_check()
        board.turn = chess.BLACK
        assert not board.was_into_check()


def test_the_values_are_those_that_a_probe_gives(
    tables: Path, knight: list[MutualZugzwang]
) -> None:
    material = Material.parse("KRvKN")
    with open_tablebase(tables) as tablebase:
        for found in knight:
            for entry in found.entries():
                answer = tablebase.probe(entry.fen(material))
                assert answer.moves == (entry.moves or 0)
                assert (
                    answer.wdl == {Outcome.WIN: 1, Outcome.DRAW: 0, Outcome.LOSS: -1}[entry.outcome]
                )


def test_the_kind_of_a_zugzwang_names_the_two_results() -> None:
    assert MutualZugzwang(0, Slot(0), 0, -3).kind is ZugzwangResult.WHITE_WINS
    assert MutualZugzwang(0, Slot(0), -3, 0).kind is ZugzwangResult.BLACK_WINS
    assert MutualZugzwang(0, Slot(0), -3, -1).kind is ZugzwangResult.MOVER_LOSES


@pytest.mark.slow
def test_zugzwangs_are_those_of_the_oracle(knight: list[MutualZugzwang]) -> None:
    solution = oracle.solve("KRvKN")
    white, black = solution.plies  # an illegal placement has more plies than any win
    squeezed = (white <= 0) & (black <= 0) & ((white < 0) | (black < 0))
    expected = {solution.fen(oracle.WHITE, squares) for squares in np.argwhere(squeezed).tolist()}
    boards = [chess.Board(found.fen(Material.parse("KRvKN"))) for found in knight]
    turned = [image for board in boards for image in images(board) if image.turn == chess.WHITE]
    assert {image.fen() for image in turned} == expected


# Lists


def test_zugzwangs_come_in_the_order_of_the_rows(knight: list[MutualZugzwang]) -> None:
    assert knight == sorted(knight)
    assert len(set(knight)) == 18


def test_a_list_can_be_cut_short(tables: Path, knight: list[MutualZugzwang]) -> None:
    assert counted(tables, "KRvKN").listed[ZugzwangResult.WHITE_WINS] == []
    assert counted(tables, "KRvKN", keep=5).listed[ZugzwangResult.WHITE_WINS] == knight[:5]
    assert counted(tables, "KRvKN", keep=None).listed[ZugzwangResult.WHITE_WINS] == knight


def test_one_kind_can_be_asked_for_alone(tables: Path) -> None:
    with Threads(2) as threads:
        table = Table(tables / "KRvKN.dtc.arrow")
        assert census(table, threads, kinds=[ZugzwangResult.BLACK_WINS]).counts == {
            ZugzwangResult.BLACK_WINS: 0
        }


def test_the_first_zugzwang_is_yielded_before_the_rest_is_read(
    tables: Path, knight: list[MutualZugzwang], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    before = Table.values

    def noted(table: Table, pair: int, side: Side) -> object:
        read.append(pair)
        return before(table, pair, side)

    monkeypatch.setattr(Table, "values", noted)
    with Threads(2) as threads:
        each = zugzwangs(Table(tables / "KRvKN.dtc.arrow"), threads)
        assert next(each) == knight[0]
        each.close()  # type: ignore[attr-defined]
    assert max(read) <= knight[0].run + 5


def test_a_damaged_block_is_named(tables: Path, tmp_path: Path) -> None:
    path = tmp_path / "KRvKN.dtc.arrow"
    data = bytearray((tables / path.name).read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedTable, match=r"KRvKN\.dtc\.arrow: block \d+ of column"):
        counted(tmp_path, "KRvKN")
