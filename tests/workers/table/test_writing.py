"""Facts about encoded blocks: their bytes are those that pyarrow writes one batch at a time."""

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kingpair.workers.table.format import BLOCK, PLAIN, Compression
from kingpair.workers.table.seal import block_digest, digest_of
from kingpair.workers.table.value import Values
from kingpair.workers.table.writing import encode_columns

LARGER = Compression(level=3, blocks=4)
SIZES = [1, 63, BLOCK - 1, BLOCK, BLOCK + 64, 3 * BLOCK + 5, 9 * BLOCK, 17 * BLOCK + 1]


def schema_of(dtype: np.dtype[Any], columns: int) -> pa.Schema:
    kind = pa.from_numpy_dtype(dtype)
    fields = [pa.field(name, kind, nullable=False) for name in ("white", "black")[:columns]]
    return pa.schema(fields, metadata={"kingpair": "identity" * 100})


def one_by_one(schema: pa.Schema, columns: list[Values], packing: Compression) -> list[bytes]:
    """The message of each batch, in a stream that pyarrow alone writes to memory of its own."""
    sink = pa.BufferOutputStream()
    codec = pa.Codec("zstd", compression_level=packing.level)
    options = pa.ipc.IpcWriteOptions(compression=codec, use_threads=False)
    rows, ends = packing.blocks * BLOCK, [schema.serialize().size]
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        for at in range(0, len(columns[0]), rows):
            arrays = [pa.array(column[at : at + rows]) for column in columns]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            ends.append(sink.tell())
    data = sink.getvalue().to_pybytes()
    return [data[start:stop] for start, stop in pairwise(ends)]


def values(seed: int, dtype: np.dtype[Any], size: int) -> NDArray[Any]:
    """Noise, which cannot be compressed, or one value for every row."""
    chance, ends = np.random.default_rng(seed), np.iinfo(dtype)
    noise: NDArray[Any] = chance.integers(ends.min, ends.max, size, dtype, endpoint=True)
    return noise if seed % 3 else np.full(size, noise[0])


@pytest.mark.parametrize("packing", [PLAIN, LARGER])
@settings(max_examples=12)
@given(
    seed=st.integers(0, 99),
    size=st.sampled_from(SIZES),
    columns=st.integers(1, 2),
    dtype=st.sampled_from([np.dtype(np.int8), np.dtype(np.int16)]),
)
def test_blocks_have_the_bytes_of_batches_written_one_by_one(
    packing: Compression, seed: int, size: int, columns: int, dtype: np.dtype[Any]
) -> None:
    schema = schema_of(dtype, columns)
    stored: list[Values] = [values(seed + i, dtype, size) for i in range(columns)]
    encoded, messages = encode_columns(schema, stored, packing), one_by_one(schema, stored, packing)
    assert b"".join(data.to_pybytes() for data in encoded.data) == b"".join(messages)
    blocks = encoded.blocks
    sizes = [sum(both) for both in zip(blocks.metadata, blocks.bodies, strict=True)]
    assert sizes == [*map(len, messages)]
    assert blocks.batch_digests == [*map(digest_of, messages)]
    assert encoded.blocks.digests == [
        block_digest(column[at : at + BLOCK]) for at in range(0, size, BLOCK) for column in stored
    ]
