"""Facts about packed tables: half the values, the same answers, and the way back."""

import random
import shutil
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from plain_dense_reader import read_plainly
from shared_tables import copied_closure, proved, unproved
from terminal import kingpair, said, told

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.ask.play import best_line
from kingpair.workers.ask.position_report import report_position
from kingpair.workers.ask.probe import Tablebase, open_tablebase
from kingpair.workers.errors import (
    DamagedTable,
    ForeignTable,
    KingpairError,
    MissingTableError,
)
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import SIDES, Row, opponent
from kingpair.workers.pack.directories import pack_directory, unpack_directory
from kingpair.workers.pack.unpack import WholeTables
from kingpair.workers.prove.verify import verify
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.dense import CODED_ROWS
from kingpair.workers.table.dense_writing import pack_dense
from kingpair.workers.table.fens import fen_of_row
from kingpair.workers.table.format import Compression, Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.packed import pack, write_whole
from kingpair.workers.table.page_cache import PageCache, PageKey

pytestmark = pytest.mark.slow  # packs, unpacks and proves

# Like men, equal sides, forced conversions, a pawn that promotes.
BUILT = ("KBBvK", "KQvKQ", "KQvKR", "KNvKN", "KPvK")
METRICS = (Metric.DTC, Metric.DTM)
GOLDEN = Path(__file__).parents[2] / "golden"
QUICK = Compression(level=1, blocks=4)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    for metric in METRICS:
        copied_closure(proved(BUILT, metric), out, *BUILT, metric=metric)
    return out


