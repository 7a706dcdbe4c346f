"""Materials in the order in which their tables are built.

A table rests on those of the materials that captures and promotions lead to.  These have fewer men,
or as many men and fewer pawns.  So tables are built in waves: a wave has all materials with the
same numbers of men and of pawns, and rests on earlier waves alone.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement, groupby

from kingpair.workers.game.chess.material import LETTERS, PAWNLESS, Material


def closure(materials: Iterable[Material]) -> tuple[tuple[Material, ...], ...]:
    """The materials, and all materials that captures and promotions lead to, in waves by ascending
    numbers of men and of pawns.

    Bare kings are left out, because they are a draw and need no table.
    """
    found: set[Material] = set()
    waiting = list(materials)
    while waiting:
        material = waiting.pop()
        if material.letters and material not in found:
            found.add(material)
            waiting.extend(exit_.material for exit_ in material.exits())
    return tuple(tuple(wave) for _, wave in groupby(sorted(found, key=_build_order), wave_of))


MEN_MIN = 3


def every(men: int, *, pawns: bool = False) -> tuple[Material, ...]:
    """All materials with so many men: without pawns 4 of three, 20 of four, 60 of five; with pawns
    5, 30 and 110.
    """
    letters = LETTERS if pawns else PAWNLESS
    return tuple(sorted(set(_every(men - 2, letters)), key=_build_order))


def up_to(men: int, *, pawnless: bool = False) -> tuple[Material, ...]:
    """Returns all materials of three to so many men: 145 of up to five, or the 84 without pawns."""
    return tuple(m for n in range(MEN_MIN, men + 1) for m in every(n, pawns=not pawnless))


def _every(men: int, letters: str) -> Iterator[Material]:
    for ours in range(men + 1):
        for white in combinations_with_replacement(letters, ours):
            for black in combinations_with_replacement(letters, men - ours):
                yield Material.of("".join(white), "".join(black))[0]


def wave_of(material: Material) -> tuple[int, int]:
    """Returns the numbers of men and of pawns: materials with the same ones are built together."""
    return material.men, sum(material.pawns)


def _build_order(material: Material) -> tuple[object, ...]:
    """By wave, inside a wave as a player would list them: KQvK, KRvK, KBvK, KNvK."""
    return wave_of(material), material.game.name, *material.strengths
