"""The reference twin for materials with pawns: slices, the depths of their exits, and solutions.

A position is `(structure, pair, squares)`: the pawns stand as the structure says, the kings as
their partition, one of 3,612, and the other men on `squares`, in the order in which the material
counts them.  Kings and pieces move quietly inside a slice, which is some structures of one level.
All other moves are exits: pushes, captures, promotions and captures that promote.  They are played
on the board, one by one (`reference_boards.py`), and the positions that they lead to are looked up.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product

import numpy as np

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.board import IDENTITY, MIRROR_FILES, MIRROR_RANKS, SQUARES, turn
from kingpair.workers.index.king_pairs import FIXED, TURNED
from kingpair.workers.index.structures import structures
from kingpair.workers.number_types import (
    SIDES,
    STRONGER,
    WEAKER,
    Partition,
    Side,
    Symmetry,
    opponent,
)
from kingpair.workers.solve import reference
from kingpair.workers.solve.equations import (
    Depths,
    Layers,
    P,
    analyse,
    by_depth,
    cost_of_losing,
    cost_of_winning,
)
from kingpair.workers.solve.reference import Squares, line_of_sight
from kingpair.workers.solve.reference_boards import Known, Man, Men, after_exit, exits, is_legal

Position = tuple[int, int, Squares]


# Slices


class Slice:
    """Some structures of one level of a material, with all kings and pieces."""

    def __init__(self, material: Material, numbers: Iterable[int]) -> None:
        self.material, self.numbers = material, tuple(numbers)
        men = list(zip(material.letters, material.sides, strict=True))
        self.pieces = [(letter, side) for letter, side in men if letter != "P"]
        self._pawns = {number: pawns_of(material, number) for number in self.numbers}

    def men(self, position: Position) -> Men:
        """The men of a position: kings, pawns, pieces."""
        structure, pair, squares = position
        stronger, weaker = FIXED.squares[pair]
        kings = Man("K", STRONGER, stronger), Man("K", WEAKER, weaker)
        placed = zip(self.pieces, squares, strict=True)
        return *kings, *self._pawns[structure], *(Man(*piece, square) for piece, square in placed)

    def legal(self, to_move: Side) -> set[Position]:
        squares = product(SQUARES, repeat=len(self.pieces))
        slots = product(self.numbers, FIXED.partitions, squares)
        return {slot for slot in slots if is_legal(self.men(slot), to_move)}

    def moves(self, position: Position, side: Side) -> set[Position]:
        """Steps of the king and moves of pieces to free squares."""
        structure, pair, squares = position
        standing = {man.square for man in self.men(position)}
        steps = (step for step in FIXED.steps(Partition(pair), side) if step.square not in standing)
        found: set[Position] = {(structure, step.pair, squares) for step in steps}
        for man, (letter, of) in enumerate(self.pieces):
            if of == side:
                for square in line_of_sight(letter, squares[man], standing):
                    if square not in standing:
                        after = (*squares[:man], square, *squares[man + 1 :])
                        found.add((structure, pair, after))
        return found

    def unmove(self, positions: Iterable[Position], side: Side) -> set[Position]:
        """Kings and pieces go back as they go."""
        return {before for position in positions for before in self.moves(position, side)}


@cache
def pawns_of(material: Material, number: int) -> Men:
    of = structures(*material.pawns)
    return tuple(
        Man("P", side, square)
        for side, square in zip(of.sides, of.squares[number].tolist(), strict=True)
    )


def exits_of(slice_: Slice, winner: Side, metric: Metric, known: Known) -> Depths[Position]:
    """eW and eL of all legal positions of a slice."""
    wins, loses, never = list[tuple[int, Position]](), list[tuple[int, Position]](), set[Position]()
    loser = opponent(winner)
    for position in slice_.legal(winner):
        costs = _costs(slice_.men(position), winner, winner, metric, known)
        if won := [cost for cost in costs if cost is not None]:
            wins.append((min(won), position))
    for position in slice_.legal(loser):
        costs = _costs(slice_.men(position), loser, winner, metric, known)
        lost = [cost for cost in costs if cost is not None]
        if len(lost) < len(costs):
            never.add(position)
        elif lost:
            loses.append((max(lost), position))
    return Depths(by_depth(wins), by_depth(loses), never)


def _costs(men: Men, mover: Side, winner: Side, metric: Metric, known: Known) -> list[int | None]:
    """The cost of each lawful exit; None if the winner does not win after it."""
    cost_of = cost_of_winning if mover == winner else cost_of_losing
    costs: list[int | None] = []
    for exit_ in exits(men, mover):
        if is_legal(exit_.after, opponent(mover)):
            depth = after_exit(known, metric, exit_, opponent(mover), winner)
            costs.append(None if depth is None else cost_of(metric, exit_.converts, depth))
    return costs


def layers_of(
    slice_: Slice, winner: Side, metric: Metric, known: Known
) -> Iterator[Layers[Position]]:
    """W_n and L_n of a slice for n = 0, 1, ..."""
    exits = exits_of(slice_, winner, metric, known)
    return analyse(slice_, winner, exits, metric.counts_plies)


# Whole materials


class Solutions:
    """Materials with and without pawns; each is solved when it is first asked for."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self._depths: dict[tuple[Material, int], dict[tuple[int, Position], int]] = {}

    def depth(self, men: Men, to_move: Side, winner: Side) -> int | None:
        material, men, swapped = in_order(men)
        to_move, winner = SIDES[to_move ^ swapped], SIDES[winner ^ swapped]
        if not material.letters:
            return None
        if material.has_pawns:
            return self.depths(material, winner).get((to_move, position_of(material, men)))
        pieces = _pieces_of(material, winner, self.metric)
        return pieces.get((to_move, _pieces_position(men)))

    def depths(self, material: Material, winner: Side) -> dict[tuple[int, Position], int]:
        """All depths of a material with pawns, by side to move and position."""
        key = material, winner
        if key not in self._depths:
            found = self._depths[key] = {}
            # A level asks for those before it, so they are entered one by one.
            for level in structures(*material.pawns).levels:
                slice_ = Slice(material, level)
                found |= _by_position(layers_of(slice_, winner, self.metric, self), winner)
        return self._depths[key]


