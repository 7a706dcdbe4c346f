"""The numbers that a sub-table of a Syzygy file gives to positions.

A sub-table lists its men in an order of its own.  The first men lead; like men stand together and
form one group.  Each group has a digit, and the digits have weights: the leading group's weight has
the place that the file states, the others follow in the order of the men.  The kernel computes
digits (kernels/syzygy_numbering.hpp); this module finds the groups.

Men are written as in the file: 1 to 6 for P N B R Q K, and 8 more for Black, who is the weaker side
of the material.
"""

from collections import Counter
from collections.abc import Sequence
from enum import IntEnum
from itertools import groupby
from typing import NamedTuple

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material

LETTERS = ".PNBRQK"
BLACK = 8
PAWN = LETTERS.index("P")
KING = LETTERS.index("K")
NO_ORDER = 15
"""The place of the second group of pawns, where there is none."""

Men = tuple[int, ...]


class GroupKind(IntEnum):
    """The kinds of groups, as the kernel numbers them."""

    THREE = 0
    KINGS = 1
    PAWNS = 2
    OTHER_PAWNS = 3
    LIKE = 4


class Group(NamedTuple):
    """Men that share a digit: the kind of the digit and how many they are."""

    kind: GroupKind
    men: int


class Order(NamedTuple):
    """The places of the leading group's weight and of that of the other side's pawns."""

    leading: int
    pawns: int = NO_ORDER


def men_of(material: Material) -> Men:
    """The men of a material, kings included, in ascending order."""
    sides = ((material.stronger, 0), (material.weaker, BLACK))
    return tuple(sorted(LETTERS.index(man) + side for men, side in sides for man in "K" + men))


def leading_pawns(material: Material) -> int:
    """The pawn, with its side, that leads: of the side with fewer pawns, White's if equal."""
    white, black = material.pawns
    return PAWN + BLACK if black and (not white or black < white) else PAWN


def groups_of(men: Men) -> tuple[Group, ...]:
    """The groups of some men in their order; ValueError if like men do not stand together."""
    runs = [(man, len(tuple(run))) for man, run in groupby(men)]
    if len({man for man, _ in runs}) != len(runs):
        raise ValueError("like men stand apart")
    if any(man % BLACK == PAWN for man in men):
        return _with_pawns(runs)
    single = sum(count == 1 for count in Counter(men).values())
    leading = Group(GroupKind.THREE, 3) if single >= 3 else Group(GroupKind.KINGS, 2)
    first = runs[: leading.men]
    if any(count > 1 for _, count in first):
        raise ValueError("its leading men are not single")
    if leading.kind is GroupKind.KINGS and any(man % BLACK != KING for man, _ in first):
        raise ValueError("its leading men are not the kings")
    return (leading, *(Group(GroupKind.LIKE, count) for _, count in runs[leading.men :]))


def _with_pawns(runs: Sequence[tuple[int, int]]) -> tuple[Group, ...]:
    pawns = sum(man % BLACK == PAWN for man, _ in runs)
    if any(man % BLACK == PAWN for man, _ in runs[pawns:]):
        raise ValueError("pawns stand behind pieces")
    kinds = [GroupKind.PAWNS, GroupKind.OTHER_PAWNS][:pawns] + [GroupKind.LIKE] * len(runs)
    return tuple(Group(kind, count) for kind, (_, count) in zip(kinds, runs, strict=False))


def weights(groups: Sequence[Group], order: Order) -> tuple[int, ...]:
    """The groups by ascending weight of their digits; ValueError if a place is impossible."""
    placed = {order.leading: 0}
    if has_other_pawns(groups):
        placed[order.pawns] = 1
    others = iter(sorted(set(range(len(groups))) - set(placed.values())))
    found = [placed[i] if i in placed else next(others, -1) for i in range(len(groups))]
    if sorted(found) != list(range(len(groups))):
        raise ValueError("its leading digit has no place")
    return tuple(found)


def has_other_pawns(groups: Sequence[Group]) -> bool:
    return len(groups) > 1 and groups[1].kind is GroupKind.OTHER_PAWNS


def numbering(men: Men, order: Order, file: int = 0) -> _kernels.SyzygyNumbering:
    """The numbering of a sub-table; with pawns, of the one for leading pawns on a file a to d."""
    groups = groups_of(men)
    shape = [(int(group.kind), group.men) for group in groups]
    return _kernels.SyzygyNumbering(shape, list(weights(groups, order)), file)
