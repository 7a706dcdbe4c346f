"""Facts about the verification of tables with pawns: sound ones pass, alterations are named."""

import gc
import shutil
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from altered_tables import Built, BuiltTables, Column, columns_of, copied, rewrite
from building import BOTH_METRICS, publish
from en_passant import POSITIONS
from move_keys import Keys, best_keys_of, keys_of, values_of
from numpy.typing import NDArray
from placed_men import Men, PlacedMan, are_legal
from rows_of_men import material_of, rows_of
from structure_moves import StructureMoves
from structure_positions import Positions

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.errors import ForeignTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import SIDES, Row, Side, opponent
from kingpair.workers.prove.smaller_tables import smaller_tables
from kingpair.workers.prove.verdict import WrongCount, WrongValue
from kingpair.workers.prove.verify import proof_dtype
from kingpair.workers.prove.verify_structures import StructureVerification
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve import levels_below
from kingpair.workers.table.fens import fen_of_row
from kingpair.workers.table.format import COLUMNS, PLAIN, Table
from kingpair.workers.table.key import TableIdentity
from kingpair.workers.table.writing import encode, table_schema

PAIRS = 3612
SLOW = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, threads: Threads) -> BuiltTables:
    return BuiltTables(tmp_path_factory.mktemp, threads)


def board_of(material: Material, row: int, side: Side) -> chess.Board:
    return chess.Board(fen_of_row(material, Row(row), side))


def is_position(material: Material, row: int, side: Side) -> bool:
    """Whether a row holds a position, by another program's rules.  For lists of other files."""
    board = board_of(material, row, side)
    return len(board.piece_map()) == material.men and not board.was_into_check()


# ---- sound tables ----


@pytest.mark.parametrize("metric", BOTH_METRICS)
@pytest.mark.parametrize(
    "name",
    [
        "KPvK",
        *(pytest.param(name, marks=SLOW) for name in ("KPvKP", "KQvKP", "KRPvK", "KPPvK", "KNvKP")),
    ],
)
def test_sound_tables_are_proved(built: BuiltTables, name: str, metric: Metric) -> None:
    tables = built(name)
    verdict = tables.verdict(name, metric)
    assert (verdict.fault, verdict.contradictions) == (None, 0)
    counts = Table(tables.folder / f"{name}.{metric}.arrow").counts
    for side, positions in zip(COLUMNS, (verdict.white, verdict.black), strict=True):
        decided = sum(counts[side]["win"].values()) + sum(counts[side]["loss"].values())
        assert positions == decided + counts[side]["draw"]


def test_a_proof_that_has_ended_holds_nothing(built: BuiltTables) -> None:
    """The command line collects garbage rarely, and the columns of a proof are hundreds of MB."""
    folder = built("KPvK").folder
    table = Table(folder / "KPvK.dtc.arrow")
    smaller = smaller_tables(table, lambda key: Table(folder / key.file_name))
    gc.disable()
    try:
        with Threads(1) as threads:
            dtype = proof_dtype(table, smaller)
            proof = StructureVerification(table, smaller, dtype, threads, lambda share: None)
            proof.verify_positions()
        left = weakref.ref(proof)
        del proof
        assert left() is None
    finally:
        gc.enable()


# ---- altered values ----

KINDS: dict[str, Callable[[chess.Board], bool]] = {
    "mate": chess.Board.is_checkmate,
    "stalemate": chess.Board.is_stalemate,
    "king": lambda b: any(b.piece_type_at(m.from_square) == chess.KING for m in b.legal_moves),
    "push": lambda b: any(abs(m.to_square - m.from_square) == 8 for m in pawn_moves(b)),
    "double step": lambda b: any(abs(m.to_square - m.from_square) == 16 for m in pawn_moves(b)),
    "promotion": lambda b: any(m.promotion and not b.is_capture(m) for m in b.legal_moves),
    "capture": lambda b: any(map(b.is_capture, b.legal_moves)),
    "capture by a pawn": lambda b: any(map(b.is_capture, pawn_moves(b))),
    "capture and promotion": lambda b: any(m.promotion and b.is_capture(m) for m in b.legal_moves),
}


def pawn_moves(board: chess.Board) -> list[chess.Move]:
    pawns = board.pieces(chess.PAWN, board.turn)
    return [move for move in board.legal_moves if move.from_square in pawns]


