"""Facts about reading a batch past Arrow's reader: the same values, and none of a damaged one."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.errors import DamagedTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.number_types import SIDES
from kingpair.workers.table.batch_reader import BatchReader
from kingpair.workers.table.format import BLOCK, COLUMNS, Table
from kingpair.workers.table.parts_file import PlainFile
from kingpair.workers.table.seal import read_trailer


def pieces_of(table: Table) -> NDArray[np.int64]:
    with pa.memory_map(str(table.path)) as file:
        return read_trailer(file).pieces()


@pytest.mark.parametrize("compact", [False, True])
def test_it_reads_what_arrow_reads(tables: Path, tmp_path: Path, compact: bool) -> None:
    directory = tables
    if compact:
        directory = tmp_path
        spec = BuildSpec((Material.parse("KQvKR"),), compact=True, verify=False)
        build(BuildRequest(spec, directory, threads=2), lambda event: None)
    table = Table(directory / "KQvKR.dtc.arrow")
    with pa.memory_map(str(table.path)) as file:
        reader, arrow = BatchReader(PlainFile(file), pieces_of(table)), pa.ipc.open_file(file)
        together = 4 if compact else 1
        assert arrow.num_record_batches == -(-table.blocks // together)
        for batch in range(arrow.num_record_batches):
            expected = arrow.get_batch(batch)
            for field in range(len(COLUMNS)):
                found = reader.values(batch, field, expected.num_rows, table.dtype)
                assert found is not None
                assert np.array_equal(found, expected.column(field).to_numpy())
            assert reader.values(batch, 0, expected.num_rows - 1, table.dtype) is None
    table.close()


def test_several_blocks_are_read_at_once(tables: Path) -> None:
    table = Table(tables / "KQvKR.dtc.arrow")
    assert table.blocks > 4
    assert table.index.rows % BLOCK
    for side in SIDES:
        blocks = [table.block(block, side) for block in range(table.blocks)]
        for first, stop in ((0, 1), (1, 4), (table.blocks - 3, table.blocks)):
            found = table.blocks_from(first, stop, side)
            assert np.array_equal(found, np.concatenate(blocks[first:stop]))
    with pa.memory_map(str(table.path)) as file:
        reader = BatchReader(PlainFile(file), pieces_of(table))
        assert reader.values_of(range(3), 0, BLOCK, BLOCK - 1, table.dtype) is None
    table.close()


def test_a_flipped_byte_never_makes_another_value(tables: Path, tmp_path: Path) -> None:
    whole = Table(tables / "KQvKR.dtc.arrow")
    start, stop = pieces_of(whole)[2:4].tolist()
    data = whole.path.read_bytes()
    expected = [whole.block(1, side) for side in SIDES]
    around = [whole.blocks_from(0, 3, side) for side in SIDES]
    assert len(expected[0]) == BLOCK
    path = tmp_path / whole.path.name
    path.write_bytes(data)
    for at in [*range(start, start + 400), *range(start + 400, stop, 37)]:
        with path.open("r+b") as file:
            file.seek(at)
            file.write(bytes([data[at] ^ 255]))
        table = Table(path)
        for side in SIDES:
            with suppress(DamagedTable):
                assert np.array_equal(table.block(1, side), expected[side])
            with suppress(DamagedTable):
                assert np.array_equal(table.blocks_from(0, 3, side), around[side])
        table.close()
        with path.open("r+b") as file:
            file.seek(at)
            file.write(data[at : at + 1])
    whole.close()
