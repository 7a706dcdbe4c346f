"""King pairs: the partitions of a domain.

A king pair is an ordered pair of squares (stronger king, weaker king) that do not touch: there are
3,612.  Where symmetries of the board change nothing else, all pairs that they turn into each other
are one partition, named by its smallest image:

    TURNED    without pawns all eight symmetries hold: 462 partitions
    FIXED     pawns fix the board: each of the 3,612 pairs is a partition

A king's step leads from a partition into another one, whose frame shows the board turned.  All of
this is derived and asserted here.
"""

from collections.abc import Iterable
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.index import KING_PAIRS
from kingpair.workers.index.board import IDENTITY, SQUARES, SYMMETRIES, TOUCH, TURN, on_diagonal
from kingpair.workers.number_types import Partition, Side, Symmetry, opponent

Kings = tuple[int, int]
Neighbours = tuple[tuple[Partition, ...], ...]
STEPS_MAX = 8
_NONE = 64
_BESIDE = np.full((64, STEPS_MAX), _NONE)
"""The squares next to each square, in ascending order, padded with _NONE."""
for _square in SQUARES:
    _near = np.flatnonzero(TOUCH[_square] & (np.arange(64) != _square))
    _BESIDE[_square, : len(_near)] = _near


class Placement(NamedTuple):
    """The place of a pair of kings: its partition, and the symmetry that turns the board so."""

    pair: Partition
    symmetry: Symmetry


class Step(NamedTuple):
    """A king's step out of a partition: the partition that it enters, the symmetry that shows the
    board of the one as that of the other, and the square stepped to.
    """

    pair: Partition
    symmetry: Symmetry
    square: int


