"""Facts about the dense codec: what is written is read, and any bytes can be read."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from plain_dense_reader import PlainDenseReader, code_of

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.material_index import table_index
from kingpair.workers.number_types import SIDES, Side

# Without pieces, with one and with two of them, with and without pawns.
MATERIALS = ["KQvKN", "KBBvK", "KNvKRR", "KBBvKN", "KPvKP", "KPPvKP", "KPPvK", "KBvKP", "KRRvKP"]
BLOCK = 4096
VALUES = NDArray[np.int16]


class Coded(NamedTuple):
    """The dense codec of a material with a side to move."""

    material: Material
    side: Side

    @property
    def rows(self) -> int:
        return table_index(self.material).rows

    @property
    def pawns(self) -> tuple[tuple[int, int], NDArray[np.uint8]]:
        placings = table_index(self.material).structures
        assert placings is not None
        return (placings.stronger, placings.weaker), placings.squares

    @property
    def size_of_model(self) -> int:
        classes = 1 << 2 * len(self.material.letters) + 1
        if self.material.has_pawns:
            return (classes + 512) * 81 * 2 + (7170 + 2 * 4) * 48 + 2 * 81 * 2 * 3
        return classes * 81 * 2 + (classes + 960 + 512) * 48 + 48 * 3 * 2

    def codec(self, model: bytes) -> _kernels.DenseCodec | _kernels.DensePawnCodec:
        if self.material.has_pawns:
            return _kernels.DensePawnCodec(self.material.pieces, self.side, *self.pawns, model)
        return _kernels.DenseCodec(self.material.pieces, self.side, model)

    def model(self, first: int, values: VALUES) -> bytes:
        """A model that is learned from consecutive blocks."""
        blocks = [(first + i, values[i * BLOCK :][:BLOCK]) for i in range(values.size // BLOCK)]
        if not self.material.has_pawns:
            training = _kernels.DenseTraining(self.material.pieces, self.side)
            for block in blocks:
                training.learn(*block)
            return training.model()
        with_pawns = _kernels.DensePawnTraining(self.material.pieces, self.side, *self.pawns)
        for learn in (with_pawns.learn, with_pawns.weigh):
            for block in blocks:
                learn(*block)
        return with_pawns.model()

    def filled(self, first: int, values: VALUES) -> VALUES:
        """The values as a table has them: rows without a position repeat the row before."""
        index, count = table_index(self.material), -(-values.size // BLOCK)
        begins = index.slots if index.structures is None else index.structure_rows
        # Empty codes are read as ones, so that every position is lost.
        codec, empty = self.codec(bytes(self.size_of_model)), bytes(2 + count)
        held, out = np.zeros(count * BLOCK, np.int16), values.copy()
        for i in range(count):
            codec.decode_block(first, empty, count, i, held[i * BLOCK : (i + 1) * BLOCK])
        before = 0
        for at in range(values.size):
            if (first * BLOCK + at) % begins == 0:
                before = 0
            out[at] = before = values[at] if held[at] else before
        return out


def drawn(data: st.DataObject) -> Coded:
    material = Material.parse(data.draw(st.sampled_from(MATERIALS)))
    return Coded(material, data.draw(st.sampled_from(SIDES)))


@settings(max_examples=16, deadline=None)
@given(st.data())
def test_a_group_is_read_as_it_was_written(data: st.DataObject) -> None:
    coded, seed = drawn(data), data.draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    # The last block of a table with pawns can be shorter.
    first = -(-coded.rows // BLOCK) - 3 - int(rng.choice([0, *rng.integers(0, 450, 2)]))
    largest = data.draw(st.sampled_from([2, 60, 500]))
    rows = min(3 * BLOCK, coded.rows - first * BLOCK)
    values = coded.filled(first, rng.integers(-largest, largest, rows).astype(np.int16))
    model = coded.model(first, values)
    assert len(model) == coded.size_of_model
    codec = coded.codec(model)
    group, stored = codec.encode(first, 0, values), np.empty_like(values)
    codec.decode(first, group, stored)
    assert (stored == values).all()
    part = np.empty(BLOCK, np.int16)
    for i in range(3):
        codec.decode_block(first, group, 3, i, part)
        own = stored[i * BLOCK : (i + 1) * BLOCK]
        assert ((part[: own.size] == own) | (part[: own.size] == 0)).all()
        beginning = np.empty(64 * int(rng.integers(0, 64)), np.int16)
        codec.decode_block(first, group, 3, i, beginning)
        assert (beginning == part[: beginning.size]).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_bytes_are_read_or_refused(data: st.DataObject) -> None:
    coded = drawn(data)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    codec = coded.codec(rng.integers(0, 256, coded.size_of_model, np.uint8).tobytes())
    out = np.zeros(2 * BLOCK, np.int16)
    first = int(rng.integers(0, coded.rows // BLOCK - 1))
    size = data.draw(st.integers(0, 300))
    body = rng.integers(0, 256, size, np.uint8).tobytes()
    lengths = bytes([size % 128, 0]) if data.draw(st.booleans()) and size < 128 else b""
    try:
        codec.decode(first, b"\0\0" + lengths + body, out)
    except ValueError:
        assert lengths == b""


@pytest.mark.parametrize(("name", "first"), [("KBNvKP", 60000), ("KNvKBP", 777), ("KPPvKP", 444)])
def test_a_plain_reader_reads_the_same_values(name: str, first: int) -> None:
    coded = Coded(Material.parse(name), 1)
    noise = np.random.default_rng(5).integers(-9, 9, BLOCK)
    values = coded.filled(first, np.where(noise > -3, 7, noise).astype(np.int16))
    model = coded.model(first, values)
    group = coded.codec(model).encode(first, 0, values)
    plain = PlainDenseReader(coded.material, 1, model).values(first, code_of(group, 1, 0))
    assert len(plain) > BLOCK // 4
    assert plain == {row: values[row - first * BLOCK] for row in plain}


@pytest.mark.parametrize("name", ["KQvKN", "KPvKP"])
def test_impossible_arguments_are_refused(name: str) -> None:
    coded = Coded(Material.parse(name), 0)
    model = bytes(coded.size_of_model)
    with pytest.raises(ValueError, match="a model of another size"):
        coded.codec(model[1:])
    codec, blocks = coded.codec(model), -(-coded.rows // BLOCK)
    with pytest.raises(ValueError, match="no such blocks"):
        codec.decode(blocks - 1, b"", np.zeros(2 * BLOCK, np.int16))
    with pytest.raises(ValueError, match="whole blocks"):
        codec.decode(0, b"", np.zeros(5, np.int16))
    with pytest.raises(ValueError, match="too short"):
        codec.decode(0, b"1", np.zeros(BLOCK, np.int16))
    with pytest.raises(ValueError, match="cannot be coded"):
        codec.encode(0, 0, np.full(BLOCK, -32000, np.int16))
    with pytest.raises(ValueError, match="a row without a position that differs"):
        codec.encode(0, 0, np.arange(BLOCK, dtype=np.int16) % 100)
    with pytest.raises(ValueError, match="64 x 64 values"):
        codec.decode_block(0, b"\0\0\0", 1, 0, np.zeros(BLOCK + 64, np.int16))


def test_impossible_materials_are_refused() -> None:
    with pytest.raises(ValueError, match="from two men to four"):
        _kernels.DenseCodec([("Q", 0)], 0, b"")
    squares = np.full((1, 1), 8, np.uint8)
    with pytest.raises(ValueError, match="from one man to four"):
        _kernels.DensePawnCodec([("Q", 0)] * 4, 0, (1, 0), squares, b"")
    with pytest.raises(ValueError, match="a square for each pawn"):
        _kernels.DensePawnCodec([], 0, (1, 1), squares, b"")
    with pytest.raises(ValueError, match="on the ranks 2 to 7"):
        _kernels.DensePawnCodec([], 0, (1, 0), np.zeros((1, 1), np.uint8), b"")
