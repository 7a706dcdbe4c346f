"""Facts about tables in parts: they are read as the one file that they make, and a part that is
missing or torn is named.
"""

import shutil
from contextlib import closing
from pathlib import Path

import killable_build
import pyarrow.fs as pafs
import pytest
from building import copied, files
from hypothesis import given, settings
from hypothesis import strategies as st
from parted_tables import parted

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import DamagedTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.number_types import SIDES, STRONGER
from kingpair.workers.pack.directories import unpack_directory
from kingpair.workers.prove.verify import verify
from kingpair.workers.sets.threads import Threads
from kingpair.workers.store.filesystem import LocalStore
from kingpair.workers.store.remote import RemoteStore
from kingpair.workers.study.longest import collect, longest_of
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.parts_file import clear_unlisted_parts, listed_parts
from kingpair.workers.table.table_store import TableStore

KQQQVK = TableKey.parse("KQQQvK.dtc")
QUEEN_ROOK = "KQvKR.dtc.arrow"
CUTS = (100, 4000, 4001, 300_000, 900_000)  # within batches, and within the header


@pytest.fixture
def cut(tables: Path, tmp_path: Path) -> Path:
    """KQvKR in parts, and what it rests on."""
    copied(tables, tmp_path, "KQvK", "KRvK")
    return parted(tables / QUEEN_ROOK, tmp_path, CUTS)


def test_a_table_in_parts_is_read_as_one_file(tables: Path, cut: Path, threads: Threads) -> None:
    whole, table = Table(tables / QUEEN_ROOK), Table(cut)
    assert table.read_bytes(0, table.bytes) == whole.path.read_bytes()
    assert (table.digest, table.counts, table.form) == (whole.digest, whole.counts, "whole")
    another = table.another_reader()
    for side in SIDES:
        for block in range(whole.blocks):
            assert (table.page(block, side, 1) == whole.block(block, side)).all()
        found = another.blocks_from(0, whole.blocks, side)
        assert (found == whole.blocks_from(0, whole.blocks, side)).all()
    wanted = longest_of(whole.counts)
    longest = [collect(each, threads, wanted, 9).entries for each in (table, whole)]
    assert longest[0] == longest[1]


def test_arrow_reads_a_table_in_parts(tables: Path, cut: Path) -> None:
    table, whole = Table(cut), Table(tables / QUEEN_ROOK)
    for side in SIDES:
        column = table._columns[side]
        assert (column.reader.get_batch(3).column(0).to_numpy() == whole.block(3, side)).all()


def test_a_table_in_parts_is_proved(cut: Path, threads: Threads) -> None:
    with closing(TableStore(cut.parent)) as store:
        key = TableKey.parse("KQvKR.dtc")
        assert verify(store.table(key), store.table, threads).fault is None


@settings(max_examples=30)
@given(st.data())
def test_any_range_of_any_parts_is_that_of_the_file(tables: Path, data: st.DataObject) -> None:
    path = tables / "KRvK.dtc.arrow"
    whole = path.read_bytes()
    cuts = data.draw(st.sets(st.integers(1, 8000), max_size=5))
    start = data.draw(st.integers(0, len(whole)))
    stop = data.draw(st.integers(start, len(whole)))
    out = tables.parent / "ranges"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    with closing(Table(parted(path, out, cuts))) as table:
        assert table.read_bytes(start, stop) == whole[start:stop]


@pytest.mark.parametrize("number", range(6))
def test_a_part_that_is_missing_or_torn_is_named(cut: Path, number: int) -> None:
    name = f"KQvKR.dtc.parts/{number:03}.cut"
    part = cut.parent / name
    data = part.read_bytes()
    part.write_bytes(data[:-1])
    torn = f"^{cut}: its part {name} has {len(data) - 1} bytes and not {len(data)}; build"
    with pytest.raises(DamagedTable, match=torn):
        Table(cut)
    part.unlink()
    with pytest.raises(DamagedTable, match=f"^{cut}: its part {name} is missing; build"):
        Table(cut)


def test_a_flipped_bit_of_a_part_is_found(cut: Path) -> None:
    part = cut.parent / "KQvKR.dtc.parts" / "004.cut"
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 8
    part.write_bytes(data)
    with pytest.raises(DamagedTable, match=r"block \d+ of column"):
        Table(cut).check()


def test_a_flipped_bit_of_the_list_of_parts_is_found(cut: Path) -> None:
    data = cut.read_bytes()
    for at in range(data.index(b"\n") + 1):
        cut.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(DamagedTable, match="footer cannot be read"):
            Table(cut)


def test_a_table_in_parts_that_is_removed_can_still_be_read(cut: Path, tables: Path) -> None:
    with closing(TableStore(cut.parent)) as store:
        key = TableKey.parse("KQvKR.dtc")
        table = store.table(key)
        store.remove(key)
        assert sorted(files(cut.parent)) == ["KQvK.dtc.arrow", "KRvK.dtc.arrow"]
        assert not (cut.parent / key.parts_folder).exists()
        whole = Table(tables / QUEEN_ROOK)
        assert (table.rows(0, 900_000, STRONGER) == whole.rows(0, 900_000, STRONGER)).all()


