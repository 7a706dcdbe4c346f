"""States of an analysis: what the steps of one pass read, and a step run on it.

A state is random but not arbitrary: what is open lies where the frontiers can be un-moved to, else
no step would find anything.  Only the partitions that a step into the targets reads are held.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from bitmaps import Held, Words
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import every
from kingpair.workers.index.board import SQUARES
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import SIDES, Partition, Side, opponent
from kingpair.workers.sets.memory import Layer
from kingpair.workers.solve.reference import (
    CaptureTargets,
    Position,
    Positions,
    Smaller,
    captures,
    is_legal,
    moves,
    unmove,
)

NO_EXITS = CaptureTargets()
STEPS = ("lose_at_once", "win", "lose")


@dataclass(frozen=True)
class State:
    material: Material
    winner: Side
    targets: tuple[int, ...]
    held: tuple[int, ...]
    lost: Positions = frozenset()
    won: Positions = frozenset()
    open_w: Positions = frozenset()
    open_l: Positions = frozenset()
    exits: CaptureTargets = NO_EXITS


MATERIALS = {men: every(men) for men in (3, 4, 5, 6, 7)}


@cache
def state(seed: int, men: int | None = None) -> State:
    """Of so many men, or of 3, 4, 5, 6 men in turn."""
    chance = random.Random(seed)
    material, winner = chance.choice(MATERIALS[men or 3 + seed % 4]), chance.choice(SIDES)
    targets = some_pairs(chance, 1 if material.men >= 6 else 3)
    held = read_by(chance, targets)
    exits = CaptureTargets(
        *(some_smaller(chance, material, side, held) for side in (winner, winner, opponent(winner)))
    )
    lost = some_positions(chance, material, opponent(winner), held)
    won = some_positions(chance, material, winner, held)
    reached = unmove(material, lost, winner) | captures(material, winner, exits.lost)
    open_w = some_legal(chance, material, winner, reached, targets)
    might_lose = unmove(material, won, opponent(winner))
    open_l = some_legal(chance, material, opponent(winner), might_lose, targets)
    open_l |= some_positions(chance, material, opponent(winner), held)
    near = sorted(position for position in open_l if position[0] in targets)
    open_w |= some_escapes(chance, material, winner, near)
    open_w |= some_positions(chance, material, winner, held)
    return State(material, winner, targets, held, lost, won, open_w, open_l, exits)


def some_pairs(chance: random.Random, most: int) -> tuple[int, ...]:
    """Partitions, often with both kings on the diagonal."""
    diagonal = [int(pair) for pair in np.flatnonzero(TURNED.diagonal)]
    wanted = {chance.choice(diagonal) if chance.random() < 0.4 else chance.randrange(len(TURNED))}
    while len(wanted) < most:
        wanted.add(chance.randrange(len(TURNED)))
    return tuple(sorted(wanted))


def read_by(chance: random.Random, targets: Iterable[int]) -> tuple[int, ...]:
    """The targets and all that lie a king's step away, in any order."""
    held = {
        step.pair
        for pair in targets
        for side in SIDES
        for step in TURNED.steps(Partition(pair), side)
    }
    shuffled = sorted(held.union(targets))
    chance.shuffle(shuffled)
    return tuple(shuffled)


def some_positions(
    chance: random.Random, material: Material, to_move: Side, pairs: Sequence[int]
) -> set[Position]:
    """Scattered over a few partitions, and crowded where all but two men stand still."""
    men, found = len(material.letters), set()
    for pair in chance.sample(pairs, min(5, len(pairs))):
        found |= {(pair, tuple(chance.choices(SQUARES, k=men))) for _ in range(40)}
        squares, moving = chance.choices(SQUARES, k=men), crowding(chance, men)
        for _ in range(250):
            for man in moving:
                squares[man] = chance.randrange(64)
            found.add((pair, tuple(squares)))
    return {position for position in found if is_legal(material, to_move, position)}


