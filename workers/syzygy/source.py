"""The tables of ours that Syzygy files are made of, as columns of results and of plies.

Results heed the fifty-move rule, and plies count to the next zeroing move: tables of the metric dtz
say both.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.board import TURN
from kingpair.workers.index.material_index import table_index
from kingpair.workers.index.structures import structures
from kingpair.workers.number_types import SIDES
from kingpair.workers.syzygy.numbering import BLACK, KING, LETTERS, Men
from kingpair.workers.table.format import BLOCK, Table
from kingpair.workers.table.value import Values

Results = NDArray[np.uint8]
Plies = NDArray[np.int16]


NO_RESULTS = np.empty(0, np.uint8)
"""Of bare kings, which have no table, and of sides that no move leads into."""
Pause = Callable[[], None]
"""Called now and then by long work; it raises if the work is to end."""


def no_pause() -> None:
    """Never ends any work."""


class ResultColumns:
    """The columns of tables, whole in memory: each a side to move, by row.  Threads read one after
    the other, so that none reads again what another reads.

    Plies that are bytes stay so, and the kernel finds results from them.  Of others results are
    kept, in half the memory, and plies only for the material of a file.  Mostly moves lead into one
    side of a table.
    """

    def __init__(self, open_table: Callable[[Material], Table], pause: Pause = no_pause) -> None:
        self._open_table, self._pause = open_table, pause
        self._results: dict[tuple[Material, int], Results] = {}
        self._plies: dict[Material, tuple[Plies, ...]] = {}
        self._lock = Lock()

    def are_plies(self, material: Material) -> bool:
        """Whether results are the bytes of plies."""
        return bool(material.letters) and self._table(material).dtype == np.int8

    def results(self, material: Material, side: int) -> Results:
        if not material.letters:
            return NO_RESULTS
        with self._lock:
            if (material, side) not in self._results:
                self._results[material, side] = self._read_results(self._table(material), side)
            return self._results[material, side]

    def plies(self, material: Material) -> tuple[Plies, ...]:
        """Plies of both sides, unless results are plies; results are found on the way."""
        with self._lock:
            if material not in self._plies:
                table = self._table(material)
                sides = () if self.are_plies(material) else SIDES
                self._plies[material] = tuple(self._read_plies(table, side) for side in sides)
            return self._plies[material]

    def keep(self, materials: Iterable[Material]) -> None:
        """Forgets all plies, and the results of other materials."""
        self._plies.clear()
        kept = set(materials)
        self._results = {each: found for each, found in self._results.items() if each[0] in kept}

    def _table(self, material: Material) -> Table:
        table = self._open_table(material)
        assert table.metric.counts_plies, f"{table.path} counts moves"
        table.require_whole()
        return table

    def _read_results(self, table: Table, side: int) -> Results:
        results = np.empty(table.index.rows, np.uint8)
        for rows, values in self._blocks(table, side):
            if values.dtype == np.int8:
                results[rows] = values.view(np.uint8)
            else:
                _kernels.syzygy_results(values, results[rows])
        return results

    def _read_plies(self, table: Table, side: int) -> Plies:
        plies = np.empty(table.index.rows, np.int16)
        results = np.empty(table.index.rows, np.uint8)
        for rows, values in self._blocks(table, side):
            plies[rows] = values
            _kernels.syzygy_results(plies[rows], results[rows])
        self._results[table.material, side] = results
        return plies

    def _blocks(self, table: Table, side: int) -> Iterator[tuple[slice, Values]]:
        for block in range(table.blocks):
            self._pause()
            values = table.block(block, side)
            yield slice(block * BLOCK, block * BLOCK + len(values)), values


# ---- where a position stands in a table ----


Lookups = list[_kernels.SyzygyLookup]


class MenLeft(NamedTuple):
    """Some men of a position: as files write them, and their places among the men."""

    men: Men
    places: tuple[int, ...]

    def without(self, place: int) -> "MenLeft":
        kept = [(man, at) for man, at in zip(*self, strict=True) if at != place]
        return MenLeft(tuple(man for man, _ in kept), tuple(at for _, at in kept))

    def promoted(self, place: int, letter: str) -> "MenLeft":
        changed = LETTERS.index(letter) - LETTERS.index("P")
        return self._replace(
            men=tuple(man + changed * (at == place) for man, at in zip(*self, strict=True))
        )

    @property
    def material(self) -> tuple[Material, bool]:
        """Their material, and whether Black is its stronger side."""
        letters = [
            "".join(LETTERS[man - side] for man in self.men if man in _PIECES[side])
            for side in (0, BLACK)
        ]
        return Material.of(*letters)


_PIECES = {side: range(side + 1, side + KING) for side in (0, BLACK)}


def lookup(left: MenLeft, columns: ResultColumns, sides: Sequence[int]) -> _kernels.SyzygyLookup:
    """Finds positions with these men and these sides to move in the columns of their material."""
    material, swapped = left.material
    index = table_index(material)
    pair, symmetry = index.kings.placed
    like = [int(a == b) for a, b in zip((None, *material.pieces), material.pieces, strict=False)]
    return _kernels.SyzygyLookup(
        pair.ravel(),
        symmetry.ravel(),
        TURN.reshape(-1),
        len(index.kings),
        like,
        _structure_tables(*material.pawns),
        sum(material.pawns),
        tuple(
            columns.results(material, side) if side ^ swapped in sides else NO_RESULTS
            for side in SIDES
        ),
        columns.are_plies(material),
        _order(left, material, swapped),
        swapped,
    )


def _order(left: MenLeft, material: Material, swapped: bool) -> list[int]:
    """The places of the kings, of the pawns, stronger side first, and of the men on the axes."""
    wanted = [("K", side) for side in SIDES]
    wanted += [("P", side) for side in SIDES for _ in range(material.pawns[side])]
    wanted += [(letter, side) for letter, side in material.pieces]
    standing: dict[int, list[int]] = {}
    for man, place in zip(*left, strict=True):
        standing.setdefault(man, []).append(place)
    return [
        standing[LETTERS.index(letter) + BLACK * (side != swapped)].pop(0)
        for letter, side in wanted
    ]


StructureTables = tuple[NDArray[np.int32], tuple[NDArray[np.uint8], NDArray[np.int32]]]


@cache
def _structure_tables(stronger: int, weaker: int) -> StructureTables:
    """Twice the structure of each placing, and 1 if it is mirrored; the structures' images."""
    pawns = stronger + weaker
    if not pawns:
        return np.empty(0, np.int32), (np.empty(0, np.uint8), np.empty(0, np.int32))
    all_of = structures(stronger, weaker)
    placings = np.array(list(_placings(pawns)))
    found = all_of.find(placings)
    table = np.full(64**pawns, -1, np.int32)
    table[placings @ (64 ** np.arange(pawns)[::-1])] = 2 * found.numbers + found.mirrored
    return table, (all_of.symmetric.astype(np.uint8), all_of.mirror.astype(np.int32))


