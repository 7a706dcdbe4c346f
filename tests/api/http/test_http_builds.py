"""Facts about builds over HTTP: plans, submissions, lists, what is refused."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from building import CLOSURE, copied
from services import client_with, got, over, refused, until
from starlette.testclient import TestClient
from terminal import told as on_a_terminal

from kingpair.api.answers.build_list import cursor_of
from kingpair.api.http.application import create
from kingpair.api.http.build_service import BuildService
from kingpair.api.settings import Settings
from kingpair.api.tokens import Scope, Tokens
from kingpair.coordinator.execute.recorder import JOURNAL
from kingpair.coordinator.journal.database import Journal
from kingpair.coordinator.plan.amounts import amount as size
from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers.game.chess.material import Material
from kingpair.workers.store.filesystem import LocalStore


@pytest.fixture
def place(tmp_path: Path) -> Path:
    found = tmp_path / "tables"
    found.mkdir()
    return found


@pytest.fixture
def client(place: Path) -> Iterator[TestClient]:
    with client_with(Settings(tables=place, threads=2, look_every=60)) as found:
        yield found


def submitted(client: TestClient, *names: str, key: str | None = None, **more: Any) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post("/api/v1/builds", json={"materials": names, **more}, headers=headers)


# Plans


def test_a_plan_has_the_numbers_of_the_command_line(client: TestClient, place: Path) -> None:
    plan = client.post("/api/v1/plan", json={"materials": ["KRvKBN"]}).json()
    told = on_a_terminal("estimate", "KRvKBN", "--threads", "2", "--tables", str(place))
    moved = "sets", "pass_read_bytes", "pass_written_bytes", "read_bytes", "written_bytes"
    ours = [
        {
            "material": each["material"],
            "men": each["men"],
            "bitmap": each["bitmap_bytes"],
            "memory": each["memory_bytes"],
            "table": each["table_bytes"],
            "log": each["log_bytes"],
            "exists": each["exists"],
            "seconds": each["seconds"],
            **{name: each[name] for name in moved},
        }
        for each in plan["materials"]
    ]
    alone = "slots", "memory_with_sets_on_disk", "fitting_memory"
    theirs = [{k: v for k, v in each.items() if k not in alone} for each in told["materials"]]
    assert ours == theirs
    assert plan["totals"]["memory_bytes"] == told["total"]["memory"]
    assert plan["totals"]["disk_bytes"] == told["total"]["disk"]
    assert plan["totals"]["seconds"] == told["total"]["seconds"]
    assert plan["fits"] is True
    assert list(place.iterdir()) == []


def test_a_plan_says_what_is_there(tables: Path, tmp_path: Path) -> None:
    out = copied(tables, tmp_path / "some", "KQvK", "KRvK")
    with client_with(Settings(tables=out)) as client:
        plan = client.post("/api/v1/plan", json={"materials": ["KQKR"]}).json()
    assert {e["material"]: e["exists"] for e in plan["materials"]} == {
        "KQvK": True,
        "KRvK": True,
        "KQvKR": False,
    }
    assert (plan["totals"]["to_build"], plan["totals"]["exists"]) == (1, 2)
    assert plan["waves"] == [["KQvK", "KRvK"], ["KQvKR"]]


def test_men_are_all_materials_of_up_to_so_many(client: TestClient) -> None:
    plans = [
        client.post("/api/v1/plan", json={"men": 5, **more}).json()
        for more in ({}, {"pawnless": True})
    ]
    assert [plan["totals"]["to_build"] for plan in plans] == [145, 84]
    with_pawns, pawnless = (
        {each["wave"]: (each["men"], each["pawns"]) for each in plan["materials"]} for plan in plans
    )
    assert list(with_pawns) == list(range(9))
    assert [*with_pawns.values()] == [(men, pawns) for men in (3, 4, 5) for pawns in range(men - 1)]
    assert [*pawnless.values()] == [(3, 0), (4, 0), (5, 0)]


def test_a_plan_says_how_much_memory_is_lacking(place: Path) -> None:
    with client_with(Settings(tables=place, memory=100 << 20)) as client:  # type: ignore[arg-type]
        plan = client.post("/api/v1/plan", json={"materials": ["KRBvKBN"]}).json()
    assert plan["fits"] is False
    needs = estimate(Material.parse("KRBvKBN"), Settings().threads).streamed
    assert plan["reasons"][0].startswith(f"needs {size(needs)} of memory")
    assert "100.0 MiB are free" in plan["reasons"][0]


# From a submission to the table


def test_a_build_that_is_spread_is_exchanged_between_workers(
    client: TestClient, tables: Path, place: Path
) -> None:
    name = submitted(client, "KQvK", spread=2).json()["id"]
    build = over(client, name)
    assert (build["state"], build["spread"]) == ("succeeded", 2)
    ((material,),) = (wave["materials"] for wave in build["waves"])
    borders = got(client, f"/api/v1/builds/{name}/owners", material="KQvK")["borders"]
    exchanged = [each["exchanged_bytes"] for each in material["passes"]]
    assert sum(border["bytes"] for border in borders) == exchanged[-1]
    assert sum(border["bytes_in_all"] for border in borders) == sum(exchanged) > 0
    table = "KQvK.dtc.arrow"
    assert (place / table).read_bytes() == (tables / table).read_bytes()
    refused(submitted(client, "KQvK", spread=0), 400, "bad-request")


def test_a_build_is_accepted_built_and_can_be_asked(client: TestClient) -> None:
    answer = submitted(client, "KQKR")
    assert (answer.status_code, answer.headers["location"]) == (202, "/api/v1/builds/b1")
    assert answer.json()["materials"] == ["KQvKR"]
    build = over(client, "b1")
    assert (build["state"], build["progress"]["fraction"]) == ("succeeded", 1.0)
    assert build["workers"] == build["nodes"] == []
    assert build["history"][0]["what"] == "queued"
    assert all(line["reason"] for line in build["history"])
    (wave,) = [wave for wave in build["waves"] if wave["men"] == 4]
    (material,) = wave["materials"]
    assert (material["state"], material["longest"]) == ("done", {"white": 31, "black": 3})
    decided = sum(p["won"] + p["lost"] for p in material["passes"])
    assert decided == material["decided"] <= material["positions"]
    assert len(got(client, "/api/v1/tables")["tables"]) == 3
    probed = got(client, "/api/v1/probe", fen="8/8/8/8/Q7/5k2/8/K3r3_w_-_-_0_1")
    assert probed["result"] is not None


def test_a_build_of_a_present_table_succeeds_at_once(tables: Path, tmp_path: Path) -> None:
    with client_with(Settings(tables=copied(tables, tmp_path / "all"))) as client:
        answer = submitted(client, *CLOSURE)
        assert (answer.status_code, answer.json()["state"]) == (202, "succeeded")


@pytest.mark.slow  # tables of a third metric, and their files
def test_a_build_to_zeroing_writes_syzygy_files(client: TestClient, place: Path) -> None:
    answer = submitted(client, "KPvK", metrics=["dtz"], syzygy=True)
    assert (answer.status_code, answer.json()["syzygy"]) == (202, True)
    assert over(client, "b1")["state"] == "succeeded"
    assert {path.name for path in (place / "syzygy").glob("KPvK*")} == {"KPvK.rtbw", "KPvK.rtbz"}
    probed = got(client, "/api/v1/probe", fen="8/2k5/8/2K1P3/8/8/8/8 w - - 0 1", metric="dtz")
    assert probed["result"] == "win"


def test_the_same_request_is_the_same_build(client: TestClient) -> None:
    with HeldDirectory(client):
        assert submitted(client, "KQvK").status_code == 202
        again = submitted(client, "KQK")
        assert (again.status_code, again.headers["location"]) == (200, "/api/v1/builds/b1")
        assert submitted(client, "KQvK", metrics=["dtm"]).json()["id"] == "b2"


class HeldDirectory:
    """While the directory of a client is held, nothing in the queue begins."""

    def __init__(self, client: TestClient) -> None:
        state: Any = client.app
        self._held = LocalStore(state.state.served.settings.tables).hold()

    def __enter__(self) -> None:
        self._held.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._held.__exit__(None, None, None)


def test_a_key_is_one_build(client: TestClient) -> None:
    with HeldDirectory(client):
        assert submitted(client, "KQvK", key="a").status_code == 202
        assert submitted(client, "KQvK", key="a").json()["id"] == "b1"
        refused(submitted(client, "KRvK", key="a"), 422, "key-reused")


def test_builds_are_listed_filtered_and_paged(client: TestClient) -> None:
    with HeldDirectory(client):
        for name in ("KQvK", "KRvK", "KNvK", "KBvK", "KBBvK"):
            submitted(client, name)
        client.post("/api/v1/builds/b2/cancel")
        pages: list[list[str]] = []
        cursor = None
        while cursor is not None or not pages:
            asked = {"limit": 2} | ({"cursor": cursor} if cursor else {})
            page = client.get("/api/v1/builds", params=asked).json()
            pages.append([build["id"] for build in page["builds"]])
            cursor = page["next"]
        assert pages == [["b5", "b4"], ["b3", "b2"], ["b1"]]
        states = client.get("/api/v1/builds?state=cancelled&state=failed").json()["builds"]
        assert [build["id"] for build in states] == ["b2"]
        named = client.get("/api/v1/builds?material=KBBK").json()["builds"]
        assert [build["id"] for build in named] == ["b5"]
        aheads = {b["id"]: b["ahead"] for b in client.get("/api/v1/builds").json()["builds"]}
        assert aheads == {"b1": 0, "b2": None, "b3": 1, "b4": 2, "b5": 3}


def test_a_build_is_cancelled_retried_and_deleted(client: TestClient) -> None:
    with HeldDirectory(client):
        submitted(client, "KQvK")
        assert "cancel it first" in refused(client.delete("/api/v1/builds/b1"), 409, "conflict")
        answer = client.post("/api/v1/builds/b1/cancel")
        assert (answer.status_code, answer.json()["state"]) == (202, "cancelled")
        answer = client.post("/api/v1/builds/b1/retry")
        assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    assert over(client, "b1")["state"] == "succeeded"
    refused(client.post("/api/v1/builds/b1/cancel"), 409, "conflict")
    assert client.delete("/api/v1/builds/b1").status_code == 204
    refused(client.get("/api/v1/builds/b1"), 404, "not-found")
    assert got(client, "/api/v1/builds")["builds"] == []


def test_the_history_names_the_token_that_asked(place: Path) -> None:
    secret = Tokens(place).create("night", Scope.BUILD)
    with client_with(Settings(tables=place)) as client:
        client.headers["Authorization"] = f"Bearer {secret}"
        with HeldDirectory(client):
            build = submitted(client, "KQvK").json()
            assert (build["by"], build["history"][0]["reason"]) == ("night", "asked for by night")
            build = client.post("/api/v1/builds/b1/cancel").json()
            assert build["reason"] == "cancelled by night"


# Bad input


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({}, "bad-request"),
        ({"materials": []}, "bad-request"),
        ({"materials": ["KQ"]}, "bad-material"),
        ({"materials": ["KQvK"], "pawnless": True}, "bad-request"),
        ({"men": 2}, "bad-request"),
        ({"materials": ["KQvK"], "metrics": []}, "bad-request"),
        ({"materials": ["KQvK"], "metrics": ["dtx"]}, "bad-request"),
        ({"materials": ["KQvK"], "priority": 1000}, "bad-request"),
        ({"materials": ["KQvK"], "syzygy": True}, "bad-request"),
        ({"materials": ["KQvK"], "unknown": 1}, "bad-request"),
        ({"materials": ["KQvK"] * 201}, "bad-request"),
    ],
)
def test_a_bad_request_is_refused_with_a_reason(
    client: TestClient, body: dict[str, Any], kind: str
) -> None:
    for path in ("/api/v1/builds", "/api/v1/plan"):
        assert refused(client.post(path, json=body), 400, kind)
    assert got(client, "/api/v1/builds") == {"builds": [], "next": None}


def test_an_unknown_build_is_not_found(client: TestClient) -> None:
    for name in ("b1", "b0", "%20", "b1.dtc", "x" * 40):
        refused(client.get(f"/api/v1/builds/{name}"), 404, "not-found")
        refused(client.post(f"/api/v1/builds/{name}/cancel"), 404, "not-found")


@pytest.mark.parametrize("cursor", ["x", "0", cursor_of(1)[:-1], "é", "-" * 100, "AAAA"])
def test_a_cursor_of_ones_own_is_refused(client: TestClient, cursor: str) -> None:
    refused(client.get("/api/v1/builds", params={"cursor": cursor}), 400, "bad-request")


def test_a_queue_that_is_full_says_when_to_come_again(place: Path) -> None:
    with client_with(Settings(tables=place, queued_builds=1)) as client, HeldDirectory(client):
        submitted(client, "KQvK")
        answer = submitted(client, "KRvK")
        assert "queued" in refused(answer, 429, "too-many")
        assert int(answer.headers["retry-after"]) >= 1


def test_materials_of_one_build_have_a_bound(place: Path) -> None:
    with client_with(Settings(tables=place, materials_per_build=1)) as client:
        refused(submitted(client, "KQvK", "KRvK"), 400, "bad-material")


# Tables


def test_a_table_is_deleted_and_can_be_built_again(tables: Path, tmp_path: Path) -> None:
    with client_with(Settings(tables=copied(tables, tmp_path / "all"))) as client:
        assert client.delete("/api/v1/tables/KQvKR").status_code == 204
        refused(client.delete("/api/v1/tables/KQvKR"), 404, "missing-table")
        assert len(got(client, "/api/v1/tables")["tables"]) == 2
        submitted(client, "KQvKR")
        assert over(client, "b1")["state"] == "succeeded"
        until(lambda: len(got(client, "/api/v1/tables")["tables"]) == 3)


def test_a_table_is_read_to_its_end_although_it_is_deleted(tables: Path, tmp_path: Path) -> None:
    out = copied(tables, tmp_path / "all")
    whole = (out / "KQvKR.dtc.arrow").read_bytes()
    with (
        client_with(Settings(tables=out)) as client,
        client.stream("GET", "/api/v1/tables/KQvKR/file") as reading,
    ):
        pieces = reading.iter_bytes(1000)
        first = next(pieces)
        with client_with(Settings(tables=out)) as other:
            assert other.delete("/api/v1/tables/KQvKR").status_code == 204
        assert first + b"".join(pieces) == whole


# When things are not well


def test_a_damaged_journal_is_said_and_probing_goes_on(tables: Path, tmp_path: Path) -> None:
    out = copied(tables, tmp_path / "all")
    (out / JOURNAL).write_bytes(b"no journal" * 1000)
    with client_with(Settings(tables=out, look_every=0.05)) as client:
        ready = until(lambda: got(client, "/readyz").get("problems"))
        assert JOURNAL in json.dumps(ready)
        got(client, "/api/v1/probe", fen="8/8/8/8/Q7/5k2/8/K3r3_w_-_-_0_1")
        (out / JOURNAL).unlink()
        until(lambda: got(client, "/readyz")["status"] == "ready")
        submitted(client, "KQvK")
        assert over(client, "b1")["state"] == "succeeded"


def test_a_journal_that_another_holds_is_said(place: Path) -> None:
    with client_with(Settings(tables=place)) as client:
        holder = Journal(place / JOURNAL)
        refused(submitted(client, "KQvK"), 503, "not-ready")
        until(lambda: "another service or build holds" in json.dumps(got(client, "/readyz")))
        holder.close()
        until(lambda: got(client, "/readyz")["status"] == "ready")
        assert submitted(client, "KQvK").status_code == 202


def test_a_second_service_on_the_same_tables_answers_but_says_at_once_who_builds(
    client: TestClient, place: Path
) -> None:
    submitted(client, "KQvK")
    over(client, "b1")
    with client_with(Settings(tables=place, threads=2)) as second:
        until(lambda: got(second, "/readyz")["tables"])
        got(second, "/api/v1/probe", fen="7k/8/5K2/8/8/8/8/6Q1_w")
        why = refused(submitted(second, "KRvK"), 503, "not-ready")
    assert why == (
        f"another service or build holds {place / JOURNAL}; let that one build, stop it, or choose "
        "another directory"
    )
    assert submitted(client, "KRvK").status_code == 202


def test_news_that_come_as_the_service_ends_do_not_keep_it(place: Path) -> None:
    async def ended_after(steps: int) -> None:
        works: BuildService = create(Settings(tables=place)).state.builds
        await works.begin()
        await asyncio.sleep(0.01)
        works._has_news.set()
        for _ in range(steps):
            await asyncio.sleep(0)
        done, _ = await asyncio.wait({asyncio.create_task(works.end())}, timeout=20)
        assert done, f"it went on, {steps} steps after the news"

    for steps in range(6):
        asyncio.run(ended_after(steps))


def test_metrics_tell_of_builds(client: TestClient) -> None:
    submitted(client, "KRvK")
    over(client, "b1")
    text = client.get("/metrics").text
    assert 'kingpair_builds{state="succeeded"} 1.0' in text
    assert 'kingpair_builds{state="running"} 0.0' in text
    count = next(li for li in text.splitlines() if li.startswith("kingpair_pass_seconds_count"))
    assert float(count.split()[1]) >= 16
    assert "kingpair_exchanged_bytes_total" in text


def test_the_passes_of_a_build_are_told_by_partition(client: TestClient) -> None:
    submitted(client, "KQvKR")
    build = over(client, "b1")
    (wave,) = [wave for wave in build["waves"] if wave["men"] == 4]
    (material,) = wave["materials"]
    passes = got(client, "/api/v1/builds/b1/passes", material="KQvKR")["passes"]
    assert [(p["winner"], p["depth"]) for p in passes] == [
        (p["winner"], p["depth"]) for p in material["passes"]
    ]
    for by_cell, whole in zip(passes, material["passes"], strict=True):
        assert len(by_cell["cells"]["won"]) == len(by_cell["cells"]["lost"]) == 462
        assert sum(by_cell["cells"]["won"]) == whole["won"]
        assert sum(by_cell["cells"]["lost"]) == whole["lost"]
    assert got(client, "/api/v1/builds/b1/passes", material="KBvK")["passes"] == []
    owners = got(client, "/api/v1/builds/b1/owners", material="KQvKR")
    assert owners["owners"] == [0] * 462
    assert (len(owners["shares"]), owners["borders"]) == (1, [])
    began = material["phases"]
    assert list(began) == ["solving", "painting", "verifying", "done"]
    assert sorted(began.values()) == list(began.values())
    assert material["shares"] == owners["shares"]


def test_the_partitions_are_462_pairs_of_squares(client: TestClient) -> None:
    pairs = got(client, "/api/v1/partitions")["pairs"]
    assert len({tuple(pair) for pair in pairs}) == 462
    assert pairs[0] == ["a1", "c1"]
