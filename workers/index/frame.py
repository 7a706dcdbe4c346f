"""The frame of Chinese chess: placements of kings, advisors and elephants.

No frame man crosses the river, so the two sides' frames never touch.  The upper frame is that of
the weaker side; of two placings of it that are mirror images of each other one is kept: a *block*.
The lower frame keeps all of its placements, and lies inside the blocks.

    side    K    KA    KAA    KE (KB)   KEE   KAE   KAAE   KAEE   KAAEE
    all     9    40    70     62        183   275   480    810    1410
    blocks  6    21    38     32        96    138   242    408    714

A move of a frame man leads from placement to placement; an elephant needs its eye, the square in
the middle, to be empty.  Where a frame man is taken, the placement without him is one of the
smaller frame.
"""

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import combinations, product
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.game.xiangqi.board import FILES, SQUARES, mirror, squares_of
from kingpair.workers.number_types import Partition

FRAME_LETTERS = "AB"
_STRAIGHT = ((1, 0), (-1, 0), (0, 1), (0, -1))
_DIAGONAL = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_HALF = 45


class SidePlacement(NamedTuple):
    """The squares of one side's king, advisors and elephants, like men in ascending order."""

    king: int
    advisors: tuple[int, ...]
    elephants: tuple[int, ...]

    @property
    def squares(self) -> tuple[int, ...]:
        return (self.king, *self.advisors, *self.elephants)

    @property
    def mirrored(self) -> "SidePlacement":
        king, advisors, elephants = (tuple(sorted(map(mirror, men))) for men in self.by_letter)
        return SidePlacement(king[0], advisors, elephants)

    @property
    def by_letter(self) -> tuple[tuple[int, ...], ...]:
        return (self.king,), self.advisors, self.elephants


class FrameMove(NamedTuple):
    """A move of a frame man: the placement it leads to, the square it enters, and its eye or -1."""

    after: SidePlacement
    to: int
    eye: int


class Kept(NamedTuple):
    """The number under which a placement is kept, and whether its mirror image is kept instead."""

    number: int
    mirrored: bool


