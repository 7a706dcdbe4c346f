"""Families of exits: moves that pawns make, and captures of pawns by pieces and kings.  For each,
the structures that it is made from, and the pawns that it leaves.

Like pawns are interchangeable, so a family has one exit for each placing from which it can be made.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.game.chess.material import Exit, Material
from kingpair.workers.index.structures import Squares
from kingpair.workers.number_types import Side, opponent
from kingpair.workers.sets.domain import Domain
from kingpair.workers.solve.arrows import MEETING, PLAIN, TAKING


class Family(NamedTuple):
    """Exits of one kind: the child's pawns for each of them, the structure that they are made from,
    the square of the arrow, and the square of a pawn that is promoted.
    """

    exit: Exit
    way: int
    axis: int
    squares: Squares  # of the pawns that are left, in our frame
    sides: tuple[Side, ...]  # of these pawns
    made_from: NDArray[np.intp]
    on: NDArray[np.intp]
    promoted_on: NDArray[np.intp]  # -1 where nothing is promoted


def families(domain: Domain, side: Side) -> Iterator[Family]:
    """The exits of a side that pawns make, and those in which pieces and kings take pawns."""
    material, placings = domain.material, domain.placings
    assert placings is not None
    pawns = _Pawns(placings.squares, placings.of.sides)
    seen: set[tuple[object, ...]] = set()
    for exit_ in material.exits():
        if exit_.side != side:
            continue
        by_pawn = exit_.mover is not None and material.letters[exit_.mover] == "P"
        takes = None if exit_.takes is None else material.letters[exit_.takes]
        # Like pawns are interchangeable, and so are the pieces and the king that take a pawn.
        kind = by_pawn, takes if takes == "P" else exit_.takes, exit_.becomes
        if (
            kind in seen
            or (not by_pawn and takes != "P")
            or (by_pawn and exit_.kind.value == "push")
        ):
            continue
        seen.add(kind)
        found = _family(material, pawns, exit_, by_pawn, takes)
        if len(found.made_from):
            yield found


class _Pawns:
    """The pawns of the structures of a domain."""

    def __init__(self, squares: Squares, sides: tuple[Side, ...]) -> None:
        self.squares, self.sides = squares.astype(np.int64), sides

    def without(self, structure: NDArray[np.intp], *pawns: int) -> tuple[Squares, tuple[Side, ...]]:
        kept = [pawn for pawn in range(len(self.sides)) if pawn not in pawns]
        left = self.squares[structure][:, kept].astype(np.uint8)
        return left, tuple(self.sides[pawn] for pawn in kept)

    def of(self, side: Side) -> list[int]:
        return [pawn for pawn, of in enumerate(self.sides) if of == side]


def _family(
    material: Material, pawns: _Pawns, exit_: Exit, by_pawn: bool, takes: str | None
) -> Family:
    if not by_pawn:
        parts = list(_taken(pawns, exit_.side))
        return _joined(exit_, MEETING, 0, parts)
    if takes is None:
        return _joined(exit_, PLAIN, 0, list(_promoted(pawns, exit_.side)))
    if takes == "P":
        return _joined(exit_, PLAIN, 0, list(_pawn_by_pawn(pawns, exit_.side)))
    assert exit_.takes is not None
    pieces = [man for man, letter in enumerate(material.letters) if letter != "P"]
    promotes = exit_.becomes is not None
    parts = list(_piece_by_pawn(pawns, exit_.side, promotes))
    return _joined(exit_, TAKING, pieces.index(exit_.takes), parts)


class _Part(NamedTuple):
    """Exits of one pawn: see `Family`."""

    squares: Squares
    sides: tuple[Side, ...]
    made_from: NDArray[np.intp]
    on: NDArray[np.intp]
    promoted_on: NDArray[np.intp]


def _joined(exit_: Exit, way: int, axis: int, parts: list[_Part]) -> Family:
    if not parts:
        nothing = np.zeros(0, np.intp)
        return Family(exit_, way, axis, np.zeros((0, 0), np.uint8), (), nothing, nothing, nothing)
    sides = parts[0].sides
    assert all(part.sides == sides for part in parts), "pawns of a side are listed together"
    return Family(
        exit_,
        way,
        axis,
        np.concatenate([part.squares for part in parts]),
        sides,
        np.concatenate([part.made_from for part in parts]),
        np.concatenate([part.on for part in parts]),
        np.concatenate([part.promoted_on for part in parts]),
    )


def _taken(pawns: _Pawns, side: Side) -> Iterator[_Part]:
    everywhere = np.arange(len(pawns.squares))
    for pawn in pawns.of(opponent(side)):
        left, sides = pawns.without(everywhere, pawn)
        nowhere = np.full(len(everywhere), -1)
        yield _Part(left, sides, everywhere, pawns.squares[:, pawn], nowhere)


def _promoted(pawns: _Pawns, side: Side) -> Iterator[_Part]:
    for pawn in pawns.of(side):
        able = np.flatnonzero(pawns.squares[:, pawn] >> 3 == _LAST[side])
        on = pawns.squares[able, pawn] + _FORWARD[side]
        yield _Part(*pawns.without(able, pawn), able, on, on)


def _reached(
    pawns: _Pawns, side: Side, pawn: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The structures in which a pawn attacks a square on its left, and on its right; the square."""
    for files in (-1, 1):
        file = (pawns.squares[:, pawn] & 7) + files
        able = np.flatnonzero((file >= 0) & (file < 8))
        yield able, pawns.squares[able, pawn] + _FORWARD[side] + files


def _pawn_by_pawn(pawns: _Pawns, side: Side) -> Iterator[_Part]:
    for pawn in pawns.of(side):
        for captive in pawns.of(opponent(side)):
            for able, on in _reached(pawns, side, pawn):
                met = pawns.squares[able, captive] == on
                structure, square = able[met], on[met]
                yield _moved(pawns, structure, pawn, square, captive)


def _piece_by_pawn(pawns: _Pawns, side: Side, promotes: bool) -> Iterator[_Part]:
    for pawn in pawns.of(side):
        for able, on in _reached(pawns, side, pawn):
            free = (pawns.squares[able] != on[:, None]).all(axis=1)
            chosen = free & ((pawns.squares[able, pawn] >> 3 == _LAST[side]) == promotes)
            structure, square = able[chosen], on[chosen]
            if promotes:
                yield _Part(*pawns.without(structure, pawn), structure, square, square)
            else:
                yield _moved(pawns, structure, pawn, square)


def _moved(
    pawns: _Pawns,
    structure: NDArray[np.intp],
    pawn: int,
    square: NDArray[np.intp],
    captive: int = -1,
) -> _Part:
    """A pawn has gone to a square, where it may have taken another."""
    squares = pawns.squares[structure]
    squares[:, pawn] = square
    after = _Pawns(squares.astype(np.uint8), pawns.sides)
    left, sides = after.without(np.arange(len(structure)), captive)
    return _Part(left, sides, structure, square, np.full(len(structure), -1))


_LAST = (6, 1)  # the rank from which a pawn of each side is promoted
_FORWARD = (8, -8)
