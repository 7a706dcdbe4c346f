"""The squares of the board and its eight symmetries.

A square is 0..63, a1 = 0, h1 = 7, a8 = 56.  A symmetry is three bits: 1 mirrors the files, 2
mirrors the ranks, and 4 then swaps files and ranks.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.number_types import Symmetry

SQUARES = range(64)
SYMMETRIES = tuple(map(Symmetry, range(8)))
IDENTITY, MIRROR_FILES, MIRROR_RANKS = SYMMETRIES[:3]
MIRROR_DIAGONAL = SYMMETRIES[4]
"""The symmetry that leaves the long diagonal a1-h8 in place."""


def turn(symmetry: Symmetry, square: int) -> int:
    """Returns the square on which `symmetry` shows `square`."""
    file, rank = square & 7, square >> 3
    if symmetry & MIRROR_FILES:
        file = 7 - file
    if symmetry & MIRROR_RANKS:
        rank = 7 - rank
    return 8 * file + rank if symmetry & MIRROR_DIAGONAL else 8 * rank + file


TURN: NDArray[np.uint8] = np.array(
    [[turn(g, s) for s in SQUARES] for g in SYMMETRIES], dtype=np.uint8
)


def square_name(square: int) -> str:
    return "abcdefgh"[square & 7] + "12345678"[square >> 3]


def touch(a: int, b: int) -> bool:
    """Returns whether two squares are the same or next to each other."""
    return bool(_touch(a, b))


def _touch(a: Any, b: Any) -> Any:
    """Does that for squares, or for arrays of squares."""
    return (abs((a & 7) - (b & 7)) <= 1) & (abs((a >> 3) - (b >> 3)) <= 1)


TOUCH: NDArray[np.bool_] = _touch(np.arange(64)[:, None], np.arange(64))
"""Whether two squares touch, by both squares."""


def on_diagonal(square: int) -> bool:
    return square % 9 == 0
