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
from shared_tables import copied_closure, proved, unproved
from starlette.testclient import TestClient

from kingpair.api.answers.fifty import NEGATED, Category
from kingpair.api.http import cbor
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.ask.probe import Tablebase, open_tablebase
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.moves import is_capture, legal_moves, play
from kingpair.workers.game.chess.position import Position
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.rules import is_checkmate

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
MATE_IN_KQVKR = "7k/8/5K2/8/8/8/r7/6Q1 w - - 0 1"
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
    assert found["dtw"] is None
    assert found["precise_dtz"] in (None, found["dtz"])
    assert found["category"] in ORDER
    if board.is_checkmate():
        assert found["dtm"] is found["dtc"] is None
        assert found["dtz"] == found["precise_dtz"] == -1
        assert found["category"] == "loss"
    elif board.is_stalemate() or board.is_insufficient_material():
        assert (found["category"], found["dtc"], found["dtm"]) == ("draw", 0, 0)
        assert found["dtz"] == 0
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


@pytest.mark.parametrize("clock", [100, 101])
def test_a_mate_at_a_clock_of_a_hundred_is_a_cursed_win(client: TestClient, clock: int) -> None:
    found = asked(client, MATE_WITH_PAWNS.format(clock))
    assert found["category"] == "cursed-win"
    best, *others = found["moves"]
    assert (best["san"], best["category"]) == ("Qg7#", "blessed-loss")
    assert {move["category"] for move in others} == {"unknown"}


def test_castling_rights_are_unknown(client: TestClient) -> None:
    assert asked(client, CASTLING)["category"] == "unknown"


@pytest.mark.parametrize(
    ("clock", "category"),
    [(0, "win"), (38, "win"), (39, "win"), (40, "cursed-win"), (100, "cursed-win")],
)
def test_the_clock_decides_what_a_win_is_called(
    client: TestClient, clock: int, category: str
) -> None:
    assert asked(client, f"8/8/8/8/Q7/5k2/8/K3r3 w - - {clock} 1")["category"] == category


@pytest.mark.parametrize("name", NAMES)
def test_a_position_has_the_category_of_its_best_move(client: TestClient, name: str) -> None:
    chance = random.Random(f"categories {name}")
    for _ in range(30):
        board = _placed(name, chance)
        board.halfmove_clock = chance.choice([0, 1, chance.randrange(110), 98, 99, 100])
        found = asked(client, board.fen())
        if found["moves"] and all(each["category"] != "unknown" for each in found["moves"]):
            best = Category(found["moves"][0]["category"])
            assert found["category"] == NEGATED[best], board.fen()


def test_mate_on_the_hundredth_ply_wins(client: TestClient) -> None:
    found = asked(client, "7k/8/5K2/8/8/8/8/6Q1 w - - 99 1")
    assert (found["category"], found["moves"][0]["san"], found["dtz"]) == ("win", "Qg7#", 1)


# Distances to zeroing


def plies_left(tablebase: Tablebase, position: Position) -> int:
    """To mate or a capture, with best play, by looking at every line: for a few plies only."""
    answer = tablebase.probe(position)
    moves = legal_moves(position)
    ends = [is_capture(position, move) or is_checkmate(play(position, move)) for move in moves]
    ways = []
    for move, end in zip(moves, ends, strict=True):
        child = play(position, move)
        if tablebase.probe(child).wdl == -answer.wdl:
            # Only the ways that the table calls shortest: another takes two plies more at least.
            loses = answer.wdl < 0
            if end or tablebase.probe(child).moves == answer.moves - (not loses):
                ways.append(1 if end else 1 + plies_left(tablebase, child))
    return min(ways) if answer.wdl > 0 else max(ways, default=0)


def test_a_distance_to_zeroing_is_that_of_all_lines(tmp_path: Path) -> None:
    build(
        BuildRequest(BuildSpec((Material.parse("KQQvK"),)), tmp_path, threads=2), lambda event: None
    )
    chance = random.Random("zeroing")
    exact = 0
    with client_of(tmp_path) as client, open_tablebase(tmp_path) as tablebase:
        for _ in range(25):
            board = _placed("KQQvK", chance)
            found = asked(client, board.fen())
            if found["category"] in ("win", "loss") and found["dtc"] is not None:
                left = plies_left(tablebase, parse_fen(board.fen()))
                assert abs(found["dtz"]) in (left - 1, left), board.fen()
                exact += found["precise_dtz"] is not None
                assert found["precise_dtz"] is None or abs(found["precise_dtz"]) == left
    assert exact > 0


def test_a_distance_is_exact_where_no_capture_by_the_loser_loses(client: TestClient) -> None:
    found = asked(client, LONGEST)
    assert found["dtz"] == found["precise_dtz"] == 61
    assert found["moves"][0]["dtz"] == found["moves"][0]["precise_dtz"] == -60


def test_no_distance_is_invented_while_a_later_table_is_missing(
    tables: Path, tmp_path: Path
) -> None:
    (tmp_path / "KQvKR.dtc.arrow").symlink_to(tables / "KQvKR.dtc.arrow")
    with client_of(tmp_path) as client:
        assert asked(client, LONGEST)["dtz"] is None
        assert got(client, "/standard/mainline", fen=MATE_IN_KQVKR)["dtz"] == 1


