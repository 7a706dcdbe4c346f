"""Facts about access: who is let in, from where, for what, and how often."""

import json
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import revoked_token
from fastapi.routing import APIRoute
from networks import in_network
from services import client_of, client_with, got, refused
from starlette.testclient import TestClient
from terminal import said

from kingpair.api.http.admission import Buckets, is_cross_site, is_ours, is_this_machine, scope_of
from kingpair.api.http.guard import COOKIE, WRONG_AT_ONCE
from kingpair.api.http.serve import resolved
from kingpair.api.settings import Settings
from kingpair.api.tokens import FILE, Scope, Tokens
from kingpair.workers.errors import BadToken, CannotServe

LONGEST = "8/8/8/8/Q7/5k2/8/K3r3_w_-_-_0_1"
OPEN = ["/", "/docs", "/page/main.js", "/openapi.json", "/healthz", "/readyz", "/version"]
PROBE = f"/api/v1/probe?fen={LONGEST}"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def client(tables: Path, state: Path) -> Iterator[TestClient]:
    with client_with(Settings(tables=tables, state=state)) as found:
        yield found


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


# Tokens


def test_a_secret_is_not_in_the_state(state: Path) -> None:
    secret = Tokens(state).create("reader", Scope.PROBE)
    assert secret.encode() not in (state / FILE).read_bytes()
    assert secret.removeprefix("kingpair_").encode() not in (state / FILE).read_bytes()
    assert stat.S_IMODE((state / FILE).stat().st_mode) == 0o600


def test_two_tokens_have_two_names(state: Path) -> None:
    tokens = Tokens(state)
    tokens.create("reader", Scope.PROBE)
    with pytest.raises(BadToken, match="revoke it or choose another name"):
        tokens.create("reader", Scope.ADMIN)
    assert [(token.name, token.scope) for token in tokens.every()] == [("reader", Scope.PROBE)]
    with pytest.raises(BadToken, match="no token 'writer'"):
        tokens.revoke("writer")
    with pytest.raises(BadToken, match="names no token"):
        tokens.create("\n", Scope.PROBE)


def test_without_tokens_everything_is_allowed_from_here(client: TestClient) -> None:
    assert got(client, "/api/v1/session") == {
        "required": False,
        "name": None,
        "scopes": ["probe", "build", "admin"],
    }
    assert client.get(PROBE).status_code == 200


def test_as_soon_as_there_is_a_token_it_is_needed(client: TestClient, state: Path) -> None:
    secret = Tokens(state).create("reader", Scope.PROBE)
    answer = client.get(PROBE)
    assert "kingpair token create" in refused(answer, 401, "unauthorized")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    refused(client.get(PROBE, headers=bearer(secret + "x")), 401, "unauthorized")
    assert client.get(PROBE, headers=bearer(secret)).status_code == 200
    for path in OPEN:
        assert client.get(path).status_code == 200, path
    plain = client.get(f"/standard?fen={LONGEST}")
    assert (plain.status_code, plain.headers["content-type"]) == (401, "text/plain; charset=utf-8")


def test_a_revoked_token_lets_nobody_in(client: TestClient, state: Path) -> None:
    tokens = Tokens(state)
    tokens.create("other", Scope.PROBE)
    secret = tokens.create("reader", Scope.PROBE)
    assert client.get(PROBE, headers=bearer(secret)).status_code == 200
    tokens.revoke("reader")
    assert client.get(PROBE, headers=bearer(secret)).status_code == 401


def test_a_token_allows_its_scope_and_no_more(client: TestClient, state: Path) -> None:
    probe = bearer(Tokens(state).create("reader", Scope.PROBE))
    build = bearer(Tokens(state).create("builder", Scope.BUILD))
    for headers, path, needed in (
        (probe, "/api/v1/builds", "build"),
        (build, "/api/v1/tables/KQvK", "admin"),
    ):
        answer = client.request("DELETE", path, headers=headers)
        assert f"scope {needed}" in refused(answer, 403, "forbidden")


