"""Facts about exports: every position once, as the table has it, all of the file or nothing."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from full_disks import files_end_at
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import CannotBuild, DamagedTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import every
from kingpair.workers.game.outcome import Outcome
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import STRONGER, WEAKER, Partition, Side
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study import export as exporting
from kingpair.workers.study.export import export
from kingpair.workers.study.position_filter import DepthRange, PositionFilter
from kingpair.workers.table.fens import AT_ONCE, fen_at, fens_at
from kingpair.workers.table.format import COLUMNS, Table

EVERYTHING = PositionFilter()
LONG = PositionFilter(depths=DepthRange(15))
MATERIALS = [material for men in (3, 4, 5, 6) for material in every(men)]


@pytest.fixture(scope="module")
def table(tables: Path) -> Table:
    return Table(tables / "KRvKN.dtc.arrow")


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return found


# FENs by the thousand


@given(
    st.sampled_from(MATERIALS),
    st.integers(0, len(TURNED) - 1),
    st.integers(0, 1),
    st.integers(0, 2**32),
)
def test_a_column_of_fens_has_the_fen_of_each_slot(
    material: Material, pair: Partition, side: Side, seed: int
) -> None:
    slots = np.random.default_rng(seed).integers(0, 64 ** len(material.letters), 20)
    column = fens_at(material, pair, slots, side)
    column.validate(full=True)
    assert column.to_pylist() == [fen_at(material, pair, slot, side) for slot in slots.tolist()]


def test_a_column_of_fens_may_be_empty_or_long() -> None:
    material = Material.parse("KRvKN")
    assert fens_at(material, 0, np.zeros(0, np.int64), 0).to_pylist() == []
    slots = np.arange(AT_ONCE + 2) % 4096
    fens = fens_at(material, 7, slots, 0).to_pylist()
    assert fens[:2] == fens[4096:4098] == fens[8192:]


# Its contents


def test_every_position_is_a_row_with_the_value_of_a_probe(
    tables: Path, queen: Table, threads: Threads, tmp_path: Path
) -> None:
    path = tmp_path / "KQvK.parquet"
    assert export(queen, threads, path, EVERYTHING, with_fen=True) == 46_137
    found = rows(path)
    assert len({row["fen"] for row in found}) == len(found) == 46_137
    with open_tablebase(tables) as tablebase:
        answers = tablebase.probe_batch([row["fen"] for row in found])
    names = {1: "win", 0: "draw", -1: "loss"}
    assert [row["result"] for row in found] == [names[wdl] for wdl in answers.wdl.tolist()]
    assert [row["moves"] or 0 for row in found] == np.abs(answers.moves).tolist()
    assert {row["to_move"][0] for row in found} == {"w", "b"}
    assert all(row["fen"].split()[1] == row["to_move"][0] for row in found)


def test_an_export_has_the_counts_of_the_table(
    table: Table, threads: Threads, tmp_path: Path
) -> None:
    path = tmp_path / "KRvKN.parquet"
    export(table, threads, path, EVERYTHING)
    by_value = parquet.read_table(path).group_by(["to_move", "result", "moves"])
    found = {
        (row["to_move"], row["result"], row["moves"]): row["count_all"]
        for row in by_value.aggregate([([], "count_all")]).to_pylist()
    }
    for name in COLUMNS:
        side = table.counts[name]
        assert found[name, "draw", None] == side["draw"]
        for result in ("win", "loss"):
            moves = {str(m): n for (w, r, m), n in found.items() if (w, r) == (name, result)}
            assert moves == side[result]


def test_a_row_has_the_number_of_the_row_in_the_table(
    table: Table, threads: Threads, tmp_path: Path
) -> None:
    path = tmp_path / "KRvKN.parquet"
    export(table, threads, path, PositionFilter((WEAKER,), (Outcome.WIN,)), with_fen=True)
    values = pa.ipc.open_file(table.path).read_all()["black"].to_numpy()
    for row in rows(path):
        assert values[row["row"]] == row["moves"]
        pair, slot = divmod(row["row"], 64**2)
        assert row["fen"] == fen_at(table.material, pair, slot, WEAKER)


def test_an_export_has_only_selected_positions(
    queen: Table, threads: Threads, tmp_path: Path
) -> None:
    everything, some = tmp_path / "all.parquet", tmp_path / "some.parquet"
    export(queen, threads, everything, EVERYTHING)
    export(queen, threads, some, PositionFilter((STRONGER,), (Outcome.WIN,), DepthRange(7, 8)))
    kept = [
        row
        for row in rows(everything)
        if row["to_move"] == "white" and row["result"] == "win" and 7 <= row["moves"] <= 8
    ]
    assert rows(some) == kept != []


def test_an_export_may_have_no_rows(queen: Table, threads: Threads, tmp_path: Path) -> None:
    path = tmp_path / "none.parquet"
    assert export(queen, threads, path, PositionFilter((STRONGER,), (Outcome.LOSS,)), True) == 0
    assert parquet.read_table(path).num_rows == 0


def test_an_export_names_its_table(queen: Table, threads: Threads, tmp_path: Path) -> None:
    path = tmp_path / "KQvK.parquet"
    export(queen, threads, path, EVERYTHING)
    metadata = parquet.read_schema(path).metadata
    assert metadata[b"kingpair.material"] == b"KQvK"
    assert metadata[b"kingpair.metric"] == b"dtc"
    assert metadata[b"kingpair.digest"].decode() == queen.digest


# Its file


def test_the_bytes_of_an_export_do_not_depend_on_threads(table: Table, tmp_path: Path) -> None:
    for count in (1, 3):
        with Threads(count) as threads:
            export(table, threads, tmp_path / f"{count}.parquet", LONG, with_fen=True)
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "3.parquet").read_bytes()


def test_no_row_group_is_larger_than_the_limit(
    table: Table, threads: Threads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "ROW_GROUP", 100_000)
    path = tmp_path / "KRvKN.parquet"
    written = export(table, threads, path, EVERYTHING)
    metadata = parquet.read_metadata(path)
    sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    assert sum(sizes) == written
    assert max(sizes) <= 100_000
    # But for the last, none could have held another section.
    assert min(sizes[:-1]) > 100_000 - 4096


# All or nothing


def test_a_full_disk_leaves_the_old_file(table: Table, threads: Threads, tmp_path: Path) -> None:
    path = tmp_path / "KRvKN.parquet"
    path.write_text("from before")
    with files_end_at(20_000), pytest.raises(CannotBuild, match="File too large"):
        export(table, threads, path, EVERYTHING)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "from before"


def test_a_name_that_is_not_a_file_is_refused(
    queen: Table, threads: Threads, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "nowhere" / "x.parquet", tmp_path / "file" / "x.parquet"):
        with pytest.raises(CannotBuild, match=r"cannot write .*x\.parquet"):
            export(queen, threads, path, EVERYTHING)
    with pytest.raises(CannotBuild, match="it is not a file"):
        export(queen, threads, tmp_path, EVERYTHING)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_damaged_table_leaves_no_export(tables: Path, threads: Threads, tmp_path: Path) -> None:
    copy = Path(shutil.copy(tables / "KRvKN.dtc.arrow", tmp_path))
    data = bytearray(copy.read_bytes())
    data[len(data) // 2] ^= 1
    copy.write_bytes(data)
    with pytest.raises(DamagedTable, match=r"block \d+"):
        export(Table(copy), threads, tmp_path / "x.parquet", EVERYTHING)
    assert [file.name for file in tmp_path.iterdir()] == [copy.name]


def test_an_interruption_leaves_no_export(
    queen: Table, threads: Threads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(exporting, "row_groups", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export(queen, threads, tmp_path / "x.parquet", EVERYTHING)
    assert list(tmp_path.iterdir()) == []
