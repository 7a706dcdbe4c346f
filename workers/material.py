"""Material: which men are on the board, and which tables a table rests on.

A material is written `KRBvKBN`: the stronger side first, each side's men in the order K Q R B N P.
The side with more men is the stronger; of sides with equally many, the first man that differs
decides. So every set of men has one name, however its user wrote it, and White of a position may
be the weaker side of its material: what normalises also says whether it swapped the colours.

Kings are implied. The other men are counted through, weaker side first: man 0, man 1, ... These
numbers are the axes of a table, the last one varying fastest. Weaker side first because where its
men stand is what decides most: a table compresses to as little as half of what the opposite order
gives (KRBvKR at zstd level 3: 10.5 MB against 18).

A capture takes one man off, so it leads to a material with one man less. All that can be reached
in this way, sorted into waves by the number of men, is the order in which tables are built.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import total_ordering
from itertools import combinations_with_replacement, groupby
from typing import NamedTuple

from workers.errors import BadMaterial

MEN_MAX = 6
LETTERS = "QRBNP"
PAWNLESS = "QRBN"
STRONGER, WEAKER = 0, 1


@total_ordering
@dataclass(frozen=True, slots=True)
class Material:
    """The men of both sides without their kings, stronger side first; sorted by name."""

    stronger: str
    weaker: str

    def __post_init__(self) -> None:
        assert self.stronger == _in_order(self.stronger), f"men out of order: {self.stronger}"
        assert self.weaker == _in_order(self.weaker), f"men out of order: {self.weaker}"
        assert _strength(self.stronger) <= _strength(self.weaker), f"weaker side first: {self.name}"

    @staticmethod
    def parse(text: str, men_max: int = MEN_MAX) -> "Material":
        """Read any usual form (`KQvKR`, `krkq`, `RKvQK`); refuse what no table can be built for."""
        material, _ = Material.of(*_sides(text))
        _check_buildable(material, men_max)
        return material

    @staticmethod
    def of(white: str, black: str) -> "tuple[Material, bool]":
        """The material of White's and Black's men, and whether Black is its stronger side."""
        white, black = _in_order(white), _in_order(black)
        swapped = _strength(black) < _strength(white)
        return (Material(black, white) if swapped else Material(white, black)), swapped

    @property
    def name(self) -> str:
        return f"K{self.stronger}vK{self.weaker}"

    @property
    def letters(self) -> str:
        """The letter of man 0, man 1, ..."""
        return self.weaker + self.stronger

    @property
    def sides(self) -> tuple[int, ...]:
        """The side of man 0, man 1, ...: 0 the stronger, 1 the weaker."""
        return (WEAKER,) * len(self.weaker) + (STRONGER,) * len(self.stronger)

    @property
    def men(self) -> int:
        """How many men, kings included."""
        return 2 + len(self.letters)

    @property
    def like_men(self) -> tuple[tuple[int, ...], ...]:
        """The groups of two or more men that can change places unseen: KBBvKN has ((1, 2),)."""
        return tuple(_like(self.weaker, 0)) + tuple(_like(self.stronger, len(self.weaker)))

    def captures(self) -> "tuple[Capture, ...]":
        """What is left when man 0, man 1, ... is taken."""
        return tuple(self._without(man) for man in range(len(self.letters)))

    def _without(self, man: int) -> "Capture":
        weaker, stronger = self._others(man, WEAKER), self._others(man, STRONGER)
        material, swapped = Material.of(self._spell(stronger), self._spell(weaker))
        return Capture(man, material, swapped, stronger + weaker if swapped else weaker + stronger)

    def _others(self, man: int, side: int) -> tuple[int, ...]:
        return tuple(i for i, s in enumerate(self.sides) if s == side and i != man)

    def _spell(self, men: Iterable[int]) -> str:
        return "".join(self.letters[man] for man in men)

    def __lt__(self, other: object) -> bool:
        return self.name < other.name if isinstance(other, Material) else NotImplemented

    def __str__(self) -> str:
        return self.name


class Capture(NamedTuple):
    """One man taken: the material that is left, and how to find one's way in it.

    `swapped` says that the side that was the stronger is now the weaker.
    `survivors` are the men that are left, in the order in which the smaller material counts them.
    """

    man: int
    material: Material
    swapped: bool
    survivors: tuple[int, ...]


def closure(materials: Iterable[Material]) -> tuple[tuple[Material, ...], ...]:
    """The materials and all that captures lead to, in waves of ascending number of men.

    Bare kings are left out: they are a draw and need no table.
    """
    found: set[Material] = set()
    waiting = list(materials)
    while waiting:
        material = waiting.pop()
        # Promotion leads to materials of the same wave, which captures alone would miss.
        assert "P" not in material.letters, f"{material}: pawns are not yet closed over"
        if material.letters and material not in found:
            found.add(material)
            waiting.extend(capture.material for capture in material.captures())
    return tuple(tuple(wave) for _, wave in groupby(sorted(found, key=_build_order), _men))


def every(men: int) -> tuple[Material, ...]:
    """All pawnless materials with so many men: 4 of three, 20 of four, 60 of five."""
    return tuple(sorted(set(_every(men - 2)), key=_build_order))


def _every(men: int) -> Iterator[Material]:
    for ours in range(men + 1):
        for white in combinations_with_replacement(PAWNLESS, ours):
            for black in combinations_with_replacement(PAWNLESS, men - ours):
                yield Material.of("".join(white), "".join(black))[0]


def _men(material: Material) -> int:
    return material.men


def _build_order(material: Material) -> tuple[object, ...]:
    """By number of men, inside a wave as a player would list them: KQvK, KRvK, KBvK, KNvK."""
    return material.men, _strength(material.stronger), _strength(material.weaker)


def _strength(letters: str) -> tuple[int, tuple[int, ...]]:
    """Smaller is stronger: more men first, then man by man."""
    return -len(letters), tuple(map(LETTERS.index, letters))


def _in_order(letters: str) -> str:
    assert set(letters) <= set(LETTERS), f"not only letters of {LETTERS}: {letters!r}"
    return "".join(sorted(letters, key=LETTERS.index))


def _like(letters: str, first: int) -> Iterator[tuple[int, ...]]:
    for _, group in groupby(range(len(letters)), key=letters.__getitem__):
        men = tuple(first + man for man in group)
        if len(men) > 1:
            yield men


def _sides(text: str) -> tuple[str, str]:
    """Both sides' men without the kings, from text that a person typed."""
    men = "".join(text.split()).upper()
    if not men:
        raise BadMaterial("empty material: name the men of both sides, such as KQvKR")
    unknown = sorted(set(men) - set("KV" + LETTERS))
    if unknown:
        raise _bad(text, f"{unknown[0]!r} is no man; use K Q R B N, and v between the sides")
    sides = men.split("V") if "V" in men else _split_at_second_king(text, men)
    if len(sides) != 2:
        raise _bad(text, f"needs two sides with one v between, such as KQvKR; has {len(sides)}")
    for side in sides:
        if side.count("K") != 1:
            raise _bad(text, f"each side needs one K, such as KQvKR; one has {side.count('K')}")
    white, black = (side.replace("K", "") for side in sides)
    return white, black


def _split_at_second_king(text: str, men: str) -> list[str]:
    if men.count("K") != 2:
        raise _bad(text, f"needs one K a side, such as KQvKR; has {men.count('K')} in all")
    if men[0] != "K":
        raise _bad(text, "unclear whose men are whose; begin each side with K, or write v between")
    second = men.index("K", 1)
    return [men[:second], men[second:]]


def _check_buildable(material: Material, men_max: int) -> None:
    if not material.letters:
        raise BadMaterial("KvK: bare kings are a draw, nothing to build; add a man, such as KQvK")
    if material.men > men_max:
        raise _bad(material.name, f"{material.men} men; at most {men_max}, kings included")
    if "P" in material.letters:
        raise _bad(material.name, "pawns: not yet solved; use K Q R B N, such as KQvKR")


def _bad(text: str, reason: str) -> BadMaterial:
    return BadMaterial(f"{text if len(text) <= 20 else text[:17] + '...'!r}: {reason}")
