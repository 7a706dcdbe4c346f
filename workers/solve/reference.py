"""The reference twin for materials without pawns: their moves over plain sets of positions.

A position is `(pair, squares)`: the kings stand as their partition names them, and the other men
on `squares`, in the order in which the material counts them.  Everything is a set equation over
sets of such positions, slow and obvious; the kernels are compared with it, position by position.
It shares the geometry with them and nothing else: no bitmaps, no order of work, no skipping.

The analysis itself stands in `equations.py`.  The kernels take it in steps, for the winner w and
the loser l (see workers/kernels/kernels.cpp)::

    prepare        open_w = legal_w;  open_l = legal_l - escapes
    lose_at_once   L_0 = (open_l - unmove_l(open_w)) & (in check | can capture)
    win            W_n = (unmove_w(L_{n-1}) | exits(n)) & open_w;              open_w -= W_n
    lose           L_n = (unmove_l(W_n) & open_l | freed(n)) - unmove_l(open_w);
                   open_l = (open_l | freed(n)) - L_n

Escapes are exits that do not lose yet.  A position is freed at the depth at which the last of its
exits does.  A smaller set, reached by capturing a man, is in the same frame: its kings stand as in
the larger one, and its men are the larger one's without the man taken.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

from kingpair.workers.game.chess.material import Exit, Material
from kingpair.workers.game.chess.position import BISHOP, KNIGHT, QUEEN, ROOK
from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.index.board import IDENTITY, MIRROR_DIAGONAL, SQUARES, SYMMETRIES, turn
from kingpair.workers.index.king_pairs import TURNED, Step
from kingpair.workers.number_types import STRONGER, WEAKER, Partition, Side, Symmetry, opponent
from kingpair.workers.solve import equations
from kingpair.workers.solve.equations import Depths, Layers, cost_of_losing, cost_of_winning

Squares = tuple[int, ...]
Position = tuple[int, Squares]
Positions = AbstractSet[Position]
Smaller = Mapping[int, Positions]
"""By the man taken: positions of what is left."""
ByCost = Mapping[int, Smaller]
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


def is_legal(material: Material, to_move: Side, position: Position) -> bool:
    """No two men share a square, and the side that is not to move is not in check."""
    pair, squares = position
    standing = (*TURNED.squares[pair], *squares)
    if len(set(standing)) < len(standing):
        return False
    king = TURNED.squares[pair][opponent(to_move)]
    return not any(
        side == to_move and king in line_of_sight(letter, square, standing)
        for letter, side, square in zip(material.letters, material.sides, squares, strict=True)
    )


def legal(material: Material, to_move: Side, pairs: Iterable[int]) -> set[Position]:
    return {p for p in slots(material, pairs) if is_legal(material, to_move, p)}


def line_of_sight(letter: str, square: int, standing: Container[int]) -> Iterator[int]:
    """The squares that a man attacks, the first occupied one of each line included."""
    for line in _LINES[letter][square]:
        for target in line:
            yield target
            if target in standing:
                break


# Un-moves: the positions from which a side can move into the set


def unmove(material: Material, positions: Iterable[Position], side: Side) -> set[Position]:
    positions = set(positions)
    found = unmove_king(positions, side)
    for man in _men(material, side):
        found |= unmove_man(material, positions, man)
    return found


def unmove_man(material: Material, positions: Iterable[Position], man: int) -> set[Position]:
    """A man goes back to where it came from over free squares: as it moves, so it un-moves."""
    letter, found = material.letters[man], set()
    for pair, squares in positions:
        standing = (*TURNED.squares[pair], *squares)
        before, after = squares[:man], squares[man + 1 :]
        for square in line_of_sight(letter, squares[man], standing):
            if square not in standing:
                found.add((pair, (*before, square, *after)))
    return found


def unmove_king(positions: Iterable[Position], side: Side) -> set[Position]:
    """Each step of the king into a position's partition, taken back in the frame stepped from."""
    found = set[Position]()
    for pair, squares in positions:
        for before, step in _steps_into(side)[pair]:
            turned = turned_back(step.symmetry, squares)
            if not set(turned) & set(TURNED.squares[before]):
                found.add((before, turned))
    return found


def moves(material: Material, position: Position, side: Side) -> set[Position]:
    """The positions that a quiet move leads into, legal or not: the converse of `unmove`."""
    pair, squares = position
    found: set[Position] = {
        (step.pair, tuple(turn(step.symmetry, square) for square in squares))
        for step in TURNED.steps(Partition(pair), side)
        if step.square not in squares
    }
    for man in _men(material, side):
        found |= unmove_man(material, [position], man)
    return found


