"""States of an analysis: as sets of positions, and as the kernels hold them.

A state is what the steps of one pass read: frontiers, open sets, and smaller sets to capture into.
It is random but not arbitrary: what is open lies where the frontiers can be un-moved to, else no
step would find anything.  Only the partitions that a step into the targets reads are held.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from workers import _kernels
from workers.bits import Layer, zeros
from workers.geometry import DIAGONAL, PAIRS, SQUARES, king_arrays, steps
from workers.material import Material, every
from workers.reference import (
    Exits,
    Position,
    Positions,
    Smaller,
    Squares,
    captures,
    is_legal,
    moves,
    unmove,
)

Words = NDArray[np.uint64]
GARBAGE = np.uint64(0xA5A5_5A5A_DEAD_BEEF)


# As the kernels hold them


def number(squares: Squares) -> int:
    """The slot of a position inside its partition."""
    slot = 0
    for square in squares:
        slot = 64 * slot + square
    return slot


def squares_of(men: int, slot: int) -> Squares:
    return tuple(slot >> 6 * (men - 1 - man) & 63 for man in range(men))


def mark(words: Words, slot: int) -> None:
    words[slot >> 6] |= np.uint64(1 << (slot & 63))


def is_marked(words: Words, slot: int) -> bool:
    return bool(int(words[slot >> 6]) >> (slot & 63) & 1)


def marked(words: Words) -> NDArray[np.int64]:
    """The slots that are marked, ascending."""
    used = np.flatnonzero(words)
    bits = np.unpackbits(words[used].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    word, bit = np.nonzero(bits)
    return used[word] * 64 + bit


def words_of(men: int) -> int:
    """Words of a partition, for men besides the kings."""
    return 64 ** max(men - 1, 1)


def units_occupied(words: Words) -> NDArray[np.uint8]:
    """For each row which of its eight units hold a bit."""
    units = words.reshape(-1, 8, 8).any(axis=2)
    return np.packbits(units, axis=1, bitorder="little").ravel()


class Held:
    """Some partitions of a material."""

    def __init__(self, material: Material, pairs: Sequence[int]) -> None:
        self.material, self.pairs = material, list(pairs)
        self.men = len(material.letters)
        self.place = {pair: place for place, pair in enumerate(self.pairs)}
        slots = np.array([self.place.get(pair, -1) for pair in range(len(PAIRS))], np.int16)
        men = list(zip(material.letters, material.sides, strict=True))
        self.domain = _kernels.Domain(men, *king_arrays(), slots)
        self.rows = self.domain.rows
        self.size = 64 * self.rows
        self.scratch = _kernels.Scratch(self.domain)

    def empty(self) -> Layer:
        return Layer(len(self.pairs), self.rows)

    def words(self, layer: Layer, pair: int) -> Words:
        return layer.words[self.place[pair] * self.size :][: self.size]

    def occupied(self, layer: Layer, pair: int) -> NDArray[np.uint8]:
        return layer.occupied[self.place[pair] * self.rows :][: self.rows]

    def open(self, positions: Iterable[Position]) -> Layer:
        """A set that is valid in every row."""
        layer = self.empty()
        for pair, squares in positions:
            mark(self.words(layer, pair), number(squares))
        for pair in {pair for pair, _ in positions}:
            self.set_marks(layer, pair)
        return layer

    def sparse(self, positions: Iterable[Position]) -> Layer:
        """A set whose unmarked rows hold garbage, as they may."""
        layer = self.open(positions)
        for place in np.flatnonzero(layer.live):
            pair = self.pairs[place]
            rows = self.words(layer, pair).reshape(-1, 64)
            rows[self.occupied(layer, pair) == 0] = GARBAGE
        return layer

    def set_marks(self, layer: Layer, pair: int) -> None:
        occupied = units_occupied(self.words(layer, pair))
        self.occupied(layer, pair)[:] = occupied
        layer.live[self.place[pair]] = np.count_nonzero(occupied)

    def defined(self, layer: Layer, pair: int) -> Words:
        """The partition's words, with nothing in rows that are undefined."""
        rows = self.words(layer, pair).reshape(-1, 64).copy()
        rows[self.occupied(layer, pair) == 0] = 0
        return rows.ravel()

    def positions(self, layer: Layer, pairs: Iterable[int] | None = None) -> set[Position]:
        return {
            (pair, squares_of(self.men, int(slot)))
            for pair in (self.pairs if pairs is None else pairs)
            if self.occupied(layer, pair).any()
            for slot in marked(self.defined(layer, pair))
        }

    def marks_are_exact(self, layer: Layer, pair: int) -> bool:
        occupied = units_occupied(self.defined(layer, pair))
        return bool((occupied == self.occupied(layer, pair)).all())

    def contains(self, layer: Layer, position: Position) -> bool:
        pair, squares = position
        return is_marked(self.words(layer, pair), number(squares))

    def canonical_masks(self) -> Words:
        masks = zeros(2 * self.size, np.uint64)
        _kernels.canonical_mask(self.domain, False, masks[: self.size])
        _kernels.canonical_mask(self.domain, True, masks[self.size :])
        return masks

    def smaller(self, exits: Smaller) -> list[Words | None]:
        return [bitmaps(self.men - 1, exits[man]) if man in exits else None for man in range(self.men)]


