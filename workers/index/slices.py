"""Slices: what is solved at a time of a table with pawns.

    slice      a level, or some structures of it that follow each other
    division   all slices of a table, in the order of their structures

Structures of one level never lead to each other, and a push leads to a lower level.  So a slice can
be solved once the slices that its pushes lead to are: they are among those of the two levels below.
The bytes of a table do not depend on its division, but the memory of a build does: it is that of a
slice.

A level that is one slice is named `3`, and its structures 0 and 1 as a slice of their own `3.0-2`.
"""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.index.structures import Placings, Structures, structures
from kingpair.workers.number_types import SIDES

DIVIDED_PAWNS = 3  # four of six men leave no piece, and sets are small
SLICES_MOST = 1200  # of a division: each takes a part of a second, however small it is


class LevelSlice(NamedTuple):
    """Some structures of a level: by their places in it the first one, and the first one that is
    not in the slice; None if the slice is the whole level.
    """

    level: int
    places: tuple[int, int] | None = None

    @staticmethod
    def parse(text: str) -> "LevelSlice":
        level, _, places = text.partition(".")
        if not places:
            return LevelSlice(int(level))
        first, _, stop = places.partition("-")
        return LevelSlice(int(level), (int(first), int(stop)))

    @property
    def size(self) -> int | None:
        """How many structures it has; None if all of its level."""
        return None if self.places is None else self.places[1] - self.places[0]

    def numbers(self, of: Structures) -> range:
        """The numbers of its structures."""
        return of.levels[self.level][slice(*self.places or (None,))]

    def placings(self, of: Structures) -> Placings:
        """Its structures, as a domain holds them."""
        return Placings(of, np.array(self.numbers(of), np.int32))

    def __str__(self) -> str:
        if self.places is None:
            return str(self.level)
        return f"{self.level}.{self.places[0]}-{self.places[1]}"


class Division(NamedTuple):
    """The slices of a table, the number of structures in each, and those that pushes lead to from
    each, by their places among the slices.
    """

    slices: tuple[LevelSlice, ...]
    sizes: tuple[int, ...]
    below: tuple[tuple[int, ...], ...]


@cache
def division(stronger: int, weaker: int, most: int | None = None) -> Division:
    """Divides the structures of so many pawns into slices of at most so many structures; without a
    limit each level is a slice, and the two levels below it are below it.
    """
    levels = structures(stronger, weaker).levels
    if most is None:
        numbers = range(len(levels))
        every, sizes = tuple(map(LevelSlice, numbers)), tuple(map(len, levels))
        return Division(every, sizes, tuple(tuple(range(max(0, n - 2), n)) for n in numbers))
    cuts = [each for level, of in enumerate(levels) for each in _slices_of(level, len(of), most)]
    sizes = tuple(len(each.numbers(structures(stronger, weaker))) for each in cuts)
    place = np.repeat(np.arange(len(cuts)), sizes)
    upper, lower = place[_pushes(stronger, weaker)]
    # Sorting numbers takes a fraction of the time of sorting pairs.
    upper, lower = np.divmod(np.unique(upper * len(cuts) + lower), len(cuts))
    ends = np.searchsorted(upper, np.arange(1, len(cuts)))
    below = tuple(tuple(some.tolist()) for some in np.split(lower, ends))
    return Division(tuple(cuts), sizes, below)


@cache
def _pushes(stronger: int, weaker: int) -> NDArray[np.int32]:
    """The structures that pushes leave, and those that they enter."""
    pushes = [structures(stronger, weaker).pushes(side) for side in SIDES]
    return np.hstack([np.stack([each.structure, each.into]) for each in pushes])


@cache
def needed(stronger: int, weaker: int, most: int | None) -> tuple[tuple[int, int], ...]:
    """The distinct sizes of slices, each with that of all slices below it; without those than which
    another slice has both larger.
    """
    divided = division(stronger, weaker, most)
    pairs = {
        (size, sum(divided.sizes[each] for each in below))
        for size, below in zip(divided.sizes, divided.below, strict=True)
    }
    found: list[tuple[int, int]] = []
    for size, lower in sorted(pairs, reverse=True):
        if not found or lower > found[-1][1]:
            found.append((size, lower))
    return tuple(found)


def _slices_of(level: int, size: int, most: int) -> list[LevelSlice]:
    """The slices of a level of so many structures: as few as can be, of sizes that differ by one at
    most.
    """
    count = -(-size // most)
    if count == 1:
        return [LevelSlice(level)]
    bounds = [size * at // count for at in range(count + 1)]
    return [LevelSlice(level, (a, b)) for a, b in pairwise(bounds)]


@cache
def limits(stronger: int, weaker: int) -> tuple[int, ...]:
    """The numbers of structures to which a slice can be limited, largest first: a half, a quarter
    and so on of the largest level.
    """
    kept = structures(stronger, weaker)
    if stronger + weaker > DIVIDED_PAWNS:
        return ()
    largest = max(map(len, kept.levels))
    powers = range(1, (largest - 1).bit_length() + 1)
    found = (-(-largest >> power) for power in powers)
    return tuple(most for most in found if len(kept) <= SLICES_MOST * most)
