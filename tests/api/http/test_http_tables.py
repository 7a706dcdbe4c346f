"""Facts about tables over HTTP: listed, described, counted, downloaded, noticed as they come."""

import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parted_tables import parted
from pyarrow import parquet
from services import client_of, got, refused
from starlette.testclient import TestClient

from kingpair.api.answers.catalogue import Catalogue
from kingpair.api.http.open_tables import ServedTables
from kingpair.api.http.ranges import Span, Unsatisfiable, span_of
from kingpair.workers.game.chess.material import Material
from kingpair.workers.table.format import COLUMNS, Table
from kingpair.workers.table.statistics import counts_table, sorted_counts

FILE = "/api/v1/tables/KQvKR/file"
LONGEST = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"


@pytest.fixture(scope="module")
def client(tables: Path) -> Iterator[TestClient]:
    with client_of(tables) as found:
        yield found


def refresh(client: TestClient) -> None:
    """Looks for new tables, as the service does each second."""
    application: Any = client.app
    served: ServedTables = application.state.served
    served.refresh()


def test_every_table_is_listed(client: TestClient, tables: Path) -> None:
    listed = got(client, "/api/v1/tables")["tables"]
    names = [f"{each['material']}.{each['metric']}.arrow" for each in listed]
    assert sorted(names) == sorted(path.name for path in tables.glob("*.arrow"))
    assert [each["men"] for each in listed] == sorted(each["men"] for each in listed)
    assert all(each["problem"] is None for each in listed)


def test_a_list_is_whole_though_another_is_asked_for_meanwhile(tables: Path) -> None:
    paths, catalogue = sorted(tables.glob("*.arrow")), Catalogue()
    halfway, other_began = Event(), Event()

    def halted() -> Iterator[Path]:
        yield paths[0]
        halfway.set()
        assert other_began.wait(10)
        yield from paths[1:]

    def after(first: "Future[Any]") -> Iterator[Path]:
        other_began.set()
        assert len(first.result(10)) == len(paths)
        yield from paths

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(catalogue.of, halted())
        assert halfway.wait(10)
        assert len(catalogue.of(after(first))) == len(paths)


def test_a_table_says_what_it_is(client: TestClient, tables: Path) -> None:
    table = Table(tables / "KQvKR.dtc.arrow")
    found = got(client, "/api/v1/tables/KQvKR")
    assert found["digest"] == table.digest
    assert found["smaller"] == table.smaller
    assert (found["longest_win"], found["men"], found["blocks"]) == (31, 4, table.blocks)


def test_statistics_add_up_to_the_table(client: TestClient, tables: Path) -> None:
    counts = Table(tables / "KQvKR.dtc.arrow").counts
    found = got(client, "/api/v1/tables/KQvKR/statistics")
    for side in COLUMNS:
        histogram = found["histogram"][side]
        assert histogram["wdl"]["0"] == counts[side]["draw"]
        assert histogram["wdl"]["2"] == sum(histogram["win"]) == sum(counts[side]["win"].values())
        assert histogram["wdl"]["-2"] == sum(histogram["loss"])
        for moves, positions in counts[side]["win"].items():
            assert histogram["win"][2 * int(moves) - 1] == positions
        for moves, positions in counts[side]["loss"].items():
            assert histogram["loss"][2 * int(moves)] == positions
    assert {"epd": "8/8/8/8/Q7/5k2/8/K3r3 w - -", "ply": 61, "wdl": 2} in found["longest"]


def test_statistics_as_parquet_say_the_same(client: TestClient, tables: Path) -> None:
    answer = client.get("/api/v1/tables/KQvKR/statistics.parquet")
    read = parquet.read_table(BytesIO(answer.content))
    counts = sorted_counts(Table(tables / "KQvKR.dtc.arrow").counts)
    assert read == counts_table(Material.parse("KQvKR"), "dtc", counts)


