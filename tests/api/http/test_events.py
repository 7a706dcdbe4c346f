"""Facts about events: their order, which can be asked for again, which readers are dropped."""

import json
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from services import ReceivedEvent, client_of, received_events, refused, running, until

from kingpair.api.answers.builds import moment
from kingpair.api.http.hub import BEHIND, HEARTBEAT_SECONDS, Hub


@pytest.fixture
def place(tmp_path: Path) -> Path:
    found = tmp_path / "tables"
    found.mkdir()
    return found


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that many tests share, with KRvK and KQvK built."""
    place = tmp_path_factory.mktemp("shared")
    with running("--tables", str(place), "--port", "0") as (_, url), watching(url) as events:
        to_the_end(events, asked(url, "builds", {"materials": ["KQvK", "KRvK"]})["id"])
        yield url


def built_again(url: str, name: str, **more: Any) -> str:
    """The name of a new build of a material that is there."""
    build: str = asked(url, "builds", {"materials": [name], "force": True, **more})["id"]
    return build


@contextmanager
def watching(url: str, path: str = "events", **headers: str) -> Iterator[Iterator[ReceivedEvent]]:
    asked = Request(f"{url}api/v1/{path}", headers=headers)
    with urlopen(asked, timeout=30) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        yield received_events(stream)


def asked(url: str, path: str, body: Any = None, method: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = Request(f"{url}api/v1/{path}", data, {"Content-Type": "application/json"})
    request.method = method or ("GET" if body is None else "POST")
    with urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def to_the_end(events: Iterator[ReceivedEvent], build: str) -> list[ReceivedEvent]:
    found = []
    for event in events:
        found.append(event)
        if event.data["build"] == build and event.data.get("state") == "succeeded":
            break
    return found


def numbered(events: list[ReceivedEvent]) -> list[ReceivedEvent]:
    return [event for event in events if event.id is not None]


def test_a_build_is_told_from_its_submission_to_its_end(place: Path) -> None:
    with running("--tables", str(place), "--port", "0") as (_, url), watching(url) as events:
        asked(url, "builds", {"materials": ["KQvKR"]})
        found = to_the_end(events, "b1")
        states = [e.data["state"] for e in found if e.event == "build"]
        assert states == ["queued", "planning", "running", "succeeded"]
        ids = [int(event.id or 0) for event in numbered(found)]
        assert ids == sorted(set(ids))
        (planned,) = [e.data for e in found if e.event == "planned"]
        assert planned["waves"] == [["KQvK", "KRvK"], ["KQvKR"]]
        passes = [e.data for e in found if e.event == "pass" and e.data["material"] == "KQvKR"]
        assert passes[-1]["decided"] == sum(p["won"] + p["lost"] for p in passes)
        for p in passes:
            assert (sum(p["cells"]["won"]), sum(p["cells"]["lost"])) == (p["won"], p["lost"])
            assert len(p["cells"]["won"]) == 462
        materials = [e.data for e in found if e.event == "material"]
        of_one = [m["state"] for m in materials if m["material"] == "KQvKR"]
        assert of_one == ["solving", "painting", "verifying", "done"]
        assert materials[-1]["longest"] == {"white": 31, "black": 3}


def test_missed_events_are_sent_again_word_for_word(url: str) -> None:
    with watching(url) as events:
        build = built_again(url, "KRvK")
        live = numbered(to_the_end(events, build))
    for seen in (0, 1, len(live) // 2, len(live) - 2):
        last = live[seen].id
        for path, headers in (
            ("events", {"Last-Event-ID": last}),
            (f"events?after={last}", {}),
            (f"builds/{build}/events", {"Last-Event-ID": last}),
        ):
            with watching(url, path, **headers) as events:  # type: ignore[arg-type]
                assert numbered(to_the_end(events, build)) == live[seen + 1 :]


def test_a_build_for_two_metrics_is_one_stream_whose_events_say_which(url: str) -> None:
    with watching(url) as events:
        build = built_again(url, "KRvK", metrics=["dtc", "dtm"])
        found = to_the_end(events, build)
    states = [e.data["state"] for e in found if e.event == "build"]
    assert states == ["queued", "planning", "running", "succeeded"]
    plans = [e for e in found if e.event == "planned"]
    assert [e.data["metric"] for e in plans] == ["dtc", "dtm"]
    assert [(e.data["waves"], e.data["exists"]) for e in plans] == [([["KRvK"]], [])] * 2
    for metric in ("dtc", "dtm"):
        of_it = [e.data for e in found if e.data.get("metric") == metric]
        assert [e["state"] for e in of_it if "state" in e] == [
            "solving",
            "painting",
            "verifying",
            "done",
        ]
        depths = [e["depth"] for e in of_it if "depth" in e]
        assert depths == list(range(len(depths)))
    # A client that was cut off between the two halves of the plan has the number before both.
    ids = [event.id for event in plans]
    assert (ids[0], ids[1] is None) == (None, False)
    live = numbered(found)
    last = live[live.index(plans[1]) - 1].id or ""
    with watching(url, f"builds/{build}/events", **{"Last-Event-ID": last}) as events:
        again = [e for e in to_the_end(events, build) if e.event == "planned"]
    assert again == plans


def test_a_stream_of_one_build_tells_of_no_other(url: str) -> None:
    built_again(url, "KRvK")
    second = built_again(url, "KQvK")
    with watching(url, f"builds/{second}/events?after=0") as events:
        found = numbered(to_the_end(events, second))
    assert {event.data["build"] for event in found} == {second}


def test_the_stream_of_a_build_ends_with_it_and_is_not_opened_again(url: str) -> None:
    build = built_again(url, "KRvK")
    with watching(url, f"builds/{build}/events?after=0") as events:
        found = list(events)
    assert found[-1].data["state"] == "succeeded"
    with watching(url, f"builds/{build}/events") as events:
        assert [event.event for event in events] == ["service"]
    last = numbered(found)[-1].id or ""
    again = Request(f"{url}api/v1/builds/{build}/events", headers={"Last-Event-ID": last})
    with urlopen(again, timeout=30) as answer:
        assert answer.status == 204


def test_a_stream_begins_with_the_state_of_the_service(url: str) -> None:
    with watching(url) as events:
        first = next(events)
    assert (first.event, first.id, first.data["state"]) == ("service", None, "ready")


@pytest.mark.parametrize("number", ["x", "-1", "1.5", "٣", "9" * 30, " 1", "1 2"])
def test_the_number_of_no_event_is_refused(tables: Path, number: str) -> None:
    with client_of(tables) as client:
        refused(client.get("/api/v1/events", params={"after": number}), 400, "bad-request")
        given = {"Last-Event-ID": number.encode()}
        assert client.get("/api/v1/events", headers=given).status_code == 400  # type: ignore[arg-type]
        refused(client.get("/api/v1/builds/b7/events"), 404, "not-found")


def test_streams_end_when_the_service_is_told_to_stop(place: Path) -> None:
    with running("--tables", str(place), "--port", "0") as (process, url), watching(url) as events:
        next(events)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert list(events) == []
        assert process.wait(10) == 0
        assert time.monotonic() - began < 10


# A service that ends


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_service_that_is_started_again_goes_on(place: Path, how: signal.Signals) -> None:
    words = ("--tables", str(place), "--port", "0")
    with running(*words) as (process, url), watching(url) as events:
        asked(url, "builds", {"materials": ["KRBvKR"]})
        last = next(e for e in events if e.event == "pass" and e.data["material"] == "KRBvKR")
        process.send_signal(how)
        assert process.wait(15) == (0 if how == signal.SIGTERM else -how)
    with running(*words) as (_, url):
        with watching(url, f"events?after={last.id}") as events:
            found = to_the_end(events, "b1")
        states = [e.data["state"] for e in found if e.event == "build"]
        assert states == ["interrupted", "queued", "planning", "running", "succeeded"]
        passes = [
            (e.data["winner"], e.data["depth"])
            for e in found
            if e.event == "pass" and e.data["material"] == "KRBvKR"
        ]
        assert passes[0] != ("white", 0)
        assert len(passes) == len(set(passes))


@pytest.mark.slow
def test_a_build_process_that_is_killed_is_replaced_and_the_build_goes_on(place: Path) -> None:
    with running("--tables", str(place), "--port", "0") as (process, url), watching(url) as events:
        asked(url, "builds", {"materials": ["KRBvKR"]})
        next(e for e in events if e.event == "pass" and e.data["material"] == "KRBvKR")
        (build_process,) = children(process.pid)
        build_process.kill()
        said = next(e for e in events if e.event == "service")
        assert said.data["state"] == "degraded"
        assert "another one takes its place" in said.data["reason"]
        found = to_the_end(events, "b1")
        assert [e.data["state"] for e in found if e.event == "service"] == ["ready"]
        assert any(e.data.get("state") == "interrupted" for e in found)


class Child:
    def __init__(self, pid: int) -> None:
        self.pid = pid

    def kill(self) -> None:
        import os

        os.kill(self.pid, signal.SIGKILL)


def children(pid: int) -> list[Child]:
    """The build processes of a service."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(Child(int(path.parent.name)))
    return found


