"""Positions of Chinese chess over HTTP: values, moves, lines, batches, and what is refused."""

from collections.abc import Iterator

import pytest
from building import build_unverified
from services import client_of, got, refused
from starlette.testclient import TestClient

WON = "9/9/3k1a3/4P4/9/9/9/9/9/4K4 w - - 0 1"
STALEMATE = "5k3/9/5P3/9/9/9/9/4K4/9/9 b - - 0 1"
IMPOSSIBLE = {
    "4k4/9/9/9/4B4/9/9/9/9/3K5 w": "elephant 'B' on e6",
    "4k4/9/9/9/9/9/9/9/A8/3K5 w": "advisor 'A' on a2",
    "4k4/9/9/9/9/9/9/9/9/4K4 w": "the kings see each other",
    "4k4/4R4/9/9/9/9/9/9/9/3K5 w": "Black is in check but not to move",
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    tables = tmp_path_factory.mktemp("xiangqi")
    build_unverified(tables, "xiangqi:KPvKA")
    with client_of(tables) as found:
        yield found


def test_a_position_has_a_value_and_its_moves_best_first(client: TestClient) -> None:
    found = got(client, "/api/v1/probe", fen=WON)
    assert (found["material"], found["result"]) == ("xiangqi:KPvKA", "win")
    best = found["options"][0]
    assert (best["result"], best["moves"]) == ("win", found["moves"])
    line = got(client, "/api/v1/line", fen=WON)["line"]
    assert line[0]["uci"] == best["uci"]
    assert line[-1]["san"].endswith("#")


def test_a_clock_makes_no_win_doubtful(client: TestClient) -> None:
    late = WON.replace("0 1", "99 60")
    assert got(client, "/api/v1/probe", fen=late)["category"] == "win"


def test_a_stalemate_is_lost(client: TestClient) -> None:
    found = got(client, "/api/v1/probe", fen=STALEMATE)
    assert (found["result"], found["checkmate"], found["stalemate"]) == ("loss", True, False)


def test_a_batch_has_the_values_of_single_probes(client: TestClient) -> None:
    values = client.post("/api/v1/probe", json={"fens": [WON, STALEMATE]}).json()["values"]
    single = [got(client, "/api/v1/probe", fen=fen) for fen in (WON, STALEMATE)]
    assert values == [{"result": each["result"], "moves": each["moves"]} for each in single]


@pytest.mark.parametrize("path", ["/api/v1/probe", "/api/v1/line"])
@pytest.mark.parametrize("fen", IMPOSSIBLE)
def test_an_impossible_position_is_refused(client: TestClient, path: str, fen: str) -> None:
    assert IMPOSSIBLE[fen] in refused(client.get(path, params={"fen": fen}), 400, "bad-position")


@pytest.mark.parametrize("fen", IMPOSSIBLE)
def test_a_batch_names_its_impossible_position(client: TestClient, fen: str) -> None:
    answer = client.post("/api/v1/probe", json={"fens": [WON, fen]})
    said = refused(answer, 400, "bad-position")
    assert "position 1" in said
    assert IMPOSSIBLE[fen] in said
