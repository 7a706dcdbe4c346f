"""The kernels with five men beside the kings, against the twin.

A partition has 262,144 rows of 512 bytes.  A set of a few positions takes little memory all the
same, so the states are those of test_kernels.py.  Of dense sets one partition and one beside it are
full, and positions are drawn from the answer and from what it leaves.
"""

import random

import numpy as np
import pytest
from analysis_states import (
    MATERIALS,
    STEPS,
    Bitmaps,
    State,
    bitmaps_of,
    open_before,
    outcome,
    read_by,
    run,
    some_smaller,
    state,
)
from bitmaps import Held, Words, is_marked, number, squares_of

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.board import SQUARES
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import SIDES, Partition, Side, opponent
from kingpair.workers.sets.memory import Layer, zeros
from kingpair.workers.solve import reference
from kingpair.workers.solve.reference import CaptureTargets, Position, moves

pytestmark = pytest.mark.usefixtures("level")

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))]
# Of captor and captive, -1 for a king.  The weaker side has the first one or two of five men.
PLACES = [(-1, 0), (2, 0), (1, 4)]
OTHER_PLACES = [(-1, 1), (-1, 2), (-1, 4), (1, 0), (4, 0), (2, 1), (4, 1), (0, 1), (0, 2), (1, 3)]


def twin(step: str, s: State) -> set[Position]:
    if step == "lose_at_once":
        return reference.lose_at_once(s.material, s.winner, s.exits.won, s.open_w, s.open_l)
    if step == "win":
        return reference.win(s.material, s.winner, s.exits.lost, s.lost, s.open_w)
    return reference.lose(s.material, s.winner, s.won, s.open_w, s.open_l)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_of_seven_men_finds_what_its_equation_says(step: str, seed: int) -> None:
    s = state(seed, 7)
    held = Held(s.material, s.held)
    b = bitmaps_of(held, s)
    counts = run(step, held, s, b)
    found, left = outcome(step, b)
    expected = {position for position in twin(step, s) if position[0] in s.targets}
    assert expected
    assert held.positions(found, s.targets) == expected
    assert held.positions(left) == open_before(step, s) - expected
    assert counts.sum() == len(expected)
    assert all(held.marks_are_exact(each, pair) for each in (found, left) for pair in s.targets)


def fitting(places: set[int]) -> list[Material]:
    """Materials in which men of different sides have these places."""
    return [m for m in MATERIALS[7] if len({m.sides[place] for place in places}) == len(places)]


@pytest.mark.parametrize(
    ("captor", "captive"),
    [*PLACES, *(pytest.param(*each, marks=pytest.mark.slow) for each in OTHER_PLACES)],
)
def test_a_capture_of_seven_men_into_a_lost_position_wins(captor: int, captive: int) -> None:
    chance = random.Random(captor * 8 + captive)
    material = chance.choice(fitting({place for place in (captive, captor) if place >= 0}))
    winner, target = opponent(material.sides[captive]), chance.randrange(len(TURNED))
    held = Held(material, read_by(chance, [target]))
    lost = some_smaller(chance, material, opponent(winner), held.pairs)[captive]
    captured = (
        reference.captures_by_king(winner, captive, lost)
        if captor < 0
        else reference.captures_by_man(material, captor, captive, lost)
    )
    winning = {position for position in captured if position[0] == target}
    exits = CaptureTargets(lost={captive: lost})
    s = State(material, winner, (target,), tuple(held.pairs), open_w=winning, exits=exits)
    b = bitmaps_of(held, s)
    run("win", held, s, b)
    assert winning
    assert held.positions(b.won, [target]) == winning


def legal_words(held: Held, pair: int, to_move: Side) -> Words:
    words = zeros(held.size, np.uint64)
    _kernels.legal(held.domain, Partition(pair), to_move, words, held.scratch)
    return words


def test_legal_positions_of_seven_men_are_those_of_the_twin() -> None:
    """Of rows in which the outer men stand still, and of positions from everywhere."""
    chance = random.Random(7)
    material, to_move = chance.choice(MATERIALS[7]), chance.choice(SIDES)
    pair = chance.randrange(len(TURNED))
    words = legal_words(Held(material, [pair]), pair, to_move)
    outer = tuple(chance.sample(SQUARES, 3))
    row = [(*outer, *inner) for inner in np.ndindex(64, 64)]
    anywhere = [tuple(chance.choices(SQUARES, k=5)) for _ in range(4000)]
    for squares in (*row, *anywhere):
        legal = reference.is_legal(material, to_move, (pair, squares))
        assert is_marked(words, number(squares)) == legal