# Readers


def test_a_reader_that_falls_behind_is_dropped_and_nobody_else() -> None:
    hub = Hub()
    slow, other = hub.enter(None), hub.enter("b1")
    for number in range(BEHIND + 1):
        hub.publish(moment("eta", "b2", float(number), {}))
    hub.publish(moment("eta", "b1", 0.0, {}))
    assert slow.is_dropped
    assert not other.is_dropped
    hub.leave(slow)
    hub.leave(other)
    assert not hub.has_readers


def test_event_streams_have_a_limit_that_answers_429(place: Path) -> None:
    with (
        running("--tables", str(place), "--port", "0", KINGPAIR_EVENT_STREAMS="2") as (_, url),
        watching(url),
    ):
        with watching(url):
            with pytest.raises(HTTPError) as third, watching(url):
                pass
            assert third.value.code == 429
            assert third.value.headers["Retry-After"] == "10"
            assert "2 event streams are open" in json.load(third.value)["detail"]
            third.value.close()
        until(lambda: _readers(url) == 1)
        with watching(url) as events:
            assert next(events).event == "service"


def test_a_stream_before_another_request_ends_when_the_client_leaves(url: str) -> None:
    asks = (f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n" for path in ("/api/v1/events", "/"))
    port = int(url.rstrip("/").rpartition(":")[2])
    until(lambda: _readers(url) == 1)  # the one of the fixture
    with socket.create_connection(("127.0.0.1", port)) as both:
        both.sendall("".join(asks).encode())
        until(lambda: _readers(url) == 2)
    # The first heartbeat that cannot be sent would end the stream as a fault.
    until(lambda: _readers(url) == 1, HEARTBEAT_SECONDS / 2)


@pytest.mark.parametrize("route", ["events", "builds/{id}/events"])
def test_the_limit_of_streams_holds_on_each_route_and_is_documented(
    place: Path, route: str
) -> None:
    with running("--tables", str(place), "--port", "0", KINGPAIR_EVENT_STREAMS="2") as (_, url):
        build = asked(url, "builds", {"materials": ["KRvK"]})["id"]
        path = route.format(id=build)
        with watching(url), watching(url):
            with pytest.raises(HTTPError) as third, watching(url, path):
                pass
            assert (third.value.code, third.value.headers["Retry-After"]) == (429, "10")
            assert json.load(third.value)["type"] == "/docs#too-many"
            third.value.close()
        with urlopen(f"{url}openapi.json", timeout=30) as answer:
            described = json.load(answer)
    documented = described["paths"][f"/api/v1/{route}"]["get"]["responses"]["429"]
    assert "Retry-After" in documented["headers"]
    assert "at\nmost 2 clients watch events" in described["info"]["description"]


def test_nothing_is_encoded_for_nobody() -> None:
    hub = Hub()
    hub.publish(moment("eta", "b1", 0.0, {"not JSON": object()}))
    assert hub.count == 0


@pytest.mark.slow
def test_a_client_that_does_not_read_holds_up_no_build(place: Path) -> None:
    with running("--tables", str(place), "--port", "0") as (_, url):
        port = int(url.rstrip("/").rpartition(":")[2])
        deaf = []
        for _ in range(20):
            each = socket.create_connection(("127.0.0.1", port))
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            each.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            deaf.append(each)
        with watching(url) as events:
            asked(url, "builds", {"materials": ["KRBvKR"]})
            to_the_end(events, "b1")
        for each in deaf:
            each.close()
        until(lambda: _readers(url) == 0)


def _readers(url: str) -> float:
    with urlopen(f"{url}metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return float(next(li for li in lines if li.startswith("kingpair_event_readers ")).split()[1])