def test_a_path_without_a_rule_needs_an_administrator() -> None:
    assert scope_of("GET", "/healthz") is None
    assert scope_of("GET", "/metrics") is Scope.PROBE
    assert scope_of("POST", "/api/v1/probe") is Scope.PROBE
    assert scope_of("POST", "/api/v1/builds") is Scope.BUILD
    assert scope_of("POST", "/api/v1/builds/b1/cancel") is Scope.BUILD
    assert scope_of("DELETE", "/api/v1/tables/KQvK/dtc") is Scope.ADMIN
    assert scope_of("POST", "/api/v1/buildsx") is Scope.ADMIN
    assert scope_of("PUT", "/anything") is Scope.ADMIN


LOCAL = ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"]
FOREIGN = ["10.77.0.1", "192.0.2.7", "2001:db8::1", "::ffff:10.0.0.1", "0.0.0.0", "no address", ""]


@pytest.mark.parametrize("peer", [*LOCAL, *FOREIGN])
def test_without_tokens_only_a_loopback_peer_is_admitted(tables: Path, peer: str) -> None:
    assert is_this_machine(peer) == (peer in LOCAL)
    with client_with(Settings(tables=tables), peer) as client:
        answer = client.get(PROBE)
        session = got(client, "/api/v1/session")
    if peer in LOCAL:
        assert answer.status_code == 200
        assert session["scopes"] == ["probe", "build", "admin"]
    else:
        assert "kingpair token create" in refused(answer, 401, "unauthorized")
        assert session == {"required": True, "name": None, "scopes": []}


@pytest.mark.parametrize(
    "header",
    ["Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP", "Via", "CF-Connecting-IP"],
)
def test_without_tokens_a_proxy_on_this_machine_is_not_admitted(
    client: TestClient, state: Path, header: str
) -> None:
    proxied = {header: "192.0.2.7"}
    assert "without a proxy" in refused(client.get(PROBE, headers=proxied), 401, "unauthorized")
    secret = Tokens(state).create("reader", Scope.PROBE)
    assert client.get(PROBE, headers=proxied | bearer(secret)).status_code == 200


