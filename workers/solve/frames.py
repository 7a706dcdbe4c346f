"""Solved materials as another material sees them: values of positions in the frame of a domain.

A domain with pawns asks of a smaller material what its positions are worth to the side to move, at
the squares at which its own kings and pieces stand.  The two differ in

    swapped     the side that is the stronger here may be the weaker there: kings and ranks change
    mirrored    the pawns that are left may be kept as their mirror image: files change
    turned      without pawns the board is turned by that of eight symmetries that the kings want
    axes        the order of the pieces; a pawn that was promoted is fixed on a square

A kernel reads the slots that are asked for (child_view.hpp); here is where they are found.
child_columns.py reads the rows, once for each family of exits.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Exit, Material
from kingpair.workers.index.board import (
    MIRROR_DIAGONAL,
    MIRROR_FILES,
    MIRROR_RANKS,
    SYMMETRIES,
    TURN,
)
from kingpair.workers.index.index import Index
from kingpair.workers.index.king_pairs import FIXED, TURNED
from kingpair.workers.index.structures import Numbers, Squares, structures
from kingpair.workers.number_types import SIDES, Partition, Side, Symmetry
from kingpair.workers.sets.domain import like_order
from kingpair.workers.sets.memory import Layer
from kingpair.workers.solve.child_columns import (
    ChildColumn,
    ColumnReader,
    EveryPartition,
    PartitionByPartition,
    Solved,
)

FLIPPED = 56  # what turns a square's rank over


class Child(NamedTuple):
    """A solved material, and where its pieces stand in ours.

    `axes[a]` is our axis of its piece `a`, or -1: the pawn that was promoted.
    """

    material: Material
    swapped: bool
    axes: tuple[int, ...]
    left: tuple[int, ...]
    """Our axes of the pieces that are left, in our order."""


def child_of(material: Material, exit_: Exit) -> Child:
    """Where an exit leads."""
    ours = [man for man, letter in enumerate(material.letters) if letter != "P"]
    pieces = [
        man
        for man, letter in zip(exit_.survivors, exit_.material.letters, strict=True)
        if letter != "P"
    ]
    axes = tuple(-1 if man not in ours else ours.index(man) for man in pieces)
    left = tuple(axis for axis, man in enumerate(ours) if man in pieces)
    return Child(exit_.material, exit_.swapped, axes, left)


class Places(NamedTuple):
    """The structures of a child that hold some placings of our pawns, and whether each holds the
    mirror image; the square on which a pawn was promoted, or -1.
    """

    numbers: Numbers
    mirrored: NDArray[np.bool_]
    promoted_on: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def codes(self) -> NDArray[np.int64]:
        """A number for each place: places that are alike have the same one."""
        promoted_on = self.promoted_on + 1
        return (2 * self.numbers.astype(np.int64) + self.mirrored) * 65 + promoted_on

    def of(self, chosen: NDArray[np.intp]) -> "Places":
        return Places(self.numbers[chosen], self.mirrored[chosen], self.promoted_on[chosen])


def places_in(
    child: Child,
    squares: Squares,
    sides: Sequence[int],
    promoted_on: NDArray[np.intp] | None = None,
) -> Places:
    """The structures of placings `[placing][pawn]` of our pawns, of these sides."""
    promoted = np.full(len(squares), -1) if promoted_on is None else promoted_on
    if not child.material.has_pawns:
        nothing = np.zeros(len(squares), np.int32)
        return Places(nothing, nothing.astype(np.bool_), promoted)
    turned = squares ^ FLIPPED if child.swapped else squares
    order = np.argsort([side ^ child.swapped for side in sides], kind="stable")
    found = structures(*child.material.pawns).find(turned[:, order])
    return Places(found.numbers, found.mirrored, promoted)


class SeenChild:
    """The values of a solved material at some places, with a side of ours to move."""

    def __init__(self, solved: Solved, child: Child, to_move: Side, places: Places) -> None:
        side = SIDES[to_move ^ child.swapped]
        rows = _rows(child.material, places)
        unique, at = np.unique(rows, return_inverse=True)
        views, seen, maps = _views(child, places)
        self._to_move = to_move
        # Whatever is promoted, and wherever: the pair of kings in the child is the same one.
        self._column = _column(solved, child.material, side, unique, seen[0, :, 0])
        self._view = _kernels.ChildView(
            np.ascontiguousarray(at.reshape(rows.shape), np.int32),
            np.ascontiguousarray(views, np.int32),
            np.ascontiguousarray(seen, np.int32),
            np.ascontiguousarray(maps, np.uint32),
            self._column.shape,
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._column.dtype

    def reaches_beyond(self, limit: int) -> bool:
        """Whether a win or a loss may be longer than that."""
        return self._column.longest > limit

    def chunks(self, index: Index) -> Sequence[NDArray[np.int16]]:
        """All partitions, in pieces that are worth a call and read the same part of the child."""
        return self._column.chunks(index)

    def reader(self) -> ColumnReader:
        """Opens the child for a thread."""
        return self._column.reader()

    def judge(
        self,
        domain: _kernels.Domain,
        chunk: NDArray[np.int16],
        reader: ColumnReader,
        sets: tuple[Layer, Layer, Layer],
        scratch: _kernels.Scratch,
    ) -> None:
        """Writes some partitions of the positions that are lost, not won and won."""
        lost, not_won, won = (layer.kernel for layer in sets)
        read = reader.of(chunk)
        self._view.judge(domain, chunk, self._to_move, *read, lost, not_won, won, scratch)

    def values(
        self,
        domain: _kernels.Domain,
        chunk: NDArray[np.int16],
        reader: ColumnReader,
        out: NDArray[Any],
        scratch: _kernels.Scratch,
    ) -> None:
        """Writes some partitions of values `[partition][slot]`, 0 where there is no position."""
        self._view.values(domain, chunk, self._to_move, *reader.of(chunk), out, scratch)


# ---- what is read ----


def _rows(material: Material, places: Places) -> NDArray[np.int32]:
    """For each place its structure, and the structure that is the mirror image of that one."""
    if not material.has_pawns:
        return np.zeros((len(places), 2), np.int32)
    images = structures(*material.pawns).mirror[places.numbers]
    return np.stack([places.numbers, images], axis=1)


def _column(
    solved: Solved, material: Material, side: Side, rows: Numbers, pairs: NDArray[np.intp]
) -> ChildColumn:
    """The values of some structures; `pairs` are the child's for each partition of ours."""
    if not material.letters:  # bare kings: drawn
        return EveryPartition(np.zeros((1, len(TURNED), 1), np.int8), pairs)
    if not material.has_pawns:
        return PartitionByPartition(solved, side, pairs)
    column = solved.column(side, rows)
    return EveryPartition(column.reshape(len(column), len(FIXED), -1), pairs)


