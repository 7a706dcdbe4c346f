"""Facts about the kernel that proves tables with pawns: it agrees with its plain twin.

The tables here hold a random value in each row.  The twin computes the values that would follow
from them, for one structure and side to move at a time.  The kernel must find these values right
and all others wrong.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest
from move_keys import RULES, values_of
from numpy.typing import NDArray
from placed_men import are_apart, are_legal, in_check
from structure_moves import StructureMoves
from structure_positions import Positions
from table_keys import TableKeys

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.board import TURN
from kingpair.workers.index.king_pairs import FIXED
from kingpair.workers.index.material_index import table_index
from kingpair.workers.index.structures import structures
from kingpair.workers.number_types import SIDES, STRONGER, Side, opponent
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.value import Values

Rows = NDArray[np.int64]


class RandomTables(NamedTuple):
    """Tables whose values depend on nothing but the row."""

    own: Material
    metric: Metric
    dtype: np.dtype[Any]

    def values(self, material: Material, side: Side, rows: Rows) -> Values:
        mixed = (rows * 2 + side + 1 + 977 * len(material.name)).astype(np.uint64)
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ mixed >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(33)
        if material != self.own and self.metric is Metric.DTC:
            results: Values = (mixed % np.uint64(3)).astype(self.dtype) - self.dtype.type(1)
            return results
        reach = 120 if self.dtype.itemsize == 1 else 3000
        found = (mixed % np.uint64(2 * reach)).astype(np.int64) - reach
        drawn = mixed >> np.uint64(20) & np.uint64(3) == 0
        return np.where(drawn, 0, found).astype(self.dtype)


class Proof:
    """The kernel and its twin, over the same tables."""

    def __init__(self, tables: RandomTables) -> None:
        metric, rules = tables.metric, RULES[tables.metric]
        smaller = sorted(key.material for key in TableKey(tables.own, tables.metric).smaller())
        self.tables, self.materials = tables, [tables.own, *smaller]
        self.kernel = _kernels.StructureVerifier(
            [_described(material) for material in self.materials],
            metric.exits_carry_depth,
            metric.push_ends_phase,
        )
        self.positions = Positions(tables.own)
        self.keys = TableKeys(self.positions, tables.values, tables.dtype, rules)
        self.moves = StructureMoves(self.positions, self.keys, rules)

    def column(self, table: int, side: Side, structure: int, part: int) -> Values:
        material = self.materials[table]
        index = table_index(material)
        rows = np.arange(index.structure_rows).reshape(-1, index.slots)
        if part >= 0:
            rows = rows[self.kernel.runs(table, part)]
        return self.tables.values(material, side, structure * index.structure_rows + rows.ravel())


class Case:
    """A structure and a side to move, with the values that follow by the twin."""

    def __init__(self, proof: Proof, number: int, mover: Side, walk: int = -1) -> None:
        self.number, self.mover = number, mover
        best, men = proof.moves.best(number, mover), proof.positions.men(number)
        self.expected = values_of(best)
        self.expected[(best == 0) & in_check(men, mover)] = -1
        own = proof.keys.own_rows(number)
        if walk >= 0:
            own = own & is_of_walk(opponent(mover), walk)[:, None, None]
        self.placed, self.legal = own & are_apart(men), own & are_legal(men, mover)
        self._kernel, self._walk = proof.kernel, walk
        one_each = [1] * len(proof.materials)
        self._names = self._kernel.needs(number, number + 1, mover, walk, one_each)
        self._columns = [proof.column(*name) for name in self._names]

    def findings(self, stated: Values) -> tuple[int, ...]:
        """The kernel's findings, if the table states some values."""
        self._columns[self._names.index((0, self.mover, self.number, -1))] = stated.ravel()
        counts = np.zeros(1 << 8 * stated.itemsize, np.uint64)
        task = self.number, self.number + 1, self.mover, self._walk
        found = self._kernel.check(*task, self._names, self._columns, counts)
        tally = np.bincount(stated[self.legal].view(f"u{stated.itemsize}"), minlength=counts.size)
        assert np.array_equal(tally, counts)
        return found

    @property
    def first_row(self) -> int:
        return self.number * self.expected.size


def is_of_walk(standing: Side, walk: int) -> NDArray[np.bool_]:
    """The pairs of kings in which that side's king stands on a square of a walk."""
    squares = np.array([FIXED.squares[pair][standing] for pair in FIXED.partitions])
    smallest = TURN[:, squares].min(axis=0)
    found: NDArray[np.bool_] = smallest == np.unique(TURN.min(axis=0))[walk]
    return found


def _described(material: Material) -> tuple[Any, tuple[int, int], NDArray[np.uint8]]:
    stronger, weaker = material.pawns
    of = structures(stronger, weaker).squares if material.has_pawns else np.zeros((0, 0), np.uint8)
    return list(material.pieces), (stronger, weaker), of


def rank_of(value: int) -> int:
    return 2 * value if value > 0 else 2 * (-value - 1) + 1 if value else 1 << 62