def test_parts_of_no_table_are_cleared(cut: Path) -> None:
    with closing(TableStore(cut.parent)) as store:
        key = TableKey.parse("KQvKR.dtc")
        before = files(cut.parent)
        (cut.parent / key.parts_folder / "007.left").write_bytes(b"of a build that died")
        clear_unlisted_parts(store.store, key)
        assert files(cut.parent) == before
        cut.unlink()
        clear_unlisted_parts(store.store, key)
        assert not (cut.parent / key.parts_folder).exists()


def test_unpacking_makes_one_file_of_the_parts(
    cut: Path, tables: Path, tmp_path: Path, threads: Threads
) -> None:
    with open_tablebase(cut.parent) as tablebase:
        assert len([*unpack_directory(tablebase, tmp_path / "out", threads)]) == 3
    assert (tmp_path / "out" / QUEEN_ROOK).read_bytes() == (tables / QUEEN_ROOK).read_bytes()


def test_parts_of_an_object_store_are_copied_when_they_are_read(cut: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    store = RemoteStore("files://there", pafs.LocalFileSystem(), str(cut.parent), here)
    with closing(TableStore(store)) as opened:
        table = opened.table(TableKey.parse("KQvKR.dtc"))
        assert list(here.rglob("*.cut")) == []
        table.page(0, STRONGER, 1)
        assert sorted(path.name for path in here.rglob("*.cut")) == [
            "001.cut",
            "002.cut",
            "003.cut",
        ]
        (cut.parent / "KQvKR.dtc.parts" / "005.cut").unlink()
        with pytest.raises(DamagedTable, match=r"its part KQvKR.dtc.parts/005.cut is missing"):
            table.block(table.blocks - 1, STRONGER)


# Builds


def built_by_two(out: Path, parts_from: int, force: bool = False, is_proved: bool = False) -> None:
    spec = BuildSpec((Material.parse("KQQQvK"),), force=force, spread=2, verify=is_proved)
    request = BuildRequest(spec, out, threads=2, parts_from=parts_from)
    build(request, lambda row: None)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """KQQQvK, of several parts that are joined, and what it rests on."""
    out = tmp_path_factory.mktemp("whole")
    built_by_two(out, parts_from=1 << 40)
    return out


def joined(out: Path) -> bytes:
    return Table(out / "KQQQvK.dtc.arrow").read_bytes(0, 1 << 30)


def parts_in(out: Path) -> list[str]:
    return sorted(path.name for path in (out / "KQQQvK.dtc.parts").glob("*"))


@pytest.mark.slow
def test_a_build_in_parts_has_the_bytes_of_one_that_is_joined(whole: Path, tmp_path: Path) -> None:
    copied(whole, tmp_path, "KQvK", "KQQvK")
    built_by_two(tmp_path, parts_from=1)
    assert (whole / "KQQQvK.dtc.arrow").read_bytes() == joined(tmp_path)
    assert len(parts_in(tmp_path)) > 4
    others = {name for name in files(tmp_path) if ".parts/" not in name}
    assert others == set(files(whole))


@pytest.mark.slow
def test_a_table_that_is_built_again_changes_its_form(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    built_by_two(tmp_path, parts_from=1, force=True)
    assert (before := parts_in(tmp_path))
    assert joined(tmp_path) == joined(whole)
    built_by_two(tmp_path, parts_from=1, force=True)
    assert parts_in(tmp_path) == before
    built_by_two(tmp_path, parts_from=1 << 40, force=True)
    assert files(tmp_path) == files(whole)
    assert not (tmp_path / "KQQQvK.dtc.parts").exists()


@pytest.mark.slow
@pytest.mark.parametrize("at", ["PartWritten", "TablePublished"])
def test_a_build_in_parts_that_was_killed_goes_on_to_the_same_bytes(
    whole: Path, tmp_path: Path, at: str
) -> None:
    copied(whole, tmp_path, "KQvK", "KQQvK")
    line = f"{at} KQQQvK.dtc"
    assert killable_build.killed(tmp_path, ["KQQQvK"], lambda _, said: said == line, parts=True)
    assert parts_in(tmp_path)
    assert (tmp_path / "KQQQvK.dtc.arrow").exists() == (at == "TablePublished")
    built_by_two(tmp_path, parts_from=1, is_proved=True)
    assert joined(tmp_path) == joined(whole)
    listed = {part.name for part in listed_parts(LocalStore(tmp_path), KQQQVK)}
    assert listed == {f"KQQQvK.dtc.parts/{name}" for name in parts_in(tmp_path)}
    assert not (tmp_path / KQQQVK.build_folder).exists()
