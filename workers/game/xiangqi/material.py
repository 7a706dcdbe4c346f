"""Material of Chinese chess: the men on the board, and the materials that captures lead to.

A material is written `xiangqi:KCPAvKAABB`, in FEN's letters: king, rook, horse (N), cannon, pawn,
advisor, elephant (B).  H, G and E are read as N, C and B.  The code of Wu and Beal's report is read
too, `100011-220000`: how many advisors, elephants, horses, rooks, cannons and pawns each side has.

The stronger side comes first: the one with more free men (R N C P), or with stronger ones, or else
with more frame men (A B).  It plays up the board in tables.  Free men have axes, pawns first and
cannons last, because a cannon is fastest as the bit and a pawn as a lane
(workers/kernels/xiangqi.hpp).

A capture leads to a material with one man less.  Advisors and elephants cannot be taken by a side
without free men, because kings, advisors and elephants never cross the river.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import ClassVar, NamedTuple

from kingpair.workers.errors import BadMaterial
from kingpair.workers.game.chess.material import MEN_MAX, Exit, Material
from kingpair.workers.game.game import XIANGQI, Game, is_report_code
from kingpair.workers.number_types import SIDES, STRONGER, WEAKER, Side, opponent

PREFIX = f"{XIANGQI.name}:"
LETTERS, FRAME = XIANGQI.letters, XIANGQI.frame
FREE = LETTERS.removesuffix(FRAME)
FREE_MAX = 4
_AXES = "PNRC"
_CODE = "ABNRCP"
_MOST = {"R": 2, "N": 2, "C": 2, "P": 5, "A": 2, "B": 2}
_ALIASES = str.maketrans("HGE", "NCB")


class XiangqiCapture(NamedTuple):
    """The capture of a man: which exit it is, and the smaller material.

    `exit` is the axis of a free man; of a frame man it is 4 + 2 * side + letter.  `swapped` is true
    if the stronger side of the larger material is the weaker of the smaller; the board is then
    flipped.
    """

    exit: int
    letter: str
    side: Side
    sides: tuple[str, str]
    material: "XiangqiMaterial"
    swapped: bool


@dataclass(frozen=True, slots=True)
class XiangqiMaterial(Material):
    """The men of both sides without their kings, stronger side first; sorted by name."""

    game: ClassVar[Game] = XIANGQI

    def __post_init__(self) -> None:
        for side in (self.stronger, self.weaker):
            assert side == in_order(side), f"men out of order: {side}"
        assert strength(self.stronger) <= strength(self.weaker), f"weaker side first: {self.name}"

    @staticmethod
    def parse(text: str, men_max: int = MEN_MAX) -> "XiangqiMaterial":
        """Reads any usual form, with or without `xiangqi:` before it; refuses bare kings."""
        text = text.strip()
        men = text[len(PREFIX) :] if text.lower().startswith(PREFIX) else text
        material, _ = XiangqiMaterial.of(*_sides(men))
        if not material.letters:
            raise BadMaterial(
                "xiangqi:KvK: bare kings are a draw, nothing to build; add a man, such as "
                "xiangqi:KPvKA"
            )
        if (fault := material.too_many()) is not None:
            raise _bad(text, fault)
        return material

    @staticmethod
    def of(white: str, black: str) -> "tuple[XiangqiMaterial, bool]":
        """The material of White's and Black's men, and whether Black is its stronger side."""
        white, black = in_order(white), in_order(black)
        swapped = strength(black) < strength(white)
        return XiangqiMaterial(*((black, white) if swapped else (white, black))), swapped

    @property
    def name(self) -> str:
        return PREFIX + "v".join(self.side_names)

    @property
    def side_names(self) -> tuple[str, str]:
        return f"K{self.stronger}", f"K{self.weaker}"

    @property
    def code(self) -> str:
        """The report's name, such as 100011-220000."""
        return "-".join(
            "".join(str(side.count(letter)) for letter in _CODE)
            for side in (self.stronger, self.weaker)
        )

    @property
    def letters(self) -> str:
        """The letter of man 0, man 1, ...: free men by axis, then the frame men."""
        return "".join(letter for letter, _ in self.pieces) + "".join(
            letter for side in (self.weaker, self.stronger) for letter in side if letter in FRAME
        )

    @property
    def sides(self) -> tuple[Side, ...]:
        """The side of man 0, man 1, ..."""
        found: list[Side] = [side for _, side in self.pieces]
        found += [WEAKER for letter in self.weaker if letter in FRAME]
        found += [STRONGER for letter in self.stronger if letter in FRAME]
        return tuple(found)

    @property
    def men(self) -> int:
        """The number of men, kings included."""
        return 2 + len(self.stronger) + len(self.weaker)

    def too_many(self, men_max: int = MEN_MAX) -> str | None:
        """The reason why no table holds so many men; frame men are never too many."""
        free = len(self.pieces)
        if free <= FREE_MAX:
            return None
        return f"{free} rooks, horses, cannons and pawns, at most {FREE_MAX}"

    @property
    def strengths(self) -> tuple[object, object]:
        return strength(self.stronger), strength(self.weaker)

    @property
    def pieces(self) -> tuple[tuple[str, Side], ...]:
        """The letter and side of each free man: of each axis of a table."""
        return axes_of(self.stronger, self.weaker)

    @property
    def has_pawns(self) -> bool:
        """Whether pawns divide the table into levels: in Chinese chess they move like other men."""
        return False

    @property
    def like_men(self) -> tuple[tuple[int, ...], ...]:
        """The groups of two or more men that can change places unseen."""
        men = list(enumerate(zip(self.letters, self.sides, strict=True)))
        groups = (tuple(i for i, _ in group) for _, group in groupby(men, lambda man: man[1]))
        return tuple(group for group in groups if len(group) > 1)

    def exits(self) -> tuple[Exit, ...]:
        """The moves out of the positions that are solved together: captures, of each kind one."""
        men = list(zip(self.letters, self.sides, strict=True))
        return tuple(
            Exit(
                opponent(each.side),
                None,
                men.index((each.letter, each.side)),
                None,
                each.material,
                each.swapped,
                (),
            )
            for each in self.men_taken()
        )

    def men_taken(self) -> tuple[XiangqiCapture, ...]:
        """The captures of free men, by axis, then of frame men by letter."""
        found = []
        for exit_, (letter, side) in enumerate(self.pieces):
            found.append(self._less(exit_, letter, side))
        for side in SIDES:
            for i, letter in enumerate(FRAME):
                taker = (self.weaker, self.stronger)[side]
                if letter in (self.stronger, self.weaker)[side] and set(taker) & set(FREE):
                    found.append(self._less(FREE_MAX + len(FRAME) * side + i, letter, side))
        return tuple(found)

    def _less(self, exit_: int, letter: str, side: Side) -> XiangqiCapture:
        left = [self.stronger, self.weaker]
        left[side] = left[side].replace(letter, "", 1)
        sides = left[0], left[1]
        return XiangqiCapture(exit_, letter, side, sides, *XiangqiMaterial.of(*left))