@pytest.fixture(scope="module", params=["packed", "dense"])
def packed(
    request: pytest.FixtureRequest,
    whole: Path,
    threads: Threads,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    out = tmp_path_factory.mktemp(request.param)
    packing = QUICK if request.param == "packed" else None
    with open_tablebase(whole) as tablebase:
        for _ in pack_directory(tablebase, out, packing, threads):
            pass
    return out


@pytest.fixture
def both(whole: Path, packed: Path) -> Iterator[tuple[Tablebase, Tablebase]]:
    with open_tablebase(whole) as one, open_tablebase(packed) as other:
        yield one, other


def tables_of(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.arrow"))


def drawn(table: Table, number: int) -> list[str]:
    """Positions of both sides to move, drawn at random: legal ones."""
    rng, found = random.Random(str(table.key)), list[str]()
    with open_tablebase(table.path.parent) as tablebase:
        while len(found) < number:
            fen = fen_of_row(
                table.material, Row(rng.randrange(table.index.rows)), rng.choice(SIDES)
            )
            try:
                tablebase.probe(fen, table.metric)
                found.append(fen)
            except KingpairError:
                continue
    return found


def test_a_packed_table_holds_one_column_and_the_same_digest(whole: Path, packed: Path) -> None:
    assert [path.name for path in tables_of(packed)] == [path.name for path in tables_of(whole)]
    for path in tables_of(whole):
        one, other = Table(path), Table(packed / path.name)
        assert one.form == "whole"
        assert other.form == (
            "dense" if "dense" in str(packed) and one.material.men > 3 else "packed"
        )
        assert len(other.stored) == 1
        assert other.bytes < one.bytes
        assert (one.digest, one.counts) == (other.digest, other.counts)
        for block in range(one.blocks):
            (column,) = other.stored
            assert (one.block(block, column) == other.block(block, column)).all()


def test_batches_of_many_blocks_are_read(whole: Path, tmp_path: Path, threads: Threads) -> None:
    """29 blocks in two batches of 16, of which the last one has three fewer."""
    one, path = Table(whole / "KQvKR.dtc.arrow"), tmp_path / "KQvKR.dtc.arrow"
    pack(one, path, Compression(level=1, blocks=16), threads)
    other = Table(path)
    (column,) = other.stored
    for block in range(one.blocks):
        assert (one.block(block, column) == other.block(block, column)).all()


def test_probes_give_the_same_answers(whole: Path, both: tuple[Tablebase, Tablebase]) -> None:
    one, other = both
    for path in tables_of(whole):
        table = Table(path)
        fens = drawn(table, 60)
        assert [other.probe(fen, table.metric) for fen in fens] == [
            one.probe(fen, table.metric) for fen in fens
        ]
        expected, found = one.probe_batch(fens, table.metric), other.probe_batch(fens, table.metric)
        assert (expected.wdl == found.wdl).all()
        assert (expected.moves == found.moves).all()
        assert found.known.all()


def test_a_probe_decodes_a_page_no_further_than_its_row(packed: Path) -> None:
    table, cache = Table(packed / "KQvKR.dtc.arrow"), PageCache(1 << 20)
    key = PageKey(table, 3, table.stored[0])
    page = table.page(key.page, key.column, table.page_rows)
    for at in (100, 70, 4000):
        assert cache.value(key, at, alone=True) == page[at]
    assert (cache.misses, cache.hits) == ((2, 1) if table.form == "dense" else (1, 2))
    assert (cache.get(key) == page).all()
    assert cache.held == page.nbytes


def test_reports_and_lines_are_the_same(both: tuple[Tablebase, Tablebase]) -> None:
    one, other = both
    for fen in ("8/8/8/8/Q7/5k2/8/K3r3 w", "8/8/8/8/Q7/5k2/4r3/K7 b", "8/8/8/8/8/1k6/1P6/1K6 w"):
        position = parse_fen(fen)
        assert report_position(one, position) == report_position(other, position)
        for metric in METRICS:
            lines = [list(best_line(each, position, metric)) for each in (one, other)]
            assert lines[0] == lines[1]


def test_without_a_smaller_table_the_answer_is_missing(packed: Path, tmp_path: Path) -> None:
    name = "KQvKR.dtc.arrow"
    shutil.copy(packed / name, tmp_path / name)
    (stored,) = Table(packed / name).stored
    turn = "wb"[opponent(stored)]
    with open_tablebase(tmp_path) as tablebase:
        fen = f"8/8/8/3Q4/8/3r3k/8/K7 {turn}"
        with pytest.raises(MissingTableError, match="no table of K"):
            tablebase.probe(fen)
        assert tablebase.look_up(tablebase.addresses([fen]), Metric.DTC) == [None]


def test_unpacking_gives_the_same_bytes_back(
    whole: Path, packed: Path, tmp_path: Path, threads: Threads
) -> None:
    with open_tablebase(packed) as tablebase:
        for table in unpack_directory(tablebase, tmp_path, threads):
            assert table.path.read_bytes() == (whole / table.path.name).read_bytes()
    assert len(tables_of(tmp_path)) == len(tables_of(whole))


def test_packed_tables_are_proved(packed: Path, threads: Threads) -> None:
    find = WholeTables(lambda key: Table(packed / key.file_name), threads)
    for name in ("KQvKR.dtc", "KBBvK.dtm", "KQvKQ.dtm", "KPvK.dtc"):
        verdict = verify(find(TableKey.parse(name)), find, threads)
        assert verdict.fault is None


def test_the_golden_files_are_read(threads: Threads) -> None:
    """Files that an earlier version wrote; reading a block compares it with its digest."""
    for form in ("packed", "dense"):
        table = Table(GOLDEN / form / "KNvKN.dtc.arrow")
        table.check()
        assert table.form == form
        (column,) = table.stored
        values = table.rows(0, table.index.rows, column)
        assert len(values) == 462 * 64**2
        assert (int(values.min()), int(values.max())) == (-1, 1)


def test_the_golden_dense_file_with_pawns_is_read() -> None:
    table = Table(GOLDEN / "dense" / "KPPvK.dtz.arrow")
    table.check()
    (column,) = table.stored
    values = table.rows(0, table.index.rows, column)
    assert len(values) == 636 * 3612
    assert read_plainly(table.path, 100).items() <= dict(enumerate(values.tolist())).items()


def test_a_damaged_code_is_found_by_a_probe(packed: Path, tmp_path: Path) -> None:
    name = "KQvKR.dtc.arrow"
    data, path = (packed / name).read_bytes(), tmp_path / name
    at = len(data) // 3
    path.write_bytes(data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :])
    table = Table(path)
    with pytest.raises(DamagedTable, match="is damaged"):
        table.rows(0, table.index.rows, table.stored[0])


def test_a_column_that_does_not_follow_is_refused(packed: Path, threads: Threads) -> None:
    table = Table(packed / "KQvK.dtc.arrow")
    wrong = np.zeros(table.index.rows, table.dtype)
    with pytest.raises(DamagedTable, match="is not the one that was left out"):
        write_whole(table, wrong, BytesIO(), threads)


@pytest.mark.parametrize(("metric", "packing"), [(Metric.DTM, QUICK), (Metric.DTZ, None)])
def test_pawns_and_each_metric_are_packed_and_unpacked(
    metric: Metric, packing: Compression | None, tmp_path: Path, threads: Threads
) -> None:
    one, other, back = tmp_path / "whole", tmp_path / "packed", tmp_path / "back"
    copied_closure(unproved(["KPvKP"], metric), one, "KPvKP", metric=metric)
    with open_tablebase(one) as whole:
        written = list(pack_directory(whole, other, packing, threads))
        assert None not in [each.column for each in written]
        with open_tablebase(other) as packed:
            for name in ("KPvKP", "KRvKP"):
                fens = drawn(whole.table(Material.parse(name), metric), 200)
                for fen in fens:
                    assert packed.probe(fen, metric) == whole.probe(fen, metric)
                expected, found = (each.probe_batch(fens, metric).moves for each in (whole, packed))
                assert (expected == found).all()
            for table in unpack_directory(packed, back, threads):
                assert table.path.read_bytes() == (one / table.path.name).read_bytes()


def test_a_dense_column_with_pawns_is_that_of_the_table(tmp_path: Path, threads: Threads) -> None:
    whole = Table(unproved(["KPvKP"], Metric.DTM) / "KPvKP.dtm.arrow")
    path = tmp_path / "KPvKP.dtm.arrow"
    written = pack_dense(whole, path, threads)
    dense = Table(path)
    assert (dense.form, dense.digest, dense.bytes) == ("dense", whole.digest, written.after)
    (column,) = dense.stored
    for block in range(whole.blocks):
        assert (dense.block(block, column) == whole.block(block, column)).all()
    last = whole.index.rows // CODED_ROWS
    plain = read_plainly(path, last)
    assert plain
    page = dense.page(last, column, whole.index.rows % CODED_ROWS)
    assert plain == {row: page[row - last * CODED_ROWS] for row in plain}
    data = path.read_bytes()
    for at in range(0, len(data), len(data) // 60):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        with pytest.raises((DamagedTable, ForeignTable), match=str(path)):
            Table(path).check()


@pytest.mark.parametrize("name", ["KQvK.dtc.arrow", "KNvKN.dtc.arrow", "KPvK.dtm.arrow"])
def test_a_flipped_bit_of_a_packed_file_is_found_and_named(
    packed: Path, tmp_path: Path, name: str
) -> None:
    data, path = (packed / name).read_bytes(), tmp_path / name
    for at in range(0, len(data), 1 + len(data) // 200):
        flipped = data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]
        path.write_bytes(flipped)
        with pytest.raises((DamagedTable, ForeignTable), match=str(path)):
            Table(path).check()


def test_a_build_refuses_a_packed_base(packed: Path, tmp_path: Path) -> None:
    for path in tables_of(packed):
        shutil.copy(path, tmp_path / path.name)
    spec = BuildSpec((Material.parse("KQQvK"),), (Metric.DTC,))
    with pytest.raises(ForeignTable, match="kingpair unpack"):
        build(BuildRequest(spec, tmp_path, threads=1), lambda event: None)


def test_a_block_of_the_missing_column_is_refused(packed: Path, threads: Threads) -> None:
    table = Table(packed / "KQvK.dtc.arrow")
    with pytest.raises(ForeignTable, match="kingpair unpack"):
        table.block(0, opponent(table.stored[0]))


def test_the_commands_pack_and_unpack(whole: Path, tmp_path: Path) -> None:
    some, out, back = tmp_path / "some", tmp_path / "out", tmp_path / "back"
    some.mkdir()
    for name in ("KQvK.dtc.arrow", "KRvK.dtc.arrow", "KQvKR.dtc.arrow"):
        shutil.copy(whole / name, some / name)
    written = told("pack", some, "--out", out)
    assert [each["material"] for each in written] == ["KQvK", "KRvK", "KQvKR"]
    for each in written:
        size = (out / f"{each['material']}.dtc.arrow").stat().st_size
        assert each["bytes"] == size < each["bytes_before"]
    assert all(each["sound"] for each in told("verify", "--all", "--tables", out))
    assert said("unpack", "--tables", out, "--out", back).startswith("KQvK.dtc: ")
    twice = kingpair("pack", some, "--tables", some, "--out", out)
    assert "name the directory once" in twice.stderr
    (tmp_path / "none").mkdir()
    assert said("pack", tmp_path / "none", "--out", out) == f"no tables in {tmp_path / 'none'}\n"
    for path in tables_of(some):
        assert (back / path.name).read_bytes() == path.read_bytes()


def test_a_directory_is_not_packed_into_itself_or_twice(packed: Path, tmp_path: Path) -> None:
    shutil.copy(packed / "KQvK.dtc.arrow", tmp_path)
    into_itself = kingpair("pack", tmp_path, "--out", tmp_path)
    assert into_itself.exit_code != 0
    assert "choose another" in into_itself.stderr
    twice = kingpair("pack", tmp_path, "--out", tmp_path / "out")
    assert twice.exit_code != 0
    assert "packed, it holds the column" in twice.stderr
