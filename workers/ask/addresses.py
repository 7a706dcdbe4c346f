"""The addresses of positions in tables: the packed material, the column and the row.

A kernel reads FENs and computes the addresses of many at once.  It refuses FENs in an unusual form
and positions that no table covers.  A single FEN that it refuses is parsed by the rules instead,
which say what is wrong with it or write it in the usual form.

A table has no rows for positions with a right to capture en passant.  The address of such a
position is the row without the right, and the addresses after each lawful capture.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.chess.position import Position, material_of
from kingpair.workers.game.packed_material import unpack_material
from kingpair.workers.game.rules import HasFen, fen, parse_fen
from kingpair.workers.index.king_pairs import FIXED, TURNED
from kingpair.workers.index.structures import structures
from kingpair.workers.number_types import Row

PositionSource = str | HasFen | Position

GOOD = 0  # the status of a FEN that was read
_UNLISTED = 2  # the status of a FEN whose pawn structures the kernel was not given yet
_CAPTURES = np.uint8(
    3
)  # the bits of the number of captures en passant; above them, whether all moves are
BARE_KINGS = 0  # the packed material of KvK: always a draw, without a table


class RowAddress(NamedTuple):
    """The address of a position's value: packed material, column and row."""

    material: int
    weaker_to_move: int
    row: Row
    en_passant: "EnPassant | None" = None


@dataclass(frozen=True, slots=True)
class EnPassant:
    """The addresses after each lawful capture en passant, and whether there is no other move."""

    captures: tuple[RowAddress, ...]
    only_moves: bool


class Rows(NamedTuple):
    """The columns of addresses without rights."""

    weaker_to_move: NDArray[np.uint8]
    material: NDArray[np.uint64]
    row: NDArray[np.int64]

    def addresses(self, chosen: NDArray[np.intp]) -> "list[RowAddress]":
        """Some of the addresses one by one."""
        parts = (
            column[chosen].tolist() for column in (self.material, self.weaker_to_move, self.row)
        )
        return [RowAddress(*each) for each in zip(*parts, strict=True)]


class AddressColumns(NamedTuple):
    """The addresses of many positions, a column for each part.

    `captures` has the number of lawful captures en passant of each position; `after` has the
    addresses after these captures, those of all positions one after another.
    """

    status: NDArray[np.uint8]
    at: Rows
    captures: NDArray[np.uint8]
    only_moves: NDArray[np.bool_]
    after: Rows

    def addresses(self, numbers: Sequence[int]) -> list[RowAddress]:
        """The addresses of the positions of these numbers."""
        side, material, row = (column[numbers].tolist() for column in self.at)
        found = list(map(RowAddress, material, side, row))
        for k in map(int, np.flatnonzero(self.captures[numbers])):
            found[k] = found[k]._replace(en_passant=self._right(numbers[k]))
        return found

    def _right(self, i: int) -> EnPassant:
        first = int(self.captures[:i].sum())
        after = slice(first, first + int(self.captures[i]))
        side, material, row = (column[after].tolist() for column in self.after)
        captures = tuple(map(RowAddress, material, side, row))
        return EnPassant(captures, bool(self.only_moves[i]))


class AddressReader:
    """Computes addresses from FENs.  Threads may share it."""

    def __init__(self) -> None:
        self._kernel = _kernels.Reader(*TURNED.placed, TURNED.diagonal, FIXED.placed[0])

    def read(self, fens: list[str]) -> AddressColumns:
        """The statuses of many FENs, and the columns of their addresses."""
        while True:
            status, at, right, after = self._kernel.read(fens)
            unlisted: set[int] = set(at[1][status == _UNLISTED].tolist())
            if not unlisted:
                captures, only_moves = right & _CAPTURES, right > _CAPTURES
                return AddressColumns(status, Rows(*at), captures, only_moves, Rows(*after))
            for key in unlisted:
                self._list_structures(key)

    def _list_structures(self, key: int) -> None:
        pawns = unpack_material(key).pawns
        self._kernel.list_structures(*pawns, structures(*pawns).keys)

    def addresses(self, fens: list[str]) -> list[RowAddress | None]:
        """The addresses of legal positions; None for men or rights that no table covers."""
        columns = self.read(fens)
        found: list[RowAddress | None] = [*columns.addresses(range(len(fens)))]
        for i in map(int, np.flatnonzero(columns.status != GOOD)):
            found[i] = self._if_covered(fens[i])
        return found

    def _if_covered(self, text: str) -> RowAddress | None:
        try:
            return self.address(text)
        except MissingTableError:
            return None

    def address(self, source: PositionSource) -> RowAddress:
        """The address of a position; MissingTableError if no table can cover it."""
        text = _text(source)
        found = self._read_one(text) or self._read_one(fen(_coverable(text)))
        assert found is not None, f"the kernel refuses {text!r}"
        return found

    def _read_one(self, text: str) -> RowAddress | None:
        while True:
            status, at, only_moves, after = self._kernel.read_one(text)
            if status == GOOD:
                if not after:
                    return RowAddress(*at)
                return RowAddress(*at, EnPassant(tuple(starmap(RowAddress, after)), only_moves))
            if status != _UNLISTED:
                return None
            self._list_structures(at[0])


def _text(source: PositionSource) -> str:
    if isinstance(source, str):
        return source
    return fen(source) if isinstance(source, Position) else source.fen()


def _coverable(text: str) -> Position:
    """The position of a FEN that the kernel refused.  Raises an error that says what is wrong with
    it, or why no table covers it.
    """
    position = parse_fen(text)
    material, _ = material_of(position)
    if (fault := material.too_many()) is not None:
        raise MissingTableError(f"no table of {material}: {fault}")
    if position.castling:
        raise MissingTableError(f"no table of {material} covers castling rights")
    return position
