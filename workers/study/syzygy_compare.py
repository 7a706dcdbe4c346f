"""Compares Syzygy files of anyone with our tables, value by value.

A file may hold any value where probers do not look.  All other values must be those of our tables:
results equal, distances equal or, where a file halves them, rounded.
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.errors import DamagedTable, ForeignTable, MissingTableError
from kingpair.workers.game.chess.position import EMPTY, Colour, Position
from kingpair.workers.game.metric import CLOCK_LIMIT
from kingpair.workers.game.rules import fen
from kingpair.workers.study.syzygy_export import OpenTable, columns_from, has_right_checksum
from kingpair.workers.syzygy.coding import FREE
from kingpair.workers.syzygy.distance import distance_of
from kingpair.workers.syzygy.file import SubTable, SyzygyFile
from kingpair.workers.syzygy.layout import BLACK_TO_MOVE, FileKind
from kingpair.workers.syzygy.numbering import BLACK, LETTERS, PAWN, Men
from kingpair.workers.syzygy.source import ResultColumns, destinations, positions
from kingpair.workers.syzygy.writer import ANY_DISTANCE, PIECE, PLIES, RESULT_SHIFT

Flags = NDArray[np.bool_]
Values = NDArray[np.uint16]
WORDS = ("loss", "blessed loss", "draw", "cursed win", "win")
RESULTS = (2, -2, 1, -1)
"""The results of distances, in the order of their numbers."""
AT_ONCE = (
    RESULTS.index(2) << RESULT_SHIFT | 1,
    RESULTS.index(1) << RESULT_SHIFT | CLOCK_LIMIT + 1,
)
"""The distances of wins and cursed wins by a zeroing move."""


class SyzygyDifference(NamedTuple):
    """A position whose value in a file is not ours, and both values in words."""

    fen: str
    theirs: str
    ours: str

    def __str__(self) -> str:
        return f"{self.fen} is {self.theirs} there, {self.ours} in our table"


class ComparedFile(NamedTuple):
    """A Syzygy file: how many of its values were compared, how many differ, and the first."""

    path: Path
    compared: int
    differences: int
    first: SyzygyDifference | None


class _Found(NamedTuple):
    """The differences among some values: the place of the first, and the value of our table."""

    compared: int
    differences: int
    first: tuple[int, int] | None


def compare(open_table: OpenTable, path: Path, pool: Executor) -> ComparedFile:
    """Compares a file with our tables; MissingTableError if one of these is missing."""
    file = SyzygyFile(path)
    if not has_right_checksum(file):
        raise DamagedTable(f"{path}: damaged Syzygy file, its checksum is wrong; fetch it again")
    compared, differences, first = 0, 0, None
    for part in _parts(file, columns_from(open_table)):
        for found in pool.map(part.compare, range(0, part.table.size, PIECE)):
            compared += found.compared
            differences += found.differences
            if first is None and found.first is not None:
                first = part.difference(*found.first)
    return ComparedFile(path, compared, differences, first)


class _ComparedPart(NamedTuple):
    """A sub-table, its side to move, and the positions in our tables."""

    file: SyzygyFile
    table: SubTable
    side: int
    source: _kernels.SyzygyPositions

    def compare(self, first: int) -> _Found:
        count = min(PIECE, self.table.size - first)
        values = self.file.read(self.table, first, count)
        has_plies = self.file.kind is FileKind.DISTANCES
        results = np.empty(count, np.uint16)
        distances = np.empty(count if has_plies else 0, np.uint16)
        self.source.read(self.side, first, results, distances)
        if has_plies:
            wrong, looked_at = self._wrong_distances(values, distances)
            self._forgive_double_steps(wrong, distances, first)
        else:
            wrong, looked_at = _wrong_results(values, results), count
        places = np.flatnonzero(wrong)
        ours = distances if has_plies else results
        at = None if not len(places) else (first + int(places[0]), int(ours[places[0]]))
        return _Found(looked_at, len(places), at)

    def _wrong_distances(self, values: Values, distances: Values) -> tuple[Flags, int]:
        needed = distances != ANY_DISTANCE
        pairs = values.astype(np.uint32) << 16 | distances
        unlike = [pair for pair in np.unique(pairs[needed]).tolist() if not self._agrees(pair)]
        return needed & np.isin(pairs, unlike), int(needed.sum())

    def _forgive_double_steps(self, wrong: Flags, distances: Values, first: int) -> None:
        """Clears the flags of positions that a double step wins though it can be captured en
        passant: no prober looks at their values, and only ours has distances there.
        """
        places = np.flatnonzero(wrong & np.isin(distances, AT_ONCE))
        squares = np.empty((len(places), len(self.table.men)), np.uint8)
        for row, place in zip(squares, places.tolist(), strict=True):
            self.table.numbering.squares(first + place, row[np.newaxis])
        wrong[places[has_double_step_beside_enemy(self.table.men, squares, self.side)]] = False

    def _agrees(self, pair: int) -> bool:
        value, ours = pair >> 16, pair & 0xFFFF
        found = distance_of(self.table, value, RESULTS[ours >> RESULT_SHIFT])
        return found is not None and found.least <= max(1, ours & PLIES) <= found.most

    def difference(self, place: int, ours: int) -> SyzygyDifference:
        value = self.file.value(self.table, place)
        text = self._fen(place)
        if self.file.kind is FileKind.RESULTS:
            ours -= FREE if ours >= FREE else 0
            return SyzygyDifference(text, WORDS[min(value, 4)], WORDS[ours])
        result = RESULTS[ours >> RESULT_SHIFT]
        theirs = distance_of(self.table, value, result)
        said = "of no distance" if theirs is None else f"{theirs.least} plies"
        return SyzygyDifference(text, said, f"{WORDS[result + 2]} in {ours & PLIES} plies")

    def _fen(self, place: int) -> str:
        squares = np.empty((1, len(self.table.men)), np.uint8)
        self.table.numbering.squares(place, squares)
        board = [EMPTY] * 64
        for man, square in zip(self.table.men, squares[0].tolist(), strict=True):
            letter = LETTERS[man % BLACK]
            board[square] = letter.lower() if man >= BLACK else letter
        return fen(Position("".join(board), Colour.BLACK if self.side else Colour.WHITE))


def has_double_step_beside_enemy(men: Men, squares: NDArray[np.uint8], side: int) -> Flags:
    """Whether a pawn of the side to move can go two steps and stand beside a pawn of the other."""
    forward, home = (-8, 6) if side else (8, 1)
    at = squares.astype(np.int16)
    found = np.zeros(len(at), bool)
    own, others = (at[:, np.array(men) == PAWN + BLACK * of] for of in (side, 1 - side))
    for pawn in own.T:
        over, target = pawn + forward, pawn + 2 * forward
        is_blocked = ((at == over[:, None]) | (at == target[:, None])).any(axis=1)
        beside = (others >> 3 == target[:, None] >> 3) & (abs(others - target[:, None]) == 1)
        found |= (pawn >> 3 == home) & ~is_blocked & beside.any(axis=1)
    return found


def _wrong_results(values: Values, results: Values) -> Flags:
    limits = np.where(results >= FREE, results - FREE, results)
    wrong: Flags = np.where(results >= FREE, values > limits, values != results)
    return wrong


def _parts(file: SyzygyFile, columns: ResultColumns) -> Iterator[_ComparedPart]:
    for tables in file.tables:
        for side, table in enumerate(tables):
            if file.kind is FileKind.DISTANCES:
                side = 0 if file.is_symmetric else table.coding.flags & BLACK_TO_MOVE
            source = positions(destinations(table.men, columns), table.men, table.numbering)
            yield _ComparedPart(file, table, side, source)


def compared_or_refused(
    open_table: OpenTable, path: Path, pool: Executor
) -> ComparedFile | DamagedTable | ForeignTable | MissingTableError:
    """Compares a file; returns the error if it cannot be read, or if a table is missing."""
    try:
        return compare(open_table, path, pool)
    except (DamagedTable, ForeignTable, MissingTableError) as error:
        return error
