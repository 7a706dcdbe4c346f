"""Partitions painted in one call: by every layer, with the slots filled that hold no position.

The twin of a few men is made of sets.  More men are compared with the kernels that paint one
stream, find what is legal and fill one column, which have twins of their own.
"""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from analysis_states import MATERIALS
from bitmaps import Held, Words, number, squares_of
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import SIDES, Partition, Side
from kingpair.workers.sets.memory import zeros
from kingpair.workers.solve import reference
from kingpair.workers.solve.reference import Position

pytestmark = pytest.mark.usefixtures("level")

ON_DIAGONAL, OFF_DIAGONAL = int(np.argmax(TURNED.diagonal)), int(np.argmin(TURNED.diagonal))
VALUES = [np.int8, np.int16]
Value = type[np.int8] | type[np.int16]
Column = NDArray[np.signedinteger[Any]]


class Painted(NamedTuple):
    """A layer: the value that it paints for the side to move, and its positions."""

    side: Side
    value: int
    positions: set[Position]


def some_layers(seed: int, held: Held, value_type: Value) -> list[Painted]:
    """Layers that may overlap: of no position, of a few, of many, and of words that are full."""
    chance, ends = random.Random(seed), np.iinfo(value_type)

    def layer(positions: int, slots: int) -> Painted:
        chosen = {
            (pair, squares_of(held.men, chance.randrange(slots)))
            for pair in held.pairs
            for _ in range(positions)
        }
        return Painted(chance.choice(SIDES), chance.randint(ends.min, ends.max), chosen)

    slots = 64**held.men
    return [layer(3, slots), layer(2000, slots), layer(2000, min(slots, 1024)), layer(0, slots)]


def streams_of(held: Held, layer: Painted) -> list[bytes]:
    """The stream of each partition."""
    pairs = np.array(held.pairs, np.int16)
    packed, ends = _kernels.pack(held.domain, pairs, held.sparse(layer.positions).kernel)
    return [bytes(packed[a:b]) for a, b in zip([0, *ends[:-1]], ends, strict=True)]


Layer = tuple[int, int, NDArray[np.uint8], NDArray[np.uint64], NDArray[np.int16]]


def logged(held: Held, layers: Sequence[Painted]) -> list[Layer]:
    """The layers as they lie in a log."""
    return [joined(layer.side, layer.value, streams_of(held, layer)) for layer in layers]


def joined(side: Side, value: int, streams: Sequence[bytes]) -> Layer:
    """Streams in one buffer, the last first: the places say which is whose."""
    ends = np.cumsum([len(stream) for stream in reversed(streams)]).astype(np.uint64)
    buffer = np.frombuffer(b"".join(reversed(streams)), np.uint8)
    return side, value, buffer, ends, np.arange(len(streams), dtype=np.int16)[::-1].copy()


def painted(
    held: Held, layers: Sequence[Layer], value_type: Value
) -> tuple[Column, NDArray[np.int64]]:
    """The columns of both sides, all partitions of each, and how many positions there are."""
    pairs = np.array(held.pairs, np.int16)
    columns = np.full((2, len(pairs) * 64**held.men), 55, value_type)
    counted = np.zeros((2, len(pairs)), np.int64)
    painting = _kernels.Painting(held.domain, pairs, layers)
    masks = held.canonical_masks()
    assert painting.paint(held.domain, 0, masks, columns, counted, held.scratch)
    return columns, counted


@pytest.mark.parametrize("value_type", VALUES)
@pytest.mark.parametrize("material", [*MATERIALS[3], *MATERIALS[4]], ids=str)
def test_columns_are_those_of_the_sets(material: Material, value_type: Value) -> None:
    held = Held(material, [OFF_DIAGONAL, ON_DIAGONAL])
    layers = some_layers(len(str(material)), held, value_type)
    columns, counted = painted(held, logged(held, layers), value_type)
    for side in SIDES:
        for place, pair in enumerate(held.pairs):
            expected, positions = column_of(held, pair, side, layers)
            found = columns[side].reshape(len(held.pairs), -1)[place]
            assert (found == expected).all()
            assert counted[side, place] == positions


def column_of(
    held: Held, pair: int, side: Side, layers: Sequence[Painted]
) -> tuple[list[int], int]:
    """A position has the value of the last layer that holds it, or 0; any other slot has the value
    before it.
    """
    canonical = {
        number(squares)
        for pair, squares in reference.legal(held.material, side, [pair])
        if reference.canonical(held.material, (pair, squares)) == (pair, squares)
    }
    value: dict[int, int] = {}
    for layer in layers:
        if layer.side == side:
            value |= {number(s): layer.value for p, s in layer.positions if p == pair}
    column, carried = [], 0
    for slot in range(64**held.men):
        if slot in canonical:
            carried = value.get(slot, 0)
        column.append(carried)
    return column, len(canonical)