def assert_agrees(case: Case) -> None:
    """The kernel finds the twin's values right, and names the earliest of some altered ones."""
    chance = np.random.default_rng(case.number)
    counts = int(case.placed.sum()), int(case.legal.sum())
    stated = np.where(case.legal, case.expected, case.expected.dtype.type(55))
    assert case.findings(stated)[:3] == (*counts, 0)
    rows = chance.choice(np.flatnonzero(case.legal), 7, replace=False).tolist()
    for row in rows:
        true = int(stated.flat[row])
        stated.flat[row] = chance.choice([v for v in (true - 1, true + 1, 0, -true) if v != true])
    found = case.findings(stated)
    ranks = [
        (min(rank_of(int(stated.flat[r])), rank_of(int(case.expected.flat[r]))), case.first_row + r)
        for r in rows
    ]
    rank, row = min(ranks)
    at = row - case.first_row
    values = int(stated.flat[at]), int(case.expected.flat[at])
    assert found == (*counts, 7, row, rank, *values)


def structures_of(name: str, count: int, *, en_passant: bool = False) -> list[int]:
    """Some structures of a material, and at least one with two captors beside a double step."""
    kept = structures(*Material.parse(name).pawns)
    chance = np.random.default_rng(count)
    chosen = chance.choice(len(kept), min(count, len(kept)), replace=False).tolist()
    if en_passant:
        ours, theirs = kept.squares[:, : kept.stronger] >> 3, kept.squares[:, kept.stronger :] >> 3
        ready = (ours == 1).any(axis=1) & (theirs == 3).all(axis=1)
        ready |= (theirs == 6).any(axis=1) & (ours == 4).all(axis=1)
        chosen += chance.choice(np.flatnonzero(ready), count, replace=False).tolist()
    return sorted(set(map(int, chosen)))


@pytest.mark.parametrize("metric", Metric)
@pytest.mark.parametrize(
    ("name", "count"), [("KPvK", 12), ("KPvKP", 12), ("KPPvK", 12), ("KPPvKP", 5), ("KPPPvK", 5)]
)
def test_the_kernel_agrees_with_its_twin_where_no_piece_stands(
    name: str, count: int, metric: Metric
) -> None:
    material = Material.parse(name)
    proof = Proof(RandomTables(material, metric, np.dtype(np.int8)))
    for number in structures_of(name, count, en_passant=material.pawns[1] > 0):
        for mover in SIDES:
            assert_agrees(Case(proof, number, mover))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("KRPvK", Metric.DTC),
        ("KQvKP", Metric.DTM),
        ("KPPvKB", Metric.DTZ),
        ("KBPvKP", Metric.DTM),
        ("KNPPvK", Metric.DTC),
        ("KNPvKP", Metric.DTC),
        ("KNPvKP", Metric.DTZ),
    ],
)
def test_the_kernel_agrees_with_its_twin_beside_a_piece(name: str, metric: Metric) -> None:
    material = Material.parse(name)
    proof = Proof(RandomTables(material, metric, np.dtype(np.int8)))
    for number in structures_of(name, 2, en_passant=material.pawns[1] > 0 < material.pawns[0]):
        for mover in SIDES:
            assert_agrees(Case(proof, number, mover))


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("dtype", [np.int8, pytest.param(np.int16, marks=pytest.mark.slow)])
def test_the_kernel_agrees_with_its_twin_at_every_level(dtype: type[Any]) -> None:
    for name in ("KPvKP", "KNPvK", "KBPvKP"):
        proof = Proof(RandomTables(Material.parse(name), Metric.DTM, np.dtype(dtype)))
        for number in structures_of(name, 1, en_passant=name.endswith("P")):
            for mover in SIDES:
                assert_agrees(Case(proof, number, mover))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["KRPvKR", "KNNvKP", "KBBPvK"])
def test_the_kernel_agrees_with_its_twin_beside_two_pieces(name: str) -> None:
    proof = Proof(RandomTables(Material.parse(name), Metric.DTM, np.dtype(np.int8)))
    for mover in SIDES:
        assert_agrees(Case(proof, 13, mover))


@pytest.mark.slow
def test_a_walk_is_judged_by_parts_of_large_columns() -> None:
    """The pawn stands before the last rank, so it promotes into tables that are read in parts."""
    proof = Proof(RandomTables(Material.parse("KRPvKR"), Metric.DTM, np.dtype(np.int8)))
    assert_agrees(Case(proof, 0, STRONGER, walk=9))


def test_structures_in_which_the_other_king_may_answer_have_no_walks() -> None:
    proof = Proof(RandomTables(Material.parse("KPvKP"), Metric.DTM, np.dtype(np.int8)))
    with pytest.raises(ValueError, match="double step"):
        proof.kernel.needs(0, 1, STRONGER, 3, [1] * len(proof.materials))
    with pytest.raises(ValueError, match="no such walk"):
        proof.kernel.needs(0, 1, STRONGER, 10, [1] * len(proof.materials))
    with pytest.raises(ValueError, match="no such part"):
        proof.kernel.runs(0, 20)
