"""Facts about single wrong values below a table with pawns: its proof finds them.

The wrong values stand in a level below, in a smaller table, or after a capture en passant.  They
are where they matter: the position from which a move leads there gets another value.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import chess
import numpy as np
import pytest
from altered_tables import Built, BuiltTables, Column, columns_of, copied, rewrite
from building import BOTH_METRICS
from placed_men import PlacedMan
from rows_of_men import material_of, rows_of

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.material_index import table_index
from kingpair.workers.number_types import SIDES, Row, Side
from kingpair.workers.prove.verdict import WrongValue
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.fens import fen_of_row
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey

SIGN, LEAST = 0x80, 1
"""The bit that exchanges wins and losses, and the one that makes a draw a win in one move."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, threads: Threads) -> BuiltTables:
    return BuiltTables(tmp_path_factory.mktemp, threads)


class Address(NamedTuple):
    material: Material
    side: Side
    row: int


def address_of(board: chess.Board) -> Address:
    men = [
        PlacedMan(piece.symbol().upper(), 0 if piece.color else 1, np.array(square))
        for square, piece in board.piece_map().items()
    ]
    material, shown = material_of(men)
    side = (0 if board.turn else 1) ^ (shown is not men)
    return Address(material, SIDES[side], int(rows_of(material, shown)) if material.letters else -1)


class Values:
    """The values of tables, by board."""

    def __init__(self, built: Built, metric: Metric) -> None:
        self._built, self._metric = built, metric
        self._columns: dict[Material, list[Column]] = {}

    def at(self, board: chess.Board) -> int:
        material, side, row = address_of(board)
        if not material.letters:
            return 0
        if material not in self._columns:
            path = self._built.folder / TableKey(material, self._metric).file_name
            self._columns[material] = columns_of(Table(path))
        return int(self._columns[material][side][row])


def boards(name: str) -> Iterator[chess.Board]:
    """Lawful positions of a material, drawn at random for ever."""
    material, chance = Material.parse(name), np.random.default_rng(11)
    rows = table_index(material).rows
    while True:
        row, side = Row(int(chance.integers(rows))), SIDES[int(chance.integers(2))]
        board = chess.Board(fen_of_row(material, row, side))
        if len(board.piece_map()) == material.men and not board.was_into_check():
            yield board


def after(board: chess.Board, move: chess.Move) -> chess.Board:
    board = board.copy()
    board.push(move)
    return board


def flip(built: Built, name: str, metric: Metric, board: chess.Board, bit: int, out: Path) -> None:
    """Flips a bit of a value; the table that is proved names the table that is altered."""
    copied(built, out)
    material, side, row = address_of(board)

    def change(columns: list[Column]) -> None:
        value = columns[side][row : row + 1].astype(np.int8)
        columns[side][row] = (value.view(np.uint8) ^ np.uint8(bit)).view(np.int8)[0]

    path = out / TableKey(material, metric).file_name
    rewrite(path, change)
    if str(material) != name:
        proved = out / f"{name}.{metric}.arrow"
        rewrite(proved, smaller={**Table(proved).smaller, str(material): Table(path).digest})


def worths(board: chess.Board, values: Values, metric: Metric) -> dict[chess.Move, int]:
    """The value that a position has by each of its moves; nothing for those that give rights to
    capture en passant.
    """
    found = {}
    for move in board.legal_moves:
        entered = after(board, move)
        if entered.ep_square is None or not entered.has_legal_en_passant():
            value, ends = values.at(entered), board.is_capture(move) or move.promotion
            found[move] = 1 if ends and value < 0 and metric is Metric.DTC else -value
    return found


def decisive(name: str, values: Values, into: str, metric: Metric) -> chess.Board:
    """A position of another table on which the value of a position rests: it is lost, and reached
    by the only best move, or won, and reached from a position that is not won.
    """
    for board in boards(name):
        value, by_move = values.at(board), worths(board, values, metric)
        for move, worth in by_move.items():
            entered = after(board, move)
            if str(address_of(entered).material) != into or board.is_en_passant(move):
                continue
            is_only_best = worth == value > 0 and list(by_move.values()).count(value) == 1
            if (is_only_best and len(by_move) == board.legal_moves.count()) or (
                value <= 0 and values.at(entered) > 0
            ):
                return entered
    raise AssertionError("boards are drawn for ever")


def test_a_flipped_bit_of_a_smaller_table_is_found(built: BuiltTables, tmp_path: Path) -> None:
    assert_found(built("KPvK"), "KPvK", "KQvK", Metric.DTM, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("metric", BOTH_METRICS)
@pytest.mark.parametrize("into", ["KQvKP", "KRvKP", "KBvKP", "KNvKP", "KPvK", "KPvKP"])
def test_a_flipped_bit_of_a_table_with_pawns_is_found(
    built: BuiltTables, tmp_path: Path, into: str, metric: Metric
) -> None:
    """Also one of a lower level of the same table."""
    assert_found(built("KPvKP"), "KPvKP", into, metric, tmp_path)


def assert_found(built: Built, name: str, into: str, metric: Metric, out: Path) -> None:
    entered = decisive(name, Values(built, metric), into, metric)
    flip(built, name, metric, entered, SIGN, out)
    verdict = built.verdict(name, metric, out)
    assert isinstance(verdict.fault, WrongValue)
    assert verdict.contradictions > (into == name)


def capture_that_saves(values: Values) -> chess.Board:
    """The position after a capture en passant that draws.  The double step before it would win
    without this capture, and its side has nothing better than a draw.
    """
    for board in boards("KPvKP"):
        if values.at(board) != 0:
            continue
        for entered in (after(board, move) for move in board.legal_moves):
            if not entered.has_legal_en_passant() or values.at(entered) >= 0:
                continue
            (taken,) = (after(entered, m) for m in entered.legal_moves if entered.is_en_passant(m))
            if address_of(taken).material.letters and values.at(taken) == 0:
                return taken
    raise AssertionError("boards are drawn for ever")


@pytest.mark.slow
def test_a_flipped_bit_behind_a_capture_en_passant_is_found(
    built: BuiltTables, tmp_path: Path
) -> None:
    tables = built("KPvKP")
    taken = capture_that_saves(Values(tables, Metric.DTM))
    flip(tables, "KPvKP", Metric.DTM, taken, LEAST, tmp_path)
    assert isinstance(tables.verdict("KPvKP", Metric.DTM, tmp_path).fault, WrongValue)