@pytest.mark.parametrize("rest", ["", "/statistics", "/file"])
def test_another_spelling_is_redirected(client: TestClient, rest: str) -> None:
    answer = client.get(f"/api/v1/tables/krkq{rest}?metric=dtc")
    assert answer.status_code == 301
    assert answer.headers["location"] == f"/api/v1/tables/KQvKR{rest}?metric=dtc"


@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [
        ("KQvKB", 404, "missing-table"),
        ("KPvK", 404, "missing-table"),
        ("nonsense", 400, "bad-material"),
        ("K" * 99, 400, "bad-request"),
        ("..%2f..%2fetc%2fpasswd", 404, "not-found"),
    ],
)
def test_a_name_that_is_no_table_is_refused(
    client: TestClient, name: str, status: int, kind: str
) -> None:
    assert refused(client.get(f"/api/v1/tables/{name}"), status, kind)


# Downloading


def test_a_table_in_parts_is_served_as_one_file(tables: Path, tmp_path: Path) -> None:
    data = (tables / "KQvKR.dtc.arrow").read_bytes()
    parted(tables / "KQvKR.dtc.arrow", tmp_path, (5000, 700_000))
    with client_of(tmp_path) as client:
        assert client.get(FILE).content == data
        part = client.get(FILE, headers={"Range": "bytes=4000-800000"})
        assert (part.status_code, part.content) == (206, data[4000:800_001])
        said = client.get("/api/v1/tables/KQvKR/sha256").text
        assert said == f"{sha256(data).hexdigest()}  KQvKR.dtc.arrow\n"
        assert client.delete("/api/v1/tables/KQvKR").status_code == 204
    assert list(tmp_path.rglob("*.cut")) == []


def test_the_file_is_the_table(client: TestClient, tables: Path) -> None:
    answer = client.get(FILE)
    assert answer.content == (tables / "KQvKR.dtc.arrow").read_bytes()
    assert Table(tables / "KQvKR.dtc.arrow").digest in answer.headers["etag"]
    assert "KQvKR.dtc.arrow" in answer.headers["content-disposition"]


@settings(deadline=None, max_examples=40)
@given(first=st.integers(0, 1 << 20), length=st.integers(1, 5000))
def test_a_range_is_that_part(client: TestClient, tables: Path, first: int, length: int) -> None:
    data = (tables / "KQvKR.dtc.arrow").read_bytes()
    answer = client.get(FILE, headers={"Range": f"bytes={first}-{first + length - 1}"})
    assert answer.status_code == 206
    assert answer.content == data[first : first + length]
    end = first + len(answer.content) - 1
    assert answer.headers["content-range"] == f"bytes {first}-{end}/{len(data)}"


def test_a_download_goes_on_only_if_the_table_is_still_the_same(client: TestClient) -> None:
    tag = client.head(FILE).headers["etag"]
    for condition, status in ((tag, 206), ('"another"', 200)):
        headers = {"Range": "bytes=5-9", "If-Range": condition}
        assert client.get(FILE, headers=headers).status_code == status
    assert client.get(FILE, headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize("header", ["bytes=99999999-", "bytes=-0", "bytes=99999999-100000000"])
def test_a_range_behind_the_end_is_refused(client: TestClient, header: str) -> None:
    answer = client.get(FILE, headers={"Range": header})
    assert refused(answer, 416, "range-not-satisfiable")
    assert answer.headers["content-range"].startswith("bytes */")


@pytest.mark.parametrize(
    ("header", "span"),
    [
        (None, None),
        ("bytes=0-0", Span(0, 1)),
        ("bytes=3-", Span(3, 10)),
        ("bytes=-4", Span(6, 10)),
        ("bytes=-40", Span(0, 10)),
        ("bytes=2-99", Span(2, 10)),
        ("bytes=5-2", None),
        ("bytes=-", None),
        ("bytes=0-1,3-4", None),
        ("items=0-1", None),
        ("nonsense", None),
    ],
)
def test_ranges_are_read_as_the_standard_says(header: str | None, span: Span | None) -> None:
    assert span_of(header, 10) == span


@given(st.text(st.sampled_from("bytes=-,0123456789 x"), max_size=30), st.integers(0, 50))
def test_no_range_leads_outside_the_file(header: str, size: int) -> None:
    try:
        span = span_of(header, size)
    except Unsatisfiable:
        return
    assert span is None or 0 <= span.first < span.end <= size


# Tables that come and go


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"least": "20", "most": "10"}, "name the smaller number first"),
        ({"least": "20", "result": "draw"}, "a draw has no depth"),
    ],
)
def test_a_sample_that_nothing_can_meet_is_refused(
    client: TestClient, asked: dict[str, str], said: str
) -> None:
    answer = client.get("/api/v1/tables/KQvKR/sample", params=asked)
    assert said in refused(answer, 400, "bad-request")