class KingPairs:
    """The partitions that some symmetries of the board leave; `count` is their number.

    They are derived when they are first needed, because most commands need one kind or none.
    """

    def __init__(self, symmetries: Iterable[Symmetry], count: int) -> None:
        self._symmetries, self._count = tuple(symmetries), count
        self.is_turned = len(self._symmetries) > 1

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _images(self) -> NDArray[np.int64]:
        """The smallest image of each pair, [stronger king, weaker king]: both squares and, in the
        last three bits, the symmetry that leads there; -1 if the kings touch.
        """
        # In arrays, because this is a part of the start of a command.
        turned = [(g, TURN[g].astype(np.int64)) for g in self._symmetries]
        images = [((to[:, None] << 6 | to) << 3) | g for g, to in turned]
        return np.where(TOUCH, -1, np.min(images, axis=0))

    @cached_property
    def squares(self) -> tuple[Kings, ...]:
        """The squares of both kings, by partition."""
        both = np.stack(self._squares, axis=1).tolist()
        return tuple((stronger, weaker) for stronger, weaker in both)

    @cached_property
    def _squares(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The squares of the stronger and of the weaker kings, in arrays."""
        found = np.array(sorted({*(self._images >> 3).ravel().tolist()} - {-1}))
        assert len(found) == self._count, f"{len(found)} king pairs"
        return found >> 6, found & 63

    @cached_property
    def placed(self) -> tuple[NDArray[np.int16], NDArray[np.uint8]]:
        """The placement of each pair of kings, [stronger king, weaker king]: partitions, -1 if the
        kings touch, and symmetries.
        """
        numbers = np.full((64, 64), -1, np.int16)
        numbers[self._squares] = np.arange(len(self))
        image = np.maximum(self._images, 0)
        pairs = np.where(TOUCH, np.int16(-1), numbers[image >> 9, image >> 3 & 63])
        return pairs, (image & 7).astype(np.uint8)

    @cached_property
    def placements(self) -> dict[Kings, Placement]:
        """The partition of each pair of kings, and the symmetry that shows it so."""
        pairs, symmetries = (column.tolist() for column in self.placed)
        return {
            (a, b): Placement(pairs[a][b], symmetries[a][b])
            for a, b in product(SQUARES, SQUARES)
            if pairs[a][b] >= 0
        }

    @property
    def partitions(self) -> Iterable[Partition]:
        return map(Partition, range(len(self)))

    @cached_property
    def diagonal(self) -> NDArray[np.bool_]:
        """Partitions in which a position and its mirror image both have a slot."""
        return np.array(
            [self.is_turned and on_diagonal(a) and on_diagonal(b) for a, b in self.squares]
        )

    @cached_property
    def halved(self) -> NDArray[np.bool_]:
        """Partitions with slots that count elsewhere: with pawns, where the stronger king stands on
        files e to h and the structure is its own mirror image.
        """
        return self.diagonal if self.is_turned else np.array([a & 7 > 3 for a, _ in self.squares])

    def steps(self, pair: Partition, side: Side) -> tuple[Step, ...]:
        """The steps of the king of `side` (0 stronger, 1 weaker), other men aside."""
        return tuple(Step(*step) for step in self.arrays[1][side, pair].tolist() if step[0] >= 0)

    @cached_property
    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int16]]:
        """The kings [side][pair], and their steps [side][pair][8][pair, symmetry, square], padded
        with -1.
        """
        stronger, weaker = self._squares
        kings = np.array([stronger, weaker], dtype=np.uint8)
        return kings, np.array([self._steps(stronger, weaker), self._steps(weaker, stronger, True)])

    def _steps(
        self, moving: NDArray[np.int64], still: NDArray[np.int64], swapped: bool = False
    ) -> NDArray[np.int16]:
        """The steps of one king, by pair; `swapped` if it is the weaker one that moves."""
        others = still[:, None]
        near = _BESIDE[moving]
        near = np.sort(np.where(TOUCH[np.minimum(near, 63), others], _NONE, near), axis=1)
        squares = np.minimum(near, 63)
        pairs, symmetries = (column.T if swapped else column for column in self.placed)
        found = np.stack([pairs[squares, others], symmetries[squares, others], squares], axis=-1)
        return np.where((near == _NONE)[..., None], -1, found).astype(np.int16)

    @cached_property
    def entered(self) -> tuple[Neighbours, Neighbours]:
        """For each side and partition the other partitions that the king of that side enters."""
        steps = self.arrays[1][..., 0]
        return _others(steps[0]), _others(steps[1])

    def around(self, partitions: Iterable[int], mover: Side) -> set[Partition]:
        """The partitions that the king of `mover` enters from some, without these."""
        inside = set(partitions)
        return {q for p in inside for q in self.entered[mover][p] if q not in inside}

    @cached_property
    def neighbours(self) -> Neighbours:
        """For each partition the others that a king of either side enters from it."""
        stronger, weaker = self.entered
        return tuple(
            tuple(sorted({*near, *far})) for near, far in zip(stronger, weaker, strict=True)
        )

    def walks(self, mover: Side) -> list[NDArray[np.int16]]:
        """Returns the walks of the king of `mover`: partitions in which the other king stands on
        one square, but for the symmetries, so that no step leads from one walk to another.
        """
        standing, _ = self.walk_squares(mover)
        found = sorted({*standing.tolist()})
        return [np.flatnonzero(standing == square).astype(np.int16) for square in found]

    def walk_squares(self, mover: Side) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns, by partition, the squares of the other king and of the king of `mover`, on the
        board turned so that the first of them is the smallest, and the second one after it.
        """
        moving, others = self._squares[mover], self._squares[opponent(mover)]
        turned = (TURN[g].astype(np.int64) for g in self._symmetries)
        both = np.min([to[others] << 6 | to[moving] for to in turned], axis=0)
        return both >> 6, both & 63


def _others(steps: NDArray[np.int16]) -> Neighbours:
    """Returns for each partition those that its steps lead to, without itself."""
    # Without numpy's `unique`, whose first call imports as much as half of a probe does.
    return tuple(
        tuple(map(Partition, sorted({*near} - {-1, p}))) for p, near in enumerate(steps.tolist())
    )


def numbers_of(partitions: NDArray[np.integer]) -> list[Partition]:
    """Returns an array of partitions as numbers."""
    numbers: list[Partition] = partitions.tolist()
    return numbers


TURNED = KingPairs(SYMMETRIES, KING_PAIRS)
FIXED = KingPairs((IDENTITY,), 3612)
