"""The kernels against their reference twin, position by position, at every instruction-set level.

The twin is exact where sets are small: random states over 3 to 6 men, and all of three men.  Where
sets are dense, positions are drawn from the answer and from what it leaves, and each is checked
by playing its moves.
"""

import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest
from analysis_states import (
    MATERIALS,
    STEPS,
    Bitmaps,
    State,
    begin,
    bitmaps_of,
    open_before,
    outcome,
    read_by,
    run,
    some_pairs,
    some_smaller,
    state,
)
from bitmaps import Held, Words, everything, is_marked, mark, marked, number, squares_of

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.board import SQUARES
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import SIDES, Partition, Side, opponent
from kingpair.workers.sets.memory import Layer, zeros
from kingpair.workers.solve import reference
from kingpair.workers.solve.equations import Layers
from kingpair.workers.solve.reference import (
    NOTHING,
    CaptureTargets,
    Position,
    Positions,
    captures,
    moves,
)

pytestmark = pytest.mark.usefixtures("level")

SEEDS = [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 40))]
DENSE = [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 12))]


# Legality


def legal_words(held: Held, pair: int, to_move: Side) -> Words:
    words = zeros(held.size, np.uint64)
    _kernels.legal(held.domain, Partition(pair), to_move, words, held.scratch)
    return words


@cache
def legal_positions(material: Material, to_move: Side, pairs: tuple[int, ...]) -> set[Position]:
    return reference.legal(material, to_move, pairs)


@pytest.mark.parametrize("to_move", [0, 1])
@pytest.mark.parametrize("material", [*MATERIALS[3], *MATERIALS[4]], ids=str)
def test_legal_positions_are_those_of_the_twin(material: Material, to_move: Side) -> None:
    chance = random.Random(material.name)
    pairs = tuple(range(len(TURNED))) if material.men == 3 else some_pairs(chance, 2)
    held = everything(material)
    found = {
        (pair, squares_of(held.men, int(slot)))
        for pair in pairs
        for slot in marked(legal_words(held, pair, to_move))
    }
    assert found == legal_positions(material, to_move, pairs)


@pytest.mark.parametrize("seed", range(16))
def test_legal_positions_of_five_and_six_men_are_those_of_the_twin(seed: int) -> None:
    """Of one row each: the outer men stand still, once where one may attack a king."""
    chance = random.Random(seed)
    material, to_move = chance.choice(MATERIALS[5 + seed % 2]), chance.choice(SIDES)
    pair = chance.randrange(len(TURNED))
    words = legal_words(Held(material, [pair]), pair, to_move)
    outer = tuple(chance.sample(SQUARES, material.men - 4))
    for inner in np.ndindex(64, 64):
        squares = (*outer, *inner)
        legal = reference.is_legal(material, to_move, (pair, squares))
        assert is_marked(words, number(squares)) == legal


# The steps, on random states


@cache
def expected(step: str, seed: int) -> set[Position]:
    s = state(seed)
    if step == "lose_at_once":
        found = reference.lose_at_once(s.material, s.winner, s.exits.won, s.open_w, s.open_l)
    elif step == "win":
        found = reference.win(s.material, s.winner, s.exits.lost, s.lost, s.open_w)
    else:
        found = reference.lose(s.material, s.winner, s.won, s.open_w, s.open_l)
    return {position for position in found if position[0] in s.targets}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_finds_what_its_equation_says(step: str, seed: int) -> None:
    s = state(seed)
    held = Held(s.material, s.held)
    b = bitmaps_of(held, s)
    counts = run(step, held, s, b)
    found, left = outcome(step, b)
    assert held.positions(found, s.targets) == expected(step, seed)
    assert held.positions(left) == open_before(step, s) - expected(step, seed)
    assert counts.sum() == len(expected(step, seed))
    for pair in s.targets:
        assert held.marks_are_exact(found, pair)
        assert held.marks_are_exact(left, pair)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", [seed for seed in range(12) if seed % 4 < 3])
def test_a_step_counts_distinct_positions(step: str, seed: int) -> None:
    s = state(seed)
    held = Held(s.material, s.held)
    counts = run(step, held, s, bitmaps_of(held, s), held.canonical_masks())
    distinct = {p for p in expected(step, seed) if reference.canonical(s.material, p) == p}
    for pair, count in zip(s.targets, counts, strict=True):
        assert count == sum(at == pair for at, _ in distinct)


