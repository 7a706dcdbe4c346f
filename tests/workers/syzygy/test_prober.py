"""Facts about probing Syzygy files: python-chess reads the same from them."""

import random
from collections.abc import Iterator
from pathlib import Path

import chess.syzygy
import pytest
from syzygy_files import GOLDEN, PROBED, by_oracle, by_ours, drawn

from kingpair.workers.ask.position_report import report_position
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import DamagedTable, MissingTableError
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.syzygy.distance import SyzygyAnswer
from kingpair.workers.syzygy.prober import SyzygyTables

LOST_KING = "8/8/8/8/8/2k5/8/K1r5 w - - 0 1"


@pytest.fixture(scope="module")
def oracle() -> Iterator[chess.syzygy.Tablebase]:
    with chess.syzygy.open_tablebase(str(GOLDEN)) as found:
        yield found


@pytest.fixture(scope="module")
def tables() -> SyzygyTables:
    return SyzygyTables(GOLDEN)


@pytest.mark.parametrize("name", PROBED)
def test_results_and_distances_are_those_that_python_chess_reads(
    name: str, tables: SyzygyTables, oracle: chess.syzygy.Tablebase
) -> None:
    chance = random.Random(name)
    boards = [drawn(name, chance) for _ in range(250)]
    boards += [board.mirror() for board in boards[:50]]
    assert [by_ours(tables, b) for b in boards] == [by_oracle(oracle, b) for b in boards]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBED)
def test_thousands_of_positions_are_as_python_chess_reads_them(
    name: str, tables: SyzygyTables, oracle: chess.syzygy.Tablebase
) -> None:
    chance = random.Random(f"{name} slow")
    for board in (drawn(name, chance) for _ in range(3000)):
        assert by_ours(tables, board) == by_oracle(oracle, board), board.fen()


def test_a_mate_is_lost_and_its_distance_is_one(tables: SyzygyTables) -> None:
    mate = parse_fen("8/8/8/8/8/1k6/8/K2r4 w - - 0 1")
    assert tables.probe(mate) == SyzygyAnswer(-2, 1, 1)
    assert tables.probe(mate).dtz == -1


def test_bare_kings_are_drawn_without_a_file() -> None:
    assert SyzygyTables().probe(parse_fen("8/8/8/8/8/2k5/8/K7 w - - 0 1")).result == 0


def test_a_missing_file_is_named(tables: SyzygyTables) -> None:
    with pytest.raises(MissingTableError, match=r"no KRvKR\.rtbw in "):
        tables.probe(parse_fen("8/8/8/8/8/2k2r2/8/K2R4 w - - 0 1"))


def test_castling_rights_are_covered_by_no_file(tables: SyzygyTables) -> None:
    with pytest.raises(MissingTableError, match="castling"):
        tables.probe(parse_fen("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"))


def test_a_tablebase_asks_syzygy_files_where_it_has_no_table(tmp_path: Path) -> None:
    with open_tablebase(tmp_path, syzygy=GOLDEN) as tablebase:
        assert tablebase.probe_wdl(LOST_KING) == -1
        answer = tablebase.get_syzygy(LOST_KING)
        assert answer is not None
        assert (answer.result, answer.sign) == (-2, -1)
        report = report_position(tablebase, parse_fen(LOST_KING))
        assert report.here.answer is None
        assert report.here.syzygy == answer
        with pytest.raises(MissingTableError):
            tablebase.probe_wdl("8/8/8/8/8/2k2r2/8/K2R4 w - - 0 1")


def test_files_that_come_and_go_are_noticed(tmp_path: Path) -> None:
    tables, king = SyzygyTables(tmp_path), parse_fen(LOST_KING)
    for name in ("KRvK.rtbw", "KRvK.rtbz"):
        (tmp_path / name).write_bytes((GOLDEN / name).read_bytes())
    assert tables.refresh()
    assert not tables.refresh()
    assert tables.probe(king).result == -2
    (tmp_path / "KRvK.rtbw").unlink()
    assert tables.refresh()
    with pytest.raises(MissingTableError):
        tables.probe(king)


def test_a_damaged_file_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "KRvK.rtbw").write_bytes((GOLDEN / "KRvK.rtbw").read_bytes()[:-64])
    with pytest.raises(DamagedTable, match=r"KRvK\.rtbw: damaged Syzygy file") as refused:
        SyzygyTables(tmp_path).probe_wdl(parse_fen(LOST_KING))
    assert "\n" not in str(refused.value)