def test_a_mainline_has_a_distance_at_every_step(client: TestClient) -> None:
    found = got(client, "/standard/mainline", fen=LONGEST)
    board = chess.Board(LONGEST)
    at = [found["dtz"], *(step["dtz"] for step in found["mainline"])]
    for before, after, step in zip(at, at[1:], found["mainline"], strict=False):
        move = chess.Move.from_uci(step["uci"])
        ends = board.is_zeroing(move)
        board.push(move)
        assert after == -1 if board.is_checkmate() else ends or abs(after) == abs(before) - 1
        assert (before > 0) != (after > 0)


# The positions by which Lichess's server is tried, wherever we have tables of the men


def test_a_win_on_ply_101_is_cursed(client: TestClient) -> None:
    found = asked(client, "K7/2k5/3n4/8/2b5/8/8/8 w - - 97 128")
    assert found["category"] == "blessed-loss"
    best = found["moves"][0]
    assert (best["san"], best["dtz"], best["category"]) == ("Ka7", 3, "cursed-win")
    found = asked(client, "2n5/K1k5/8/8/2b5/8/8/8 w - - 99 129")
    assert found["category"] == "blessed-loss"
    best = found["moves"][0]
    assert (best["san"], best["dtz"], best["category"]) == ("Ka8", 1, "cursed-win")


def test_a_mate_with_eight_men_is_known(client: TestClient) -> None:
    found = asked(client, "7k/7p/1R6/6P1/P7/5n2/4r3/7K b - - 0 41")
    assert found["category"] == "win"
    assert (found["moves"][0]["san"], found["moves"][0]["category"]) == ("Rh2#", "loss")
    assert found["moves"][2]["category"] == "unknown"
    assert (found["dtz"], found["dtm"], found["dtc"]) == (1, 1, 1)


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Tables of the five-man positions among them."""
    names, directory = ("KRRvKQ", "KBBvKN"), tmp_path_factory.mktemp("five")
    for metric in Metric:
        copied_closure(proved(names, metric), directory, *names, metric=metric)
    with client_of(directory) as client:
        yield client


@pytest.mark.slow
def test_castling_rights_leave_what_is_known(five: TestClient) -> None:
    found = asked(five, CASTLING)
    assert (found["category"], found["moves"][0]["category"]) == ("unknown", "unknown")
    assert found["moves"][19]["category"] == "draw"
    found = asked(five, "4k2q/5q2/8/8/8/8/8/R3K2R w K - 0 1")
    assert found["category"] == "win"
    assert (found["moves"][0]["san"], found["moves"][0]["category"]) == ("Rxh8+", "loss")
    assert found["moves"][1]["category"] == "unknown"


@pytest.mark.slow
def test_a_loss_in_exactly_a_hundred_plies_is_a_loss(five: TestClient) -> None:
    found = asked(five, "8/6B1/6B1/8/2K5/3nk3/8/8 b - - 0 1")
    assert found["category"] == "loss"
    best = found["moves"][0]
    assert (best["san"], best["dtz"], best["category"]) == ("Nf4", 99, "win")
    found = asked(five, "8/6B1/6B1/8/2K2n2/4k3/8/8 w - - 1 2")
    assert found["category"] == "win"
    assert (found["moves"][0]["dtz"], found["moves"][0]["category"]) == (-98, "loss")


@pytest.mark.slow
def test_a_pawn_that_becomes_a_knight_draws_by_the_fifty_move_rule() -> None:
    with client_of(unproved(("KNPvKQ",), Metric.DTZ)) as client:
        found = asked(client, "4K1k1/1N1P4/8/8/8/1q6/8/8 w - - 0 1")
    assert found["category"] == "blessed-loss"
    assert [(move["san"], move["category"]) for move in found["moves"][:3]] == [
        ("d8=N", "cursed-win"),
        ("Na5", "win"),
        ("Nc5", "win"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "category"), [(Metric.DTC, "maybe-win"), (Metric.DTZ, "win")])
def test_a_pawn_can_move_before_a_long_way_to_its_promotion_is_drawn(
    metric: Metric, category: str
) -> None:
    with client_of(unproved(("KPvK",), metric)) as client:
        assert asked(client, "8/8/8/8/5k2/3K4/P7/8 w - - 90 1")["category"] == category


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
    assert found == {"dtz": 0, "precise_dtz": 0, "winner": None, "mainline": []}


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
def test_a_text_that_is_no_position_is_400_in_plain_text(
    client: TestClient, path: str, fen: str
) -> None:
    answer = client.get(path, params={"fen": fen})
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text.strip()


def test_any_page_may_read_these_answers_and_no_others(client: TestClient) -> None:
    for path, allowed in (("/standard", "*"), ("/api/v1/probe", None)):
        for fen in (LONGEST, "x"):
            headers = client.get(path, params={"fen": fen}).headers
            assert headers.get("access-control-allow-origin") == allowed


@pytest.mark.parametrize("path", ["/standard", "/standard/mainline", "/api/v1/probe"])
def test_head_is_get_without_its_body(client: TestClient, path: str) -> None:
    head, get = (client.request(m, path, params={"fen": LONGEST}) for m in ("HEAD", "GET"))
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers == get.headers


def test_options_say_which_methods_there_are(client: TestClient) -> None:
    asking = {"Origin": "https://else.where", "Access-Control-Request-Method": "GET"}
    answer = client.options("/standard", headers=asking)
    assert (answer.status_code, answer.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
    assert answer.headers["access-control-allow-origin"] == "*"
    answer = client.options("/api/v1/builds", headers=asking)
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert "access-control-allow-origin" not in answer.headers
    for path in ("/", "/docs", "/openapi.json", "/healthz", "/page/main.js"):
        assert client.options(path).headers["allow"] == "GET, HEAD, OPTIONS"


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