@pytest.mark.parametrize("seed", range(8))
def test_a_step_writes_only_to_its_own_partitions(seed: int) -> None:
    s = state(seed)
    held = Held(s.material, s.held)
    before, after = bitmaps_of(held, s), bitmaps_of(held, s)
    for step in STEPS:
        run(step, held, s, after)
    for pair in set(s.held) - set(s.targets):
        for old, new in zip(before, after, strict=True):
            assert (held.words(old, pair) == held.words(new, pair)).all()
            assert (held.occupied(old, pair) == held.occupied(new, pair)).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_step_leaves_its_scratch_space_empty(seed: int) -> None:
    """So the second of two analyses in the same space is right, too."""
    first = state(seed)
    held = Held(first.material, first.held)
    for step in (*STEPS, *STEPS):
        b = bitmaps_of(held, first)
        run(step, held, first, b)
        assert held.positions(outcome(step, b)[0], first.targets) == expected(step, seed)


def same_bytes(held: Held, s: State) -> tuple[bytes, ...]:
    """All that a state's steps leave, less what is undefined."""
    parts: list[bytes] = []
    for step in STEPS:
        b = bitmaps_of(held, s)
        parts.append(run(step, held, s, b).tobytes())
        for layer in b:
            parts += [held.defined(layer, pair).tobytes() for pair in s.targets]
            parts += [layer.occupied.tobytes(), layer.live.tobytes()]
    return tuple(parts)


@pytest.mark.parametrize("seed", range(4))
def test_every_level_gives_the_same_bytes(seed: int, level: str) -> None:
    s = state(seed)
    held = Held(s.material, s.held)
    here = same_bytes(held, s)
    _kernels.use_level(_kernels.levels()[0])
    assert here == same_bytes(held, s)
    _kernels.use_level(level)


# The beginning: what is open


@cache
def escapes(seed: int) -> Positions:
    s = state(seed)
    return captures(s.material, opponent(s.winner), s.exits.not_won)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_open_sets_are_the_legal_positions_without_escapes(seed: int) -> None:
    s = state(seed)
    held = Held(s.material, s.held)
    b = bitmaps_of(held, s)
    begin(held, s, b)
    for pair in s.targets:
        closed = zeros(held.size, np.uint64)
        for squares in (squares for at, squares in escapes(seed) if at == pair):
            mark(closed, number(squares))
        legal_l = legal_words(held, pair, opponent(s.winner))
        assert (held.words(b.open_w, pair) == legal_words(held, pair, s.winner)).all()
        assert (held.words(b.open_l, pair) == legal_l & ~closed).all()
        for layer in (b.open_w, b.open_l):
            assert held.marks_are_exact(layer, pair)


# Captures, each captor of each captive by itself


def captor_and_captive() -> Iterator[tuple[Material, int, int]]:
    """Every place that captor (-1: the king) and captive can have among up to four men."""
    chance = random.Random(0)
    for men, captive, captor in product(MATERIALS, range(4), range(-1, 4)):
        places = [place for place in (captive, captor) if place >= 0]
        fitting = [
            material
            for material in MATERIALS[men]
            if max(places) < men - 2 and len({material.sides[p] for p in places}) == len(places)
        ]
        if fitting:
            yield chance.choice(fitting), captor, captive


@pytest.mark.parametrize(("material", "captor", "captive"), list(captor_and_captive()))
def test_a_capture_into_a_lost_position_wins(material: Material, captor: int, captive: int) -> None:
    chance, winner = random.Random(captor * 8 + captive), opponent(material.sides[captive])
    targets = some_pairs(chance, 2)
    held = Held(material, read_by(chance, targets))
    lost = some_smaller(chance, material, opponent(winner), held.pairs)[captive]
    winning = {p for p in captured(material, winner, captor, captive, lost) if p[0] in targets}
    assert winning
    s = State(
        material,
        winner,
        targets,
        tuple(held.pairs),
        open_w=winning,
        exits=CaptureTargets(lost={captive: lost}),
    )
    b = bitmaps_of(held, s)
    run("win", held, s, b)
    assert held.positions(b.won, targets) == winning


def captured(
    material: Material, side: Side, captor: int, captive: int, left: Positions
) -> set[Position]:
    if captor < 0:
        return reference.captures_by_king(side, captive, left)
    return reference.captures_by_man(material, captor, captive, left)


# Dense states


def thinned(words: Words, chance: np.random.Generator, halvings: int) -> None:
    for _ in range(halvings):
        words &= chance.integers(0, 1 << 64, words.size, np.uint64)


def dense(held: Held, to_move: Side, chance: np.random.Generator) -> Layer:
    """Legal positions, each kept with the same probability: from all to one in 256."""
    layer, halvings = held.empty(), int(chance.choice([0, 1, 4, 8]))
    for pair in held.pairs:
        words = held.words(layer, pair)
        words[:] = legal_words(held, pair, to_move)
        thinned(words, chance, halvings)
        held.set_marks(layer, pair)
    return layer


