"""Facts about best lines through captures en passant and promotions, over HTTP and on the command
line: python-chess plays every move of them, and they mate when announced.
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import chess
import chess.pgn
import pytest
from services import client_of, got
from shared_tables import unproved
from starlette.testclient import TestClient
from terminal import kingpair

from kingpair.workers.game.metric import Metric

pytestmark = pytest.mark.slow  # KPvKP to mate is built, and all that it rests on


class Line(NamedTuple):
    """A position, the plies to mate, those that capture en passant, and the men promoted to."""

    fen: str
    plies: int
    en_passant: list[int]
    promotions: list[str]


LINES = (
    Line("k7/8/8/3pP3/4K3/8/8/8 w - d6 0 1", 23, [0], ["q"]),
    Line("8/8/8/KPp5/8/8/8/4k3 w - c6 0 1", 21, [0], ["q"]),
    Line("1K6/1p6/8/2P2k2/8/8/8/8 b - - 0 1", 24, [1], ["q"]),  # after a double step in the line
    Line("2K5/2p4k/8/1P6/8/8/8/8 b - - 0 1", 24, [1], ["q"]),
    Line("K7/8/3k4/pP6/8/8/8/8 w - a6 0 1", 27, [], ["q"]),  # lawful, and not the best
    Line("8/8/8/KPp5/7k/8/8/8 w - c6 0 1", 23, [], ["q"]),
    Line("8/3P4/8/7K/8/4p3/8/7k w - - 0 1", 15, [], ["q", "n"]),
)


class Asked(NamedTuple):
    client: TestClient
    tables: Path


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    tables = unproved(["KPvKP"], Metric.DTM)
    with client_of(tables) as client:
        yield Asked(client, tables)


def moves_of(found: Any) -> list[str]:
    return [move["uci"] for move in found["line"]]


def moves_of_phases(found: Any) -> list[str]:
    return [move["uci"] for phase in found["phases"] for move in phase["line"]]


def played(wanted: Line, moves: list[str]) -> chess.Board:
    """The board at the end of a line; each of its moves is as it is wanted."""
    board, en_passant, promotions = chess.Board(wanted.fen), [], []
    for ply, uci in enumerate(moves):
        move = board.parse_uci(uci)
        if board.is_en_passant(move):
            en_passant.append(ply)
        if move.promotion:
            promotions.append(chess.piece_symbol(move.promotion))
        board.push(move)
    assert (len(moves), en_passant) == (wanted.plies, wanted.en_passant)
    assert promotions == wanted.promotions
    return board


@pytest.mark.parametrize("wanted", LINES, ids=lambda line: line.fen)
def test_a_line_mates_when_announced(asked: Asked, wanted: Line) -> None:
    found = got(asked.client, "/api/v1/line", fen=wanted.fen, metric="dtm")
    board = played(wanted, moves_of(found))
    assert board.is_checkmate()
    won = found["result"] == "win"
    assert wanted.plies == 2 * found["moves"] - won
    assert found["complete"]
    assert found["line"][-1]["fen"] == board.fen(en_passant="legal")


@pytest.mark.parametrize("wanted", LINES, ids=lambda line: line.fen)
def test_the_command_plays_the_line_of_the_service(asked: Asked, wanted: Line) -> None:
    words = ("line", wanted.fen, "--metric", "dtm", "--tables", asked.tables)
    ours = got(asked.client, "/api/v1/line", fen=wanted.fen, metric="dtm")
    assert moves_of_phases(json.loads(kingpair(*words, "--json").stdout)) == moves_of(ours)
    game = chess.pgn.read_game(io.StringIO(kingpair(*words, "--pgn").stdout))
    assert game is not None
    assert not game.errors
    assert [move.uci() for move in game.mainline_moves()] == moves_of(ours)


@pytest.mark.parametrize("wanted", LINES, ids=lambda line: line.fen)
def test_a_line_asked_for_after_each_move_is_the_rest_of_it(asked: Asked, wanted: Line) -> None:
    moves = moves_of(got(asked.client, "/api/v1/line", fen=wanted.fen, metric="dtm"))
    board = chess.Board(wanted.fen)
    for ply, uci in enumerate(moves):
        found = got(asked.client, "/api/v1/line", fen=board.fen(en_passant="legal"), metric="dtm")
        assert moves_of(found) == moves[ply:]
        board.push_uci(uci)
