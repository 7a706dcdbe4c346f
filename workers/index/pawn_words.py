"""Placings of pawns as words: a bit for each square."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.number_types import SIDES, STRONGER, Side

_FILE_A, _FILE_H = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_7, _9 = np.uint64(7), np.uint64(9)


class PawnWords(NamedTuple):
    """The squares of the pawns of each placing, and by side those that its pawns attack."""

    standing: NDArray[np.uint64]
    attacked: tuple[NDArray[np.uint64], NDArray[np.uint64]]


def pawn_words(squares: NDArray[np.uint8], sides: Sequence[Side]) -> PawnWords:
    """The words of placings `[placing][pawn]`, given the side of each pawn."""
    of = np.array(sides, dtype=np.int8)
    stronger, weaker = (_attacked(square_bits(squares[:, of == side]), side) for side in SIDES)
    return PawnWords(square_bits(squares), (stronger, weaker))


def square_bits(squares: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The squares of each row as the bits of a word."""
    words = np.uint64(1) << squares.astype(np.uint64)
    found: NDArray[np.uint64] = np.bitwise_or.reduce(words, axis=1, initial=np.uint64(0))
    return found


def _attacked(pawns: NDArray[np.uint64], side: Side) -> NDArray[np.uint64]:
    west, east = pawns & ~_FILE_A, pawns & ~_FILE_H
    return (west << _7) | (east << _9) if side == STRONGER else (west >> _9) | (east >> _7)
