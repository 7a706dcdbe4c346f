"""Pawn structures: where the pawns of a material can stand, and which pushes lead from one placing
to another.

A structure is a placing of all pawns.  The stronger side's pawns move up the board, the weaker
side's down.  Like pawns are not told apart: the pawns of a side are listed by file, then by rank.
A pawn cannot pass another one of its file, so a push changes the rank of one pawn in the list and
the order of none.

A structure and its left-right mirror image are one, as long as all men can be mirrored with it.
Of the two the one is kept whose file list is smaller: the files of the stronger side's pawns, then
those of the weaker side's, each ascending.  A push changes no file, so it leads from a structure
that is kept to one that is kept, and the board is never turned.  Where a file list is its own
mirror image both images are kept.  Such a structure is symmetric, and a position in it has a
second slot in the mirrored structure.

The level of a structure is the number of pawn steps that are left to the last rank before
promotion, summed over the pawns.  A push leads to a lower level, always.  So structures of one
level are independent of each other, and levels are solved in ascending order.

Numbers, as part of the file format (index scheme 2)
----------------------------------------------------
Structures are numbered 0, 1, ... in ascending order of

    (level, file list, ranks of the pawns in the order of the list)

with file a = 0 and the first rank = 0.  A table stores no list of structures, since this order
defines it.  It stores the digest: SHA-256 over one byte a pawn, its square 8 * rank + file, pawn by
pawn and structure by structure.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, pairwise
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.index.pawn_words import PawnWords, pawn_words
from kingpair.workers.number_types import STRONGER, WEAKER, Side

NO_SQUARE = 255
SQUARES_OF_A_PAWN = tuple(8 * file + rank for file in range(8) for rank in range(1, 7))
STEPS_MAX = 5  # of a pawn, to the last rank before promotion

Squares = NDArray[np.uint8]
Numbers = NDArray[np.int32]
Flags = NDArray[np.bool_]
Places = NDArray[np.int64]
"""Squares as 8 * file + rank, `[structure][pawn]`: a side's pawns are in ascending order."""


class Found(NamedTuple):
    """Which structures some placings of pawns are, and which of them are so only when mirrored."""

    numbers: Numbers
    mirrored: Flags


class Pushes(NamedTuple):
    """Pushes of one side, one entry each, in order of structure, pawn and length.

    `pawn` counts through the pawns of the structure.  `passed` is the square that a double step
    passes; it is `NO_SQUARE` for a single step.  No pawn stands on a square passed or entered; a
    king or a piece can.  `into` is the structure that the push leads to.
    """

    structure: Numbers
    pawn: Squares
    left: Squares
    passed: Squares
    entered: Squares
    into: Numbers

    def of(self, chosen: Flags) -> "Pushes":
        """Some of the pushes."""
        columns = (column[chosen] for column in self)
        return Pushes(*cast(Any, columns))  # each keeps its type


@dataclass(frozen=True, eq=False)
class Structures:
    """The structures of so many pawns of the stronger and of the weaker side, in order.

    `squares[number]` has the squares of the pawns: first the stronger side's, then the weaker's.
    """

    stronger: int
    weaker: int
    squares: Squares
    keys: Places

    def __len__(self) -> int:
        return len(self.squares)

    @property
    def sides(self) -> tuple[Side, ...]:
        """The side of each pawn of a structure."""
        stronger: list[Side] = [STRONGER] * self.stronger
        weaker: list[Side] = [WEAKER] * self.weaker
        return (*stronger, *weaker)

    @cached_property
    def levels(self) -> tuple[range, ...]:
        """The structures of each level, level 0 first."""
        steps = _steps_to_go(_places(self.squares), self.stronger)
        ends = np.searchsorted(steps, np.arange(STEPS_MAX * len(self.sides) + 1), side="right")
        return tuple(range(a, b) for a, b in pairwise([0, *ends.tolist()]))

    @cached_property
    def symmetric(self) -> Flags:
        """Structures whose file list is its own mirror image."""
        places = _places(self.squares)
        own: Flags = _file_list(places) == _file_list(_mirrored(places, self.stronger))
        return own

    @cached_property
    def mirror(self) -> Numbers:
        """The mirror image of each symmetric structure; for others the structure itself."""
        places, flags = _places(self.squares), self.symmetric
        return self._numbers(np.where(flags[:, None], _mirrored(places, self.stronger), places))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the list of structures, in hexadecimal."""
        from hashlib import sha256  # it loads OpenSSL, which probes of pawnless tables do not need

        return sha256(self.squares.tobytes()).hexdigest()

    def find(self, squares: NDArray[np.integer]) -> Found:
        """The structures of placings `[placing][pawn]`, the stronger side's pawns first.

        The pawns of a side can be listed in any order.
        """
        places = _in_order(_places(squares), self.stronger)
        images = _mirrored(places, self.stronger)
        mirrored = _file_list(images) < _file_list(places)
        return Found(self._numbers(np.where(mirrored[:, None], images, places)), mirrored)

    def pushes(self, side: Side) -> Pushes:
        """All single and double steps of a side's pawns that no pawn blocks."""
        places = _places(self.squares)
        able, forward = self._able(places, side), (1, -1)[side]
        structure, pawn, double = np.nonzero(able)
        left = places[structure, pawn]
        after = places[structure]
        after[np.arange(len(after)), pawn] = entered = left + forward * (1 + double)
        return Pushes(
            structure.astype(np.int32),
            pawn.astype(np.uint8),
            _squares(left),
            np.where(double == 1, _squares(left + forward), np.uint8(NO_SQUARE)),
            _squares(entered),
            self._numbers(after),
        )

    def _able(self, places: Places, side: Side) -> Flags:
        """Whether a pawn can make a single and a double step: `[structure][pawn][0 or 1]`."""
        able = np.zeros((*places.shape, 2), dtype=np.bool_)
        first, last, forward = ((1, 6, 1), (6, 1, -1))[side]
        for pawn, of in enumerate(self.sides):
            if of == side:
                place, rank = places[:, pawn], places[:, pawn] & 7
                able[:, pawn, 0] = (rank != last) & ~_taken(places, place + forward)
                double = (rank == first) & ~_taken(places, place + 2 * forward)
                able[:, pawn, 1] = able[:, pawn, 0] & double
        return able

    def _numbers(self, places: Places) -> Numbers:
        """The numbers of placings that are in order and kept."""
        keys = _keys(places, self.stronger)
        numbers = np.searchsorted(self.keys, keys)
        assert np.array_equal(self.keys.take(numbers, mode="clip"), keys), "no structure"
        return numbers.astype(np.int32)