def rows_of_kind(table: Table, side: Side, kind: str, count: int) -> list[int]:
    """Some rows whose positions are of a kind; fewer if there are none after many tries."""
    chance, found = np.random.default_rng(len(kind)), []
    candidates = chance.permutation(table.index.rows)[:700]
    if kind in ("mate", "stalemate"):
        value = -1 if kind == "mate" else 0
        column = columns_of(table)[side]
        candidates = chance.permutation(np.flatnonzero(column == value))[:700]
    for row in map(int, candidates):
        if is_position(table.material, row, side) and KINDS[kind](
            board_of(table.material, row, side)
        ):
            found.append(row)
            if len(found) == count:
                break
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kinds", "metric"),
    [
        ("KPvK", 4, Metric.DTC),
        ("KPvK", 4, Metric.DTM),
        ("KQvKP", 8, Metric.DTM),
        # No capture promotes here, and no stalemate is among the rows that are drawn.
        ("KPvKP", 7, Metric.DTC),
    ],
)
def test_an_altered_value_of_any_kind_is_found_and_named(
    built: BuiltTables, tmp_path: Path, name: str, kinds: int, metric: Metric
) -> None:
    tables, chance = built(name), np.random.default_rng(5)
    path = copied(tables, tmp_path) / f"{name}.{metric}.arrow"
    table, tried = Table(path), set()
    columns = columns_of(table)
    for kind in KINDS:
        for side in SIDES:
            for row in rows_of_kind(table, side, kind, 1):
                tried.add(kind)
                true = int(columns[side][row])
                said = int(chance.choice([v for v in (true - 1, true + 1, -true, 0) if v != true]))

                def change(columns: list[Column], at: Any = (side, row, said)) -> None:
                    columns[at[0]][at[1]] = at[2]

                rewrite(path, change)
                verdict = tables.verdict(name, metric, tmp_path)
                shutil.copy(tables.folder / path.name, path)
                fen = fen_of_row(table.material, Row(row), side)
                assert verdict.fault == WrongValue(fen, COLUMNS[side], said, true, row), kind
    assert len(tried) >= kinds


def test_a_value_of_a_smaller_table_is_found_where_it_matters(
    built: BuiltTables, tmp_path: Path
) -> None:
    """The king that captures the pawn's queen: KQvK says that White wins without her."""
    tables = built("KPvK")
    path = copied(tables, tmp_path) / "KPvK.dtm.arrow"
    child = tmp_path / "KQvK.dtm.arrow"

    def deeper(columns: list[Column]) -> None:
        black = columns[1]
        black[black < -3] -= 1

    queen = Table(child)
    identity = TableIdentity(queen.key, queen.smaller)
    columns = [np.concatenate([queen.values(p, s) for p in range(462)]) for s in (0, 1)]
    deeper(columns)
    part = encode(table_schema(identity, queen.dtype), columns[0], columns[1], PLAIN)
    publish(child, identity, queen.dtype, [part], queen.counts)
    with pytest.raises(ForeignTable, match="built on another KQvK"):
        tables.verdict("KPvK", Metric.DTM, tmp_path)
    rewrite(path, smaller={**Table(path).smaller, "KQvK": Table(child).digest})
    fault = tables.verdict("KPvK", Metric.DTM, tmp_path).fault
    assert isinstance(fault, WrongValue)
    assert any(move.promotion for move in chess.Board(fault.fen).legal_moves)


def test_a_miscount_is_found_and_named(built: BuiltTables, tmp_path: Path) -> None:
    tables = built("KPvK")
    path = copied(tables, tmp_path) / "KPvK.dtc.arrow"
    rewrite(path, counts=lambda counts: counts["white"]["win"].update({"7": 1}))
    fault = tables.verdict("KPvK", Metric.DTC, tmp_path).fault
    assert isinstance(fault, WrongCount)
    assert (fault.to_move, fault.figure) == ("white", "win 7")


def test_rows_without_a_position_are_ignored(built: BuiltTables, tmp_path: Path) -> None:
    tables = built("KPvK")
    path = copied(tables, tmp_path) / "KPvK.dtc.arrow"
    material = Table(path).material
    rows = np.random.default_rng(3).permutation(24 * PAIRS)[:400].tolist()
    unused = [row for row in rows if not is_position(material, row, 0)]
    assert len(unused) > 20

    def change(columns: list[Column]) -> None:
        columns[0][unused] = 99

    rewrite(path, change)
    assert tables.verdict("KPvK", Metric.DTC, tmp_path).sound


