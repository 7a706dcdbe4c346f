"""Men on squares in many positions at a time, and which of these positions are legal.

A placed man has a letter, a side and a square in each position: an array, or a single square if it
is the same in all of them.  The shapes of the squares of all men broadcast to the shape of the
positions.  These rules belong to the verifier alone; the solver has others.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.number_types import STRONGER, WEAKER

Squares = NDArray[np.intp]
Flags = NDArray[np.bool_]
Direction = tuple[int, int]  # files, ranks

_STRAIGHT: tuple[Direction, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
_DIAGONAL: tuple[Direction, ...] = ((1, 1), (-1, 1), (-1, -1), (1, -1))
_LEAPS = tuple((f, r) for f, r in product((-2, -1, 1, 2), repeat=2) if abs(f) != abs(r))
DIRECTIONS = {
    "K": _STRAIGHT + _DIAGONAL,
    "Q": _STRAIGHT + _DIAGONAL,
    "R": _STRAIGHT,
    "B": _DIAGONAL,
    "N": _LEAPS,
}
SLIDERS = "QRB"
FORWARD = (1, -1)  # the ranks that a pawn of each side goes


class PlacedMan(NamedTuple):
    """A man and its square in each position."""

    letter: str
    side: int
    square: Squares


Men = Sequence[PlacedMan]


def step(square: int, direction: Direction) -> int | None:
    """The square next to one in a direction; None off the board."""
    file, rank = (square & 7) + direction[0], (square >> 3) + direction[1]
    return 8 * rank + file if 0 <= file < 8 and 0 <= rank < 8 else None


def _walk(square: int, direction: Direction, steps: int) -> Iterator[int]:
    for _ in range(steps):
        following = step(square, direction)
        if following is None:
            return
        square = following
        yield square


def _attacks() -> dict[tuple[str, int], Flags]:
    """Whether a man of a letter and side attacks a square of an empty board: [from][to]."""
    found = {}
    for letter, side in product("KQRBNP", (STRONGER, WEAKER)):
        pawn: tuple[Direction, ...] = ((-1, FORWARD[side]), (1, FORWARD[side]))
        table = found[letter, side] = np.zeros((64, 64), np.bool_)
        for square, direction in product(range(64), DIRECTIONS.get(letter, pawn)):
            for to in _walk(square, direction, 7 if letter in SLIDERS else 1):
                table[square, to] = True
    return found


def _between() -> Flags:
    """Whether a square lies between two others of a line: [one][other][square]."""
    table = np.zeros((64, 64, 64), np.bool_)
    for square, direction in product(range(64), DIRECTIONS["Q"]):
        passed: list[int] = []
        for to in _walk(square, direction, 7):
            table[square, to, passed] = True
            passed.append(to)
    return table


_ATTACKS, _BETWEEN = _attacks(), _between()


def are_apart(men: Men) -> Flags:
    """Whether all men stand on different squares."""
    apart = np.ones((), np.bool_)
    for one, other in combinations(men, 2):
        apart = apart & (one.square != other.square)
    return apart


def in_check(men: Men, side: int) -> Flags:
    """Whether the king of a side is attacked.  Kings do not attack each other here."""
    king = next(man for man in men if (man.letter, man.side) == ("K", side))
    check = np.zeros((), np.bool_)
    for man in men:
        if man.side != side and man.letter != "K":
            check = check | _attack(man, king, men)
    return check


def _attack(attacker: PlacedMan, king: PlacedMan, men: Men) -> Flags:
    attack: Flags = _ATTACKS[attacker.letter, attacker.side][attacker.square, king.square]
    if attacker.letter in SLIDERS:
        for man in men:
            if man is not attacker and man is not king:
                attack = attack & ~_BETWEEN[attacker.square, king.square, man.square]
    return attack


def are_legal(men: Men, to_move: int) -> Flags:
    """Whether all men stand apart and the side not to move is not in check."""
    legal: Flags = are_apart(men) & ~in_check(men, 1 - to_move)
    return legal
