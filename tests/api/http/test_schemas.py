"""Facts about the description: every answer agrees with the schema that OpenAPI gives it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from building import CLOSURE, copied
from services import client_of, over
from starlette.testclient import TestClient

LONGEST = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"
FENS = (
    LONGEST,
    "8/8/8/8/8/5k2/6q1/KBN5 b - - 0 1",
    "4k2r/8/8/8/8/8/8/4K2R w K - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "8/8/8/3k4/8/3K4/8/8 w - - 0 1",
)
PATHS = (
    *(("/standard", {"fen": fen}) for fen in FENS),
    *(("/api/v1/probe", {"fen": fen}) for fen in FENS),
    ("/standard/mainline", {"fen": LONGEST}),
    ("/api/v1/line", {"fen": LONGEST}),
    ("/api/v1/line", {"fen": LONGEST, "until_claim": "true"}),
    ("/api/v1/tables", {}),
    ("/api/v1/tables/{material}", {}),
    ("/api/v1/tables/{material}/statistics", {}),
    ("/api/v1/tables/{material}/passes", {}),
    ("/api/v1/tables/{material}/longest", {}),
    ("/api/v1/tables/{material}/zugzwangs", {"limit": "3"}),
    ("/api/v1/tables/{material}/sample", {"result": "win", "least": "20", "limit": "5"}),
    ("/api/v1/builds", {}),
    ("/api/v1/partitions", {}),
    ("/api/v1/session", {}),
    ("/readyz", {}),
    ("/version", {}),
)


@pytest.fixture(scope="module")
def client(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    place = copied(tables, tmp_path_factory.mktemp("schemas") / "tables", *CLOSURE)
    (place / "KRvKN.dtc.arrow").write_bytes(b"no table")
    with client_of(place) as found:
        yield found


@pytest.fixture(scope="module")
def description(client: TestClient) -> Any:
    return client.get("/openapi.json").json()


def agrees(description: Any, path: str, method: str, status: int, answer: Any) -> None:
    described = description["paths"][path][method]["responses"][str(status)]
    schema = described["content"]["application/json"]["schema"]
    assert schema not in ({}, {"type": "object"}), f"{method} {path} says nothing"
    jsonschema.validate(answer, schema | {"components": description["components"]})


@pytest.mark.parametrize(("path", "query"), PATHS)
def test_an_answer_agrees_with_its_schema(
    client: TestClient, description: Any, path: str, query: dict[str, str]
) -> None:
    answer = client.get(path.replace("{material}", "KQvKR"), params=query)
    assert answer.status_code == 200, answer.text
    agrees(description, path, "get", 200, answer.json())


def test_answers_to_posts_agree_with_their_schemas(client: TestClient, description: Any) -> None:
    for path, body in (
        ("/api/v1/probe", {"fens": list(FENS[:2])}),
        ("/api/v1/plan", {"materials": ["KQvKR"]}),
    ):
        agrees(description, path, "post", 200, client.post(path, json=body).json())
    answer = client.post("/api/v1/builds", json={"materials": ["KQvK"], "force": True})
    agrees(description, "/api/v1/builds", "post", 202, answer.json())
    build = over(client, answer.json()["id"])
    agrees(description, "/api/v1/builds/{id}", "get", 200, build)
    made = client.get(f"/api/v1/builds/{build['id']}/passes", params={"material": "KQvK"}).json()
    agrees(description, "/api/v1/builds/{id}/passes", "get", 200, made)
    assert made["passes"]
    listed = client.get("/api/v1/builds").json()
    agrees(description, "/api/v1/builds", "get", 200, listed)


def test_an_error_agrees_with_its_schema(client: TestClient, description: Any) -> None:
    answer = client.get("/api/v1/probe", params={"fen": "x"})
    described = description["paths"]["/api/v1/probe"]["get"]["responses"]["4XX"]
    schema = described["content"]["application/problem+json"]["schema"]
    jsonschema.validate(answer.json(), schema | {"components": description["components"]})


def test_every_answer_is_described(description: Any) -> None:
    for path, item in description["paths"].items():
        for method, operation in item.items():
            for status, response in operation["responses"].items():
                if status not in ("204", "206", "304", "301"):
                    content = response.get("content", {})
                    assert content, f"{method} {path} {status}"
                    for media, each in content.items():
                        assert each.get("schema") or media.startswith("application/vnd"), path


def test_the_limit_of_a_build_is_the_one_enforced(client: TestClient, description: Any) -> None:
    wish = description["components"]["schemas"]["Wish"]["properties"]["materials"]
    most = wish["maxItems"]
    for count, status in ((most, 200), (most + 1, 400)):
        answer = client.post("/api/v1/plan", json={"materials": ["KQvK"] * count})
        assert answer.status_code == status
    assert (
        json.dumps(most)
        in client.post("/api/v1/plan", json={"materials": ["KQvK"] * (most + 1)}).json()["detail"]
    )
