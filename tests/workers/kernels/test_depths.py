"""Exits that carry a depth, in the kernels: what is freed, and values seen in another frame.

A freed position joins the open set in the very step that may find it lost.  Values are brought into
a larger material's frame as sets of them are: so each set of equal values must arrive alike.
"""

import random

import numpy as np
import pytest
from analysis_states import bitmaps_of, some_legal, state
from bitmaps import Held, Words, mark, marked, number

from kingpair.workers import _kernels
from kingpair.workers.number_types import Partition, Symmetry, opponent
from kingpair.workers.sets.memory import zeros
from kingpair.workers.solve.reference import Positions, moves, unmove

pytestmark = pytest.mark.usefixtures("level")
SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_freed_position_is_open_and_can_be_lost_at_once(seed: int) -> None:
    s = state(seed)
    loser, chance = opponent(s.winner), random.Random(seed)
    held = Held(s.material, s.held)
    near = unmove(s.material, s.open_w | s.won, loser)
    freed = some_legal(chance, s.material, loser, near, s.targets) - s.open_l
    b, layer = bitmaps_of(held, s), held.sparse(freed)
    pairs = np.array(s.targets, np.int16)
    counts = np.zeros(len(pairs), np.uint64)
    frontiers = (b.won.kernel, b.open_w.kernel, b.open_l.kernel, b.lost.kernel)
    _kernels.lose(
        held.domain,
        pairs,
        s.winner,
        *frontiers,
        held.all_slots(),
        counts,
        held.scratch,
        layer.kernel,
    )
    open_l = s.open_l | freed
    might_lose: Positions = (unmove(s.material, s.won, loser) | freed) & open_l
    lost = {
        position
        for position in might_lose
        if position[0] in s.targets and not moves(s.material, position, loser) & s.open_w
    }
    assert held.positions(b.lost, s.targets) == lost
    left = {position for position in open_l if position[0] in s.targets} - lost
    assert held.positions(b.open_l, s.targets) == left
    assert counts.sum() == len(lost)
    assert all(held.marks_are_exact(b.open_l, pair) for pair in s.targets)


@pytest.mark.parametrize("seed", SEEDS)
def test_put_in_adds_positions_and_keeps_the_others(seed: int) -> None:
    s = state(seed)
    held, pair = Held(s.material, s.held), s.targets[0]
    layer, into = held.sparse(s.won), held.open(s.open_w)
    streams, ends = _kernels.pack(held.domain, np.array([pair], np.int16), layer.kernel)
    stream = bytes(streams)
    assert ends == [len(stream)]
    assert _kernels.put_in(
        held.domain, Partition(pair), np.frombuffer(stream, np.uint8), into.kernel
    )
    here = {position for position in s.won | s.open_w if position[0] == pair}
    assert held.positions(into, [pair]) == here
    assert held.marks_are_exact(into, pair)


@pytest.mark.parametrize("kind", [np.int8, np.int16])
def test_equal_values_are_found_and_no_others(kind: type[np.signedinteger]) -> None:
    values = np.random.default_rng(1).integers(-3, 4, 4096).astype(kind)
    out = zeros(64, np.uint64)
    for value in range(-4, 5):
        _kernels.equal(values, value, out)
        assert marked(out).tolist() == np.flatnonzero(values == value).tolist()


def test_a_value_that_does_not_fit_the_column_is_nowhere() -> None:
    values, out = np.full(64, -126, np.int8), zeros(1, np.uint64)
    _kernels.equal(values, 130, out)
    assert not out.any()


@pytest.mark.parametrize("kind", [np.int8, np.int16])
@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed % 4 in (1, 2)])
def test_values_are_reframed_and_spread_as_sets_of_them_are(
    seed: int, kind: type[np.signedinteger]
) -> None:
    s = state(seed)
    held, chance = Held(s.material, s.held), random.Random(seed)
    axes = list(range(held.men))
    chance.shuffle(axes)
    symmetry, diagonal = chance.randrange(8), bool(chance.getrandbits(1))
    values = np.random.default_rng(seed).integers(-2, 3, 64**held.men).astype(kind)
    turned, wanted = np.zeros_like(values), some_slots(chance, held)
    _kernels.reframe_values(held.domain, Symmetry(symmetry), axes, values, turned)
    spread = values.copy()
    _kernels.spread_values(held.domain, diagonal, wanted, spread)
    assert sorted(turned.tolist()) == sorted(values.tolist())
    for value in (-2, 1):
        assert (reframed(held, symmetry, axes, values == value) == (turned == value)).all()
        assert (spread_set(held, diagonal, wanted, values == value) == (spread == value)).all()


def some_slots(chance: random.Random, held: Held) -> Words:
    """Slots that are not canonical for certain: their men are out of order or they are many."""
    words = zeros(held.size, np.uint64)
    for _ in range(200):
        mark(words, number(tuple(chance.choices(range(64), k=held.men))))
    return words


def packed(held: Held, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Words:
    words = zeros(held.size, np.uint64)
    words[:] = np.packbits(mask, bitorder="little").view(np.uint64)
    return words


def unpacked(words: Words) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)


def reframed(
    held: Held, symmetry: int, axes: list[int], mask: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    out = zeros(held.size, np.uint64)
    _kernels.reframe(held.domain, Symmetry(symmetry), axes, packed(held, mask), out)
    return unpacked(out)


def spread_set(
    held: Held,
    diagonal: bool,
    wanted: Words,
    mask: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Spreading adds to a set what its canonical slots have: the wanted slots begin empty."""
    words = packed(held, mask)
    canonical = zeros(held.size, np.uint64)
    _kernels.canonical_mask(held.domain, diagonal, canonical)
    words &= ~wanted | canonical
    _kernels.spread(held.domain, diagonal, wanted, words)
    return unpacked(words)
