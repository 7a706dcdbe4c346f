"""The tables of ours that Syzygy files are made of, as columns of results and of plies.

Results heed the fifty-move rule, and plies count to the next zeroing move: tables of the metric dtz
say both.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import product
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

Results = NDArray[np.uint8]
Plies = NDArray[np.int16]


NO_RESULTS = np.empty(0, np.uint8), np.empty(0, np.uint8)
"""Of bare kings, which have no table."""
Pause = Callable[[], None]
"""Called now and then by long work; it raises if the work is to end."""


def no_pause() -> None:
    """Never ends any work."""


class ResultColumns:
    """The columns of tables, whole in memory: both sides to move, by row.

    Only the material of a file needs its plies; those that its moves lead into need results, which
    take half the memory.
    """

    def __init__(self, open_table: Callable[[Material], Table], pause: Pause = no_pause) -> None:
        self._open_table, self._pause = open_table, pause
        self._results: dict[Material, tuple[Results, ...]] = {}
        self._plies: dict[Material, tuple[Plies, ...]] = {}

    def results(self, material: Material) -> tuple[Results, ...]:
        if not material.letters:
            return NO_RESULTS
        if material not in self._results:
            sides = self._plies.get(material)
            self._results[material] = tuple(
                _results_of(sides[side]) if sides else self._read_results(material, side)
                for side in SIDES
            )
        return self._results[material]

    def plies(self, material: Material) -> tuple[Plies, ...]:
        if material not in self._plies:
            table = self._table(material)
            self._plies[material] = tuple(self._read_plies(table, side) for side in SIDES)
        return self._plies[material]

    def keep(self, materials: Iterable[Material]) -> None:
        """Forgets all plies, and the results of other materials."""
        self._plies.clear()
        kept = set(materials)
        self._results = {each: found for each, found in self._results.items() if each in kept}

    def _table(self, material: Material) -> Table:
        table = self._open_table(material)
        assert table.metric.counts_plies, f"{table.path} counts moves"
        table.require_whole()
        return table

    def _read_results(self, material: Material, side: int) -> Results:
        table = self._table(material)
        results = np.empty(table.index.rows, np.uint8)
        for rows, values in self._blocks(table, side):
            _kernels.syzygy_results(values, results[rows])
        return results

    def _read_plies(self, table: Table, side: int) -> Plies:
        plies = np.empty(table.index.rows, np.int16)
        for rows, values in self._blocks(table, side):
            plies[rows] = values
        return plies

    def _blocks(self, table: Table, side: int) -> Iterator[tuple[slice, Plies]]:
        for block in range(table.blocks):
            self._pause()
            values = np.asarray(table.block(block, side), np.int16)
            yield slice(block * BLOCK, block * BLOCK + len(values)), values


def _results_of(plies: Plies) -> Results:
    results = np.empty(len(plies), np.uint8)
    _kernels.syzygy_results(plies, results)
    return results


# ---- where a position stands in a table ----


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


def lookup(left: MenLeft, columns: ResultColumns) -> _kernels.SyzygyLookup:
    """Finds positions with these men in the columns of their material."""
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
        columns.results(material),
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


def positions(
    men: Men, numbering: _kernels.SyzygyNumbering, columns: ResultColumns
) -> _kernels.SyzygyPositions:
    """The positions of a sub-table, with all tables that their moves lead into."""
    all_men = MenLeft(men, tuple(range(len(men))))
    plies = list(columns.plies(all_men.material[0]))

    def of(left: MenLeft) -> _kernels.SyzygyLookup:
        return lookup(left, columns)

    def promotions(left: MenLeft, pawn: int) -> list[_kernels.SyzygyLookup]:
        return [of(left.promoted(pawn, letter)) for letter in "QRBN"]

    captives = [place for place, man in enumerate(men) if man % BLACK != KING]
    pawns = [place for place, man in enumerate(men) if man % BLACK == LETTERS.index("P")]
    places = range(len(men))
    taken = [of(all_men.without(at)) if at in captives else None for at in places]
    promoted = [promotions(all_men, at) if at in pawns else [] for at in places]
    both = [
        [
            promotions(all_men.without(captive), pawn)
            if pawn in pawns and captive in captives and captive not in pawns
            else []
            for captive in places
        ]
        for pawn in places
    ]
    return _kernels.SyzygyPositions(list(men), numbering, of(all_men), plies, taken, promoted, both)
