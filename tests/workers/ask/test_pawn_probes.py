"""Facts about probes with pawns: the oracle's values, from all sides, and en passant by one ply."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pawn_oracle
import pytest
from building import publish
from numpy.typing import NDArray
from pawn_tables import write_closure

from kingpair.api.answers.best_moves import BestMoves
from kingpair.workers.ask.addresses import AddressReader
from kingpair.workers.ask.answer import Answer, value_of_move
from kingpair.workers.ask.play import best_line, rated_moves, rated_moves_of
from kingpair.workers.ask.position_report import report_position
from kingpair.workers.ask.probe import Tablebase, open_tablebase
from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.material_index import table_index
from kingpair.workers.number_types import SIDES, Side
from kingpair.workers.table.format import PLAIN, Table
from kingpair.workers.table.key import TableIdentity, TableKey
from kingpair.workers.table.writing import encode, table_schema

# The capture en passant is the only lawful move; without it these are stalemates.
ONLY_MOVE = ["8/8/8/8/4pP2/4K3/4B3/4k3 b - f3 0 1", "8/8/R7/7k/6pP/6K1/8/8 b - h3 0 1"]
KPVKP = Material.parse("KPvKP")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tables")
    write_closure(directory, "KPvK")
    return directory


@pytest.fixture(scope="module")
def tablebase(directory: Path) -> Iterator[Tablebase]:
    with open_tablebase(directory) as opened:
        yield opened


def answer(plies: int) -> Answer:
    """The oracle's value in moves."""
    moves = pawn_oracle.moves_of(plies)
    return Answer((moves > 0) - (moves < 0), max(moves, -moves - 1) if moves else 0)


def sample(name: str, side: Side, count: int) -> list[tuple[str, int]]:
    """FENs of positions without a right to capture en passant, and the oracle's values."""
    solution = pawn_oracle.solve(name)
    values = solution.plain("dtc", side)
    chosen = random.Random(side).sample(range(len(values)), count)
    return [(solution.fen(side, node), int(values[node])) for node in chosen]


@pytest.mark.slow  # an oracle solves the material
@pytest.mark.parametrize("side", [0, 1], ids=["white", "black"])
def test_a_probe_answers_with_the_value_of_the_oracle(tablebase: Tablebase, side: Side) -> None:
    for fen, value in sample("KPvK", side, 300):
        board = chess.Board(fen)
        mirrored = board.transform(chess.flip_horizontal)
        for seen in (board, mirrored, board.mirror(), mirrored.mirror()):
            assert tablebase.probe(seen.fen()) == answer(value)


@pytest.mark.parametrize("side", [0, 1], ids=["white", "black"])
def test_a_batch_answers_as_single_probes_do(tablebase: Tablebase, side: Side) -> None:
    fens = [fen for fen, _ in sample("KPvK", side, 500)]
    answers = tablebase.probe_batch([*fens, "8/8/8/8/Q7/5k2/8/K7 w - - 0 1", chess.STARTING_FEN])
    singles = [tablebase.probe(fen) for fen in fens]
    assert answers.wdl[: len(fens)].tolist() == [each.wdl for each in singles]
    assert answers.moves[: len(fens)].tolist() == [each.signed for each in singles]
    assert answers.known.tolist() == [True] * (len(fens) + 1) + [False]


def test_moves_and_their_report_agree_with_the_values_after_them(tablebase: Tablebase) -> None:
    for side in SIDES:
        for fen, value in sample("KPvK", side, 40):
            position = parse_fen(fen)
            found = rated_moves(tablebase, position)
            assert rated_moves_of(report_position(tablebase, position), Metric.DTC) == found
            if found:
                assert found[0].answer == answer(value)


def test_remembered_best_lines_are_those_of_a_tablebase(tablebase: Tablebase) -> None:
    lines = BestMoves(tablebase)
    for fen, value in sample("KPvK", 0, 20):
        if value:
            position = parse_fen(fen)
            found = [(each.option, each.answer) for each in lines.line(position, Metric.DTC)]
            assert found == [(m.option, m.answer) for m in best_line(tablebase, position)]


def test_the_best_line_goes_through_a_promotion_to_mate(tablebase: Tablebase) -> None:
    board = chess.Board("8/8/8/6k1/8/8/1P4K1/8 w - - 0 1")
    line = list(best_line(tablebase, parse_fen(board.fen())))
    for each in line:
        board.push_uci(each.option.uci)
    assert board.is_checkmate()
    assert any(each.option.move.promotion for each in line)


