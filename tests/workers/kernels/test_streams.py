"""Facts about streams of bytes made from bitmaps, and columns of values painted from them.

A stream stands for a set of positions, and is compared with that set.  Streams come from disk and
from other machines, so they may hold any bytes: kernels write to their own partition alone.
"""

import random
from typing import Any

import numpy as np
import pytest
from analysis_states import MATERIALS, state
from bitmaps import ALL, GARBAGE, Held, marked, number
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.number_types import Partition
from kingpair.workers.sets.memory import Layer, zeros
from kingpair.workers.solve.reference import Position, Positions

pytestmark = pytest.mark.usefixtures("level")

FEW_MEN = [seed for seed in range(16) if seed % 4 < 3]
VALUES = [np.int8, np.int16]
Value = type[np.int8] | type[np.int16]
Column = NDArray[np.int8] | NDArray[np.int16]


def packed(held: Held, layer: Layer, pairs: list[int]) -> list[NDArray[np.uint8]]:
    """The stream of each partition."""
    streams, ends = _kernels.pack(held.domain, np.array(pairs, np.int16), layer.kernel)
    stream = bytes(streams)
    assert ends[-1] == len(stream)
    return np.split(np.frombuffer(stream, np.uint8), ends[:-1])


def of(positions: Positions, pair: int) -> set[Position]:
    return {position for position in positions if position[0] == pair}


# Round trips


@pytest.mark.parametrize("seed", range(16))
def test_a_stream_restores_the_layer_that_was_packed(seed: int) -> None:
    s = state(seed)
    held = Held(s.material, s.held)
    layer, restored = held.sparse(s.won), held.empty()
    busy = [pair for pair in s.held if of(s.won, pair)] + [s.held[-1]]
    for pair, stream in zip(busy, packed(held, layer, busy), strict=True):
        held.words(restored, pair)[:] = GARBAGE
        assert _kernels.restore(held.domain, Partition(pair), stream, restored.kernel)
        assert held.marks_are_exact(restored, pair)
    assert held.positions(restored) == s.won


@pytest.mark.parametrize("seed", range(16))
def test_taking_out_a_stream_leaves_the_difference(seed: int) -> None:
    s = state(seed)
    held = Held(s.material, s.held)
    layer, left = held.sparse(s.won), held.open(s.open_w | s.won)
    for pair in s.targets:
        (stream,) = packed(held, layer, [pair])
        assert _kernels.take_out(held.domain, Partition(pair), stream, left.kernel)
        assert held.marks_are_exact(left, pair)
        assert of(held.positions(left), pair) == of(s.open_w - s.won, pair)


@pytest.mark.parametrize("seed", range(16))
def test_a_stream_is_restored_and_taken_out_at_once(seed: int) -> None:
    s = state(seed)
    held = Held(s.material, s.held)
    layer, left = held.sparse(s.won), held.open(s.open_w | s.won)
    restored = held.sparse(s.lost)  # what was there before is forgotten
    for pair in s.held:
        (stream,) = packed(held, layer, [pair])
        assert _kernels.restore(held.domain, Partition(pair), stream, restored.kernel, left.kernel)
        assert held.marks_are_exact(restored, pair)
        assert held.marks_are_exact(left, pair)
    assert held.positions(restored) == s.won
    assert held.positions(left) == s.open_w - s.won


@pytest.mark.parametrize("value_type", VALUES)
@pytest.mark.parametrize("seed", FEW_MEN)
def test_painting_sets_the_slots_of_a_stream_and_no_others(seed: int, value_type: Value) -> None:
    s = state(seed)
    held = Held(s.material, s.held)
    layer, value = held.sparse(s.won), int(np.iinfo(value_type).min) + seed
    for pair in s.targets:
        column = np.random.default_rng(seed).integers(-99, 99, 64**held.men).astype(value_type)
        expected = column.copy()
        expected[[number(squares) for _, squares in of(s.won, pair)]] = value
        (stream,) = packed(held, layer, [pair])
        assert paint(held, stream, value, column)
        assert (column == expected).all()


def paint(held: Held, stream: NDArray[np.uint8], value: int, column: Column) -> bool:
    """Once more by type, for the checker of types."""
    if column.dtype == np.int8:
        return _kernels.paint(held.domain, stream, value, column.view(np.int8))
    return _kernels.paint(held.domain, stream, value, column.view(np.int16))


