"""The analysis by definition: retrograde analysis over plain sets of positions.

A position is `(pair, squares)`: the kings stand as their partition names them, and the other men
on `squares`, in the order in which the material counts them.  Everything is a set equation over
sets of such positions, slow and obvious; the kernels are compared with it, position by position.
It shares the geometry with them and nothing else: no bitmaps, no order of work, no skipping.

The equations, for the winner w and the loser l (see workers/kernels/kernels.cpp)::

    prepare        open_w = legal_w;  open_l = legal_l - escapes
    lose_at_once   L_0 = (open_l - unmove_l(open_w)) & (in check | can capture)
    win            W_n = (unmove_w(L_{n-1}) | exits) & open_w;            open_w -= W_n
    lose           L_n = (unmove_l(W_n) & open_l) - unmove_l(open_w);     open_l -= L_n

A smaller set, reached by capturing a man, is in the same frame: its kings stand as in the larger
one, and its men are the larger one's without the man taken.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

from workers.geometry import (
    DIAGONAL,
    MIRROR,
    PAIRS,
    PLACEMENTS,
    SQUARES,
    SYMMETRIES,
    Step,
    steps,
    turn,
)
from workers.material import STRONGER, WEAKER, Capture, Material
from workers.position import BISHOP, KNIGHT, QUEEN, ROOK

Squares = tuple[int, ...]
Position = tuple[int, Squares]
Positions = AbstractSet[Position]
Smaller = Mapping[int, Positions]
"""By the man taken: positions of what is left."""
NOTHING: Smaller = MappingProxyType({})

# How men move, as lines that lead away from a square; a knight's are one square long.
_LINES = {
    "Q": QUEEN,
    "R": ROOK,
    "B": BISHOP,
    "N": tuple(tuple((square,) for square in leaps) for leaps in KNIGHT),
}


# Which slots are positions


def slots(material: Material, pairs: Iterable[int]) -> Iterator[Position]:
    """Every way to put the men on the board, one on another included."""
    return product(pairs, product(SQUARES, repeat=len(material.letters)))


def is_legal(material: Material, to_move: int, position: Position) -> bool:
    """No two men share a square, and the side that is not to move is not in check."""
    pair, squares = position
    standing = (*PAIRS[pair], *squares)
    if len(set(standing)) < len(standing):
        return False
    king = PAIRS[pair][1 - to_move]
    return not any(
        side == to_move and king in line_of_sight(letter, square, standing)
        for letter, side, square in zip(material.letters, material.sides, squares, strict=True)
    )


def legal(material: Material, to_move: int, pairs: Iterable[int]) -> set[Position]:
    return {p for p in slots(material, pairs) if is_legal(material, to_move, p)}


def line_of_sight(letter: str, square: int, standing: Container[int]) -> Iterator[int]:
    """The squares that a man attacks, the first occupied one of each line included."""
    for line in _LINES[letter][square]:
        for target in line:
            yield target
            if target in standing:
                break


# Un-moves: the positions from which a side can move into the set


def unmove(material: Material, positions: Iterable[Position], side: int) -> set[Position]:
    positions = set(positions)
    found = unmove_king(positions, side)
    for man in _men(material, side):
        found |= unmove_man(material, positions, man)
    return found


def unmove_man(material: Material, positions: Iterable[Position], man: int) -> set[Position]:
    """A man goes back to where it came from over free squares: as it moves, so it un-moves."""
    letter, found = material.letters[man], set()
    for pair, squares in positions:
        standing = (*PAIRS[pair], *squares)
        before, after = squares[:man], squares[man + 1 :]
        for square in line_of_sight(letter, squares[man], standing):
            if square not in standing:
                found.add((pair, (*before, square, *after)))
    return found


def unmove_king(positions: Iterable[Position], side: int) -> set[Position]:
    """Each step of the king into a position's partition, taken back in the frame stepped from."""
    found = set()
    for pair, squares in positions:
        for before, step in _steps_into(side)[pair]:
            turned = turned_back(step.symmetry, squares)
            if not set(turned) & set(PAIRS[before]):
                found.add((before, turned))
    return found


def moves(material: Material, position: Position, side: int) -> set[Position]:
    """The positions that a quiet move leads into, legal or not: the converse of `unmove`."""
    pair, squares = position
    found = {
        (step.pair, tuple(turn(step.symmetry, square) for square in squares))
        for step in steps(pair, side)
        if step.square not in squares
    }
    for man in _men(material, side):
        found |= unmove_man(material, [position], man)
    return found


def turned_back(symmetry: int, squares: Squares) -> Squares:
    return tuple(_BACK[symmetry][square] for square in squares)


_BACK = [{turn(symmetry, square): square for square in SQUARES} for symmetry in SYMMETRIES]


def _men(material: Material, side: int) -> list[int]:
    return [man for man, of in enumerate(material.sides) if of == side]


@cache
def _steps_into(side: int) -> list[list[tuple[int, Step]]]:
    """By the partition stepped into: the one stepped from, and the step."""
    found: list[list[tuple[int, Step]]] = [[] for _ in PAIRS]
    for before in range(len(PAIRS)):
        for step in steps(before, side):
            found[step.pair].append((before, step))
    return found


# Captures: the positions from which a side can capture into smaller sets


def captures(material: Material, mover: int, smaller: Smaller) -> set[Position]:
    found = set()
    for captive, positions in smaller.items():
        found |= captures_by_king(mover, captive, positions)
        for captor in _men(material, mover):
            found |= captures_by_man(material, captor, captive, positions)
    return found


def captures_by_man(
    material: Material, captor: int, captive: int, positions: Positions
) -> set[Position]:
    """Put the captive where its captor stands after the capture; then take the captor back."""
    return unmove_man(material, {_met(p, captor, captive) for p in positions}, captor)


