"""Sets of positions as the kernels hold them, and back."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.sets.memory import Layer, sparse_zeros, zeros
from kingpair.workers.solve.reference import Position, Positions, Smaller, Squares

Words = NDArray[np.uint64]
ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
GARBAGE = np.uint64(0xA5A5_5A5A_DEAD_BEEF)


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
    return 1 << 6 * max(men - 1, 1)


def units_occupied(words: Words) -> NDArray[np.uint8]:
    """For each row which of its eight units hold a bit."""
    units = words.reshape(-1, 8, 8).any(axis=2)
    return np.packbits(units, axis=1, bitorder="little").ravel()


_SCRATCHES: dict[int, _kernels.Scratch] = {}  # by rows of a partition


class Held:
    """Some partitions of a material."""

    def __init__(self, material: Material, pairs: Sequence[int]) -> None:
        self.material, self.pairs = material, list(pairs)
        self.men = len(material.letters)
        self.place = {pair: place for place, pair in enumerate(self.pairs)}
        slots = np.array([self.place.get(pair, -1) for pair in range(len(TURNED))], np.int16)
        men = list(zip(material.letters, material.sides, strict=True))
        self.domain = _kernels.Domain(men, *TURNED.arrays, slots, TURNED.diagonal)
        self.rows = self.domain.rows
        self.size = 64 * self.rows
        # Of five men scratch space is 384 MiB: it is empty after each use, so one serves all.
        if self.rows not in _SCRATCHES:
            _SCRATCHES[self.rows] = _kernels.Scratch(self.domain)
        self.scratch = _SCRATCHES[self.rows]

    def empty(self) -> Layer:
        """In small pages: a set of few positions takes little memory, of five men too."""
        rows = len(self.pairs) * self.rows
        words = sparse_zeros(rows * 64, np.uint64)
        return Layer(words, sparse_zeros(rows, np.uint8), np.zeros(len(self.pairs), np.uint32))

    def words(self, layer: Layer, pair: int) -> Words:
        return layer.words[self.place[pair] * self.size :][: self.size]

    def occupied(self, layer: Layer, pair: int) -> NDArray[np.uint8]:
        return layer.occupied[self.place[pair] * self.rows :][: self.rows]

    def open(self, positions: Iterable[Position]) -> Layer:
        """A set that is valid in every row."""
        layer = self.empty()
        for pair, squares in positions:
            slot = number(squares)
            mark(self.words(layer, pair), slot)
            self.occupied(layer, pair)[slot >> 12] |= 1 << (slot >> 9 & 7)
        for pair in {pair for pair, _ in positions}:
            layer.live[self.place[pair]] = np.count_nonzero(self.occupied(layer, pair))
        return layer

    def sparse(self, positions: Iterable[Position]) -> Layer:
        """A set whose unmarked rows hold garbage, as they may: at most 4,096 of them do."""
        layer = self.open(positions)
        for place in np.flatnonzero(layer.live):
            pair = self.pairs[place]
            rows = self.words(layer, pair).reshape(-1, 64)
            unmarked = np.flatnonzero(self.occupied(layer, pair) == 0)
            rows[unmarked[:: -(-self.rows // 4096)]] = GARBAGE
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
            (pair, squares_of(self.men, slot))
            for pair in (self.pairs if pairs is None else pairs)
            for slot in self._defined_slots(layer, pair).tolist()
        }

    def _marked_rows(self, layer: Layer, pair: int) -> tuple[NDArray[np.intp], Words]:
        """The numbers and the words of the rows of a partition that are defined."""
        numbers = np.flatnonzero(self.occupied(layer, pair))
        return numbers, self.words(layer, pair).reshape(-1, 64)[numbers]

    def _defined_slots(self, layer: Layer, pair: int) -> NDArray[np.int64]:
        numbers, words = self._marked_rows(layer, pair)
        slots = marked(words.ravel())
        defined: NDArray[np.int64] = numbers[slots >> 12] << 12 | slots & 4095
        return defined

    def marks_are_exact(self, layer: Layer, pair: int) -> bool:
        """No unit that holds a bit is unmarked, none without is marked; and `live` is no less."""
        numbers, words = self._marked_rows(layer, pair)
        exact = bool((units_occupied(words) == self.occupied(layer, pair)[numbers]).all())
        return exact and int(layer.live[self.place[pair]]) >= len(numbers)

    def contains(self, layer: Layer, position: Position) -> bool:
        pair, squares = position
        return is_marked(self.words(layer, pair), number(squares))

    def all_slots(self) -> Words:
        masks = zeros(2 * self.size, np.uint64)
        masks[:] = ALL
        return masks

    def canonical_masks(self) -> Words:
        masks = zeros(2 * self.size, np.uint64)
        _kernels.canonical_mask(self.domain, False, masks[: self.size])
        _kernels.canonical_mask(self.domain, True, masks[self.size :])
        return masks

    def smaller(self, exits: Smaller) -> list[Words | None]:
        return [
            bitmaps(self.men - 1, exits[man]) if man in exits else None for man in range(self.men)
        ]


def bitmaps(men: int, positions: Positions) -> Words:
    """All 462 partitions of a smaller set."""
    size = words_of(men)
    words = zeros(size * len(TURNED), np.uint64)
    for pair, squares in positions:
        mark(words[pair * size :], number(squares))
    return words


def everything(material: Material) -> Held:
    return Held(material, range(len(TURNED)))
