"""Facts about the queue: whose turn it is, what it refuses, and what outlives it."""

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
from full_disks import can_mount
from services import until

from kingpair.api.answers.builds import events_of
from kingpair.coordinator.execute import build_queue
from kingpair.coordinator.execute.build_queue import (
    BuildQueue,
    OpenCluster,
    QueueOptions,
    RequestRefused,
    RowListener,
)
from kingpair.coordinator.execute.executor import OpenExecutor, Site
from kingpair.coordinator.execute.in_process import InProcess
from kingpair.coordinator.execute.recorder import JOURNAL
from kingpair.coordinator.journal.build_records import BuildRecord, BuildRecords
from kingpair.coordinator.journal.countdown import Countdown
from kingpair.coordinator.journal.database import Journal
from kingpair.coordinator.journal.domain_record import DomainRecord
from kingpair.coordinator.journal.forecast import fraction, pace_of
from kingpair.coordinator.journal.reader import JournalReader
from kingpair.coordinator.machine.between_turns import LOSSES
from kingpair.coordinator.machine.records import Became
from kingpair.coordinator.machine.state import State
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.store.filesystem import LocalStore
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore


def spec(names: str, metrics: tuple[str, ...] = ("dtc",), priority: int = 0) -> BuildSpec:
    found = {"materials": names.split(), "metrics": metrics, "priority": priority}
    return BuildSpec.parse(found)


QUEEN = spec("KQvK")
ROOK = spec("KRvK")
BOTH = spec("KQvKR")


def no_cluster() -> AbstractContextManager[OpenExecutor | None]:
    return nullcontext(None)


@contextmanager
def queue_at(
    out: Path,
    start: bool = True,
    open_cluster: OpenCluster = no_cluster,
    queued: int = 100,
    memory: int | None = None,
    listen: RowListener = lambda row: None,
) -> Iterator[BuildQueue]:
    out.mkdir(exist_ok=True)
    with Journal(out / JOURNAL) as journal:
        found = BuildQueue(
            journal, QueueOptions(out, 2, open_cluster, memory, queued=queued), listen
        )
        if start:
            found.start()
        try:
            yield found
        finally:
            if start:
                found.stop()


def records_of(out: Path) -> BuildRecords:
    reading, records = JournalReader(out / JOURNAL), BuildRecords()
    for submitted in reading.builds():
        records.enter(submitted)
    for row in reading.rows():
        records.apply(row)
    return records


def record(out: Path, name: str) -> BuildRecord:
    return records_of(out).builds[name]


def ended(out: Path, name: str) -> BuildRecord:
    until(lambda: record(out, name).state.has_ended)
    return record(out, name)


def history(found: BuildRecord) -> list[str]:
    return [line.what for line in found.history]


# What comes of it


def test_a_build_ends_with_the_same_bytes_as_on_a_terminal(tables: Path, tmp_path: Path) -> None:
    with queue_at(tmp_path / "out") as queue:
        assert queue.submit(BOTH) == ("b1", True)
        found = ended(tmp_path / "out", "b1")
    assert history(found) == ["queued", "planning", "running", "succeeded"]
    left = {name: data for name, data in files(tmp_path / "out").items() if name[0] != "."}
    assert left == finished(tables)
    domain = found.domains["KQvKR.dtc"]
    assert (domain.state, domain.longest()[0]) == ("done", 31)
    assert [each.depth for each in domain.passes if each.winner == 0] == list(range(33))


