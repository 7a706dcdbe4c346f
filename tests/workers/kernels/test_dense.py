"""Facts about the dense codec: what is written is read, and any bytes can be read."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.number_types import SIDES, Side

MEN: list[list[tuple[str, Side]]] = [
    [("N", 1), ("Q", 0)],
    [("B", 0), ("B", 0)],
    [("R", 1), ("R", 1), ("N", 0)],
    [("N", 1), ("B", 0), ("B", 0)],
]
BLOCK = 4096
SIZES = {2: 32, 3: 128, 4: 512}


def size_of_model(men: list[tuple[str, Side]]) -> int:
    classes = SIZES[len(men)]
    return classes * 81 * 2 + (classes + 960 + 512) * 48 + 48 * 3 * 2


def filled(codec: _kernels.DenseCodec, first: int, values: NDArray[np.int16]) -> NDArray[np.int16]:
    """The values as a table has them: rows without a position repeat the row before."""
    out = np.empty_like(values)
    codec.decode(first, codec.encode(first, 0, values), out)
    return out


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_group_is_read_as_it_was_written(data: st.DataObject) -> None:
    men = data.draw(st.sampled_from(MEN))
    side, seed = data.draw(st.sampled_from(SIDES)), data.draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    training = _kernels.DenseTraining(men, side)
    first = int(rng.integers(0, 460))
    largest = data.draw(st.sampled_from([2, 60, 500]))
    values = rng.integers(-largest, largest, 3 * BLOCK).astype(np.int16)
    for i in range(3):
        training.learn(first + i, values[i * BLOCK : (i + 1) * BLOCK])
    assert len(training.model()) == size_of_model(men)
    codec = _kernels.DenseCodec(men, side, training.model())
    stored = filled(codec, first, values)
    assert (filled(codec, first, stored) == stored).all()
    assert np.isin(stored, [*values, 0]).all()
    group, part = codec.encode(first, 0, stored), np.empty(BLOCK, np.int16)
    for i in range(3):
        codec.decode_block(first, group, 3, i, part)
        own = stored[i * BLOCK : (i + 1) * BLOCK]
        assert ((part == own) | (part == 0)).all()
        beginning = np.empty(64 * int(rng.integers(0, 64)), np.int16)
        codec.decode_block(first, group, 3, i, beginning)
        assert (beginning == part[: beginning.size]).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_bytes_are_read_or_refused(data: st.DataObject) -> None:
    men = data.draw(st.sampled_from(MEN))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    model = rng.integers(0, 256, size_of_model(men), np.uint8).tobytes()
    codec = _kernels.DenseCodec(men, data.draw(st.sampled_from(SIDES)), model)
    out = np.zeros(2 * BLOCK, np.int16)
    first = int(rng.integers(0, 461))
    size = data.draw(st.integers(0, 300))
    body = rng.integers(0, 256, size, np.uint8).tobytes()
    lengths = bytes([size % 128, 0]) if data.draw(st.booleans()) and size < 128 else b""
    try:
        codec.decode(first, b"\0\0" + lengths + body, out)
    except ValueError:
        assert lengths == b""


def test_impossible_arguments_are_refused() -> None:
    men = MEN[0]
    model = bytes(size_of_model(men))
    with pytest.raises(ValueError, match="a model of another size"):
        _kernels.DenseCodec(men, 0, model[1:])
    with pytest.raises(ValueError, match="from two men to four"):
        _kernels.DenseCodec(men[:1], 0, model)
    codec = _kernels.DenseCodec(men, 0, model)
    with pytest.raises(ValueError, match="no such blocks"):
        codec.decode(461, b"", np.zeros(2 * BLOCK, np.int16))
    with pytest.raises(ValueError, match="whole blocks"):
        codec.decode(0, b"", np.zeros(5, np.int16))
    with pytest.raises(ValueError, match="too short"):
        codec.decode(0, b"1", np.zeros(BLOCK, np.int16))
    with pytest.raises(ValueError, match="cannot be coded"):
        codec.encode(0, 0, np.full(BLOCK, -32000, np.int16))
    with pytest.raises(ValueError, match="64 x 64 values"):
        codec.decode_block(0, b"\0\0\0", 1, 0, np.zeros(BLOCK + 64, np.int16))