def test_the_verdict_is_the_same_for_any_number_of_threads(
    built: BuiltTables, tmp_path: Path
) -> None:
    path = copied(built("KPvK"), tmp_path) / "KPvK.dtc.arrow"

    def change(columns: list[Column]) -> None:
        columns[0][::97] = 3

    rewrite(path, change)
    verdicts = set()
    for count in (1, 3):
        with Threads(count) as threads:
            verdict = Built(tmp_path, threads).verdict("KPvK", Metric.DTC)
            verdicts.add(replace(verdict, seconds=0.0))
    assert len(verdicts) == 1
    assert not verdicts.pop().sound


# ---- en passant ----


@pytest.mark.slow
@pytest.mark.parametrize("metric", BOTH_METRICS)
def test_a_solver_without_en_passant_is_caught(
    built: BuiltTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metric: Metric
) -> None:
    def none(kept: object, pushes: Any, side: Side) -> NDArray[np.bool_]:
        return np.zeros(len(pushes.structure), np.bool_)

    monkeypatch.setattr(levels_below, "beside_enemies", none)
    tables = built("KPvKP")
    copied(tables, tmp_path)
    (tmp_path / f"KPvKP.{metric}.arrow").unlink()
    spec = BuildSpec((Material.parse("KPvKP"),), (metric,), verify=False)
    build(BuildRequest(spec, tmp_path, threads=2), lambda event: None)
    verdict = tables.verdict("KPvKP", metric, tmp_path)
    assert isinstance(verdict.fault, WrongValue)
    assert verdict.contradictions > 1000
    assert any(
        abs(move.to_square - move.from_square) == 16
        for move in pawn_moves(chess.Board(verdict.fault.fen))
    )


class Constant:
    """Legal positions of a table itself have one value, those of smaller tables another."""

    def __init__(self, positions: Positions, row: int, capture: int) -> None:
        self._positions, self._row, self._capture = positions, row, capture

    def of_structure(self, number: int, to_move: int) -> Keys:
        key = keys_of(np.array([self._row], np.int8))
        legal = are_legal(self._positions.men(number), to_move)
        return np.where(np.broadcast_to(legal, self._positions.shape), key, np.uint8(0))

    def of_smaller(self, men: Men, to_move: int) -> Keys:
        return keys_of(np.array(self._capture, np.int8))


@pytest.mark.slow
@pytest.mark.parametrize("fen", POSITIONS)
@pytest.mark.parametrize(("row", "capture"), [(0, 6), (-3, 0)], ids=["loses", "draws"])
def test_the_value_with_the_right_is_the_best_of_what_is_lawful(
    fen: str, row: int, capture: int
) -> None:
    end, lawful = POSITIONS[fen]
    board = chess.Board(fen)
    men = [
        PlacedMan(piece.symbol().upper(), 0 if piece.color else 1, np.array(square))
        for square, piece in board.piece_map().items()
    ]
    material, shown = material_of(men)
    swapped = shown is not men
    to_move = SIDES[(0 if board.turn else 1) ^ swapped]
    assert board.ep_square is not None
    passed = board.ep_square ^ (56 if swapped else 0)
    positions = Positions(material)
    at = int(rows_of(material, shown))
    number, place = divmod(at, int(np.prod(positions.shape)))
    entered = passed + (8 if to_move else -8)
    if all(int(man.square) != entered for man in positions.pawns(number)):
        passed, entered = passed ^ 7, entered ^ 7
    source = Constant(positions, row, capture)
    keys = source.of_structure(number, to_move)
    moves = StructureMoves(positions, source)
    found = moves.with_right(number, opponent(to_move), passed, entered, keys).ravel()[place]
    own = [] if end else [int(best_keys_of(np.array([row], np.int8))[0])]
    best = max([*own, int(keys_of(np.array([capture], np.int8))[0])])
    value = int(values_of(np.array([best], np.uint8))[0]) if lawful else row
    assert int(found) == int(keys_of(np.array([value], np.int8))[0])