def _met(position: Position, captor: int, captive: int) -> Position:
    pair, left = position
    square = left[captor - (captor > captive)]
    return pair, (*left[:captive], square, *left[captive:])


def captures_by_king(side: int, captive: int, positions: Positions) -> set[Position]:
    """The captive stood where the king has stepped to."""
    found = set()
    for pair, left in positions:
        for before, step in _steps_into(side)[pair]:
            others = turned_back(step.symmetry, left)
            if not set(others) & {*PAIRS[before], step.square}:
                found.add((before, (*others[:captive], step.square, *others[captive:])))
    return found


# The steps of the analysis


def prepare(
    material: Material, winner: int, not_won: Smaller, pairs: Iterable[int]
) -> tuple[set[Position], set[Position]]:
    """What is open to the winner and to the loser before anything is known."""
    pairs, loser = list(pairs), 1 - winner
    escapes = captures(material, loser, not_won)
    return legal(material, winner, pairs), legal(material, loser, pairs) - escapes


def lose_at_once(
    material: Material, winner: int, won: Smaller, open_w: Positions, open_l: Positions
) -> set[Position]:
    """Mates, and positions whose every legal move is a capture into a won position.

    Were the winner to move, a loser in check could not be: `open_w` lacks the position.
    """
    helpless = set(open_l) - unmove(material, open_w, 1 - winner)
    in_check = helpless - open_w
    return in_check | (helpless & captures(material, 1 - winner, won))


def win(
    material: Material, winner: int, lost_after: Smaller, lost: Positions, open_w: Positions
) -> set[Position]:
    """Positions with a move into what the loser has lost."""
    reached = unmove(material, lost, winner) | captures(material, winner, lost_after)
    return reached & open_w


def lose(
    material: Material, winner: int, won: Positions, open_w: Positions, open_l: Positions
) -> set[Position]:
    """Positions that might lose, and whose every move does."""
    might_lose = unmove(material, won, 1 - winner) & open_l
    return might_lose - unmove(material, open_w, 1 - winner)


class Exits(NamedTuple):
    """What captures lead to."""

    not_won: Smaller = NOTHING
    """The loser captured, and the winner to move has not won."""
    won: Smaller = NOTHING
    """The loser captured, and the winner to move has won."""
    lost: Smaller = NOTHING
    """The winner captured, and the loser to move has lost."""


class Layers(NamedTuple):
    """Positions decided at one depth: the winner to move has won, the loser to move has lost."""

    won: set[Position]
    lost: set[Position]


def analyse(material: Material, winner: int, exits: Exits) -> Iterator[Layers]:
    """W_n and L_n for n = 0, 1, ... while there are any; W_0 is empty."""
    open_w, open_l = prepare(material, winner, exits.not_won, range(len(PAIRS)))
    layers = Layers(set(), lose_at_once(material, winner, exits.won, open_w, open_l))
    lost_after = exits.lost
    while True:
        yield layers
        open_l -= layers.lost
        won = win(material, winner, lost_after, layers.lost, open_w)
        if not won:
            return
        open_w -= won
        layers, lost_after = Layers(won, lose(material, winner, won, open_w, open_l)), NOTHING


# Whole materials


class Solution(NamedTuple):
    """All that a larger material asks of a smaller one about one winner."""

    legal: set[Position]
    """With the winner to move."""
    won: set[Position]
    lost: set[Position]


@cache
def solve(material: Material, winner: int) -> Solution:
    layers = list(analyse(material, winner, exits_of(material, winner)))
    return Solution(
        legal(material, winner, range(len(PAIRS))),
        set().union(*(layer.won for layer in layers)),
        set().union(*(layer.lost for layer in layers)),
    )


def exits_of(material: Material, winner: int) -> Exits:
    after = {
        capture.man: (side, in_larger_frame(capture, winner))
        for capture, side in zip(material.captures(), material.sides, strict=True)
    }
    taken_by_loser = {man: left for man, (side, left) in after.items() if side == winner}
    taken_by_winner = {man: left for man, (side, left) in after.items() if side != winner}
    return Exits(
        {man: left.legal - left.won for man, left in taken_by_loser.items()},
        {man: left.won for man, left in taken_by_loser.items()},
        {man: left.lost for man, left in taken_by_winner.items()},
    )


def in_larger_frame(capture: Capture, winner: int) -> Solution:
    solution = solve(capture.material, 1 - winner if capture.swapped else winner)
    return Solution(*({reframed(capture, p) for p in positions} for positions in solution))


def reframed(capture: Capture, position: Position) -> Position:
    """A position of the smaller material as one of the men that the capture leaves."""
    pair, squares = position
    symmetry = 0
    if capture.swapped:
        pair, symmetry = PLACEMENTS[PAIRS[pair][WEAKER], PAIRS[pair][STRONGER]]
    by_man = dict(zip(capture.survivors, squares, strict=True))
    return pair, tuple(turn(symmetry, by_man[man]) for man in sorted(by_man))


# Distinct positions


def canonical(material: Material, position: Position) -> Position:
    """The one slot that stands for a position: like men in order, of mirror images the smaller."""
    pair, squares = position
    images = [squares]
    if DIAGONAL[pair]:
        images.append(tuple(turn(MIRROR, square) for square in squares))
    return pair, min(_like_men_in_order(material, image) for image in images)


def _like_men_in_order(material: Material, squares: Squares) -> Squares:
    ordered = list(squares)
    for group in material.like_men:
        for man, square in zip(group, sorted(ordered[man] for man in group), strict=True):
            ordered[man] = square
    return tuple(ordered)