def test_when_the_last_token_is_revoked_other_machines_are_not_admitted(
    tables: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "tables"
    copy.mkdir()
    shutil.copy(tables / "KQvK.dtc.arrow", copy)
    address = f"ip addr add {revoked_token.OTHER}/24 dev lo"
    found = in_network(address, revoked_token, copy, tmp_path / "state")
    asked = json.loads(found)
    assert {peer for peer, *_ in asked} == {revoked_token.OTHER, "127.0.0.1"}
    assert len(asked) > 50
    for peer, method, path, status in asked:
        is_open = scope_of(method, path) is None
        if peer == revoked_token.OTHER:
            assert (status != 401) == is_open, (method, path, status)
        else:
            assert status not in (401, 403), (method, path, status)


def test_a_token_file_that_vanishes_admits_no_other_machine(tables: Path, state: Path) -> None:
    secret = Tokens(state).create("reader", Scope.ADMIN)
    with client_with(Settings(tables=tables, state=state), "192.0.2.7") as client:
        assert client.get(PROBE, headers=bearer(secret)).status_code == 200
        (state / FILE).unlink()
        refused(client.get(PROBE, headers=bearer(secret)), 401, "unauthorized")
        refused(client.delete("/api/v1/tables/KQvK"), 401, "unauthorized")


def test_wrong_tokens_are_slowed_by_address(client: TestClient, state: Path) -> None:
    secret = Tokens(state).create("reader", Scope.PROBE)
    statuses = [client.get(PROBE, headers=bearer(f"x{n}")).status_code for n in range(30)]
    assert statuses[:WRONG_AT_ONCE] == [401] * WRONG_AT_ONCE
    assert 429 in statuses
    late = client.get(PROBE, headers=bearer("wrong"))
    assert "wrong tokens" in refused(late, 429, "too-many")
    assert int(late.headers["retry-after"]) >= 1
    refused(client.post("/api/v1/session", json={"token": "wrong"}), 429, "too-many")
    # Others behind the same address are not locked out, nor is the page of a stale cookie.
    assert client.get(PROBE, headers=bearer(secret)).status_code == 200
    assert client.get("/page/main.js", headers=bearer("wrong")).status_code == 200
    assert client.get(PROBE).status_code == 401


def test_a_request_has_one_host_header(client: TestClient) -> None:
    answer = client.get(PROBE, headers=[("Host", "127.0.0.1"), ("Host", "elsewhere.example")])
    assert "one Host header" in refused(answer, 400, "bad-request")


def test_a_session_is_the_token_in_a_cookie(client: TestClient, state: Path) -> None:
    secret = Tokens(state).create("reader", Scope.BUILD)
    wrong = client.post("/api/v1/session", json={"token": "wrong"})
    refused(wrong, 401, "unauthorized")
    assert "set-cookie" not in wrong.headers
    begun = client.post("/api/v1/session", json={"token": secret})
    assert begun.json() == {"required": True, "name": "reader", "scopes": ["probe", "build"]}
    said = begun.headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=strict" in said
    assert client.cookies[COOKIE] == secret
    assert client.get(PROBE).status_code == 200
    assert client.delete("/api/v1/session").status_code == 204
    assert client.get(PROBE).status_code == 401


def test_no_request_is_admitted_while_the_tokens_cannot_be_read(
    client: TestClient, state: Path
) -> None:
    secret = Tokens(state).create("reader", Scope.PROBE)
    assert client.get(PROBE, headers=bearer(secret)).status_code == 200
    good = (state / FILE).read_bytes()
    (state / FILE).unlink()
    (state / FILE).write_bytes(b"no database at all" * 300)
    assert FILE in refused(client.get(PROBE, headers=bearer(secret)), 503, "not-ready")
    assert FILE in refused(client.get("/readyz"), 503, "not-ready")
    assert client.get("/healthz").status_code == 200
    (state / FILE).unlink()
    (state / FILE).write_bytes(good)
    assert client.get(PROBE, headers=bearer(secret)).status_code == 200
    assert client.get("/readyz").status_code == 200


def test_a_database_that_is_held_stops_nobody(client: TestClient, state: Path) -> None:
    secret = Tokens(state).create("reader", Scope.PROBE)
    assert client.get(PROBE, headers=bearer(secret)).status_code == 200
    holder = sqlite3.connect(state / FILE)
    holder.execute("begin exclusive")
    assert client.get(PROBE, headers=bearer(secret)).status_code == 200
    holder.rollback()
    holder.close()


# From where


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000", "192.0.2.7", "tables.lab"],
)
def test_a_name_of_ours_is_served(host: str) -> None:
    assert is_ours(host, frozenset({"tables.lab"}))


@pytest.mark.parametrize(
    "host",
    ["", "rebound.example", "127.0.0.1.rebound.example", "[::1", "localhost.rebound.example"],
)
def test_another_name_is_not_served(host: str, client: TestClient) -> None:
    assert not is_ours(host, frozenset({"tables.lab"}))
    refused(client.get(PROBE, headers={"Host": host}), 421, "misdirected")


@pytest.mark.parametrize(
    ("origin", "site", "is_from_elsewhere"),
    [
        (None, None, False),
        ("http://127.0.0.1:8000", "same-origin", False),
        (None, "none", False),
        ("https://elsewhere.example", "cross-site", True),
        ("https://elsewhere.example", None, True),
        ("http://127.0.0.1:9000", "same-site", True),
        ("http://127.0.0.1:9000", None, True),
        ("null", None, True),
        (None, "cross-site", True),
        ("http://[", None, True),
    ],
)
def test_a_change_is_accepted_only_from_our_own_page(
    client: TestClient, origin: str | None, site: str | None, is_from_elsewhere: bool
) -> None:
    assert is_cross_site("POST", "127.0.0.1:8000", origin, site) == is_from_elsewhere
    assert not is_cross_site("GET", "127.0.0.1:8000", origin, site)
    given = {"Origin": origin, "Sec-Fetch-Site": site}
    headers = {name: value for name, value in given.items() if value is not None}
    answer = client.post("/api/v1/probe", json={"fens": []}, headers=headers)
    if is_from_elsewhere:
        refused(answer, 403, "cross-site")
    else:
        assert answer.status_code == 200


