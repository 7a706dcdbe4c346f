"""A domain: positions that are solved together, as the kernels see them.

A domain holds its index, which says where each position lies, the men that move, the placings of
the pawns if there are any, and a worker's share of the partitions.

A slot is *canonical* if its position is counted and stored by it: like men stand in ascending
order, and of the slots of a position and its mirror image one counts (the smaller one; with pawns
that in which the stronger king stands on files a to d).  The kernels solve all other slots along
with the rest; no count ever shows them.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.board import MIRROR_DIAGONAL, TURN
from kingpair.workers.index.index import Index
from kingpair.workers.index.king_pairs import FIXED, numbers_of
from kingpair.workers.index.material_index import index_of
from kingpair.workers.index.pawn_words import PawnWords
from kingpair.workers.index.share import Share, whole
from kingpair.workers.index.structures import Placings
from kingpair.workers.number_types import SIDES, Partition, Side
from kingpair.workers.sets.memory import Layer, Scalar, Words, aligned, zeros
from kingpair.workers.sets.recycled import (
    recycled,
    recycled_if_small,
    small_zeros,
    unwritten_layer,
)

ROW_WORDS = 64


class Domain:
    """The kernels' view of a material, of some placings of its pawns, or of a share of these."""

    def __init__(
        self, material: Material, share: Share | None = None, placings: Placings | None = None
    ) -> None:
        assert material.has_pawns == (placings is not None), f"{material}: pawns and placings"
        self.material, self.placings = material, placings
        self.index = (
            index_of(material)
            if placings is None
            else Index(FIXED, len(material.pieces), len(placings))
        )
        kings = self.index.kings
        self.share = share or whole(kings)
        self.slots = self.index.slots
        pawns = None if placings is None else pawn_sets(placings.words, self.index)
        self.kernel = _kernels.Domain(
            material.pieces, *kings.arrays, self.share.places, kings.halved, pawns
        )
        self.words = self.kernel.rows * ROW_WORDS
        self.empty_stream = 8 * -(-self.kernel.rows // 64)  # bytes of a stream that has no row
        self.canonical = self._canonical()

    def _canonical(self) -> Words:
        """Two masks of the slots that count: of most partitions, and of those that are halved."""
        masks = zeros(2 * self.words, np.uint64)
        if self.placings is None:
            for halved, mask in enumerate(masks.reshape(2, -1)):
                _kernels.canonical_mask(self.kernel, bool(halved), mask)
            return masks
        alone = like_pieces(self.material)
        counted = np.ones((2, len(self.placings), 1), np.bool_) & alone
        counted[1, self.placings.symmetric] = False
        for mask, flags in zip(masks.reshape(2, -1), counted, strict=True):
            packed = np.packbits(flags.ravel(), bitorder="little")
            mask.view(np.uint8)[: packed.size] = packed
        return masks

    def canonical_of(self, halved: bool) -> Words:
        """The mask of canonical slots of partitions that are halved, or of others."""
        return self.canonical[halved * self.words : (halved + 1) * self.words]

    def canonical_marks(self, pair: Partition) -> NDArray[np.uint8]:
        """Which slots of a partition are canonical, as ones and zeros."""
        return self.slots_of(self.canonical_of(self.on_diagonal(pair))).view(np.uint8)

    def slots_of(self, words: Words) -> NDArray[np.bool_]:
        """The slots of a partition that a set holds, as a mask."""
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        return bits[: self.slots].view(np.bool_)

    def layer(self, partitions: int) -> Layer:
        """A layer that holds nothing."""
        layer = unwritten_layer(partitions, self.kernel.rows, self._unwritten)
        layer.clear()
        return layer

    def zeroed(self, size: int) -> NDArray[np.uint8]:
        """So many bytes of zeros for sets."""
        if self.placings is None:
            return small_zeros(size, np.uint8)
        memory = recycled(size, np.uint8)
        memory[:] = 0
        return memory

    def _unwritten(self, count: int, dtype: type[Scalar]) -> NDArray[Scalar]:
        """An array for sets, whose values are arbitrary.  Levels of one material follow each other,
        and use each other's memory however large they are.
        """
        return (recycled_if_small if self.placings is None else recycled)(count, dtype)

    def some_slots(self, words: Words, first: int, count: int) -> NDArray[np.bool_]:
        """The slots from `first` on that a set holds, as a mask.  Both numbers are whole words."""
        return self.slots_of(words[first // 64 : (first + count) // 64])

    def on_diagonal(self, pair: Partition) -> bool:
        """Whether a position and its mirror image both have a slot in a partition."""
        return bool(self.index.kings.diagonal[pair])

    def counted(
        self, pair: Partition, to_move: Side | Literal[-1], scratch: _kernels.Scratch
    ) -> Words:
        """The slots of a partition that hold a position: legal and canonical."""
        out = zeros(self.words, np.uint64)
        _kernels.legal(self.kernel, pair, to_move, out, scratch)
        out &= self.canonical_of(bool(self.index.kings.halved[pair]))
        return out

    def counted_of(
        self, pairs: NDArray[np.int16], side: Side, out: Words, scratch: _kernels.Scratch
    ) -> NDArray[np.uint64]:
        """Writes the slots of some partitions that hold a position: [partition][word]."""
        _kernels.legal_of_all(self.kernel, pairs, side, out, scratch)
        by_pair = out.reshape(len(pairs), self.words)
        by_pair &= self.canonical.reshape(2, -1)[self.index.kings.halved[pairs].astype(np.intp)]
        return by_pair

    def placements(self) -> int:
        """The number of distinct placements of the men on different squares, legal or not."""
        scratch = _kernels.Scratch(self.kernel)
        diagonal = self.index.kings.diagonal
        on_diagonal = int(diagonal.sum())
        # All partitions off the diagonal have equally many: 62 squares are left to the men in each.
        off = popcount(self.counted(Partition(int(np.argmin(diagonal))), -1, scratch))
        on = sum(
            popcount(self.counted(pair, -1, scratch))
            for pair in numbers_of(np.flatnonzero(diagonal))
        )
        return off * (self.index.partitions - on_diagonal) + on


def popcount(words: Words) -> int:
    return int(np.bitwise_count(words).sum(dtype=np.int64))


def pawn_sets(pawns: PawnWords, index: Index) -> tuple[int, Words, Words, Words, Words]:
    """The pawns in the form of the kernels: words by structure; without pieces, sets by square.

    The last row is filled up with words in which pawns stand on all squares.
    """
    count = index.structures
    size = index.rows * ROW_WORDS * (1 if index.axes else 64) if index.axes < 2 else count
    standing = np.full(size, ~np.uint64(0))
    standing[:count] = pawns.standing
    attacked = np.zeros((2, size), np.uint64)
    for side in SIDES:
        attacked[side, :count] = pawns.attacked[side]
    by_square = [_by_square(each) for each in (standing, *attacked)] if not index.axes else []
    listed = size if index.axes else size // 64  # sets by square hold what the words would say
    return (
        count,
        aligned(standing[:listed]),
        aligned(attacked[:, :listed]),
        aligned(np.concatenate(by_square[:1])) if by_square else zeros(0, np.uint64),
        aligned(np.concatenate(by_square[1:])) if by_square else zeros(0, np.uint64),
    )


def _by_square(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """For each square the set of structures whose word has its bit."""
    bits = np.empty((64, len(words)), np.uint8)
    _kernels.turn_bits(words[:, None], 0, bits, 0)
    return np.packbits(bits, axis=1, bitorder="little").ravel().view(np.uint64)


def like_pieces(material: Material) -> NDArray[np.bool_]:
    """Whether a slot of a structure has like pieces in ascending order."""
    slots, order = np.arange(64 ** len(material.pieces)), like_order(material)
    in_order: NDArray[np.bool_] = slots == (slots if order is None else order)
    return in_order


@cache
def like_order(material: Material) -> NDArray[np.int64] | None:
    """For each slot of the pieces the slot with like pieces in ascending order.

    None if no pieces are alike.
    """
    axes = len(material.pieces)
    groups = [a for a, (x, y) in enumerate(pairwise(material.pieces)) if x == y]
    if not groups:
        return None
    slots = np.arange(64**axes, dtype=np.int64)
    squares = [slots >> 6 * (axes - 1 - i) & 63 for i in range(axes)]
    for _ in groups:  # a pass for each pair sorts the longest run
        for axis in groups:
            first, second = squares[axis], squares[axis + 1]
            squares[axis], squares[axis + 1] = np.minimum(first, second), np.maximum(first, second)
    return _index(squares)


def labelled_weights(material: Material, diagonal: bool) -> NDArray[np.uint8]:
    """The number of positions of each canonical slot if like men are told apart."""
    axes = len(material.letters)
    slots = np.arange(64**axes, dtype=np.int64)
    squares = [slots >> 6 * (axes - 1 - i) & 63 for i in range(axes)]
    chosen = _index(_sorted(material, squares))
    if diagonal:
        mirrored = [TURN[MIRROR_DIAGONAL][s].astype(np.int64) for s in squares]
        chosen = np.minimum(chosen, _index(_sorted(material, mirrored)))
        chosen = chosen[slots <= _index(mirrored)]
    return np.bincount(chosen, minlength=64**axes).astype(np.uint8)


def _sorted(
    material: Material, squares: Sequence[NDArray[np.int64]]
) -> Sequence[NDArray[np.int64]]:
    squares = list(squares)
    for group in material.like_men:
        ordered = np.sort(np.stack([squares[i] for i in group]), axis=0)
        for man, row in zip(group, ordered, strict=True):
            squares[man] = row
    return squares


def _index(squares: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    slots = np.zeros_like(squares[0])
    for s in squares:
        slots = slots << 6 | s
    return slots