def test_a_position_without_a_table_is_refused_by_its_material(tablebase: Tablebase) -> None:
    with pytest.raises(MissingTableError, match="no table of KPPvK"):
        tablebase.probe("8/8/8/8/8/5k2/PP6/K7 w - - 0 1")
    with pytest.raises(MissingTableError, match="32 men, at most 6"):
        tablebase.probe(chess.STARTING_FEN)
    with pytest.raises(MissingTableError, match="no table of KRPvK covers castling rights"):
        tablebase.probe("4k3/8/8/8/8/8/P7/4K2R w K - 0 1")


# ---- en passant ----


@pytest.mark.parametrize("fen", ONLY_MOVE)
def test_a_capture_that_is_the_only_move_is_known(fen: str) -> None:
    (place,) = AddressReader().addresses([fen])
    assert place is not None
    assert place.en_passant is not None
    assert place.en_passant.only_moves
    assert len(place.en_passant.captures) == 1
    bare = AddressReader().address(fen.replace(" f3", " -").replace(" h3", " -"))
    assert bare.en_passant is None
    assert (bare.material, bare.row) == (place.material, place.row)


def test_a_capture_that_opens_the_king_to_check_is_none() -> None:
    place = AddressReader().address("8/8/8/8/k4pPQ/8/8/7K b - g3 0 1")
    assert place.en_passant is None


def with_rights(count: int) -> list[str]:
    """Positions of KPvKP, after a double step by either side, that allow a capture en passant."""
    chance, found = random.Random(1), list[str]()
    while len(found) < count:
        file, aside = chance.randrange(8), chance.choice((-1, 1))
        board = chess.Board(None)
        squares = chance.sample(range(64), 2)
        pawns = {24 + file, 24 + file + aside}
        if not 0 <= file + aside < 8 or ({8 + file, 16 + file} | pawns) & set(squares):
            continue
        board.set_piece_at(24 + file, chess.Piece.from_symbol("P"))
        board.set_piece_at(24 + file + aside, chess.Piece.from_symbol("p"))
        for letter, square in zip("Kk", squares, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        board.turn, board.ep_square = chess.BLACK, 16 + file
        if board.is_valid() and board.has_legal_en_passant():
            found += [board.fen(), board.mirror().fen()]
    return found


@pytest.mark.parametrize("constant", [Answer(0, 0), Answer(1, 5), Answer(-1, 4)])
def test_the_right_gives_the_best_of_the_row_and_of_the_captures(
    directory: Path, tmp_path: Path, constant: Answer
) -> None:
    """The rows of KPvKP are all the same here, so the captures make the difference."""
    for path in directory.glob("K?vK.dtc.arrow"):
        (tmp_path / path.name).symlink_to(path)
    constant_table(tmp_path, constant)
    fens = with_rights(200)
    with open_tablebase(tmp_path) as tablebase:
        answers = tablebase.probe_batch(fens, "dtc")  # the name of a metric does, too
        for i, fen in enumerate(fens):
            board = chess.Board(fen)
            after = []
            for move in board.generate_legal_ep():
                board.push(move)
                after.append(value_of_move(answer(pawn_oracle.value(board.fen(), "dtc")), True))
                board.pop()
            expected = max([constant, *after], key=lambda each: (each.wdl, -each.signed))
            assert after
            assert tablebase.probe(fen) == expected
            assert (answers.wdl[i], answers.moves[i], answers.known[i]) == (
                expected.wdl,
                expected.signed,
                True,
            )


def constant_table(directory: Path, every: Answer) -> None:
    key = TableKey(KPVKP, Metric.DTC)
    smaller = {
        str(k.material): Table(directory / k.file_name).digest
        for k in key.smaller()
        if (directory / k.file_name).exists()
    }
    identity, dtype = TableIdentity(key, smaller), np.dtype(np.int8)
    value = every.signed - (every.wdl < 0)
    column: NDArray[Any] = np.full(table_index(KPVKP).rows, value, dtype)
    part = encode(table_schema(identity, dtype), column, column, PLAIN)
    publish(directory / key.file_name, identity, dtype, [part], {})