# Dense sets


def dense(held: Held, to_move: Side, pairs: list[int], halvings: int) -> Layer:
    """Legal positions of some partitions, one in 2**halvings of them."""
    layer, noise = held.empty(), np.random.default_rng(halvings)
    for pair in pairs:
        words = held.words(layer, pair)
        words[:] = legal_words(held, pair, to_move)
        for _ in range(halvings):
            words &= noise.integers(0, 1 << 64, held.size, np.uint64)
        held.set_marks(layer, pair)
    return layer


def drawn(held: Held, pair: int, words: Words) -> list[Position]:
    """Some positions of a set, from words that are not empty."""
    noise = np.random.default_rng(0)
    some = noise.choice(np.flatnonzero(words), 200, replace=False)
    bits = [int(words[word]) & -int(words[word]) for word in some]
    slots = [64 * int(word) + one.bit_length() - 1 for word, one in zip(some, bits, strict=True)]
    return [(pair, squares_of(held.men, slot)) for slot in slots]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["KRBNvKQN", "KRRRRNvK"])
@pytest.mark.parametrize("step", ["win", "lose"])
def test_a_step_on_dense_sets_of_seven_men_follows_from_the_moves(step: str, name: str) -> None:
    chance, material = random.Random(name), Material.parse(name, 7)
    winner: Side = 0
    loser = opponent(winner)
    mover = winner if step == "win" else loser
    target = chance.randrange(len(TURNED))
    beside = int(chance.choice(TURNED.steps(Partition(target), mover)).pair)
    held = Held(material, read_by(chance, [target]))
    both = [target, beside]
    if step == "win":
        lost = dense(held, loser, both, 6)
        b = Bitmaps(dense(held, winner, [target], 1), held.empty(), held.empty(), lost)
    else:
        open_w, won = dense(held, winner, both, 6), dense(held, winner, both, 3)
        b = Bitmaps(open_w, dense(held, loser, [target], 1), won, held.empty())
    frontier = b.lost if step == "win" else b.won
    before = held.words(outcome(step, b)[1], target).copy()
    s = State(material, winner, (target,), tuple(held.pairs))
    counts = run(step, held, s, b)
    found, left = outcome(step, b)

    def leads_to(layer: Layer, position: Position) -> bool:
        return any(held.contains(layer, after) for after in moves(material, position, mover))

    def is_found(position: Position) -> bool:
        escapes = step == "lose" and leads_to(b.open_w, position)
        return leads_to(frontier, position) and not escapes

    inside, outside = held.defined(found, target), held.words(left, target)
    assert all(map(is_found, drawn(held, target, inside)))
    assert not any(map(is_found, drawn(held, target, outside)))
    assert ((inside | outside) == before).all()
    assert not (inside & outside).any()
    assert counts.sum() == np.bitwise_count(inside).sum()


# The index and the streams


@pytest.mark.parametrize(
    "name",
    ["KRBNvKQN", *(pytest.param(m, marks=pytest.mark.slow) for m in ("KQQQQQvK", "KBBNvKRR"))],
)
def test_canonical_slots_of_seven_men_are_those_of_the_twin(name: str) -> None:
    material, chance = Material.parse(name, 7), random.Random(name)
    held = Held(material, [0])
    mask = zeros(held.size, np.uint64)
    for diagonal in (False, True):
        pair = int(np.flatnonzero(TURNED.diagonal == diagonal)[0])
        _kernels.canonical_mask(held.domain, diagonal, mask)
        for _ in range(2000):
            squares = tuple(chance.choices(SQUARES, k=5))
            twin_slot = reference.canonical(material, (pair, squares))[1]
            assert is_marked(mask, number(squares)) == (twin_slot == squares)
            assert is_marked(mask, number(twin_slot))


def test_a_stream_of_seven_men_has_what_was_packed() -> None:
    s = state(0, 7)
    held = Held(s.material, s.held)
    layer, again = held.sparse(s.won), held.empty()
    for pair in s.held:
        stream, _ = _kernels.pack(held.domain, np.array([pair], np.int16), layer.kernel)
        _kernels.restore(held.domain, Partition(pair), np.asarray(stream), again.kernel)
    assert held.positions(again) == s.won
