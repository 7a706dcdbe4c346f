"""Facts about finding values in blocks of tables: they are those of the block, and any bytes can be
read.
"""

import os
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.table.seal import buffers_of

HEAD = 8  # bytes before the metadata of a batch
LEVELS = [-5, 1, 3, 9, 19]

Column = NDArray[np.signedinteger[Any]]


def column_of(kind: str, rows: int, dtype: type, seed: int) -> Column:
    """A column of some kind, such as the values of a table: lines that repeat but for a few."""
    rng = np.random.default_rng(seed)
    if kind == "noise":
        return rng.integers(-100, 100, rows).astype(dtype)
    if kind == "same":
        return np.full(rows, -3, dtype)
    if kind == "few":
        return rng.integers(0, 3, rows).astype(dtype)
    values: Column = np.resize(rng.integers(-40, 40, rng.integers(1, 200)), rows).astype(dtype)
    values[rng.integers(0, rows, rows // 40 + 1)] = 7
    return values


def batch_of(columns: list[Column], level: int) -> tuple[bytearray, int]:
    """A record batch as a table has it, and the place of its list of buffers."""
    options = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=level))
    written = pa.record_batch([pa.array(column) for column in columns], names=["white", "black"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, written.schema, options=options) as writer:
        writer.write_batch(written)
        end = sink.tell()
    data = sink.getvalue().to_pybytes()[:end]
    batch = data[HEAD + int.from_bytes(data[4:HEAD], "little") :]
    return bytearray(batch), buffers_of(batch[HEAD:]) + HEAD


def found_in(
    batch: bytes | bytearray, buffers: int, *column: int, rows: Sequence[int], before: int = 0
) -> list[int] | None:
    """The values that the kernel finds in a batch, which begins behind so many bytes of a file.

    The column is its number, its bytes, and the bytes of a value.
    """
    file = os.memfd_create("batch")
    try:
        os.pwrite(file, batch, before)
        number, size, width = column
        digest = xxhash.xxh3_64_intdigest(batch)
        place = (file, before, len(batch), digest, buffers, number, size, width)
        (found,) = _kernels.find_values([(place, rows)], True)
        return found
    finally:
        os.close(file)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_values_found_are_those_of_the_column(data: st.DataObject) -> None:
    kinds = st.sampled_from(["noise", "same", "few", "lines", "lines", "lines"])
    rows, seed = data.draw(st.integers(1, 65536)), data.draw(st.integers(0, 2**32))
    dtype = data.draw(st.sampled_from([np.int8, np.int16]))
    columns = [column_of(data.draw(kinds), rows, dtype, seed + i) for i in (0, 1)]
    batch, buffers = batch_of(columns, data.draw(st.sampled_from(LEVELS)))
    wanted = data.draw(st.lists(st.integers(0, rows - 1), min_size=1, max_size=8))
    for number, column in enumerate(columns):
        size, width = column.nbytes, column.itemsize
        found = found_in(batch, buffers, number, size, width, rows=wanted)
        # zstd may divide more than 64 KiB into blocks, of which only the first one is read.
        assert found == column[wanted].tolist() or (found is None and size > 65536)
        assert found_in(batch, buffers, number, size + width, width, rows=wanted) is None


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", ["noise", "same", "few", "lines"])
def test_a_block_of_a_table_is_read(kind: str, level: int) -> None:
    column = column_of(kind, 65536, np.int8, level + 9)
    batch, buffers = batch_of([column, column], level)
    rows = [0, 1, 4095, 30000, 65535]
    assert found_in(batch, buffers, 1, 65536, 1, rows=rows) == column[rows].tolist()


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(["few", "lines"]), st.sampled_from(LEVELS), st.randoms())
def test_any_bytes_can_be_read(kind: str, level: int, chance: random.Random) -> None:
    column = column_of(kind, 20000, np.int8, level + 9)
    batch, buffers = batch_of([column, column], level)
    for _ in range(chance.choice([1, 1, 2, 9])):
        batch[chance.randrange(len(batch))] ^= 1 << chance.randrange(8)
    if chance.random() < 0.2:
        del batch[chance.randrange(buffers, len(batch)) :]
    found = found_in(batch, buffers, 1, 20000, 1, rows=[3, 19999, 8000])
    assert found is None or len(found) == 3


@settings(max_examples=200, deadline=None)
@given(st.binary(min_size=241, max_size=5000), st.integers(0, 99))
def test_a_batch_with_another_digest_is_not_read(data: bytes, before: int) -> None:
    column = column_of("lines", 3000, np.int8, 1)
    batch, buffers = batch_of([column, column], 1)
    batch += data  # the digest covers all of the batch, and batches of any length have one
    assert found_in(batch, buffers, 0, 3000, 1, rows=[7], before=before) == [column[7]]
    file = os.memfd_create("batch")
    os.pwrite(file, batch, before)
    digest = xxhash.xxh3_64_intdigest(batch)
    rest = buffers, 0, 3000, 1
    for at, length, stated in (
        (before, len(batch), digest ^ 1 << 63),
        (before, len(batch) - 1, digest),
        (before + 1, len(batch) - 1, digest),
        (before + 1, len(batch), digest),  # beyond the end of the file
    ):
        assert _kernels.find_values([((file, at, length, stated, *rest), [7])], True) == [None]
    os.close(file)


def test_several_batches_are_read_at_once() -> None:
    columns = [column_of(kind, 60000, np.int16, 5) for kind in ("lines", "few", "noise")]
    batches = [batch_of([column, column[::-1].copy()], 3) for column in columns]
    files = [os.memfd_create("batch") for _ in batches]
    for file, (batch, _) in zip(files, batches, strict=True):
        os.write(file, batch)
    places = [
        (file, 0, len(batch), xxhash.xxh3_64_intdigest(batch), buffers, 1, 120000, 2)
        for file, (batch, buffers) in zip(files, batches, strict=True)
    ]
    questions = [(place, [i, 100 * i]) for i, place in enumerate(places)]
    expected = [column[::-1][[i, 100 * i]].tolist() for i, column in enumerate(columns)]
    for wait in (False, True):
        assert _kernels.find_values(questions, wait) in (expected, [None] * 3)
    assert _kernels.find_values(questions, True) == expected
    assert _kernels.find_values([], True) == []
    for file in files:
        os.close(file)
    assert _kernels.find_values(questions, True) == [None] * 3


def test_rows_and_widths_that_cannot_be_are_refused() -> None:
    column = column_of("lines", 1000, np.int8, 1)
    batch, buffers = batch_of([column, column], 1)
    for width, row, number in ((1, 1000, 0), (3, 0, 0), (2, 500, 1), (1, 0, 2)):
        with pytest.raises(ValueError, match=r"no such|of one byte"):
            found_in(batch, buffers, number, 1000, width, rows=[row])