class SideFrame:
    """All placements of one side's frame men; above, one of each pair of mirror images.

    They are listed when they are first asked for.  A table is opened with their number alone.
    """

    def __init__(self, advisors: int, elephants: int, upper: bool) -> None:
        self.advisors, self.elephants, self.upper = advisors, elephants, upper

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        """The number of kept placements, by the king's square: no advisor shares a square with an
        elephant.
        """
        every = symmetric = 0
        for king in squares_of("K", self.upper):
            men = [
                ([s for s in squares_of(letter, self.upper) if s != king], count)
                for letter, count in (("A", self.advisors), ("B", self.elephants))
            ]
            every += prod(comb(len(squares), count) for squares, count in men)
            if king == mirror(king):
                symmetric += prod(_symmetric_choices(*each) for each in men)
        return (every + symmetric) // 2 if self.upper else every

    @cached_property
    def all(self) -> tuple[SidePlacement, ...]:
        return tuple(_placements(self.advisors, self.elephants, self.upper))

    @cached_property
    def kept(self) -> tuple[SidePlacement, ...]:
        kept = tuple(p for p in self.all if not self.upper or p <= p.mirrored)
        assert len(kept) == len(self), f"{len(kept)} placements"
        return kept

    @cached_property
    def _number(self) -> dict[SidePlacement, int]:
        return {placement: i for i, placement in enumerate(self.kept)}

    def keep(self, placement: SidePlacement) -> Kept:
        found = self._number.get(placement)
        if found is not None:
            return Kept(found, False)
        return Kept(self._number[placement.mirrored], True)

    def contains(self, placement: SidePlacement) -> bool:
        return placement in self._number or placement.mirrored in self._number

    @cached_property
    def symmetric(self) -> NDArray[np.bool_]:
        """Kept placements that are their own mirror image."""
        return np.array([p == p.mirrored for p in self.kept])

    @cached_property
    def neighbours(self) -> tuple[tuple[Partition, ...], ...]:
        """For each placement the others that a move leads to."""
        entered = (
            {self.keep(move.after).number for move in self.moves(p)} - {i}
            for i, p in enumerate(self.kept)
        )
        return tuple(tuple(map(Partition, sorted(numbers))) for numbers in entered)

    def moves(self, placement: SidePlacement) -> Iterator[FrameMove]:
        for which, (letter, men) in enumerate(zip("KAB", placement.by_letter, strict=True)):
            for man in men:
                for to, eye in _steps(letter, man, self.upper):
                    if to in placement.squares or eye in placement.squares:
                        continue
                    after = list(placement.by_letter)
                    after[which] = tuple(sorted({*men, to} - {man}))
                    yield FrameMove(SidePlacement(after[0][0], after[1], after[2]), to, eye)

    def without(self, letter: str) -> "SideFrame | None":
        """The frame with one man of a letter less, None if there is none."""
        left = self.advisors - (letter == "A"), self.elephants - (letter == "B")
        return side_frame(*left, self.upper) if min(left) >= 0 else None

    @cached_property
    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.int16]]:
        """The squares taken `[placement][half]`, the king, and the moves `[placement][move][number,
        mirrored, to, eye]`, padded with -1.
        """
        standing = np.zeros((len(self), 2), np.uint64)
        for i, placement in enumerate(self.kept):
            for square in placement.squares:
                standing[i, square // _HALF] |= np.uint64(1 << square % _HALF)
        kings = np.array([placement.king for placement in self.kept], np.uint8)
        moves = [
            [(*self.keep(move.after), move.to, move.eye) for move in self.moves(placement)]
            for placement in self.kept
        ]
        return standing, kings, _padded(moves, 4)

    def captives(self, letter: str) -> NDArray[np.int16] | None:
        """The captures of men of a letter `[placement][man][number, mirrored, square]`."""
        smaller = self.without(letter)
        if smaller is None:
            return None
        rows = []
        for placement in self.kept:
            men = placement.advisors if letter == "A" else placement.elephants
            rows.append([(*smaller.keep(_less(placement, man)), man) for man in men])
        return _padded(rows, 3)


def _less(placement: SidePlacement, man: int) -> SidePlacement:
    king, advisors, elephants = placement
    return SidePlacement(
        king,
        tuple(s for s in advisors if s != man),
        tuple(s for s in elephants if s != man),
    )


def _padded(rows: Sequence[Sequence[tuple[int, ...]]], fields: int) -> NDArray[np.int16]:
    out = np.full((len(rows), max(1, *map(len, rows)), fields), -1, np.int16)
    for i, row in enumerate(rows):
        for k, entry in enumerate(row):
            out[i, k] = entry
    return out


def _symmetric_choices(squares: list[int], count: int) -> int:
    """The number of ways to choose squares so that the choice is its own mirror image."""
    middle = sum(square == mirror(square) for square in squares)
    pairs = (len(squares) - middle) // 2
    return sum(
        comb(middle, alone) * comb(pairs, (count - alone) // 2)
        for alone in range(count % 2, count + 1, 2)
    )


def _placements(advisors: int, elephants: int, upper: bool) -> Iterator[SidePlacement]:
    for king, a, e in product(
        squares_of("K", upper),
        combinations(squares_of("A", upper), advisors),
        combinations(squares_of("B", upper), elephants),
    ):
        if len({king, *a, *e}) == 1 + advisors + elephants:
            yield SidePlacement(king, a, e)


@cache
def _steps(letter: str, square: int, upper: bool) -> tuple[tuple[int, int], ...]:
    """The squares that a frame man steps to, each with its eye or -1."""
    found = []
    length = 2 if letter == "B" else 1
    for files, ranks in _STRAIGHT if letter == "K" else _DIAGONAL:
        file = square % FILES + length * files
        to = square + length * (files + FILES * ranks)
        if 0 <= file < FILES and to in SQUARES and to in squares_of(letter, upper):
            found.append((to, square + files + FILES * ranks if length == 2 else -1))
    return tuple(found)


@cache
def side_frame(advisors: int, elephants: int, upper: bool) -> SideFrame:
    return SideFrame(advisors, elephants, upper)
