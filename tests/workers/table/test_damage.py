"""Facts about damaged tables: every bit that differs is found and named by a check, and damage that
a probe does not find changes nothing that is read.
"""

import re
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import pyarrow as pa
import pytest
from building import publish
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kingpair.workers.errors import DamagedTable, ForeignTable
from kingpair.workers.number_types import SIDES
from kingpair.workers.prove.verify import verify
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table import key, writing
from kingpair.workers.table.format import PLAIN, Table
from kingpair.workers.table.key import TableIdentity
from kingpair.workers.table.writing import encode, table_schema

FOUR_MEN = "KRvKN.dtc.arrow"
THREE_MEN = "KRvK.dtc.arrow"

Contents = tuple[object, ...]


def contents(path: Path) -> Contents:
    """All that a table can be asked for."""
    opened = Table(path)
    try:
        blocks = [opened.block(block, side) for block in range(opened.blocks) for side in SIDES]
        read = [(block.dtype, block.tobytes()) for block in blocks]
        return opened.material, opened.metric, opened.smaller, opened.counts, opened.digest, read
    finally:
        opened.close()


def found_or_harmless(path: Path, data: bytes, sound: Contents) -> bool:
    """Whether reading finds the damage; if not, all that is read must be as written."""
    path.write_bytes(data)
    try:
        read = contents(path)
    except (DamagedTable, ForeignTable) as error:
        return is_one_line_about(path, error)
    assert read == sound
    return False


def is_one_line_about(path: Path, error: Exception) -> bool:
    assert str(path) in str(error)
    assert "\n" not in str(error)
    return True


def flipped(data: bytes, at: int, mask: int) -> bytes:
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


@pytest.mark.parametrize("bits", [1, 255])
def test_a_flipped_byte_never_changes_a_layer_that_is_read(
    tables: Path, tmp_path: Path, bits: int
) -> None:
    sound, path = contents(tables / "KBvK.dtc.arrow"), tmp_path / "KBvK.dtc.arrow"
    data = (tables / "KBvK.dtc.arrow").read_bytes()
    for at in range(len(data)):
        found_or_harmless(path, flipped(data, at, bits << at % 8 & 255), sound)


def test_damage_among_the_values_is_found(tables: Path, tmp_path: Path) -> None:
    """But for a few bytes of zstd's that say the same in another way."""
    sound, path = contents(tables / THREE_MEN), tmp_path / THREE_MEN
    data = (tables / THREE_MEN).read_bytes()
    places = range(1000, 7000, 17)
    found = [found_or_harmless(path, flipped(data, at, 1 << at % 8), sound) for at in places]
    assert sum(found) > 0.95 * len(places)


def pieces_of(data: bytes) -> list[tuple[str, range]]:
    """The name that an error must give to a flipped bit, by its place among Arrow's messages."""
    stream = pa.BufferReader(data[8:])
    pa.ipc.read_message(stream)
    pieces, start = [("its beginning is", range(8 + stream.tell()))], 8 + stream.tell()
    with suppress(EOFError):
        while pa.ipc.read_message(stream):
            batch = len(pieces) - 1
            name = f"(block {batch} of column (white|black)|record batch {batch}, .*,) is"
            pieces.append((name, range(start, 8 + stream.tell())))
            start = 8 + stream.tell()
    return [*pieces, ("its footer (is|cannot)", range(start, len(data)))]


def is_found_and_named(path: Path, tables: Path, threads: Threads, name: str) -> bool:
    """Whether `verify` finds the damage, before it needs a smaller table."""
    try:
        verify(Table(path), lambda key: Table(tables / key.file_name), threads)
    except DamagedTable as error:
        return re.search(f"^{path}: {name} ", str(error)) is not None and "\n" not in str(error)
    return False


def all_are_found_and_named(path: Path, data: bytes, tables: Path) -> None:
    """A bit of each byte."""
    with Threads(1) as threads:
        for name, places in pieces_of(data):
            for at in places:
                path.write_bytes(flipped(data, at, 1 << at % 8))
                assert is_found_and_named(path, tables, threads, name), at