@pytest.mark.parametrize("full", [1, 6, 7, 63, 64])
def test_words_with_few_and_many_bits_survive_packing(full: int) -> None:
    held = Held(MATERIALS[4][0], [0])
    layer, restored = held.empty(), held.empty()
    chance = random.Random(full)
    words = [sum(1 << bit for bit in chance.sample(range(64), full)) for _ in range(64)]
    held.words(layer, 0)[:] = np.array(words, np.uint64)
    held.set_marks(layer, 0)
    (stream,) = packed(held, layer, [0])
    assert _kernels.restore(held.domain, Partition(0), stream, restored.kernel)
    assert (restored.words == layer.words).all()


# Streams that are none


class Fenced:
    """A partition between two others, and a column between two fences: neither may be touched."""

    def __init__(self, seed: int) -> None:
        material = random.Random(seed).choice(MATERIALS[3 + seed % 3])
        self.held = Held(material, [1, 0, 2])
        self.layer = self.held.empty()
        self.layer.words[:] = GARBAGE
        self.length = 64**self.held.men
        self.fenced = np.full(self.length + 2 * 4096, 77, np.int8)

    @property
    def column(self) -> NDArray[np.int8]:
        return self.fenced[4096 : 4096 + self.length]

    def stream_of(self, positions: Positions) -> NDArray[np.uint8]:
        return packed(self.held, self.held.sparse(positions), [0])[0]

    def accepts(self, stream: bytes) -> set[bool]:
        bytes_ = np.array(list(stream), np.uint8)
        domain, layer = self.held.domain, self.layer.kernel
        return {
            _kernels.take_out(domain, Partition(0), bytes_, layer),
            _kernels.restore(domain, Partition(0), bytes_, layer),
            _kernels.restore(domain, Partition(0), bytes_, self.held.empty().kernel, layer),
            _kernels.paint(domain, bytes_, 1, self.column),
        }

    def is_whole(self) -> bool:
        others = (self.held.words(self.layer, pair) for pair in (1, 2))
        fences = self.fenced[:4096], self.fenced[-4096:]
        return all((words == GARBAGE).all() for words in others) and all(
            (fence == 77).all() for fence in fences
        )


def some_set(seed: int, men: int) -> set[Position]:
    chance = random.Random(seed)
    return {(0, tuple(chance.choices(range(64), k=men))) for _ in range(chance.randrange(60))}


@given(seed=st.integers(0, 99), cut=st.integers(1, 999), added=st.binary(min_size=1, max_size=9))
@settings(deadline=None, max_examples=60)
def test_a_stream_too_short_or_too_long_is_refused(seed: int, cut: int, added: bytes) -> None:
    fenced = Fenced(seed)
    whole = fenced.stream_of(some_set(seed, fenced.held.men)).tobytes()
    assert fenced.accepts(whole) == {True}
    assert fenced.accepts(whole[: -1 - cut % len(whole)]) == {False}
    assert fenced.accepts(whole + added) == {False}
    assert fenced.is_whole()


@given(seed=st.integers(0, 99), at=st.integers(0, 999), byte=st.integers(0, 255))
@settings(deadline=None, max_examples=100)
def test_a_damaged_stream_writes_nothing_elsewhere(seed: int, at: int, byte: int) -> None:
    fenced = Fenced(seed)
    stream = bytearray(fenced.stream_of(some_set(seed, fenced.held.men)))
    stream[at % len(stream)] = byte
    assert len(fenced.accepts(bytes(stream))) == 1
    assert fenced.is_whole()


@given(seed=st.integers(0, 2), stream=st.binary(max_size=64))
@example(0, bytes([1, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x01, 0x80]))  # a word that one man has no use for
@settings(deadline=None, max_examples=100)
def test_garbage_writes_nothing_elsewhere(seed: int, stream: bytes) -> None:
    fenced = Fenced(seed)
    assert len(fenced.accepts(stream)) == 1
    assert fenced.is_whole()


# Columns


WORDS = st.one_of(
    st.sampled_from([0, 1, 1 << 63, int(ALL), int(ALL) >> 1, int(GARBAGE)]),
    st.integers(0, int(ALL)),
)