def test_a_sample_of_no_position_is_empty(client: TestClient) -> None:
    found = got(client, "/api/v1/tables/KQvKR/sample", least="9000")
    assert (found["matching"], found["positions"]) == (0, [])


def test_tables_are_noticed_as_they_come_and_go(tables: Path, tmp_path: Path) -> None:
    with client_of(tmp_path) as client:
        assert got(client, "/api/v1/tables") == {"tables": []}
        assert got(client, "/standard", fen=LONGEST)["category"] == "unknown"
        for path in tables.glob("K?vK*.arrow"):
            shutil.copy(path, tmp_path)
        refresh(client)
        assert got(client, "/standard", fen=LONGEST)["category"] == "win"
        (tmp_path / "KQvKR.dtc.arrow").unlink()
        assert got(client, "/standard", fen=LONGEST)["dtc"] == 31  # mapped still
        refused(client.get(FILE), 404, "missing-table")
        refresh(client)
        assert got(client, "/standard", fen=LONGEST)["dtc"] is None
        refused(client.get(FILE), 404, "missing-table")


def test_a_table_written_anew_is_read_anew(tables: Path, tmp_path: Path) -> None:
    for name in ("KQvKR", "KQvK", "KRvK"):
        shutil.copy(tables / f"{name}.dtc.arrow", tmp_path)
    with client_of(tmp_path) as client:
        before = got(client, "/api/v1/probe", fen=LONGEST)
        shutil.copy(tables / "KQvKR.dtc.arrow", tmp_path / "new")
        (tmp_path / "new").replace(tmp_path / "KQvKR.dtc.arrow")
        application: Any = client.app
        served: ServedTables = application.state.served
        misses = served.tablebase.cache.misses
        refresh(client)
        assert got(client, "/api/v1/probe", fen=LONGEST) == before
        assert served.tablebase.cache.misses > misses


def test_a_damaged_table_is_said_to_be(tables: Path, tmp_path: Path) -> None:
    whole = (tables / "KRvK.dtc.arrow").read_bytes()
    (tmp_path / "KRvK.dtc.arrow").write_bytes(whole[:-100])
    with client_of(tmp_path) as client:
        (entry,) = got(client, "/api/v1/tables")["tables"]
        assert entry["problem"]
        refused(client.get("/api/v1/tables/KRvK"), 500, "damaged-table")
        answer = client.get("/standard", params={"fen": "8/8/8/8/8/4k3/8/K6R w"})
        assert answer.status_code == 500
        assert answer.headers["content-type"].startswith("text/plain")


def test_a_directory_that_goes_and_comes_back(tables: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    shutil.copy(tables / "KRvK.dtc.arrow", place)
    with client_of(place) as client:
        assert got(client, "/readyz") == {"status": "ready", "tables": 1}
        place.rename(tmp_path / "away")
        refresh(client)
        assert str(place) in refused(client.get("/readyz"), 503, "not-ready")
        assert client.get("/healthz").text == "ok\n"
        (tmp_path / "away").rename(place)
        refresh(client)
        assert got(client, "/readyz") == {"status": "ready", "tables": 1}
