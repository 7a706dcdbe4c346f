"""Material: the men on the board, and the materials that captures and promotions lead to.

A material is written `KRBvKBN`: the stronger side first, each side's men in the order K Q R B N P.
The side with more men is the stronger; of sides with equally many, the first man that differs
decides. So every set of men has one name, in whatever form its user wrote it. White of a position
may be the weaker side of its material, so the functions that normalise also say whether they
swapped the colours.

Kings are implied. The other men are counted through, weaker side first: man 0, man 1, ... These
numbers are the axes of a table, the last one varying fastest. The weaker side comes first because
the squares of its men decide most: a table compresses to as little as half the size of the opposite
order (KRBvKR at zstd level 3: 10.5 MB against 18).

A capture leads to a material with one man less. A promotion leads to one with as many men and one
pawn less (waves.py).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, total_ordering
from itertools import groupby, product
from typing import ClassVar, NamedTuple

from kingpair.workers.errors import BadMaterial
from kingpair.workers.game.game import CHESS, Game, game_named
from kingpair.workers.number_types import STRONGER, WEAKER, Side

MEN_MAX = 6
SOLVED_MEN_MAX = 7
"""The men of the largest materials without pawns that the kernels solve.

A build, which also paints and proves a table, takes up to `MEN_MAX` men.
"""

LETTERS = CHESS.letters
PROMOTIONS = PAWNLESS = CHESS.promotions


@total_ordering
@dataclass(frozen=True, slots=True)
class Material:
    """The men of both sides without their kings, stronger side first; sorted by name."""

    stronger: str
    weaker: str

    game: ClassVar[Game] = CHESS

    def __post_init__(self) -> None:
        assert self.stronger == _in_order(self.stronger), f"men out of order: {self.stronger}"
        assert self.weaker == _in_order(self.weaker), f"men out of order: {self.weaker}"
        assert strength(self.stronger) <= strength(self.weaker), f"weaker side first: {self.name}"

    @staticmethod
    def parse(text: str, men_max: int = MEN_MAX) -> "Material":
        """Read any usual form (`KQvKR`, `krkq`, `RKvQK`); refuse bare kings and too many men.

        A name of another game, such as `xiangqi:KPvKA`, gives a material of that game.
        """
        if game_named(text) is not CHESS:
            from kingpair.workers.game.xiangqi.material import XiangqiMaterial  # it imports this

            return XiangqiMaterial.parse(text)
        material, _ = Material.of(*_sides(text))
        _check_size(material, men_max)
        return material

    @staticmethod
    def of(white: str, black: str) -> "tuple[Material, bool]":
        """The material of White's and Black's men, and whether Black is its stronger side."""
        white, black = _in_order(white), _in_order(black)
        swapped = strength(black) < strength(white)
        return (Material(black, white) if swapped else Material(white, black)), swapped

    @property
    def name(self) -> str:
        return "v".join(self.side_names)

    @property
    def side_names(self) -> tuple[str, str]:
        """The men of the stronger and of the weaker side with their kings, such as KQ and KR."""
        return f"K{self.stronger}", f"K{self.weaker}"

    @property
    def letters(self) -> str:
        """The letter of man 0, man 1, ..."""
        return self.weaker + self.stronger

    @property
    def sides(self) -> tuple[Side, ...]:
        """The side of man 0, man 1, ...: 0 the stronger, 1 the weaker."""
        weaker: list[Side] = [WEAKER] * len(self.weaker)
        stronger: list[Side] = [STRONGER] * len(self.stronger)
        return (*weaker, *stronger)

    @property
    def men(self) -> int:
        """The number of men, kings included."""
        return 2 + len(self.letters)

    def too_many(self, men_max: int = MEN_MAX) -> str | None:
        """The reason why no table holds so many men; None if one can."""
        return f"{self.men} men, at most {men_max}" if self.men > men_max else None

    @property
    def strengths(self) -> tuple[object, object]:
        """Sort keys of both sides, smaller for stronger men."""
        return strength(self.stronger), strength(self.weaker)

    @property
    def pawns(self) -> tuple[int, int]:
        """The numbers of pawns of the stronger and of the weaker side."""
        return self.stronger.count("P"), self.weaker.count("P")

    @property
    def pieces(self) -> "tuple[tuple[str, Side], ...]":
        """The letter and side of each man that is no pawn: of each axis of a table."""
        men = zip(self.letters, self.sides, strict=True)
        return tuple((letter, side) for letter, side in men if letter != "P")

    @property
    def has_pawns(self) -> bool:
        return "P" in self.letters

    @property
    def like_men(self) -> tuple[tuple[int, ...], ...]:
        """The groups of two or more men that can change places unseen: KBBvKN has ((1, 2),)."""
        return tuple(_like(self.weaker, 0)) + tuple(_like(self.stronger, len(self.weaker)))

    def captures(self) -> "tuple[Exit, ...]":
        """The captures of man 0, man 1, ... by the other side's king.

        A capture by another man leaves the same material, unless a pawn is promoted with it.
        """
        by_kings = (exit_ for exit_ in self.exits() if exit_.mover is None)
        return tuple(sorted(by_kings, key=lambda exit_: exit_.captive))

    def exits(self) -> "tuple[Exit, ...]":
        """The exits by each man in turn, kings first; see `Exit`."""
        return _exits(self)

    def _of(self, men: "Iterable[tuple[int, str]]") -> "tuple[Material, bool, tuple[int, ...]]":
        """The material of the given men, whose letters may have changed; whether its sides are
        swapped; and the men in the order in which it counts them.
        """
        of_side: tuple[list[tuple[int, str]], ...] = ([], [])
        for man, letter in men:
            of_side[self.sides[man]].append((man, letter))
        stronger, weaker = (sorted(found, key=_by_letter) for found in of_side)
        material, swapped = Material.of(_spell(stronger), _spell(weaker))
        in_order = stronger + weaker if swapped else weaker + stronger
        return material, swapped, tuple(man for man, _ in in_order)

    def __lt__(self, other: object) -> bool:
        return self.name < other.name if isinstance(other, Material) else NotImplemented

    def __str__(self) -> str:
        return self.name


class ExitKind(Enum):
    """The kinds of moves out of the positions that are solved together."""

    PUSH = "push"
    CAPTURE = "capture"
    PROMOTION = "promotion"
    CAPTURE_AND_PROMOTION = "capture and promotion"


class Exit(NamedTuple):
    """A move out of the positions that are solved together: its man, and the material after it.

    In a material without pawns the exits are the captures. With pawns, each pawn structure is
    solved by itself, so a push of one square or two is an exit too; it leads to the same material.

    `mover` is a man, or None for the king of `side`. `takes` is the captured man, or None;
    `becomes` is the letter of the promotion, or None. `swapped` is true if the stronger side is the
    weaker one of `material`. `survivors` are the remaining men in the order in which `material`
    counts them; a promoted mover keeps its number. A capture en passant is not an exit of its own:
    the double step before it includes it.
    """

    side: Side
    mover: int | None
    takes: int | None
    becomes: str | None
    material: Material
    swapped: bool
    survivors: tuple[int, ...]

    @property
    def captive(self) -> int:
        """The man that a capture takes."""
        assert self.takes is not None, f"no capture: {self}"
        return self.takes

    @property
    def kind(self) -> ExitKind:
        if self.takes is not None:
            return ExitKind.CAPTURE if self.becomes is None else ExitKind.CAPTURE_AND_PROMOTION
        return ExitKind.PUSH if self.becomes is None else ExitKind.PROMOTION


@cache
def _exits(material: Material) -> tuple[Exit, ...]:
    kings: list[tuple[int | None, Side]] = [(None, STRONGER), (None, WEAKER)]
    movers = [*kings, *enumerate(material.sides)]
    return tuple(exit_ for mover, side in movers for exit_ in _exits_by(material, mover, side))


def _exits_by(material: Material, mover: int | None, side: Side) -> Iterator[Exit]:
    captives = tuple(man for man, of in enumerate(material.sides) if of != side)
    if mover is None or material.letters[mover] != "P":
        yield from (_exit(material, side, mover, takes, None) for takes in captives)
        return
    for takes, becomes in product((None, *captives), (None, *PROMOTIONS)):
        # A promoting pawn cannot capture a pawn, because no pawn stands on the last rank.
        if becomes is None or takes is None or material.letters[takes] != "P":
            yield _exit(material, side, mover, takes, becomes)


def _exit(
    material: Material, side: Side, mover: int | None, takes: int | None, becomes: str | None
) -> Exit:
    men = dict(enumerate(material.letters))
    if takes is not None:
        del men[takes]
    if mover is not None and becomes is not None:
        men[mover] = becomes
    return Exit(side, mover, takes, becomes, *material._of(men.items()))


def strength(letters: str) -> tuple[int, tuple[int, ...]]:
    """A sort key, smaller for stronger men: more men first, then man by man."""
    return -len(letters), tuple(map(LETTERS.index, letters))


def _in_order(letters: str) -> str:
    assert set(letters) <= set(LETTERS), f"not only letters of {LETTERS}: {letters!r}"
    return "".join(sorted(letters, key=LETTERS.index))


def _by_letter(man: tuple[int, str]) -> int:
    return LETTERS.index(man[1])


def _spell(men: Iterable[tuple[int, str]]) -> str:
    return "".join(letter for _, letter in men)


def _like(letters: str, first: int) -> Iterator[tuple[int, ...]]:
    for _, group in groupby(range(len(letters)), key=letters.__getitem__):
        men = tuple(first + man for man in group)
        if len(men) > 1:
            yield men


def _sides(text: str) -> tuple[str, str]:
    """The men of both sides without the kings, from text that a person typed."""
    men = "".join(text.split()).upper()
    if not men:
        raise BadMaterial("empty material: name the men of both sides, such as KQvKR")
    unknown = sorted(set(men) - set("KV" + LETTERS))
    if unknown:
        raise _bad(text, f"{unknown[0]!r} is no man; use K Q R B N P, and v between the sides")
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


def _check_size(material: Material, men_max: int) -> None:
    if not material.letters:
        raise BadMaterial("KvK: bare kings are a draw, nothing to build; add a man, such as KQvK")
    if material.men > men_max:
        raise _bad(material.name, f"{material.men} men; at most {men_max}, kings included")


def _bad(text: str, reason: str) -> BadMaterial:
    return BadMaterial(f"{text if len(text) <= 20 else text[:17] + '...'!r}: {reason}")