def bitmaps(men: int, positions: Positions) -> Words:
    """All 462 partitions of a smaller set."""
    size = words_of(men)
    words = zeros(size * len(PAIRS), np.uint64)
    for pair, squares in positions:
        mark(words[pair * size :], number(squares))
    return words


def everything(material: Material) -> Held:
    return Held(material, range(len(PAIRS)))


# Random states


@dataclass(frozen=True)
class State:
    material: Material
    winner: int
    targets: tuple[int, ...]
    held: tuple[int, ...]
    lost: Positions
    won: Positions
    open_w: Positions
    open_l: Positions
    exits: Exits


MATERIALS = {men: [m for m in every(men) if "P" not in m.letters] for men in (3, 4, 5, 6)}


@cache
def state(seed: int) -> State:
    """One of 3, 4, 5, 6 men in turn."""
    chance = random.Random(seed)
    material, winner = chance.choice(MATERIALS[3 + seed % 4]), chance.randrange(2)
    targets = some_pairs(chance, 1 if material.men == 6 else 3)
    held = read_by(chance, targets)
    exits = Exits(*(some_smaller(chance, material, side, held) for side in (winner, winner, 1 - winner)))
    lost = some_positions(chance, material, 1 - winner, held)
    won = some_positions(chance, material, winner, held)
    reached = unmove(material, lost, winner) | captures(material, winner, exits.lost)
    open_w = some_legal(chance, material, winner, reached, targets)
    might_lose = unmove(material, won, 1 - winner)
    open_l = some_legal(chance, material, 1 - winner, might_lose, targets)
    open_l |= some_positions(chance, material, 1 - winner, held)
    open_w |= some_escapes(chance, material, winner, sorted(open_l))
    open_w |= some_positions(chance, material, winner, held)
    return State(material, winner, targets, held, lost, won, open_w, open_l, exits)


def some_pairs(chance: random.Random, most: int) -> tuple[int, ...]:
    """Partitions, often with both kings on the diagonal."""
    diagonal = [int(pair) for pair in np.flatnonzero(DIAGONAL)]
    wanted = {chance.choice(diagonal) if chance.random() < 0.4 else chance.randrange(len(PAIRS))}
    while len(wanted) < most:
        wanted.add(chance.randrange(len(PAIRS)))
    return tuple(sorted(wanted))


def read_by(chance: random.Random, targets: Iterable[int]) -> tuple[int, ...]:
    """The targets and all that lie a king's step away, in any order."""
    held = {step.pair for pair in targets for side in (0, 1) for step in steps(pair, side)}
    shuffled = sorted(held.union(targets))
    chance.shuffle(shuffled)
    return tuple(shuffled)


def some_positions(
    chance: random.Random, material: Material, to_move: int, pairs: Sequence[int]
) -> set[Position]:
    """Scattered over a few partitions, and crowded where all but two men stand still."""
    men, found = len(material.letters), set()
    for pair in chance.sample(pairs, min(5, len(pairs))):
        found |= {(pair, tuple(chance.choices(SQUARES, k=men))) for _ in range(40)}
        still = chance.choices(SQUARES, k=men)
        for _ in range(250):
            for man in crowding(chance, men):
                still[man] = chance.randrange(64)
            found.add((pair, tuple(still)))
    return {position for position in found if is_legal(material, to_move, position)}


def crowding(chance: random.Random, men: int) -> tuple[int, ...]:
    """The first man and the last but one: these fill the units of the lines that the first walks."""
    return (0, max(men - 2, 0))


def some_legal(
    chance: random.Random, material: Material, to_move: int, found: Positions, pairs: Iterable[int]
) -> set[Position]:
    near = sorted(position for position in found if position[0] in pairs)
    kept = (position for position in near if chance.random() < 0.6)
    return {position for position in kept if is_legal(material, to_move, position)}


def some_escapes(
    chance: random.Random, material: Material, winner: int, open_l: Sequence[Position]
) -> set[Position]:
    """For half of the loser's positions one move that the winner has not yet answered."""
    found = set()
    for position in open_l:
        after = sorted(moves(material, position, 1 - winner))
        if after and chance.random() < 0.5:
            found.add(chance.choice(after))
    return {position for position in found if is_legal(material, winner, position)}


def some_smaller(
    chance: random.Random, material: Material, side: int, pairs: Sequence[int]
) -> Smaller:
    """For each man of a side some positions without it."""
    men = [man for man, of in enumerate(material.sides) if of == side]
    return {man: some_apart(chance, len(material.letters) - 1, pairs) for man in men}


def some_apart(chance: random.Random, men: int, pairs: Sequence[int]) -> set[Position]:
    found = ((chance.choice(pairs), tuple(chance.sample(SQUARES, men))) for _ in range(150))
    return {(pair, squares) for pair, squares in found if not set(squares) & set(PAIRS[pair])}