def _placings(pawns: int) -> Sequence[tuple[int, ...]]:
    squares = range(8, 56)
    return [p for p in product(squares, repeat=pawns) if len(set(p)) == pawns]


class Destinations(NamedTuple):
    """The tables of ours that positions with some men, and the moves in them, lead into."""

    own: _kernels.SyzygyLookup
    plies: Sequence[Plies]
    taken: Sequence[_kernels.SyzygyLookup | None]
    promoted: Sequence[Lookups]
    taken_promoted: Sequence[Sequence[Lookups]]


def destinations(men: Men, columns: ResultColumns) -> Destinations:
    all_men = MenLeft(men, tuple(range(len(men))))
    plies = columns.plies(all_men.material[0])

    def without(captive: int) -> _kernels.SyzygyLookup:
        return lookup(all_men.without(captive), columns, [_side_of(men[captive])])

    def promotions(left: MenLeft, pawn: int) -> Lookups:
        sides = [1 - _side_of(men[pawn])]
        return [lookup(left.promoted(pawn, letter), columns, sides) for letter in "QRBN"]

    captives = [place for place, man in enumerate(men) if man % BLACK != KING]
    pawns = [place for place, man in enumerate(men) if man % BLACK == LETTERS.index("P")]
    places = range(len(men))
    return Destinations(
        lookup(all_men, columns, SIDES),
        plies,
        [without(at) if at in captives else None for at in places],
        [promotions(all_men, at) if at in pawns else [] for at in places],
        [
            [
                promotions(all_men.without(captive), pawn)
                if pawn in pawns
                and captive in captives
                and captive not in pawns
                and _side_of(men[captive]) != _side_of(men[pawn])
                else []
                for captive in places
            ]
            for pawn in places
        ],
    )


def _side_of(man: int) -> int:
    """0 for a man of the stronger side, 1 for one of the weaker."""
    return man // BLACK


def positions(
    tables: Destinations, men: Men, numbering: _kernels.SyzygyNumbering
) -> _kernels.SyzygyPositions:
    """The positions of a sub-table, given all tables that their moves lead into."""
    return _kernels.SyzygyPositions(list(men), numbering, *tables)