@dataclass(frozen=True, eq=False)
class Placings:
    """Some structures, in an order of their own: the placings of pawns that a domain holds."""

    of: Structures
    numbers: Numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def squares(self) -> Squares:
        return self.of.squares[self.numbers]

    @cached_property
    def words(self) -> PawnWords:
        return pawn_words(self.squares, self.of.sides)

    @property
    def symmetric(self) -> Flags:
        return self.of.symmetric[self.numbers]


@cache
def structures(stronger: int, weaker: int) -> Structures:
    """All structures of so many pawns of either side."""
    ours, theirs = _placings(stronger), _placings(weaker)
    places = np.hstack([np.repeat(ours, len(theirs), axis=0), np.tile(theirs, (len(ours), 1))])
    apart = np.ones(len(places), dtype=np.bool_)
    for pawn in range(stronger):
        apart &= ~_taken(places[:, stronger:], places[:, pawn])
    places = places[apart]
    places = places[_file_list(places) <= _file_list(_mirrored(places, stronger))]
    keys = _keys(places, stronger)
    order = np.argsort(keys)
    return Structures(stronger, weaker, _squares(places[order]), keys[order])


def _placings(pawns: int) -> Places:
    """All placings of like pawns."""
    found = list(combinations(SQUARES_OF_A_PAWN, pawns))
    return np.array(found, dtype=np.int64).reshape(len(found), pawns)


def _taken(places: Places, place: Places) -> Flags:
    """Whether a pawn of each structure stands on the place given for it."""
    taken: Flags = (places == place[:, None]).any(axis=1)
    return taken


def _keys(places: Places, stronger: int) -> Places:
    """One number for each placing, in the order in which structures are numbered."""
    keys = _steps_to_go(places, stronger)
    for pawn in range(places.shape[1]):
        keys = keys << 3 | places[:, pawn] >> 3
    for pawn in range(places.shape[1]):
        keys = keys << 3 | places[:, pawn] & 7
    return keys


def _file_list(places: Places) -> Places:
    """The files of all pawns as the digits of one number."""
    files = np.zeros(len(places), dtype=np.int64)
    for pawn in range(places.shape[1]):
        files = files << 3 | places[:, pawn] >> 3
    return files


def _steps_to_go(places: Places, stronger: int) -> Places:
    ranks = places & 7
    ours, theirs = 6 - ranks[:, :stronger], ranks[:, stronger:] - 1
    steps: Places = ours.sum(axis=1) + theirs.sum(axis=1)
    return steps


def _in_order(places: Places, stronger: int) -> Places:
    ours, theirs = places[:, :stronger], places[:, stronger:]
    return np.hstack([np.sort(ours, axis=1), np.sort(theirs, axis=1)])


def _mirrored(places: Places, stronger: int) -> Places:
    return _in_order(places ^ 0b111_000, stronger)


def _places(squares: NDArray[np.integer]) -> Places:
    wide = squares.astype(np.int64)
    return (wide & 7) << 3 | wide >> 3


def _squares(places: Places) -> Squares:
    return ((places & 7) << 3 | places >> 3).astype(np.uint8)