def _by_position(layers: Iterable[Layers[P]], winner: Side) -> dict[tuple[int, P], int]:
    found: dict[tuple[int, P], int] = {}
    for depth, layer in enumerate(layers):
        found |= {(winner, position): depth for position in layer.won}
        found |= {(opponent(winner), position): depth for position in layer.lost}
    return found


@cache
def _pieces_of(
    material: Material, winner: Side, metric: Metric
) -> dict[tuple[int, reference.Position], int]:
    return _by_position(reference.solve(material, winner, metric).layers, winner)


def in_order(men: Men) -> tuple[Material, Men, bool]:
    """The material of some men, the men as it counts them, and whether the sides are swapped."""
    sides = ["".join(m.letter for m in men if m.side == s and m.letter != "K") for s in (0, 1)]
    material, swapped = Material.of(*sides)
    if swapped:
        men = tuple(Man(m.letter, opponent(m.side), turn(MIRROR_RANKS, m.square)) for m in men)
    return material, tuple(sorted(men, key=_counted)), swapped


def _counted(man: Man) -> tuple[bool, int, int]:
    """Kings first, the stronger one before; then as a material counts: the weaker side before."""
    if man.letter == "K":
        return False, man.side, 0
    return True, -man.side, "QRBNP".index(man.letter)


def position_of(material: Material, men: Men) -> Position:
    """Where a material with pawns has a position; `men` in its order."""
    pawns = tuple(m.square for side in SIDES for m in men if (m.letter, m.side) == ("P", side))
    structure, symmetry = _structure_of(material.pawns, pawns)
    squares = [turn(symmetry, m.square) for m in men if m.letter != "P"]
    return structure, FIXED.placements[squares[0], squares[1]].pair, tuple(squares[2:])


@cache
def _structure_of(counts: tuple[int, int], pawns: Squares) -> tuple[int, Symmetry]:
    """The structure of some pawns, and the symmetry that shows them as they stand in it."""
    found = structures(*counts).find(np.array([pawns], dtype=np.uint8))
    return int(found.numbers[0]), MIRROR_FILES if found.mirrored[0] else IDENTITY


def _pieces_position(men: Men) -> reference.Position:
    pair, symmetry = TURNED.placements[men[0].square, men[1].square]
    return pair, tuple(turn(symmetry, man.square) for man in men[2:])