def test_a_build_for_two_metrics_is_one_build(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with queue_at(out) as queue:
        queue.submit(spec("KRvK", metrics=("dtc", "dtm")))
        found = ended(out, "b1")
    assert history(found) == ["queued", "planning", "running", "succeeded"]
    assert {path.name for path in out.glob("*.arrow")} == {"KRvK.dtc.arrow", "KRvK.dtm.arrow"}
    assert found.waves == [["KRvK.dtc", "KRvK.dtm"]]
    assert {row.build for row in JournalReader(out / JOURNAL).rows()} == {"b1"}


def test_progress_of_a_build_for_two_metrics_never_falls(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with queue_at(out) as queue:
        queue.submit(spec("KRvKN", metrics=("dtc", "dtm")))
        ended(out, "b1")
    reading, records, seen = JournalReader(out / JOURNAL), BuildRecords(), list[float]()
    countdown = Countdown(pace_of(2))
    for submitted in reading.builds():
        records.enter(submitted)
    for row in reading.rows():
        records.apply(row)
        seen.append(fraction(records.builds["b1"]))
        left = countdown.left(records.builds["b1"], row.time)
        assert left is None or 0 <= left.range.low <= left.seconds <= left.range.high
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(set(seen)) > 50


def test_a_build_that_lacks_memory_for_one_of_two_metrics_begins_with_neither(
    tmp_path: Path,
) -> None:
    out, material = tmp_path / "out", Material.parse("KRBvKBN")
    lacking = estimate(material, 2, Metric.DTM).streamed - 1
    with queue_at(out, memory=lacking) as queue:
        queue.submit(spec("KRBvKBN", metrics=("dtc", "dtm")))
        found = ended(out, "b1")
    assert (found.state, found.domains) == (State.FAILED, {})
    assert "KRBvKBN needs" in found.reason
    assert not list(out.glob("*.arrow"))


def test_a_build_for_two_metrics_is_cancelled_in_the_second_and_gone_on_with(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    asked: list[int] = []

    def cancel(row: int) -> None:
        if not asked and domain_of(out, "KRvK.dtm").passes:
            asked.append(row)
            queue.cancel("b1")

    with queue_at(out, listen=cancel) as queue:
        queue.submit(spec("KRvK", metrics=("dtc", "dtm")))
        found = ended(out, "b1")
        states = {name: domain.state for name, domain in found.domains.items()}
        assert found.state is State.CANCELLED
        assert states == {"KRvK.dtc": "done", "KRvK.dtm": "waiting"}
        before = (out / "KRvK.dtc.arrow").stat().st_ino
        queue.retry("b1")
        until(lambda: record(out, "b1").state is State.SUCCEEDED)
    assert (out / "KRvK.dtc.arrow").stat().st_ino == before
    passes = domain_of(out, "KRvK.dtm").passes
    assert len({(v.winner, v.depth) for v in passes}) == len(passes)


def test_a_build_with_all_tables_present_waits_for_no_turn(tables: Path, tmp_path: Path) -> None:
    with queue_at(copied(tables, tmp_path / "out"), start=False) as queue:
        queue.submit(BOTH)
    found = record(tmp_path / "out", "b1")
    assert found.state is State.SUCCEEDED
    assert {domain.state for domain in found.domains.values()} == {"exists"}


def test_a_build_with_all_tables_present_waits_for_its_turn_to_write_their_files(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    asked = {"materials": ["KQvK"], "metrics": ["dtz"]}
    with queue_at(out) as queue:
        queue.submit(BuildSpec.parse(asked))
        ended(out, "b1")
        for number in (2, 3):  # the third finds the files
            queue.submit(BuildSpec.parse(asked | {"syzygy": True}))
            (found,) = ended(out, f"b{number}").domains.values()
            assert (found.state, found.syzygy) == ("exists", "written" if number == 2 else "")
    assert {path.name for path in (out / "syzygy").iterdir()} == {"KQvK.rtbw", "KQvK.rtbz"}


def test_a_build_that_waits_for_nodes_says_what_they_lack(tmp_path: Path) -> None:
    def nowhere(site: Site, library: TableStore) -> InProcess:
        executor = InProcess(site, library, 1, 1)
        executor.nodes = ()
        return executor

    out = tmp_path / "out"
    with queue_at(out, open_cluster=lambda: nullcontext(nowhere)) as queue:
        queue.submit(QUEEN)
        ended(out, "b1")
    reading, records = JournalReader(out / JOURNAL), records_of(out)
    lacking = (
        "no node has a core to spare; end what else runs there, or add nodes: "
        "KQvK.dtc needs 251.7 MiB of memory and a core"
    )
    said = [(line.what, line.reason) for line in records.builds["b1"].history]
    assert ("waiting for nodes", lacking) in said
    told = [event for row in reading.rows() for event in events_of(records, row)]
    (hitch, *_) = (event.data for event in told if event.name == "hitch")
    assert (hitch["what"], hitch["reason"]) == ("waiting for nodes", lacking)


# The queue


def test_the_urgent_come_first_then_the_older(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with queue_at(out, start=False) as queue:
        queue.submit(QUEEN)
        queue.submit(ROOK)
        queue.submit(spec("KBBvK", priority=5))
        records = records_of(out)
        assert [waiting.name for waiting in records.queue()] == ["b3", "b1", "b2"]
        assert [records.ahead(records.builds[name]) for name in ("b1", "b2", "b3")] == [1, 2, 0]


def test_a_long_build_gives_way_to_an_urgent_one_and_goes_on_after_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with queue_at(out) as queue:
        queue.submit(spec("KBBvKN"))
        until(lambda: record(out, "b1").state is State.RUNNING)
        queue.submit(spec("KRvK", priority=1))
        assert ended(out, "b2").state is State.SUCCEEDED
        assert not record(out, "b1").state.has_ended
        until(lambda: history(record(out, "b1")).count("running") == 2)
        queue.cancel("b1")
        found = ended(out, "b1")
    assert history(found) == [
        "queued", "planning", "running", "interrupted", "queued", "planning", "running",
        "cancelling", "cancelled",
    ]  # fmt: skip
    assert "gives way to b2, which is more urgent" in [entry.reason for entry in found.history]


def test_the_same_request_is_the_same_build_until_that_is_over(tmp_path: Path) -> None:
    with queue_at(tmp_path / "out", start=False) as queue:
        other = {"materials": ["KQK"], "metrics": ["dtc"], "priority": 3, "by": "other"}
        assert queue.submit(QUEEN) == ("b1", True)
        assert queue.submit(QUEEN) == ("b1", False)
        assert queue.submit(BuildSpec.parse(other)) == ("b1", False)
        assert queue.submit(spec("KQvK", metrics=("dtm",))) == ("b2", True)
        queue.cancel("b1")
        assert queue.submit(QUEEN) == ("b3", True)


def test_a_key_is_one_build_for_ever(tmp_path: Path) -> None:
    with queue_at(tmp_path / "out", start=False) as queue:
        assert queue.submit(QUEEN, "a") == ("b1", True)
        queue.cancel("b1")
        assert queue.submit(QUEEN, "a") == ("b1", False)
        with pytest.raises(RequestRefused, match="with another build") as no:
            queue.submit(ROOK, "a")
        assert no.value.kind == "key-reused"


def test_a_queue_has_an_end(tmp_path: Path) -> None:
    with queue_at(tmp_path / "out", start=False, queued=1) as queue:
        queue.submit(QUEEN)
        with pytest.raises(RequestRefused, match="1 builds are queued"):
            queue.submit(ROOK)


def test_another_build_in_the_directory_is_waited_for(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with queue_at(out) as queue:
        with LocalStore(out).hold():
            queue.submit(QUEEN)
            until(lambda: "another build" in record(out, "b1").reason)
            assert record(out, "b1").state is State.QUEUED
        assert ended(out, "b1").state is State.SUCCEEDED


def test_while_it_builds_a_terminal_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused = threading.Event()

    @contextmanager
    def open_cluster() -> Iterator[None]:
        # Called while the directory is held.
        try:
            with LocalStore(out).hold():
                pass
        except CannotBuild:
            refused.set()
        yield

    with queue_at(out, open_cluster=open_cluster) as queue:
        queue.submit(QUEEN)
        assert ended(out, "b1").state is State.SUCCEEDED
    assert refused.is_set()


# What is asked later


def test_a_build_that_is_over_cannot_be_cancelled_and_another_cannot_be_deleted(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    with queue_at(out, start=False) as queue:
        queue.submit(QUEEN)
        with pytest.raises(RequestRefused, match="cancel it first"):
            queue.delete("b1")
        queue.cancel("b1", "someone")
        queue.cancel("b1")
        assert record(out, "b1").reason == "cancelled by someone"
        queue.retry("b1")
        assert record(out, "b1").state is State.QUEUED
        queue.start()
        ended(out, "b1")
        with pytest.raises(RequestRefused, match="nothing is left to cancel"):
            queue.cancel("b1")
        with pytest.raises(RequestRefused, match="has succeeded"):
            queue.retry("b1")
        queue.delete("b1")
        assert record(out, "b1").deleted
        for asked in (queue.cancel, queue.retry, queue.delete):
            with pytest.raises(RequestRefused, match="no build"):
                asked("b1")
        queue.stop()
    assert "KQvK.dtc.arrow" in os.listdir(out)


@pytest.mark.slow
def test_a_cancelled_build_leaves_no_partial_table_and_a_retry_the_same_bytes(
    tables: Path, tmp_path: Path
) -> None:
    out = copied(tables, tmp_path / "out", *CLOSURE, "KRvKR", "KRvKN", "KNvK", "KNvKN", "KRvK")
    wanted = spec("KQvKR KQRvKR")
    with queue_at(out) as queue:
        queue.submit(wanted)
        until(lambda: domain_of(out, "KQRvKR.dtc").passes)
        queue.cancel("b1")
        assert ended(out, "b1").state is State.CANCELLED
        assert not [name for name in os.listdir(out) if name.startswith("KQRvKR")]
        queue.retry("b1")
        assert ended(out, "b1").state is State.SUCCEEDED
    whole = (out / "KQRvKR.dtc.arrow").read_bytes()
    (out / "KQRvKR.dtc.arrow").unlink()
    with queue_at(out) as queue:
        queue.submit(spec("KQRvKR"))
        ended(out, "b2")
    assert (out / "KQRvKR.dtc.arrow").read_bytes() == whole


def domain_of(out: Path, domain: str) -> DomainRecord:
    """As it is by now; an empty one before it is planned."""
    return record(out, "b1").domains.get(domain, DomainRecord.of(TableKey.parse(domain)))


# What outlives it


@pytest.mark.slow
def test_the_build_of_a_stopped_queue_is_gone_on_with(tables: Path, tmp_path: Path) -> None:
    out = copied(tables, tmp_path / "out", *CLOSURE, "KRvKR")
    with queue_at(out) as queue:
        queue.submit(spec("KQRvKR"))
        until(lambda: domain_of(out, "KQRvKR.dtc").passes)
    assert record(out, "b1").state is State.RUNNING
    before = len(domain_of(out, "KQRvKR.dtc").passes)
    with queue_at(out):
        found = ended(out, "b1")
    assert history(found)[-5:] == ["interrupted", "queued", "planning", "running", "succeeded"]
    passes = found.domains["KQRvKR.dtc"].passes
    assert len(passes) > before
    assert len({(v.winner, v.depth) for v in passes}) == len(passes)


def test_a_build_that_costs_one_process_after_the_other_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with queue_at(out, start=False) as queue:
        queue.submit(QUEEN)
    for _ in range(LOSSES):
        with Journal(out / JOURNAL) as journal:
            journal.note("b1", [Became(State.RUNNING, "as if")], synced=True)
        with queue_at(out, start=False):
            pass
    assert record(out, "b1").state is State.INTERRUPTED


def test_without_a_cluster_builds_wait_and_say_why(tmp_path: Path) -> None:
    out = tmp_path / "out"
    is_there = threading.Event()

    @contextmanager
    def open_cluster() -> Iterator[None]:
        if not is_there.is_set():
            raise CannotBuild("no cluster here")
        yield

    with queue_at(out, open_cluster=open_cluster) as queue:
        queue.submit(QUEEN)
        until(lambda: record(out, "b1").reason == "no cluster here")
        assert queue.troubles == {"cluster": "no cluster here"}
        is_there.set()
        assert ended(out, "b1").state is State.SUCCEEDED
        assert queue.troubles == {}


def test_a_journal_that_is_held_halts_builds_until_it_is_free(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = copied(tables, tmp_path / "out", "KQvK", "KRvK")
    monkeypatch.setattr("kingpair.coordinator.journal.database._WAIT_SECONDS", 0.05)
    monkeypatch.setattr(build_queue, "WAIT_SECONDS", 0.05)
    with queue_at(out, start=False) as queue:
        queue.submit(BOTH)
        holder = sqlite3.connect(out / JOURNAL, isolation_level=None)
        holder.execute("begin immediate")
        queue.start()
        until(lambda: "held by another program" in queue.troubles.get("builds", ""))
        with pytest.raises(CannotBuild, match="held by another program"):
            queue.submit(ROOK)
        holder.execute("rollback")
        holder.close()
        assert ended(out, "b1").state is State.SUCCEEDED
        until(lambda: queue.troubles == {})
        queue.stop()


def test_a_paused_build_goes_on_although_the_journal_was_held_when_it_could(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr("kingpair.coordinator.journal.database._WAIT_SECONDS", 0.05)
    monkeypatch.setattr(build_queue, "WAIT_SECONDS", 0.05)
    with queue_at(out, start=False) as queue:
        queue.submit(QUEEN)
    with Journal(out / JOURNAL) as journal:
        journal.note("b1", [Became(State.PAUSED, "as if")], synced=True)
    with queue_at(out, start=False) as queue:
        holder = sqlite3.connect(out / JOURNAL, isolation_level=None)
        holder.execute("begin immediate")
        queue.start()
        for _ in range(5):  # in between it is the queue's turn
            with pytest.raises(CannotBuild, match="held by another program"):
                queue.submit(ROOK)
        holder.execute("rollback")
        holder.close()
        assert ended(out, "b1").state is State.SUCCEEDED
        queue.stop()


FULL = """
import subprocess, sys, pathlib
sys.path[:0] = sys.argv[2:]
from test_build_queue import queue_at, build_queue, record, until, State, BOTH
build_queue.WAIT_SECONDS = 0.1
out = pathlib.Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "tmpfs", out], check=True)
with queue_at(out) as queue:
    filler = out / "filler"
    with filler.open("wb") as file:
        file.write(bytes((80 << 20) - int(sys.stdin.readline())))
    queue.submit(BOTH)
    until(lambda: record(out, "b1").state is State.PAUSED or queue.troubles)
    print(record(out, "b1").state, record(out, "b1").reason, queue.troubles)
    filler.unlink()
    until(lambda: record(out, "b1").state is State.SUCCEEDED)
    print(*(line.what for line in record(out, "b1").history), queue.troubles)
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
