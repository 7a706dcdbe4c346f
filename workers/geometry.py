"""Squares, the eight symmetries of the board, and the 462 king pairs.

A square is 0..63, a1 = 0, h1 = 7, a8 = 56.  A symmetry is three bits: 1 mirrors the files, 2
mirrors the ranks, and 4 then swaps files and ranks.  A king pair is an ordered pair (stronger
king, weaker king) that do not touch; under the eight symmetries the 3,612 pairs fall into 462
orbits, each named by its smallest image.  A partition is one orbit.

Everything is derived here and asserted; nothing is pasted.
"""

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SQUARES = range(64)
SYMMETRIES = range(8)


def turn(symmetry: int, square: int) -> int:
    """The square on which `symmetry` shows `square`."""
    file, rank = square & 7, square >> 3
    if symmetry & 1:
        file = 7 - file
    if symmetry & 2:
        rank = 7 - rank
    return 8 * file + rank if symmetry & 4 else 8 * rank + file


TURN: NDArray[np.uint8] = np.array(
    [[turn(g, s) for s in SQUARES] for g in SYMMETRIES], dtype=np.uint8
)
MIRROR = 4  # the symmetry that leaves the long diagonal a1-h8 in place


def square_name(square: int) -> str:
    return "abcdefgh"[square & 7] + "12345678"[square >> 3]


def touch(a: int, b: int) -> bool:
    """Whether two squares are the same or next to each other."""
    return abs((a & 7) - (b & 7)) <= 1 and abs((a >> 3) - (b >> 3)) <= 1


def on_diagonal(square: int) -> bool:
    return square % 9 == 0


class Placement(NamedTuple):
    """Where a pair of kings is kept: its partition, and the symmetry that shows the board as kept
    there.
    """

    pair: int
    symmetry: int


def _smallest_image(kings: tuple[int, int]) -> tuple[int, int, int]:
    return min((turn(g, kings[0]), turn(g, kings[1]), g) for g in SYMMETRIES)


_IMAGES = {
    kings: _smallest_image(kings) for kings in product(SQUARES, SQUARES) if not touch(*kings)
}
PAIRS: tuple[tuple[int, int], ...] = tuple(sorted({(a, b) for a, b, _ in _IMAGES.values()}))
_NUMBER = {kings: number for number, kings in enumerate(PAIRS)}
PLACEMENTS: dict[tuple[int, int], Placement] = {
    kings: Placement(_NUMBER[a, b], g) for kings, (a, b, g) in _IMAGES.items()
}

assert len(_IMAGES) == 3612
assert len(PAIRS) == 462
assert len({a for a, _ in PAIRS}) == 10  # the triangle a1-d1-d4

DIAGONAL: NDArray[np.bool_] = np.array([on_diagonal(a) and on_diagonal(b) for a, b in PAIRS])
"""Partitions in which a position and its mirror image both have a slot."""


class Step(NamedTuple):
    """A king's step out of a partition: the one it enters, the symmetry that shows ours as
    theirs, the square.
    """

    pair: int
    symmetry: int
    square: int


def steps(pair: int, side: int) -> tuple[Step, ...]:
    """Where the king of `side` (0 stronger, 1 weaker) can go from a partition, other men aside."""
    kings = PAIRS[pair]
    still = kings[1 - side]
    found = []
    for square in SQUARES:
        if square == kings[side] or not touch(square, kings[side]) or touch(square, still):
            continue
        after = (square, still) if side == 0 else (still, square)
        found.append(Step(*PLACEMENTS[after], square))
    return tuple(found)


@cache
def king_arrays() -> tuple[NDArray[np.uint8], NDArray[np.int16]]:
    """The kings [side][pair] and their steps [side][pair][8][pair, symmetry, square] (padded with
    -1).
    """
    kings = np.array(PAIRS, dtype=np.uint8).T.copy()
    table = np.full((2, len(PAIRS), 8, 3), -1, dtype=np.int16)
    for side, pair in product((0, 1), range(len(PAIRS))):
        for i, step in enumerate(steps(pair, side)):
            table[side, pair, i] = step
    return kings, table


@cache
def neighbours() -> tuple[tuple[int, ...], ...]:
    """For each partition the others that a king of either side enters from it."""
    entered = king_arrays()[1][..., 0]
    return tuple(
        tuple(sorted(set(map(int, entered[:, p].ravel())) - {-1, p})) for p in range(len(PAIRS))
    )