def axes_of(stronger: str, weaker: str) -> tuple[tuple[str, Side], ...]:
    """The letter and side of each free man, pawns first; of like letters the weaker side first."""
    sides: tuple[tuple[Side, str], ...] = ((WEAKER, weaker), (STRONGER, stronger))
    men = [(letter, side) for side, letters in sides for letter in letters if letter in FREE]
    return tuple(sorted(men, key=lambda man: (_AXES.index(man[0]), -man[1])))


def in_order(letters: str) -> str:
    assert set(letters) <= set(LETTERS), f"not only letters of {LETTERS}: {letters!r}"
    return "".join(sorted(letters, key=LETTERS.index))


def strength(letters: str) -> tuple[int, tuple[int, ...], int, tuple[int, ...]]:
    """A sort key, smaller for stronger men: free men first."""
    free = tuple(LETTERS.index(man) for man in letters if man in FREE)
    frame = tuple(LETTERS.index(man) for man in letters if man in FRAME)
    return -len(free), free, -len(frame), frame


def _sides(text: str) -> tuple[str, str]:
    if is_report_code(text):
        white, black = (
            "".join(letter * int(n) for letter, n in zip(_CODE, side, strict=True))
            for side in text.split("-")
        )
    else:
        white, black = _spelled(text)
    for side in (white, black):
        for letter, count in Counter(side).items():
            if count > _MOST[letter]:
                raise _bad(text, f"{count} {letter} on one side; at most {_MOST[letter]}")
    return white, black


def _spelled(text: str) -> tuple[str, str]:
    men = "".join(text.split()).upper().translate(_ALIASES)
    if not men:
        raise BadMaterial("empty material: name the men of both sides, such as xiangqi:KCPAvKAABB")
    unknown = sorted(set(men) - set("KV" + LETTERS))
    if unknown:
        raise _bad(text, f"{unknown[0]!r} is no man; use K A B N R C P, and v between the sides")
    sides = men.split("V")
    if len(sides) != 2:
        raise _bad(text, f"needs two sides with one v between; has {len(sides)}")
    for side in sides:
        if side.count("K") != 1:
            raise _bad(text, f"each side needs one K; one has {side.count('K')}")
    white, black = (side.replace("K", "") for side in sides)
    return white, black


def _bad(text: str, reason: str) -> BadMaterial:
    return BadMaterial(f"{text if len(text) <= 30 else text[:27] + '...'!r}: {reason}")


assert all(
    strength(a) < strength(b) for a, b in pairwise(["RR", "R", "N", "C", "PA", "P", "A", ""])
)