@pytest.mark.parametrize("value_type", VALUES)
@pytest.mark.parametrize(
    "name", ["KBBvKN", "KQRvKR", pytest.param("KRBvKBN", marks=pytest.mark.slow)]
)
def test_columns_of_many_men_are_those_painted_stream_by_stream(
    name: str, value_type: Value
) -> None:
    held = Held(Material.parse(name), [OFF_DIAGONAL, ON_DIAGONAL])
    layers = some_layers(len(name), held, value_type)
    streams = [streams_of(held, layer) for layer in layers]
    columns, counted = painted(held, logged(held, layers), value_type)
    for side in SIDES:
        for place, pair in enumerate(held.pairs):
            expected = np.zeros(64**held.men, value_type)
            for layer, of_pairs in zip(layers, streams, strict=True):
                if layer.side == side:
                    stream = np.frombuffer(of_pairs[place], np.uint8)
                    assert _kernels.paint(held.domain, stream, layer.value, expected)
            positions = positions_of(held, pair, side)
            _kernels.fill(expected, positions)
            found = columns[side].reshape(len(held.pairs), -1)[place]
            assert (found == expected).all()
            assert counted[side, place] == np.bitwise_count(positions).sum()


def positions_of(held: Held, pair: int, side: Side) -> Words:
    words = zeros(held.size, np.uint64)
    _kernels.legal(held.domain, Partition(pair), side, words, held.scratch)
    words &= held.canonical_masks().reshape(2, -1)[int(TURNED.diagonal[pair])]
    return words


def test_consecutive_partitions_are_painted_from_any_of_them() -> None:
    held = Held(MATERIALS[4][0], [OFF_DIAGONAL, ON_DIAGONAL, 7])
    layers = logged(held, some_layers(3, held, np.int8))
    columns, counted = painted(held, layers, np.int8)
    painting = _kernels.Painting(held.domain, np.array(held.pairs, np.int16), layers)
    two, positions = np.zeros((2, 2 * 4096), np.int8), np.zeros((2, 2), np.int64)
    masks = held.canonical_masks()
    assert painting.paint(held.domain, 1, masks, two, positions, held.scratch)
    assert (two == columns[:, 4096:]).all()
    assert (positions == counted[:, 1:]).all()


def test_a_partition_without_a_stream_is_drawn() -> None:
    held = Held(MATERIALS[4][0], [OFF_DIAGONAL])
    _, (side, value, streams, ends, _), *_ = logged(held, some_layers(1, held, np.int8))
    nowhere = np.array([-1], np.int16)
    columns, counted = painted(held, [(side, value, streams, ends, nowhere)], np.int8)
    assert not columns.any()
    assert counted.all()


@given(seed=st.integers(0, 99), at=st.integers(0, 999), byte=st.integers(0, 255))
def test_a_damaged_stream_paints_nothing_elsewhere(seed: int, at: int, byte: int) -> None:
    held = Held(MATERIALS[3 + seed % 3][0], [OFF_DIAGONAL])
    (stream,) = streams_of(held, some_layers(seed, held, np.int8)[1])
    damaged = bytearray(stream)
    damaged[at % len(damaged)] = byte
    slots, masks = 64**held.men, held.canonical_masks()
    fenced = np.full(2 * slots + 2 * 4096, 77, np.int8)
    columns, counted = fenced[4096:-4096].reshape(2, slots), np.zeros((2, 1), np.int64)
    painting = _kernels.Painting(
        held.domain, np.array(held.pairs, np.int16), [joined(0, 1, [bytes(damaged)])]
    )
    answer = painting.paint(held.domain, 0, masks, columns, counted, held.scratch)
    alone = np.frombuffer(bytes(damaged), np.uint8)
    assert answer == _kernels.paint(held.domain, alone, 1, np.zeros(slots, np.int8))
    assert (fenced[:4096] == 77).all()
    assert (fenced[-4096:] == 77).all()
    # The scratch space is as it was: what is painted next is right.
    assert painted(held, [], np.int8)[1].tolist() == counted_alone(held)


def counted_alone(held: Held) -> list[list[int]]:
    (pair,) = held.pairs
    return [[int(np.bitwise_count(positions_of(held, pair, side)).sum())] for side in SIDES]
