"""Facts about Syzygy files of others: how they are laid out, and which are refused."""

import os
import random
from pathlib import Path

import numpy as np
import pytest
from syzygy_files import GOLDEN

from kingpair.workers.errors import DamagedTable, ForeignTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.syzygy.file import SyzygyFile, files_in, material_of_file
from kingpair.workers.syzygy.layout import Cursor, coding_bytes, read_coding
from kingpair.workers.syzygy.numbering import Order, groups_of, numbering, weights

FILES = sorted(GOLDEN.iterdir())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_single_values_are_those_that_are_read_in_sequence(path: Path) -> None:
    file = SyzygyFile(path)
    chance = random.Random(path.name)
    for table in (table for tables in file.tables for table in tables):
        values = file.read(table, 0, table.size)
        for place in chance.sample(range(table.size), 100):
            assert file.value(table, place) == values[place]
        assert np.array_equal(
            file.read(table, table.size // 2, 1000), values[table.size // 2 :][:1000]
        )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_header_of_a_sub_table_is_written_as_it_was_read(path: Path) -> None:
    file = SyzygyFile(path)
    for table in (table for tables in file.tables for table in tables):
        text = coding_bytes(table.coding)
        again = read_coding(Cursor(np.frombuffer(text, np.uint8)))
        assert coding_bytes(again) == text
        assert text in file.data.tobytes()


def test_a_file_is_named_for_its_material() -> None:
    assert material_of_file(Path("KRBvKR.rtbw")) == Material.parse("KRBvKR")
    assert material_of_file(Path("KQRBNvKQ.rtbz")) == Material.parse("KQRBNvKQ", 7)
    assert material_of_file(Path("KRvKQ.rtbw")) is None  # the stronger side comes first
    assert material_of_file(Path("KQRBNPvKQ.rtbw")) is None  # eight men


def test_only_files_are_listed(tmp_path: Path) -> None:
    (tmp_path / "KQvK.rtbw").touch()
    (tmp_path / "KRvK.rtbw").mkdir()
    (tmp_path / "KBvK.rtbw").symlink_to("nowhere")
    (tmp_path / "KNvK.rtbw").symlink_to("KQvK.rtbw")
    os.mkfifo(tmp_path / "KPvK.rtbw")
    assert list(files_in(tmp_path)) == ["KNvK.rtbw", "KQvK.rtbw"]


def copied(path: Path, name: str, content: bytes) -> Path:
    copy = path / name
    copy.write_bytes(content)
    return copy


@pytest.mark.parametrize("size", [16, 80, 144, 1040])
def test_a_truncated_file_is_refused(tmp_path: Path, size: int) -> None:
    content = (GOLDEN / "KPvK.rtbw").read_bytes()[:size]
    with pytest.raises(DamagedTable, match="damaged Syzygy file"):
        SyzygyFile(copied(tmp_path, "KPvK.rtbw", content))


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DamagedTable, match="empty"):
        SyzygyFile(copied(tmp_path, "KPvK.rtbw", b""))


@pytest.mark.parametrize(
    ("name", "source"),
    [("KRvK.rtbw", "KQvK.rtbw"), ("KQvKR.rtbw", "KRvKB.rtbw"), ("KQvK.rtbz", "KQvK.rtbw")],
)
def test_a_file_of_another_material_or_kind_is_foreign(
    tmp_path: Path, name: str, source: str
) -> None:
    with pytest.raises(ForeignTable, match=name):
        SyzygyFile(copied(tmp_path, name, (GOLDEN / source).read_bytes()))


def test_the_leading_digit_has_the_weight_that_its_place_says() -> None:
    groups = groups_of((6, 14, 4, 12, 3))  # K k R r B: three lead, then two groups
    assert weights(groups, Order(0)) == (0, 1, 2)
    assert weights(groups, Order(1)) == (1, 0, 2)
    assert weights(groups, Order(2)) == (1, 2, 0)
    with pytest.raises(ValueError, match="no place"):
        weights(groups, Order(3))


@pytest.mark.parametrize(
    ("men", "reason"),
    [
        ((4, 6, 4, 14), "like men stand apart"),
        ((6, 4, 4, 14), "not single"),
        ((6, 1, 14), "pawns stand behind"),
    ],
)
def test_impossible_orders_of_men_are_refused(men: tuple[int, ...], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        numbering(men, Order(0))