def dense_state(seed: int) -> tuple[State, Held, Bitmaps]:
    chance, noise = random.Random(seed), np.random.default_rng(seed)
    material, winner = chance.choice(MATERIALS[3 + seed % 4]), chance.choice(SIDES)
    targets = some_pairs(chance, 1)
    held = Held(material, read_by(chance, targets))
    sides = (winner, winner, opponent(winner))
    exits = CaptureTargets(*(some_smaller(chance, material, side, held.pairs) for side in sides))
    s = State(material, winner, targets, tuple(held.pairs), set(), set(), set(), set(), exits)
    order = (winner, opponent(winner), winner, opponent(winner))
    return s, held, Bitmaps(*(dense(held, to_move, noise) for to_move in order))


def copied(held: Held, b: Bitmaps) -> Bitmaps:
    copies = Bitmaps(*(held.empty() for _ in b))
    for layer, copy in zip(b, copies, strict=True):
        copy.words[:], copy.occupied[:], copy.live[:] = layer.words, layer.occupied, layer.live
    return copies


def drawn(chance: np.random.Generator, held: Held, pair: int, words: Words) -> list[Position]:
    slots = marked(words)
    some = chance.choice(slots, min(len(slots), 60), replace=False)
    return [(pair, squares_of(held.men, int(slot))) for slot in some]


def rule(step: str, s: State, held: Held, b: Bitmaps) -> Callable[[Position], bool]:
    """Whether a position is found, by its moves; `b` is the state before the step."""
    mover = s.winner if step == "win" else opponent(s.winner)
    taken = {"win": s.exits.lost, "lose": NOTHING, "lose_at_once": s.exits.won}[step]
    capturing = captures(s.material, mover, taken)

    def leads_to(layer: Layer, position: Position) -> bool:
        return any(held.contains(layer, after) for after in moves(s.material, position, mover))

    def wins(position: Position) -> bool:
        return leads_to(b.lost, position) or position in capturing

    def loses(position: Position) -> bool:
        return leads_to(b.won, position) and not leads_to(b.open_w, position)

    def loses_at_once(position: Position) -> bool:
        ended = not held.contains(b.open_w, position) or position in capturing
        return ended and not leads_to(b.open_w, position)

    return {"win": wins, "lose": loses, "lose_at_once": loses_at_once}[step]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", DENSE)
def test_a_step_on_dense_sets_follows_from_the_moves(step: str, seed: int) -> None:
    s, held, before = dense_state(seed)
    after = copied(held, before)
    counts = run(step, held, s, after)
    found, left = outcome(step, after)
    is_found, chance = rule(step, s, held, before), np.random.default_rng(seed)
    for pair, count in zip(s.targets, counts, strict=True):
        inside, outside = held.defined(found, pair), held.words(left, pair)
        assert all(map(is_found, drawn(chance, held, pair, inside)))
        assert not any(map(is_found, drawn(chance, held, pair, outside)))
        was_open = held.words(outcome(step, before)[1], pair)
        assert ((inside | outside) == was_open).all()
        assert not (inside & outside).any()
        assert count == len(marked(inside))


# Whole analyses


def analysed(material: Material, winner: Side, exits: CaptureTargets) -> Iterator[Layers[Position]]:
    """Yields the same layers as `reference.analyse`, computed by the kernels."""
    held, s = everything(material), everywhere(material, winner, exits)
    b = Bitmaps(*(held.empty() for _ in range(4)))
    begin(held, s, b)
    run("lose_at_once", held, s, b)
    yield Layers(set(), held.positions(b.lost))
    while run("win", held, s, b).any():
        run("lose", held, s, b)
        yield Layers(held.positions(b.won), held.positions(b.lost))
        s = everywhere(material, winner, CaptureTargets())


def everywhere(material: Material, winner: Side, exits: CaptureTargets) -> State:
    every = tuple(range(len(TURNED)))
    return State(material, winner, every, every, exits=exits)


@cache
def layers(material: Material, winner: Side) -> list[Layers[Position]]:
    return list(reference.analyse(material, winner, reference.exits_of(material, winner)))


@pytest.mark.parametrize(
    ("material", "winner"),
    [
        *product(MATERIALS[3], (0, 1)),
        pytest.param(Material.parse("KBvKN"), 1, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_an_analysis_finds_the_layers_of_the_twin(material: Material, winner: Side) -> None:
    found = analysed(material, winner, reference.exits_of(material, winner))
    assert list(found) == layers(material, winner)


def test_the_twin_knows_the_longest_wins_with_one_man() -> None:
    depths = {m.name: len(layers(m, 0)) - 1 for m in MATERIALS[3]}
    assert depths == {"KQvK": 10, "KRvK": 16, "KBvK": 0, "KNvK": 0}
