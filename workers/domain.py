"""A domain: the men of a material over the 462 king pairs, as the kernels and the index see it.

    slot = pair * 64^m + squares of the m men, the last man least significant

A slot is *canonical* if it is the one by which its position is counted and stored: like men in
ascending order, and where both kings stand on the long diagonal the smaller of the position and
its mirror image.  Every other slot is an implementation matter: the kernels solve it along with
the rest, and no count ever shows it.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from workers import _kernels
from workers.bits import Words, zeros
from workers.geometry import DIAGONAL, MIRROR, PAIRS, TURN, king_arrays
from workers.material import Material
from workers.share import WHOLE, Share


class Domain:
    """The kernels' view of a material, or of a share of it, with the masks of its canonical
    slots.
    """

    def __init__(self, material: Material, share: Share = WHOLE) -> None:
        self.material, self.share = material, share
        self.axes = len(material.letters)
        self.slots = 64**self.axes
        men = list(zip(material.letters, material.sides, strict=True))
        self.kernel = _kernels.Domain(men, *king_arrays(), share.places)
        self.words = self.kernel.rows * 64
        self.empty_stream = 8 * -(-self.kernel.rows // 64)  # bytes of a stream that has no row
        self.canonical = zeros(2 * self.words, np.uint64)
        for diagonal in (False, True):
            _kernels.canonical_mask(self.kernel, diagonal, self.canonical_of(diagonal))

    def canonical_of(self, diagonal: bool) -> Words:
        """The mask of canonical slots, on or off the diagonal."""
        return self.canonical[diagonal * self.words : (diagonal + 1) * self.words]

    def counted(self, pair: int, to_move: int, scratch: _kernels.Scratch) -> Words:
        """The slots of a partition that hold a position: legal and canonical."""
        out = zeros(self.words, np.uint64)
        _kernels.legal(self.kernel, pair, to_move, out, scratch)
        out &= self.canonical_of(bool(DIAGONAL[pair]))
        return out

    def placements(self) -> int:
        """Distinct ways to place the men on different squares, whoever is to move and in check or
        not.
        """
        scratch = _kernels.Scratch(self.kernel)
        on_diagonal = int(DIAGONAL.sum())
        # Every partition off the diagonal has as many as another: the squares left to the men are
        # 62 in each.
        off = popcount(self.counted(int(np.argmin(DIAGONAL)), -1, scratch))
        on = sum(popcount(self.counted(int(p), -1, scratch)) for p in np.flatnonzero(DIAGONAL))
        return off * (len(PAIRS) - on_diagonal) + on


def popcount(words: Words) -> int:
    return int(np.bitwise_count(words).sum(dtype=np.int64))


@cache
def domain_of(material: Material) -> Domain:
    return Domain(material)


def slot_squares(axes: int, slot: int) -> tuple[int, ...]:
    """The squares of the men in a slot of a partition."""
    return tuple(slot >> 6 * (axes - 1 - i) & 63 for i in range(axes))


def labelled_weights(material: Material, diagonal: bool) -> NDArray[np.uint8]:
    """For each canonical slot, how many positions it stands for if like men count as different."""
    axes = len(material.letters)
    slots = np.arange(64**axes, dtype=np.int64)
    squares = [slots >> 6 * (axes - 1 - i) & 63 for i in range(axes)]
    chosen = _index(_sorted(material, squares))
    if diagonal:
        mirrored = [TURN[MIRROR][s].astype(np.int64) for s in squares]
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