def crowding(chance: random.Random, men: int) -> tuple[int, int]:
    """Two men; often the first and the last but one, for then the first's lines have full rows."""
    if chance.random() < 0.5:
        return 0, max(men - 2, 0)
    return chance.randrange(men), chance.randrange(men)


def some_legal(
    chance: random.Random,
    material: Material,
    to_move: Side,
    found: Positions,
    pairs: Iterable[int],
) -> set[Position]:
    near = sorted(position for position in found if position[0] in pairs)
    kept = (position for position in near if chance.random() < 0.6)
    return {position for position in kept if is_legal(material, to_move, position)}


def some_escapes(
    chance: random.Random, material: Material, winner: Side, open_l: Sequence[Position]
) -> set[Position]:
    """For half of the loser's positions one move that the winner has not yet answered."""
    found = set()
    for position in open_l:
        after = sorted(moves(material, position, opponent(winner)))
        if after and chance.random() < 0.5:
            found.add(chance.choice(after))
    return {position for position in found if is_legal(material, winner, position)}


def some_smaller(
    chance: random.Random, material: Material, side: Side, pairs: Sequence[int]
) -> Smaller:
    """For each man of a side some positions without it."""
    men = [man for man, of in enumerate(material.sides) if of == side]
    return {man: some_apart(chance, len(material.letters) - 1, pairs) for man in men}


def kings_of(pair: int) -> set[int]:
    return set(TURNED.squares[pair])


def some_apart(chance: random.Random, men: int, pairs: Sequence[int]) -> set[Position]:
    found = ((chance.choice(pairs), tuple(chance.sample(SQUARES, men))) for _ in range(150))
    return {
        (pair, squares) for pair, squares in found if not set(squares) & set(TURNED.squares[pair])
    }


# A step on a state


class Bitmaps(NamedTuple):
    """The layers that steps read and write; the findings of a step replace its frontier."""

    open_w: Layer
    open_l: Layer
    won: Layer
    lost: Layer


def bitmaps_of(held: Held, s: State) -> Bitmaps:
    return Bitmaps(
        held.open(s.open_w), held.open(s.open_l), held.sparse(s.won), held.sparse(s.lost)
    )


def begin(held: Held, s: State, b: Bitmaps) -> None:
    domain, pairs, exits = held.domain, np.array(s.targets, np.int16), held.smaller(s.exits.not_won)
    _kernels.prepare(domain, pairs, s.winner, (), b.open_w.kernel, held.scratch)
    _kernels.prepare(domain, pairs, opponent(s.winner), exits, b.open_l.kernel, held.scratch)


def run(
    step: str, held: Held, s: State, b: Bitmaps, counted: Words | None = None
) -> NDArray[np.uint64]:
    """The step on the targets; gives how many of what it found are `counted`, all if not said."""
    domain, pairs, scratch = held.domain, np.array(s.targets, np.int16), held.scratch
    counts = np.zeros(len(pairs), np.uint64)
    open_w, open_l, won, lost = (layer.kernel for layer in b)
    rest = held.all_slots() if counted is None else counted, counts, scratch
    if step == "lose_at_once":
        exits = held.smaller(s.exits.won)
        _kernels.lose_at_once(domain, pairs, s.winner, exits, open_w, open_l, lost, *rest)
    elif step == "win":
        exits = held.smaller(s.exits.lost)
        _kernels.win(domain, pairs, s.winner, exits, lost, open_w, won, *rest)
    else:
        _kernels.lose(domain, pairs, s.winner, won, open_w, open_l, lost, *rest)
    return counts


def outcome(step: str, b: Bitmaps) -> tuple[Layer, Layer]:
    """Returns the findings of a step, and the open set that they were taken from."""
    return (b.won, b.open_w) if step == "win" else (b.lost, b.open_l)


def open_before(step: str, s: State) -> Positions:
    return s.open_w if step == "win" else s.open_l