def test_no_other_page_is_told_that_it_may_ask(client: TestClient) -> None:
    asked = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    answer = client.options("/api/v1/probe", headers=asked)
    assert not [name for name in answer.headers if name.startswith("access-control")]


# How often


def test_a_client_that_asks_too_often_is_told_when_to_ask_again(tables: Path) -> None:
    with client_with(Settings(tables=tables, probes_per_second=1)) as client:
        answers = [client.get(f"/standard?fen={LONGEST}") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert client.get("/api/v1/tables").status_code == 200
        refused(client.get(PROBE), 429, "too-many")


def test_a_batch_counts_by_its_positions(tables: Path) -> None:
    with client_with(Settings(tables=tables, probes_per_second=10)) as client:
        many = {"fens": [LONGEST] * 2000}
        assert client.post("/api/v1/probe", json=many).status_code == 429
        assert client.post("/api/v1/probe", json={"fens": [LONGEST] * 10}).status_code == 200


def test_a_bucket_fills_steadily() -> None:
    buckets = Buckets(rate=10, seconds=2)
    assert [buckets.wait("a", 1, 0.0) for _ in range(20)] == [0] * 20
    assert buckets.wait("a", 1, 0.0) == 1
    assert buckets.wait("b", 1, 0.0) == 0
    assert buckets.wait("a", 1, 0.1) == 0
    assert buckets.wait("a", 30, 1.0) == 2
    assert buckets.wait("a", 30, 100.0) == 0
    assert buckets.wait("a", 1, 100.5) == 1


def test_the_memory_of_clients_has_a_bound() -> None:
    buckets = Buckets(rate=10, most=100)
    for number in range(1000):
        buckets.wait(f"client {number}", 1, 0.0)
    assert len(buckets._levels) == 100


# The description


def test_the_description_says_what_each_request_needs(client: TestClient, state: Path) -> None:
    assert "securitySchemes" not in got(client, "/openapi.json").get("components", {})
    Tokens(state).create("reader", Scope.PROBE)
    described = got(client, "/openapi.json")
    assert set(described["components"]["securitySchemes"]) == {"token", "session"}
    assert described["paths"]["/standard"]["get"]["x-scope"] == "probe"
    assert "security" not in described["paths"]["/healthz"]["get"]


def test_every_route_that_changes_something_needs_more_than_to_probe(tables: Path) -> None:
    with client_of(tables) as client:
        routes: list[APIRoute] = client.app.state.routes  # type: ignore[attr-defined]
        for route in routes:
            for method in (route.methods or set()) - {"GET", "HEAD", "OPTIONS"}:
                scope = scope_of(method, route.path)
                reads = route.path in ("/api/v1/session", "/api/v1/probe", "/api/v1/plan")
                assert reads or scope in (Scope.BUILD, Scope.ADMIN), route.path


# Listening


def test_with_a_token_other_machines_may_ask() -> None:
    assert resolved("0.0.0.0", 8000, has_tokens=True)[1] == ("0.0.0.0", 8000)
    with pytest.raises(CannotServe, match="kingpair token create"):
        resolved("0.0.0.0", 8000, has_tokens=False)


# The commands


def test_tokens_are_made_listed_and_revoked_from_a_terminal(tmp_path: Path) -> None:
    at = ("--state", str(tmp_path))
    secret = said("token", "create", "reader", "--scope", "build", *at).strip()
    assert secret.startswith("kingpair_")
    (listed,) = json.loads(said("token", "list", "--json", *at))
    assert (listed["name"], listed["scope"]) == ("reader", "build")
    assert "reader" in said("token", "list", *at)
    assert said("token", "revoke", "reader", *at) == ""
    assert json.loads(said("token", "list", "--json", *at)) == []