def test_a_flipped_bit_of_any_byte_is_found_and_named(tables: Path, tmp_path: Path) -> None:
    data = (tables / "KBvK.dtc.arrow").read_bytes()
    all_are_found_and_named(tmp_path / "KBvK.dtc.arrow", data, tables)


@pytest.mark.slow
def test_a_flipped_bit_of_any_byte_of_many_batches_is_found_and_named(
    tables: Path, tmp_path: Path
) -> None:
    path, data = tmp_path / "KNvKN.dtc.arrow", (tables / "KNvKN.dtc.arrow").read_bytes()
    assert len(pieces_of(data)) == 2 + 29
    all_are_found_and_named(path, data, tables)


@given(st.integers(0, 1 << 30), st.integers(1, 255))
@example(868, 24)
@settings(max_examples=300, deadline=None)
def test_no_damage_changes_a_value_that_is_read(tables: Path, place: int, mask: int) -> None:
    sound, data = contents(tables / THREE_MEN), (tables / THREE_MEN).read_bytes()
    with TemporaryDirectory() as directory:
        found_or_harmless(
            Path(directory) / THREE_MEN, flipped(data, place % len(data), mask), sound
        )


def test_a_damaged_block_is_named(tables: Path, tmp_path: Path) -> None:
    data = bytearray((tables / FOUR_MEN).read_bytes())
    data[len(data) // 2] ^= 255
    (tmp_path / FOUR_MEN).write_bytes(data)
    with pytest.raises(DamagedTable, match=rf"{FOUR_MEN}: block \d+ of column (white|black) is"):
        contents(tmp_path / FOUR_MEN)


def test_a_truncated_table_is_refused(tables: Path, tmp_path: Path) -> None:
    data, path = (tables / THREE_MEN).read_bytes(), tmp_path / THREE_MEN
    for size in [*range(0, len(data), 97), *range(len(data) - 40, len(data))]:
        path.write_bytes(data[:size])
        with pytest.raises(DamagedTable, match="truncated or damaged; build it again"):
            Table(path)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / THREE_MEN
    path.write_text("not an Arrow file at all " * 100)
    with pytest.raises(DamagedTable, match="no table"):
        Table(path)
    with pa.ipc.new_file(path, pa.schema([("white", pa.int8())])) as writer:
        writer.write(pa.record_batch({"white": pa.array([1], pa.int8())}))
    with pytest.raises(DamagedTable, match="no table"):
        Table(path)


def test_a_missing_file_is_not_reported_as_damaged(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Table(tmp_path / THREE_MEN)


@pytest.mark.parametrize(("what", "module"), [("FORMAT", key), ("LAYOUT", writing)])
def test_a_newer_table_is_refused_by_its_number(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, module: ModuleType
) -> None:
    path = Path(shutil.copy(tables / THREE_MEN, tmp_path))
    old, ours = Table(path), getattr(module, what)
    identity, columns = (
        TableIdentity(old.key, {}),
        [old.block(0, s) for s in (0, 1)],
    )
    with monkeypatch.context() as newer:
        newer.setattr(module, what, 7)
        part = encode(table_schema(identity, old.dtype), columns[0], columns[1], PLAIN)
        publish(path, identity, old.dtype, [part], {})
    refusal = f"table {what.lower()} 7, this version reads {ours}; update kingpair"
    with pytest.raises(ForeignTable, match=refusal):
        Table(path)


def test_a_table_of_the_first_layout_is_refused_with_advice(tmp_path: Path) -> None:
    """It had no seal, and said nothing of its layout."""
    path, fields = tmp_path / THREE_MEN, pa.schema([("white", pa.int8()), ("black", pa.int8())])
    metadata = {f"kingpair.{key}": "" for key in ("counts", "blocks", "digest")}
    with pa.ipc.new_file(path, fields, metadata=metadata):
        pass
    with pytest.raises(ForeignTable, match="layout 1, this version reads 2; build it again"):
        Table(path)


def test_a_table_under_the_name_of_another_is_refused(tables: Path, tmp_path: Path) -> None:
    shutil.copy(tables / THREE_MEN, tmp_path / "KQvK.dtc.arrow")
    with pytest.raises(ForeignTable, match=r"KQvK\.dtc\.arrow: holds KRvK\.dtc"):
        Table(tmp_path / "KQvK.dtc.arrow")