# ---- where it is read ----

Views = tuple[NDArray[np.intp], NDArray[np.signedinteger[Any]], NDArray[np.int64]]
"""The view of each place; [view][pair][the child's pair, which row, map]; the maps."""


def _views(child: Child, places: Places) -> Views:
    squares, promoted = np.unique(places.promoted_on, return_inverse=True)
    if not child.material.has_pawns:
        return _turned_views(child, promoted, squares.tolist())
    kinds = structures(*child.material.pawns).symmetric[places.numbers]
    views = promoted * 4 + places.mirrored * 2 + kinds
    turns = [TURN[_symmetry(child.swapped, mirrored)] for mirrored in (False, True)]
    maps = [_map(child, turn, square) for square in squares.tolist() for turn in turns]
    return views, _fixed_views(child.swapped, len(squares)), np.stack(maps)


@lru_cache(8)
def _fixed_views(swapped: bool, promotions: int) -> NDArray[np.int32]:
    """[view][pair][the child's pair, which row, map] where pawns fix the board, for so many squares
    of a promotion.
    """
    seen: list[NDArray[np.int64]] = []
    for number in range(promotions):
        for mirrored in (False, True):
            plain = _fixed_pairs(swapped, number, mirrored)
            images = _fixed_pairs(swapped, number, not mirrored)
            images[:, 1] = 1
            # Of a structure that is its own mirror image half of the partitions count.
            halved = _stronger_king_on(swapped, mirrored)[:, None]
            seen += [plain, np.where(halved, images, plain)]
    return np.stack(seen).astype(np.int32)


def _fixed_pairs(swapped: bool, number: int, mirrored: bool) -> NDArray[np.int64]:
    """[pair][the child's pair, 0, map] where pawns fix the board."""
    pairs = _pairs(_symmetry(swapped, mirrored), swapped)
    return np.stack([pairs, 0 * pairs, 0 * pairs + 2 * number + mirrored], axis=1)


def _symmetry(swapped: bool, mirrored: bool) -> Symmetry:
    return Symmetry(mirrored * MIRROR_FILES + swapped * MIRROR_RANKS)


def _turned_views(child: Child, views: NDArray[np.intp], squares: Sequence[int]) -> Views:
    """Without pawns, by square of the promotion; like pieces on the diagonal have a map more."""
    pairs, symmetries = _placements(child.swapped)
    on_diagonal = TURNED.diagonal[pairs]
    seen: list[NDArray[np.int64]] = []
    maps: list[NDArray[np.int64]] = []
    for square in squares:
        numbers = len(maps) + 2 * symmetries + on_diagonal
        seen.append(np.stack([pairs, 0 * pairs, numbers], axis=1))
        for symmetry in SYMMETRIES:
            turned = _map(child, TURN[symmetry], square)
            mirrored = _map(child, TURN[MIRROR_DIAGONAL][TURN[symmetry]], square)
            maps += [turned, np.minimum(turned, mirrored)]
    return views, np.stack(seen), np.stack(maps)


def _map(child: Child, turn: NDArray[np.uint8], promoted_on: int) -> NDArray[np.int64]:
    """For each slot of the pieces that are left the child's slot that holds its value."""
    count = len(child.left)
    slots = np.arange(64**count)
    found = np.zeros_like(slots)
    for axis in child.axes:
        place = -1 if axis < 0 else child.left.index(axis)
        ours = promoted_on if axis < 0 else slots >> 6 * (count - 1 - place) & 63
        found = found << 6 | turn[ours]
    order = like_order(child.material)
    return found if order is None else order[found]


@cache
def _pairs(symmetry: Symmetry, swapped: bool) -> NDArray[np.int64]:
    """For each of our partitions the child's, where pawns fix the board."""
    turn = TURN[symmetry]
    kings = [_kings(pair, swapped) for pair in FIXED.partitions]
    return np.array([FIXED.placements[int(turn[a]), int(turn[b])].pair for a, b in kings])


@cache
def _placements(swapped: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each of our partitions the child's, and the symmetry, where nothing fixes the board."""
    found = np.array([TURNED.placements[_kings(p, swapped)] for p in FIXED.partitions])
    return found[:, 0], found[:, 1]


def _kings(pair: Partition, swapped: bool) -> tuple[int, int]:
    stronger, weaker = FIXED.squares[pair]
    return (weaker, stronger) if swapped else (stronger, weaker)


@cache
def _stronger_king_on(swapped: bool, mirrored: bool) -> NDArray[np.bool_]:
    """Our partitions in which the child's stronger king is seen on files e to h."""
    files = np.array([_kings(pair, swapped)[0] & 7 for pair in FIXED.partitions])
    return (7 - files if mirrored else files) > 3
