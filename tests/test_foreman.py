"""Facts about the foreman: whose turn it is, what it refuses, and what outlives it."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import pytest
from building import CLOSURE, copied, files, finished
from disks import can_mount
from services import until

from api.builds import events_of
from coordinator import foreman as foremen
from coordinator.book import JOURNAL
from coordinator.commands import Became
from coordinator.crew import Hire, Site
from coordinator.forecast import eta, fraction
from coordinator.foreman import Foreman, Place, Refused
from coordinator.journal import Journal
from coordinator.ledger import Chapter, Ledger, Story
from coordinator.local import Local
from coordinator.plan import estimate
from coordinator.reading import Reading
from coordinator.state import State
from coordinator.wanted import Wanted, wanted_of
from workers.errors import CannotBuild
from workers.material import Material
from workers.metric import Metric
from workers.store import LocalStore
from workers.workshop import Library

QUEEN = Wanted(("KQvK",), ("dtc",))
ROOK = Wanted(("KRvK",), ("dtc",))
BOTH = Wanted(("KQvKR",), ("dtc",))


def nobody() -> AbstractContextManager[Hire | None]:
    return nullcontext(None)


@contextmanager
def foreman_at(
    out: Path,
    start: bool = True,
    hiring: foremen.Hiring = nobody,
    queued: int = 100,
    memory: int | None = None,
    tell: foremen.Tell = lambda row: None,
) -> Iterator[Foreman]:
    out.mkdir(exist_ok=True)
    with Journal(out / JOURNAL) as journal:
        found = Foreman(journal, Place(out, 2, hiring, memory, queued=queued), tell)
        if start:
            found.start()
        try:
            yield found
        finally:
            if start:
                found.stop()


def ledger_of(out: Path) -> Ledger:
    reading, ledger = Reading(out / JOURNAL), Ledger()
    for submitted in reading.builds():
        ledger.enter(submitted)
    for row in reading.rows():
        ledger.apply(row)
    return ledger


def story(out: Path, name: str) -> Story:
    return ledger_of(out).stories[name]


def ended(out: Path, name: str) -> Story:
    until(lambda: story(out, name).state.has_ended)
    return story(out, name)


def history(found: Story) -> list[str]:
    return [line.what for line in found.history]


# What comes of it


def test_a_build_ends_with_the_same_bytes_as_on_a_terminal(tables: Path, tmp_path: Path) -> None:
    with foreman_at(tmp_path / "out") as foreman:
        assert foreman.submit(BOTH) == ("b1", True)
        found = ended(tmp_path / "out", "b1")
    assert history(found) == ["queued", "planning", "running", "succeeded"]
    left = {name: data for name, data in files(tmp_path / "out").items() if name[0] != "."}
    assert left == finished(tables)
    chapter = found.chapters["KQvKR.dtc"]
    assert (chapter.state, chapter.longest()[0]) == ("done", 31)
    assert [verse.depth for verse in chapter.verses if verse.winner == 0] == list(range(33))


def test_a_build_for_two_metrics_is_one_build(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with foreman_at(out) as foreman:
        foreman.submit(Wanted(("KRvK",), ("dtc", "dtm")))
        found = ended(out, "b1")
    assert history(found) == ["queued", "planning", "running", "succeeded"]
    assert {path.name for path in out.glob("*.arrow")} == {"KRvK.dtc.arrow", "KRvK.dtm.arrow"}
    assert found.waves == [["KRvK.dtc", "KRvK.dtm"]]
    assert {row.build for row in Reading(out / JOURNAL).rows()} == {"b1"}


def test_what_is_done_of_two_metrics_never_becomes_less(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with foreman_at(out) as foreman:
        foreman.submit(Wanted(("KRvKN",), ("dtc", "dtm")))
        ended(out, "b1")
    reading, ledger, seen = Reading(out / JOURNAL), Ledger(), list[float]()
    for submitted in reading.builds():
        ledger.enter(submitted)
    for row in reading.rows():
        ledger.apply(row)
        seen.append(fraction(ledger.stories["b1"]))
        in_time = eta(ledger.stories["b1"], 2, row.time)
        assert in_time is None or 0 <= in_time.low <= in_time.high
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(set(seen)) > 50


def test_a_build_that_lacks_memory_for_one_of_two_metrics_begins_with_neither(
    tmp_path: Path,
) -> None:
    out, material = tmp_path / "out", Material.parse("KBBvKN")
    lacking = estimate(material, 2, Metric.DTM).memory - 1
    with foreman_at(out, memory=lacking) as foreman:
        foreman.submit(Wanted(("KBBvKN",), ("dtc", "dtm")))
        found = ended(out, "b1")
    assert (found.state, found.chapters) == (State.FAILED, {})
    assert "KBBvKN needs" in found.reason
    assert not list(out.glob("*.arrow"))


def test_a_build_for_two_metrics_is_cancelled_in_the_second_and_gone_on_with(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    asked: list[int] = []

    def cancel(row: int) -> None:
        if not asked and chapter_of(out, "KRvK.dtm").verses:
            asked.append(row)
            foreman.cancel("b1")

    with foreman_at(out, tell=cancel) as foreman:
        foreman.submit(Wanted(("KRvK",), ("dtc", "dtm")))
        found = ended(out, "b1")
        states = {name: chapter.state for name, chapter in found.chapters.items()}
        assert found.state is State.CANCELLED
        assert states == {"KRvK.dtc": "done", "KRvK.dtm": "waiting"}
        before = (out / "KRvK.dtc.arrow").stat().st_ino
        foreman.retry("b1")
        until(lambda: story(out, "b1").state is State.SUCCEEDED)
    assert (out / "KRvK.dtc.arrow").stat().st_ino == before
    verses = chapter_of(out, "KRvK.dtm").verses
    assert len({(v.winner, v.depth) for v in verses}) == len(verses)


def test_what_is_all_there_waits_for_no_turn(tables: Path, tmp_path: Path) -> None:
    with foreman_at(copied(tables, tmp_path / "out"), start=False) as foreman:
        foreman.submit(BOTH)
    found = story(tmp_path / "out", "b1")
    assert found.state is State.SUCCEEDED
    assert {chapter.state for chapter in found.chapters.values()} == {"exists"}


def test_a_build_that_waits_for_nodes_says_what_they_lack(tmp_path: Path) -> None:
    def nowhere(site: Site, library: Library) -> Local:
        crew = Local(site, library, 1, 1)
        crew.nodes = ()
        return crew

    out = tmp_path / "out"
    with foreman_at(out, hiring=lambda: nullcontext(nowhere)) as foreman:
        foreman.submit(QUEEN)
        ended(out, "b1")
    reading, ledger = Reading(out / JOURNAL), ledger_of(out)
    lacking = "no node has a core to spare; end what else runs there, or add nodes"
    said = [(line.what, line.reason) for line in ledger.stories["b1"].history]
    assert ("waiting for nodes", lacking) in said
    told = [event for row in reading.rows() for event in events_of(ledger, row)]
    (hitch, *_) = (event.data for event in told if event.name == "hitch")
    assert (hitch["what"], hitch["reason"]) == ("waiting for nodes", lacking)


# The queue


def test_the_urgent_come_first_then_the_older(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with foreman_at(out, start=False) as foreman:
        foreman.submit(QUEEN)
        foreman.submit(ROOK)
        foreman.submit(Wanted(("KBBvK",), ("dtc",), priority=5))
        ledger = ledger_of(out)
        assert [waiting.name for waiting in ledger.queue()] == ["b3", "b1", "b2"]
        assert [ledger.ahead(ledger.stories[name]) for name in ("b1", "b2", "b3")] == [1, 2, 0]


def test_the_same_request_is_the_same_build_until_that_is_over(tmp_path: Path) -> None:
    with foreman_at(tmp_path / "out", start=False) as foreman:
        other = {"materials": ["KQK"], "metrics": ["dtc"], "priority": 3, "by": "other"}
        assert foreman.submit(QUEEN) == ("b1", True)
        assert foreman.submit(QUEEN) == ("b1", False)
        assert foreman.submit(wanted_of(other)) == ("b1", False)
        assert foreman.submit(Wanted(("KQvK",), ("dtm",))) == ("b2", True)
        foreman.cancel("b1")
        assert foreman.submit(QUEEN) == ("b3", True)


def test_a_key_is_one_build_for_ever(tmp_path: Path) -> None:
    with foreman_at(tmp_path / "out", start=False) as foreman:
        assert foreman.submit(QUEEN, "a") == ("b1", True)
        foreman.cancel("b1")
        assert foreman.submit(QUEEN, "a") == ("b1", False)
        with pytest.raises(Refused, match="with another build") as no:
            foreman.submit(ROOK, "a")
        assert no.value.kind == "key-reused"


def test_a_queue_has_an_end(tmp_path: Path) -> None:
    with foreman_at(tmp_path / "out", start=False, queued=1) as foreman:
        foreman.submit(QUEEN)
        with pytest.raises(Refused, match="1 builds are queued"):
            foreman.submit(ROOK)


def test_another_build_in_the_directory_is_waited_for(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with foreman_at(out) as foreman:
        with LocalStore(out).hold():
            foreman.submit(QUEEN)
            until(lambda: "another build" in story(out, "b1").reason)
            assert story(out, "b1").state is State.QUEUED
        assert ended(out, "b1").state is State.SUCCEEDED


def test_while_it_builds_a_terminal_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused = threading.Event()

    @contextmanager
    def hiring() -> Iterator[None]:
        # Called while the directory is held.
        try:
            with LocalStore(out).hold():
                pass
        except CannotBuild:
            refused.set()
        yield

    with foreman_at(out, hiring=hiring) as foreman:
        foreman.submit(QUEEN)
        assert ended(out, "b1").state is State.SUCCEEDED
    assert refused.is_set()


# What is asked later


def test_what_is_over_is_not_cancelled_and_what_is_not_over_not_deleted(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with foreman_at(out, start=False) as foreman:
        foreman.submit(QUEEN)
        with pytest.raises(Refused, match="cancel it first"):
            foreman.delete("b1")
        foreman.cancel("b1", "someone")
        foreman.cancel("b1")
        assert story(out, "b1").reason == "cancelled by someone"
        foreman.retry("b1")
        assert story(out, "b1").state is State.QUEUED
        foreman.start()
        ended(out, "b1")
        with pytest.raises(Refused, match="nothing is left to cancel"):
            foreman.cancel("b1")
        with pytest.raises(Refused, match="has succeeded"):
            foreman.retry("b1")
        foreman.delete("b1")
        assert story(out, "b1").deleted
        for asked in (foreman.cancel, foreman.retry, foreman.delete):
            with pytest.raises(Refused, match="no build"):
                asked("b1")
        foreman.stop()
    assert "KQvK.dtc.arrow" in os.listdir(out)


@pytest.mark.slow
def test_a_cancelled_build_leaves_no_partial_table_and_a_retry_the_same_bytes(
    tables: Path, tmp_path: Path
) -> None:
    out = copied(tables, tmp_path / "out", *CLOSURE, "KRvKR", "KRvKN", "KNvK", "KNvKN", "KRvK")
    wanted = Wanted(("KQvKR", "KQRvKR"), ("dtc",))
    with foreman_at(out) as foreman:
        foreman.submit(wanted)
        until(lambda: chapter_of(out, "KQRvKR.dtc").verses)
        foreman.cancel("b1")
        assert ended(out, "b1").state is State.CANCELLED
        assert not [name for name in os.listdir(out) if name.startswith("KQRvKR")]
        foreman.retry("b1")
        assert ended(out, "b1").state is State.SUCCEEDED
    whole = (out / "KQRvKR.dtc.arrow").read_bytes()
    (out / "KQRvKR.dtc.arrow").unlink()
    with foreman_at(out) as foreman:
        foreman.submit(Wanted(("KQRvKR",), ("dtc",)))
        ended(out, "b2")
    assert (out / "KQRvKR.dtc.arrow").read_bytes() == whole


def chapter_of(out: Path, domain: str) -> Chapter:
    """As it is by now; an empty one before it is planned."""
    return story(out, "b1").chapters.get(domain, Chapter.of(domain))


# What outlives it


@pytest.mark.slow
def test_a_stopped_foremans_build_is_gone_on_with(tables: Path, tmp_path: Path) -> None:
    out = copied(tables, tmp_path / "out", *CLOSURE, "KRvKR")
    with foreman_at(out) as foreman:
        foreman.submit(Wanted(("KQRvKR",), ("dtc",)))
        until(lambda: chapter_of(out, "KQRvKR.dtc").verses)
    assert story(out, "b1").state is State.RUNNING
    passes = len(chapter_of(out, "KQRvKR.dtc").verses)
    with foreman_at(out):
        found = ended(out, "b1")
    assert history(found)[-5:] == ["interrupted", "queued", "planning", "running", "succeeded"]
    verses = found.chapters["KQRvKR.dtc"].verses
    assert len(verses) > passes
    assert len({(v.winner, v.depth) for v in verses}) == len(verses)


def test_a_build_that_costs_one_foreman_after_the_other_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with foreman_at(out, start=False) as foreman:
        foreman.submit(QUEEN)
    for _ in range(foremen.FALLS):
        with Journal(out / JOURNAL) as journal:
            journal.note("b1", [Became(State.RUNNING, "as if")], synced=True)
        with foreman_at(out, start=False):
            pass
    assert story(out, "b1").state is State.INTERRUPTED


def test_without_a_cluster_builds_wait_and_say_why(tmp_path: Path) -> None:
    out = tmp_path / "out"
    is_there = threading.Event()

    @contextmanager
    def hiring() -> Iterator[None]:
        if not is_there.is_set():
            raise CannotBuild("no cluster here")
        yield

    with foreman_at(out, hiring=hiring) as foreman:
        foreman.submit(QUEEN)
        until(lambda: story(out, "b1").reason == "no cluster here")
        assert foreman.troubles == {"cluster": "no cluster here"}
        is_there.set()
        assert ended(out, "b1").state is State.SUCCEEDED
        assert foreman.troubles == {}


def test_a_journal_that_is_held_halts_builds_until_it_is_free(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = copied(tables, tmp_path / "out", "KQvK", "KRvK")
    monkeypatch.setattr("coordinator.journal._WAIT_SECONDS", 0.05)
    monkeypatch.setattr(foremen, "WAIT_SECONDS", 0.05)
    with foreman_at(out, start=False) as foreman:
        foreman.submit(BOTH)
        holder = sqlite3.connect(out / JOURNAL, isolation_level=None)
        holder.execute("begin immediate")
        foreman.start()
        until(lambda: "held by another program" in foreman.troubles.get("builds", ""))
        with pytest.raises(CannotBuild, match="held by another program"):
            foreman.submit(ROOK)
        holder.execute("rollback")
        holder.close()
        assert ended(out, "b1").state is State.SUCCEEDED
        until(lambda: foreman.troubles == {})
        foreman.stop()


def test_a_paused_build_goes_on_although_the_journal_was_held_when_it_could(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr("coordinator.journal._WAIT_SECONDS", 0.05)
    monkeypatch.setattr(foremen, "WAIT_SECONDS", 0.05)
    with foreman_at(out, start=False) as foreman:
        foreman.submit(QUEEN)
    with Journal(out / JOURNAL) as journal:
        journal.note("b1", [Became(State.PAUSED, "as if")], synced=True)
    with foreman_at(out, start=False) as foreman:
        holder = sqlite3.connect(out / JOURNAL, isolation_level=None)
        holder.execute("begin immediate")
        foreman.start()
        for _ in range(5):  # in between it is the foreman's turn
            with pytest.raises(CannotBuild, match="held by another program"):
                foreman.submit(ROOK)
        holder.execute("rollback")
        holder.close()
        assert ended(out, "b1").state is State.SUCCEEDED
        foreman.stop()


FULL = """
import subprocess, sys, pathlib
sys.path[:0] = sys.argv[2:]
from test_foreman import foreman_at, foremen, story, until, State, BOTH
foremen.WAIT_SECONDS = 0.1
out = pathlib.Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "tmpfs", out], check=True)
with foreman_at(out) as foreman:
    filler = out / "filler"
    with filler.open("wb") as file:
        file.write(bytes((80 << 20) - int(sys.stdin.readline())))
    foreman.submit(BOTH)
    until(lambda: story(out, "b1").state is State.PAUSED or foreman.troubles)
    print(story(out, "b1").state, story(out, "b1").reason, foreman.troubles)
    filler.unlink()
    until(lambda: story(out, "b1").state is State.SUCCEEDED)
    print(*(line.what for line in story(out, "b1").history), foreman.troubles)
"""


@pytest.mark.slow
@pytest.mark.skipif(not can_mount(), reason="no mounts of our own: no disk is full")
@pytest.mark.parametrize("left", [300_000, 900_000])
def test_builds_of_a_full_disk_go_on_when_there_is_room(tmp_path: Path, left: int) -> None:
    command = ["unshare", "-m", sys.executable, "-c", FULL, str(tmp_path), *sys.path]
    done = subprocess.run(
        command, input=f"{left}\n", capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert "paused" in first or "the journal" in first
    assert last.endswith("running succeeded {}")
