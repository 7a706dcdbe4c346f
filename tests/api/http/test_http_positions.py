"""Facts about our own interface to positions: one, many, the best line, and what is refused."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import chess
import pytest
from boards import scattered
from hypothesis import given, settings
from hypothesis import strategies as st
from services import client_of, got, refused
from starlette.testclient import TestClient

from kingpair.api.answers.positions import probed_alone
from kingpair.workers.ask.probe import Tablebase, open_tablebase
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.metric import Metric

LONGEST = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"
NAMES = ("KQvK", "KQvKR", "KRvKN", "KBNvK", "KNvKN")


@pytest.fixture(scope="module")
def client(tables: Path) -> Iterator[TestClient]:
    with client_of(tables) as found:
        yield found


@pytest.fixture(scope="module")
def tablebase(tables: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables) as opened:
        yield opened


@pytest.mark.parametrize("name", NAMES)
def test_the_service_says_what_the_command_says(
    client: TestClient, tablebase: Tablebase, name: str
) -> None:
    chance = random.Random(name)
    for _ in range(25):
        board = scattered(name, chance)
        found = got(client, "/api/v1/probe", fen=board.fen())
        assert found == probed_alone(tablebase, parse_fen(board.fen()), Metric.DTC)
        for option in found["options"]:
            after = board.copy()
            after.push_uci(option["uci"])
            assert option["fen"] == after.fen(en_passant="legal")
        assert found["missing"] is None
        assert found["checkmate"] == board.is_checkmate()
        assert found["check"] == board.is_check()


def test_a_missing_table_is_named_and_the_moves_are_still_there(client: TestClient) -> None:
    found = got(client, "/api/v1/probe", fen="8/8/8/8/8/5k2/6q1/KBN5 b - - 0 1")
    assert found["result"] is None
    assert "kingpair build KBNvKQ" in found["missing"]
    assert found["options"]


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_agrees_with_single_probes(client: TestClient, name: str) -> None:
    chance = random.Random(name)
    fens = [scattered(name, chance).fen() for _ in range(50)]
    answer = client.post("/api/v1/probe", json={"fens": fens})
    assert answer.status_code == 200
    single = [got(client, "/api/v1/probe", fen=fen) for fen in fens]
    assert answer.json()["values"] == [
        {"result": one["result"], "moves": one["moves"]} for one in single
    ]


def test_a_batch_says_where_it_does_not_know(client: TestClient) -> None:
    fens = [LONGEST, chess.STARTING_FEN, "8/8/8/3k4/8/3K4/8/8 w"]
    values = client.post("/api/v1/probe", json={"fens": fens}).json()["values"]
    assert [value["result"] for value in values] == ["win", None, "draw"]


def test_a_line_is_played_to_mate(client: TestClient) -> None:
    found = got(client, "/api/v1/line", fen=LONGEST)
    board = chess.Board(LONGEST)
    for step in found["line"]:
        board.push_uci(step["uci"])
        assert step["fen"] == board.fen(en_passant="legal")
    assert board.is_checkmate()
    assert found["complete"]
    phases = found["phases"]
    assert [phase["material"] for phase in phases] == ["KQvKR", "KQvK"]
    played = [step["uci"] for phase in phases for step in phase["line"]]
    assert played == [step["uci"] for step in found["line"]]
    assert found["plies"] == len(played)
    assert found["pgn"].rstrip().endswith("1-0")


def test_a_line_ends_at_a_claim_if_asked(client: TestClient) -> None:
    fen = LONGEST.replace("0 1", "90 1")
    found = got(client, "/api/v1/line", fen=fen, until_claim="true")
    assert (len(found["line"]), found["claimed"], found["complete"]) == (10, True, True)
    assert found["pgn"].rstrip().endswith("1/2-1/2")
    assert len(got(client, "/api/v1/line", fen=fen)["line"]) > 60


def test_a_position_with_castling_rights_is_what_its_moves_make_of_it(client: TestClient) -> None:
    found = got(client, "/api/v1/probe", fen="4k2r/8/8/8/8/8/8/4K2R w K - 0 1")
    assert (found["result"], found["moves"], found["category"]) == ("win", 1, "win")
    assert "castling" in found["missing"]


def test_a_result_that_another_metric_knows_is_told_without_a_number(client: TestClient) -> None:
    fen = "4k2r/8/8/8/8/8/8/4K2R w K - 0 1"
    found = got(client, "/api/v1/probe", fen=fen, metric="dtm")
    assert (found["result"], found["moves"], found["category"]) == ("win", None, "win")


# What is refused


@pytest.mark.parametrize("path", ["/api/v1/probe", "/api/v1/line"])
@pytest.mark.parametrize("fen", ["x", "8/8/8/8/8/8/kK6/8 w", "8/8/8/8/8/k7/R7/K7 w"])
def test_a_text_that_is_no_position_is_refused(client: TestClient, path: str, fen: str) -> None:
    assert refused(client.get(path, params={"fen": fen}), 400, "bad-position")


def test_a_question_without_a_position_is_refused(client: TestClient) -> None:
    assert "fen" in refused(client.get("/api/v1/probe"), 400, "bad-request")


def test_an_unknown_metric_is_refused(client: TestClient) -> None:
    answer = client.get("/api/v1/probe", params={"fen": LONGEST, "metric": "dtx"})
    assert "metric" in refused(answer, 400, "bad-request")


def test_a_line_without_a_table_is_refused(client: TestClient) -> None:
    answer = client.get("/api/v1/line", params={"fen": chess.STARTING_FEN})
    assert refused(answer, 404, "missing-table")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'{"fens": 1}', b'{"fens": [1]}', b"\xff\xfe", b'{"f":[]}']
)
def test_a_batch_that_cannot_be_read_is_refused(client: TestClient, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    refused(client.post("/api/v1/probe", content=body, headers=headers), 400, "bad-request")


def test_a_wrong_position_of_a_batch_is_named(client: TestClient) -> None:
    answer = client.post("/api/v1/probe", json={"fens": [LONGEST, "nonsense"]})
    assert "position 1" in refused(answer, 400, "bad-position")


def test_too_many_positions_are_refused(client: TestClient) -> None:
    answer = client.post("/api/v1/probe", json={"fens": ["8/8 w"] * 10_001})
    assert "10000" in refused(answer, 400, "bad-request")


def test_a_huge_body_is_refused(client: TestClient) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post("/api/v1/probe", content=b" " * (3 << 20), headers=headers)
    refused(answer, 413, "too-large")


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/api/v1/nothing", 404, "not-found"),
        ("GET", "/nothing", 404, "not-found"),
        ("DELETE", "/api/v1/probe", 405, "method-not-allowed"),
    ],
)
def test_other_paths_and_methods_are_refused(
    client: TestClient, method: str, path: str, status: int, kind: str
) -> None:
    refused(client.request(method, path), status, kind)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "says"),
    [
        ("GET", "/nothing", None, 404, "no path '/nothing'; /docs lists the paths of this service"),
        ("DELETE", "/api/v1/probe", None, 405, "it takes GET, HEAD, OPTIONS, POST"),
        ("GET", "/api/v1/probe", None, 400, "query.fen: is missing; add it"),
        ("GET", "/api/v1/builds?limit=0", None, 400, "query.limit: must be at least 1"),
        ("POST", "/api/v1/probe", b"{", 400, "body: is not JSON; send a JSON object"),
        ("POST", "/api/v1/probe", b'{"fens": 1}', 400, "body.fens: must be a list"),
        ("POST", "/api/v1/plan", b'{"materials": []}', 400, "must have at least 1 item"),
        ("POST", "/api/v1/plan", b'{"materials": ["KQvK"], "x": 1}', 400, "x: is not known here"),
    ],
)
def test_a_refusal_says_what_would_work(
    client: TestClient, method: str, path: str, body: bytes | None, status: int, says: str
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.request(method, path, content=body, headers=headers)
    assert answer.status_code == status
    assert says in answer.json()["detail"]


LETTERS = st.text(st.sampled_from("KQRBNPkqrbnp12345678/ wb-_09e3\0é"), max_size=90)


@settings(deadline=None, max_examples=150)
@given(text=LETTERS | st.text(max_size=250))
def test_no_text_is_a_fault(client: TestClient, text: str) -> None:
    for path in ("/standard", "/standard/mainline", "/api/v1/probe", "/api/v1/line"):
        answer = client.get(path, params={"fen": text.encode("utf-8", "ignore").decode()})
        assert answer.status_code in (200, 400, 404), answer.text
        assert answer.text


def test_every_problem_is_explained_on_the_page_of_documentation(client: TestClient) -> None:
    from kingpair.api.http import problems

    page = client.get("/docs").text
    named = [kind for kind in vars(problems).values() if isinstance(kind, problems.ProblemKind)]
    kinds = {*named, *problems.KINDS.values(), *problems.BY_STATUS.values()}
    explained = dict(re.findall(r'<dt id="(.+?)">\1</dt><dd>(.+?: .+?; .+?)</dd>', page))
    assert set(explained) == {kind.name for kind in kinds}