def turned_back(symmetry: Symmetry, squares: Squares) -> Squares:
    return tuple(_BACK[symmetry][square] for square in squares)


_BACK = [{turn(symmetry, square): square for square in SQUARES} for symmetry in SYMMETRIES]


def _men(material: Material, side: Side) -> list[int]:
    return [man for man, of in enumerate(material.sides) if of == side]


@cache
def _steps_into(side: Side) -> list[list[tuple[Partition, Step]]]:
    """By the partition stepped into: the one stepped from, and the step."""
    found: list[list[tuple[Partition, Step]]] = [[] for _ in TURNED.squares]
    for before in TURNED.partitions:
        for step in TURNED.steps(before, side):
            found[step.pair].append((before, step))
    return found


# Captures: the positions from which a side can capture into smaller sets


def captures(material: Material, mover: Side, smaller: Smaller) -> set[Position]:
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


def captures_by_king(side: Side, captive: int, positions: Positions) -> set[Position]:
    """The captive stood where the king has stepped to."""
    found = set[Position]()
    for pair, left in positions:
        for before, step in _steps_into(side)[pair]:
            others = turned_back(step.symmetry, left)
            if not set(others) & {*TURNED.squares[before], step.square}:
                found.add((before, (*others[:captive], step.square, *others[captive:])))
    return found


# The steps of the analysis, as the kernels take them


def prepare(
    material: Material, winner: Side, not_won: Smaller, pairs: Iterable[int]
) -> tuple[set[Position], set[Position]]:
    """The positions open to the winner and to the loser before anything is known."""
    pairs, loser = list(pairs), opponent(winner)
    escapes = captures(material, loser, not_won)
    return legal(material, winner, pairs), legal(material, loser, pairs) - escapes


def lose_at_once(
    material: Material, winner: Side, won: Smaller, open_w: Positions, open_l: Positions
) -> set[Position]:
    """Mates, and positions whose every legal move is a capture into a won position.

    Were the winner to move, a loser in check could not be: `open_w` lacks the position.
    """
    helpless = set(open_l) - unmove(material, open_w, opponent(winner))
    in_check = helpless - open_w
    return in_check | (helpless & captures(material, opponent(winner), won))


def win(
    material: Material, winner: Side, lost_after: Smaller, lost: Positions, open_w: Positions
) -> set[Position]:
    """Positions with a move into what the loser has lost."""
    reached = unmove(material, lost, winner) | captures(material, winner, lost_after)
    return reached & open_w


def lose(
    material: Material,
    winner: Side,
    won: Positions,
    open_w: Positions,
    open_l: Positions,
    freed: Positions = frozenset(),
) -> set[Position]:
    """Positions that might lose, and whose every move does; `freed` are open from now on."""
    might_lose = (unmove(material, won, opponent(winner)) & open_l) | freed
    return might_lose - unmove(material, open_w, opponent(winner))


class CaptureTargets(NamedTuple):
    """The positions that captures lead to."""

    not_won: Smaller = NOTHING
    """The loser captured, and the winner to move has not won."""
    won: Smaller = NOTHING
    """The loser captured, and the winner to move has won."""
    lost: Smaller = NOTHING
    """The winner captured, and the loser to move has lost."""


def analyse(material: Material, winner: Side, exits: CaptureTargets) -> Iterator[Layers[Position]]:
    """W_n and L_n for dtc: every capture is a conversion."""
    depths = depths_of(material, winner, exits.not_won, {0: exits.won}, {1: exits.lost})
    return equations.analyse(Pieces(material), winner, depths)


# Whole materials


class Pieces(NamedTuple):
    """All positions of a material as a domain."""

    material: Material

    def legal(self, to_move: Side) -> set[Position]:
        return legal(self.material, to_move, TURNED.partitions)

    def unmove(self, positions: Iterable[Position], side: Side) -> set[Position]:
        return unmove(self.material, positions, side)

    def moves(self, position: Position, side: Side) -> set[Position]:
        return moves(self.material, position, side)


class Solution(NamedTuple):
    """All that a larger material asks of a smaller one about one winner."""

    legal: set[Position]
    """With the winner to move."""
    layers: tuple[Layers[Position], ...]

    @property
    def won(self) -> set[Position]:
        return set[Position]().union(*(layer.won for layer in self.layers))

    @property
    def lost(self) -> set[Position]:
        return set[Position]().union(*(layer.lost for layer in self.layers))


