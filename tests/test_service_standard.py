"""Facts about Lichess's interface: field for field what its clients expect."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import pytest
from boards import scattered
from hypothesis import given
from hypothesis import strategies as st
from services import client_of, got
from starlette.testclient import TestClient

from api import cbor
from api.fifty import Category

POSITION = {
    "checkmate",
    "stalemate",
    "variant_win",
    "variant_loss",
    "insufficient_material",
    "dtz",
    "precise_dtz",
    "dtm",
    "dtw",
    "dtc",
    "category",
}
MOVE = POSITION | {"uci", "san", "zeroing", "conversion"}
NAMES = ("KQvK", "KRvK", "KQvKR", "KRvKR", "KRvKN", "KBBvK", "KBNvK", "KNvKN", "KQPvKR", "KQQvKRN")
MATE_WITH_PAWNS = "8/4K2k/5Q1P/6P1/8/8/q7/8 w - - {} 148"
CASTLING = "4k3/5q2/8/8/8/8/8/R3K2R w KQ - 0 1"
LONGEST = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"
ORDER = list(Category)


@pytest.fixture(scope="module")
def client(tables: Path) -> Iterator[TestClient]:
    with client_of(tables) as found:
        yield found


def asked(client: TestClient, fen: str) -> Any:
    return got(client, "/standard", fen=fen)


def agrees(found: dict[str, Any], board: chess.Board) -> None:
    """Everything in a position that the rules decide."""
    assert found["checkmate"] == board.is_checkmate()
    assert found["stalemate"] == board.is_stalemate()
    assert found["insufficient_material"] == board.is_insufficient_material()
    assert found["variant_win"] is found["variant_loss"] is False
    assert found["dtz"] is found["precise_dtz"] is found["dtw"] is None
    assert found["category"] in ORDER
    if board.is_checkmate():
        assert found["dtm"] is found["dtc"] is None
        assert found["category"] == "loss"
    elif board.is_stalemate() or board.is_insufficient_material():
        assert (found["category"], found["dtc"], found["dtm"]) == ("draw", 0, 0)
    elif found["dtc"] is not None:
        sign = {"win": 1, "maybe-win": 1, "draw": 0, "loss": -1, "maybe-loss": -1}
        assert (found["dtc"] > 0) - (found["dtc"] < 0) == sign[found["category"]]


def compare(client: TestClient, board: chess.Board) -> None:
    found = asked(client, board.fen().replace(" ", "_"))
    assert set(found) == POSITION | {"moves"}
    agrees(found, board)
    moves = {move["uci"]: move for move in found["moves"]}
    assert sorted(moves) == sorted(move.uci() for move in board.legal_moves)
    assert len(moves) == len(found["moves"])
    for uci, each in moves.items():
        assert set(each) == MOVE
        move = chess.Move.from_uci(uci)
        assert each["san"] == board.san(move)
        assert each["zeroing"] == board.is_zeroing(move)
        assert each["conversion"] == (board.is_capture(move) or move.promotion is not None)
        board.push(move)
        agrees(each, board)
        board.pop()
    order = [ORDER.index(move["category"]) for move in found["moves"]]
    assert order == sorted(order)


@pytest.mark.parametrize("name", NAMES)
def test_answers_agree_with_python_chess(client: TestClient, name: str) -> None:
    chance = random.Random(name)
    for _ in range(10):
        compare(client, _placed(name, chance))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_thousand_answers_agree_with_python_chess(client: TestClient, name: str) -> None:
    chance = random.Random(f"many {name}")
    for _ in range(100):
        compare(client, _placed(name, chance))


def _placed(name: str, chance: random.Random) -> chess.Board:
    while True:
        board = scattered(name, chance)
        if board.is_valid() or board.status() == chess.STATUS_TOO_MANY_CHECKERS:
            return board


def test_a_position_has_the_value_of_its_best_move(client: TestClient) -> None:
    found = asked(client, LONGEST)
    assert (found["category"], found["dtc"], found["dtm"]) == ("win", 31, None)
    best = found["moves"][0]
    assert (best["san"], best["category"], best["dtc"]) == ("Ka2", "loss", -30)
    assert found["moves"][-1]["san"] == "Qd1+"
    assert found["moves"][-1]["category"] == "win"


def test_a_mate_is_known_without_a_table(client: TestClient) -> None:
    found = asked(client, MATE_WITH_PAWNS.format(99))
    assert found["category"] == "win"
    assert found["moves"][0]["san"] == "Qg7#"
    assert found["moves"][0]["category"] == "loss"
    assert {move["category"] for move in found["moves"][1:]} == {"unknown"}


def test_a_mate_at_a_clock_of_a_hundred_is_a_cursed_win(client: TestClient) -> None:
    found = asked(client, MATE_WITH_PAWNS.format(100))
    assert found["category"] == "cursed-win"
    mate = next(move for move in found["moves"] if move["checkmate"])
    assert mate["category"] == "blessed-loss"


def test_castling_rights_are_unknown(client: TestClient) -> None:
    assert asked(client, CASTLING)["category"] == "unknown"


@pytest.mark.parametrize(
    ("clock", "category"),
    [(0, "win"), (38, "win"), (39, "maybe-win"), (40, "cursed-win"), (100, "cursed-win")],
)
def test_the_clock_decides_what_a_win_is_called(
    client: TestClient, clock: int, category: str
) -> None:
    assert asked(client, f"8/8/8/8/Q7/5k2/8/K3r3 w - - {clock} 1")["category"] == category


def test_a_win_is_in_doubt_while_a_later_table_is_missing(tables: Path, tmp_path: Path) -> None:
    (tmp_path / "KQvKR.dtc.arrow").symlink_to(tables / "KQvKR.dtc.arrow")
    with client_of(tmp_path) as client:
        assert asked(client, LONGEST)["category"] == "maybe-win"


def test_wrong_rights_and_squares_are_ignored(client: TestClient) -> None:
    plain = asked(client, LONGEST)
    assert asked(client, "8/8/8/8/Q7/5k2/8/K3r3 w KQkq e3 0 1") == plain


def test_the_mainline_ends_in_mate(client: TestClient) -> None:
    found = got(client, "/standard/mainline", fen=LONGEST)
    assert set(found) == {"dtz", "precise_dtz", "winner", "mainline"}
    assert found["winner"] == "w"
    board = chess.Board(LONGEST)
    for step in found["mainline"]:
        assert set(step) == {"uci", "san", "dtz", "precise_dtz"}
        assert board.push_san(step["san"]).uci() == step["uci"]
    assert board.is_checkmate()


def test_the_mainline_ends_where_a_draw_can_be_claimed(client: TestClient) -> None:
    found = got(client, "/standard/mainline", fen="8/8/8/8/Q7/5k2/8/K3r3 w - - 90 1")
    assert (found["winner"], len(found["mainline"])) == (None, 10)


def test_the_mainline_of_a_draw_is_empty(client: TestClient) -> None:
    found = got(client, "/standard/mainline", fen="8/8/8/3k4/8/3K4/8/8 w - - 0 1")
    assert found == {"dtz": None, "precise_dtz": None, "winner": None, "mainline": []}


@pytest.mark.parametrize("fen", [CASTLING, MATE_WITH_PAWNS.format(0), "8/8/8/8/8/5k2/6q1/KBN5 b"])
def test_a_mainline_without_a_table_is_404_in_plain_text(client: TestClient, fen: str) -> None:
    answer = client.get("/standard/mainline", params={"fen": fen})
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/plain")
    assert "no table" in answer.text


@pytest.mark.parametrize("path", ["/standard", "/standard/mainline"])
@pytest.mark.parametrize(
    "fen", ["", "x", "8/8/8/8/8/8/8/8 w", "8/8/8/8/8/8/kK6/8 w", "8/8/8/8/8/k7/R7/K7 w", "k" * 999]
)
def test_what_is_no_position_is_400_in_plain_text(client: TestClient, path: str, fen: str) -> None:
    answer = client.get(path, params={"fen": fen})
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text.strip()


def test_any_page_may_read_these_answers_and_no_others(client: TestClient) -> None:
    for path, allowed in (("/standard", "*"), ("/api/v1/probe", None)):
        for fen in (LONGEST, "x"):
            headers = client.get(path, params={"fen": fen}).headers
            assert headers.get("access-control-allow-origin") == allowed


def test_cbor_says_the_same(client: TestClient) -> None:
    answer = client.get(
        "/standard", params={"fen": LONGEST}, headers={"Accept": "application/cbor"}
    )
    assert answer.headers["content-type"] == "application/cbor"
    assert answer.content == cbor.dumps(asked(client, LONGEST))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_cbor_is_read_back_as_the_same_value(value: Any) -> None:
    read, end = _read(cbor.dumps(value), 0)
    assert end == len(cbor.dumps(value))
    assert json.dumps(read) == json.dumps(value)


def _read(data: bytes, at: int) -> tuple[Any, int]:
    """A reader that shares nothing with the writer."""
    kind, short = data[at] >> 5, data[at] & 31
    at += 1
    if kind == 7:
        return {20: False, 21: True, 22: None}[short], at
    width = {24: 1, 25: 2, 26: 4, 27: 8}.get(short, 0)
    argument = int.from_bytes(data[at : at + width], "big") if width else short
    at += width
    if kind in (0, 1):
        return (argument if kind == 0 else -1 - argument), at
    if kind == 3:
        return data[at : at + argument].decode(), at + argument
    items = []
    for _ in range(argument * (2 if kind == 5 else 1)):
        item, at = _read(data, at)
        items.append(item)
    return (dict(zip(items[::2], items[1::2], strict=True)) if kind == 5 else items), at
