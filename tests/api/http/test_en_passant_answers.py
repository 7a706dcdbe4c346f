"""Facts about answers to positions with a right to capture en passant, over HTTP and on the command
line: the capture counts where it is lawful, and where it is the only move it alone counts.

Every position of five men is drawn in these tables, and every one after the capture is lost, or
won, for the side that is to move then.  So an answer shows which of them it comes from.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import chess
import pytest
from constant_tables import write_constant_table
from en_passant import POSITIONS
from services import client_of, got
from starlette.testclient import TestClient
from terminal import kingpair

from kingpair.workers.game.chess.material import Material

# With two pawns: what three of them lead to needs the counts of a table, which these have not.
FIVE_MEN = [
    fen
    for fen in POSITIONS
    if len(chess.Board(fen).piece_map()) == 5 and fen.split()[0].lower().count("p") == 2
]
CATEGORIES = {1: "win", 0: "draw", -1: "loss"}


class Served(NamedTuple):
    """A directory of tables, a service of it, and what capturing en passant leads to."""

    tables: Path
    client: TestClient
    capture: int


@pytest.fixture(scope="module", params=[1, -1], ids=["captures win", "captures lose"])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    tables = tmp_path_factory.mktemp("tables")
    for fen in FIVE_MEN:
        board = chess.Board(fen)
        write_once(tables, board, 0)
        for move in board.generate_legal_ep():
            board.push(move)
            write_once(tables, board, -4 if request.param == 1 else 3)
            board.pop()
    with client_of(tables) as client:
        yield Served(tables, client, request.param)


def write_once(tables: Path, board: chess.Board, value: int) -> None:
    men = [piece.symbol() for piece in board.piece_map().values()]
    white = "".join(letter for letter in men if letter.isupper())
    black = "".join(letter.upper() for letter in men if letter.islower())
    material = Material.parse(f"{white}v{black}")
    if not (tables / f"{material}.dtc.arrow").exists():
        write_constant_table(tables, material, value)


def expected(fen: str, capture: int) -> int:
    """1 won, 0 drawn, -1 lost, by the moves that python-chess allows."""
    board = chess.Board(fen)
    captures = list(board.generate_legal_ep())
    others = [move for move in board.legal_moves if move not in captures]
    if not captures and not others:
        return -1 if board.is_check() else 0
    return max(([capture] if captures else []) + ([0] if others else []))


@pytest.mark.parametrize("fen", FIVE_MEN)
def test_an_answer_counts_the_lawful_captures_alone(served: Served, fen: str) -> None:
    wanted, board = expected(fen, served.capture), chess.Board(fen)
    ours = got(served.client, "/api/v1/probe", fen=fen)
    assert ours["result"] == CATEGORIES[wanted]
    ends = board.is_checkmate(), board.is_stalemate()
    assert (ours["checkmate"], ours["stalemate"]) == ends
    assert {option["uci"] for option in ours["options"]} == {m.uci() for m in board.legal_moves}
    theirs = got(served.client, "/standard", fen=fen)
    assert (theirs["checkmate"], theirs["stalemate"]) == (
        board.is_checkmate(),
        board.is_stalemate(),
    )
    assert {move["uci"] for move in theirs["moves"]} == {m.uci() for m in board.legal_moves}
    assert CATEGORIES[wanted] in theirs["category"]


def test_a_batch_counts_the_lawful_captures_alone(served: Served) -> None:
    answer = served.client.post("/api/v1/probe", json={"fens": FIVE_MEN})
    assert answer.status_code == 200, answer.text
    assert [each["result"] for each in answer.json()["values"]] == [
        CATEGORIES[expected(fen, served.capture)] for fen in FIVE_MEN
    ]


@pytest.mark.parametrize("fen", FIVE_MEN)
def test_the_command_counts_the_lawful_captures_alone(served: Served, fen: str) -> None:
    said = kingpair("probe", fen, "--tables", served.tables, "--json")
    assert said.exit_code == 0, said.output
    assert json.loads(said.stdout)["result"] == CATEGORIES[expected(fen, served.capture)]