@cache
def solve(
    material: Material, winner: Side, metric: Metric = Metric.DTC, limit: int = CLOCK_LIMIT
) -> Solution:
    exits = captures_by_depth(material, winner, metric, limit)
    layers = tuple(equations.analyse(Pieces(material), winner, exits, metric.counts_plies))
    return Solution(legal(material, winner, TURNED.partitions), layers)


def exits_of(material: Material, winner: Side) -> CaptureTargets:
    """The positions that captures lead to, of any depth."""
    by_loser, by_winner = after_captures(material, winner, Metric.DTC, CLOCK_LIMIT)
    return CaptureTargets(
        {man: left.legal - left.won for man, left in by_loser.items()},
        {man: left.won for man, left in by_loser.items()},
        {man: left.lost for man, left in by_winner.items()},
    )


def captures_by_depth(
    material: Material, winner: Side, metric: Metric, limit: int = CLOCK_LIMIT
) -> Depths[Position]:
    by_loser, by_winner = after_captures(material, winner, metric, limit)
    not_won = {man: left.legal - left.won for man, left in by_loser.items()}
    won: defaultdict[int, dict[int, set[Position]]] = defaultdict(dict)
    lost: defaultdict[int, dict[int, set[Position]]] = defaultdict(dict)
    for man, left in by_loser.items():
        for depth, layer in enumerate(left.layers):
            into = won[cost_of_losing(metric, True, depth, limit)]
            into[man] = into.get(man, set()) | layer.won
    for man, left in by_winner.items():
        for depth, layer in enumerate(left.layers):
            into = lost[cost_of_winning(metric, True, depth, limit)]
            into[man] = into.get(man, set()) | layer.lost
    return depths_of(material, winner, not_won, won, lost)


def depths_of(
    material: Material, winner: Side, not_won: Smaller, won: ByCost, lost: ByCost
) -> Depths[Position]:
    """The depths of captures, given the positions that they lead to, by cost."""
    return Depths(
        {cost: captures(material, winner, smaller) for cost, smaller in lost.items()},
        {cost: captures(material, opponent(winner), smaller) for cost, smaller in won.items()},
        captures(material, opponent(winner), not_won),
    )


def after_captures(
    material: Material, winner: Side, metric: Metric, limit: int
) -> tuple[dict[int, Solution], dict[int, Solution]]:
    """By the man that the loser takes, and by the man that the winner takes: what is left."""
    by_loser, by_winner = dict[int, Solution](), dict[int, Solution]()
    for capture, side in zip(material.captures(), material.sides, strict=True):
        taken = by_loser if side == winner else by_winner
        taken[capture.captive] = in_larger_frame(capture, winner, metric, limit)
    return by_loser, by_winner


def in_larger_frame(capture: Exit, winner: Side, metric: Metric, limit: int) -> Solution:
    of = opponent(winner) if capture.swapped else winner
    solution = solve(capture.material, of, metric, limit)

    def seen(positions: Positions) -> set[Position]:
        return {reframed(capture, position) for position in positions}

    layers = tuple(Layers(seen(layer.won), seen(layer.lost)) for layer in solution.layers)
    return Solution(seen(solution.legal), layers)


def reframed(capture: Exit, position: Position) -> Position:
    """A position of the smaller material as one of the men that the capture leaves."""
    pair, squares = position
    symmetry = IDENTITY
    if capture.swapped:
        pair, symmetry = TURNED.placements[
            TURNED.squares[pair][WEAKER], TURNED.squares[pair][STRONGER]
        ]
    by_man = dict(zip(capture.survivors, squares, strict=True))
    return pair, tuple(turn(symmetry, by_man[man]) for man in sorted(by_man))


# Distinct positions


def canonical(material: Material, position: Position) -> Position:
    """The one slot that stands for a position: like men in order, of mirror images the smaller."""
    pair, squares = position
    images = [squares]
    if TURNED.diagonal[pair]:
        images.append(tuple(turn(MIRROR_DIAGONAL, square) for square in squares))
    return pair, min(_like_men_in_order(material, image) for image in images)


def _like_men_in_order(material: Material, squares: Squares) -> Squares:
    ordered = list(squares)
    for group in material.like_men:
        for man, square in zip(group, sorted(ordered[man] for man in group), strict=True):
            ordered[man] = square
    return tuple(ordered)