@pytest.mark.parametrize("value_type", VALUES)
@given(counted=st.lists(WORDS, min_size=1, max_size=6), seed=st.integers(0, 999))
@settings(deadline=None, max_examples=50)
def test_filling_carries_the_value_before_a_hole(
    value_type: Value, counted: list[int], seed: int
) -> None:
    column = np.random.default_rng(seed).integers(-99, 99, 64 * len(counted)).astype(value_type)
    expected, carried = column.copy(), 0
    for slot in range(len(column)):
        if counted[slot // 64] >> slot % 64 & 1:
            carried = int(column[slot])
        expected[slot] = carried
    words = np.array(counted, np.uint64)
    if value_type is np.int8:
        _kernels.fill(column.view(np.int8), words)
    else:
        _kernels.fill(column.view(np.int16), words)
    assert (column == expected).all()


@pytest.mark.parametrize("value_type", VALUES)
@given(
    seed=st.integers(0, 999),
    pairs=st.integers(1, 150),
    words=st.integers(1, 3),
    first=st.integers(0, 60),
    at=st.integers(0, 9),
)
@settings(deadline=None, max_examples=50)
def test_values_and_sets_of_structures_are_turned_to_those_of_king_pairs(
    value_type: Value, seed: int, pairs: int, words: int, first: int, at: int
) -> None:
    chance = np.random.default_rng(seed)
    structures = 64 * words
    chosen = int(chance.integers(1, structures - first + 1))
    painted: Any = chance.integers(-99, 99, (pairs, structures)).astype(value_type)
    bits = chance.integers(0, 2, (pairs, structures)).astype(np.uint8)
    columns: Any = np.full((chosen, pairs + at + 1), 100, value_type)
    marks = np.full(columns.shape, 100, np.uint8)
    wanted = slice(first, first + chosen)
    sets = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    _kernels.turn_points(painted, first, columns, at)
    _kernels.turn_bits(sets, first, marks, at)
    for out, turned in ((columns, painted[:, wanted].T), (marks, bits[:, wanted].T)):
        assert (out[:, at : at + pairs] == turned).all()
        assert (out[:, :at] == 100).all()
        assert (out[:, at + pairs :] == 100).all()


def test_structures_that_are_not_painted_cannot_be_turned() -> None:
    painted, columns = np.zeros((3, 64), np.int8), np.zeros((60, 5), np.int8)
    for first, at in ((5, 0), (65, 0), (0, 3), (0, 6)):
        with pytest.raises(ValueError, match=r"not painted|shorter than"):
            _kernels.turn_points(painted, first, columns, at)


@pytest.mark.parametrize("value_type", VALUES)
@given(seed=st.integers(0, 999), structures=st.integers(1, 4), words=st.integers(1, 3))
@settings(deadline=None, max_examples=50)
def test_marked_structures_are_filled_one_by_one_and_counted(
    value_type: Value, seed: int, structures: int, words: int
) -> None:
    chance = np.random.default_rng(seed)
    marks = chance.integers(0, 2, (structures, 64 * words)).astype(np.uint8)
    columns: Any = chance.integers(-99, 99, marks.shape).astype(value_type)
    expected = columns.copy()
    for column, mark in zip(expected, marks, strict=True):
        sets = np.packbits(mark, bitorder="little").view(np.uint64)
        _kernels.fill(column, sets)
    assert _kernels.fill_marked(columns, marks) == marks.sum()
    assert (columns == expected).all()


@pytest.mark.parametrize("value_type", VALUES)
@given(seed=st.integers(0, 999), words=st.integers(1, 9))
@settings(deadline=None, max_examples=50)
def test_signs_are_those_of_the_values(value_type: Value, seed: int, words: int) -> None:
    chance = np.random.default_rng(seed)
    ends = np.iinfo(value_type)
    values = chance.choice([ends.min, -1, 0, 0, 1, ends.max], 64 * words)
    column = values.astype(value_type)
    won, lost = zeros(words, np.uint64), zeros(words, np.uint64)
    if value_type is np.int8:
        _kernels.signs(column.view(np.int8), won, lost)
    else:
        _kernels.signs(column.view(np.int16), won, lost)
    assert (marked(won) == np.flatnonzero(values > 0)).all()
    assert (marked(lost) == np.flatnonzero(values < 0)).all()
