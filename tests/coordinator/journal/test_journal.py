"""The journal: what is written is what is read, also after a fall, and damage is named."""

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from driven import WIDE, Driven, nodes, of, plan
from simulator import Cluster, little_plan
from toys import slow_twin

from kingpair.coordinator.journal.build_records import BuildRecords
from kingpair.coordinator.journal.database import DamagedJournal, Journal, JournalHeld, advance
from kingpair.coordinator.machine.commands import Do
from kingpair.coordinator.machine.events import Admitted, CancelRequested, NodesJoined, Restarted
from kingpair.coordinator.machine.records import (
    Became,
    NodesLacking,
    PassCommitted,
    Record,
    TablePublished,
)
from kingpair.coordinator.machine.state import BuildJob, State
from kingpair.coordinator.machine.step import step
from kingpair.workers.errors import CannotBuild


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def ticking() -> Callable[[], float]:
    return map(float, count(1)).__next__


def journaled(journal: Journal, seed: int, harm: int = 150) -> Cluster:
    """A simulated cluster whose coordinator writes to a journal, and is rebuilt from it."""
    chance = random.Random(seed)
    name = f"build {seed}"
    journal.submit(name, name, "{}")
    cluster = Cluster(
        chance,
        little_plan(chance),
        harm,
        build=BuildJob(name),
        advance=lambda build, event: advance(journal, build, event),
        refold=lambda _: journal.replay(name),
    )
    cluster.run()
    return cluster


def test_a_build_is_rebuilt_from_its_journal_whatever_befell_it(path: Path) -> None:
    with Journal(path) as journal:
        for seed in range(20):
            cluster = journaled(journal, seed)
            assert list(journal.events(cluster.build.name)) == cluster.events
            assert journal.replay(cluster.build.name) == cluster.build
            if cluster.build.state is State.SUCCEEDED:
                assert cluster.store.tables == slow_twin(cluster.plan)


def test_a_journal_reads_the_same_when_it_is_opened_again(path: Path) -> None:
    with Journal(path) as journal:
        cluster = journaled(journal, 1)
        history = journal.history(cluster.build.name)
    with Journal(path) as journal:
        assert journal.replay(cluster.build.name) == cluster.build
        assert journal.history(cluster.build.name) == history


def test_the_history_is_what_was_settled_with_its_reasons(path: Path) -> None:
    with Journal(path, ticking()) as journal:
        journal.submit("b", "key", "{}")
        build, _ = advance(journal, BuildJob("b"), Admitted())
        advance(journal, build, CancelRequested("changed my mind"))
        assert [tuple(entry) for entry in journal.history("b")] == [
            (1, 2.0, Became("planning", "its turn has come")),
            (2, 3.0, Became("cancelling", "changed my mind")),
            (2, 3.0, Became("cancelled", "changed my mind")),
        ]
        assert [entry.seq for entry in journal.history("b", after=1)] == [2, 2]


def test_every_commit_is_in_the_history_once(path: Path) -> None:
    with Journal(path) as journal:
        cluster = journaled(journal, 2, harm=0)
        records = [entry.record for entry in journal.history(cluster.build.name)]
    commits = [(r.domain, r.winner, r.depth) for r in records if isinstance(r, PassCommitted)]
    runs = cluster.build.runs.values()
    assert sorted(commits) == sorted(
        (run.domain.name, winner, p.depth)
        for run in runs
        for winner, passes in run.passes.items()
        for p in passes
    )
    tables = [record.domain for record in records if isinstance(record, TablePublished)]
    assert sorted(tables) == sorted(run.domain.name for run in runs if not run.domain.table)


def test_the_same_request_is_the_same_build(path: Path) -> None:
    with Journal(path, ticking()) as journal:
        first = journal.submit("a", "KQvK dtc", "{}")
        assert journal.submit("b", "KQvK dtc", "{}") == first
        assert journal.submit("c", "KRvK dtc", "{}").name == "c"
        assert [submitted.name for submitted in journal.builds()] == ["a", "c"]


def test_unfinished_builds_are_resumed_with_workers_of_a_new_incarnation(path: Path) -> None:
    with Journal(path) as journal:
        journal.submit("running", "1", "{}")
        build = BuildJob("running")
        for event in Driven(plan(WIDE), *nodes(2)).told:
            build, _ = advance(journal, build, event)
        assert build.runs["D"].incarnation == 1
        journal.submit("cancelled", "2", "{}")
        advance(journal, BuildJob("cancelled"), CancelRequested())
    with Journal(path) as journal:
        builds = [journal.replay(submitted.name) for submitted in journal.builds()]
        (unfinished,) = [found for found in builds if not found.state.has_ended]
        assert unfinished.name == "running"
        again, commands = advance(journal, unfinished, Restarted())
        assert again == step(build, Restarted())[0]
        assert len(commands) == 4  # two workers released, nodes awaited, and that said
        assert "knows no node yet" in of(NodesLacking, commands)[0].reason
        again, commands = advance(journal, again, NodesJoined(tuple(nodes(2))))
        assert again.runs["D"].incarnation == 2
        assert {c.call.incarnation for c in commands if isinstance(c, Do)} == {2}


def test_nothing_in_it_can_be_changed_or_taken_out(path: Path) -> None:
    with Journal(path) as journal:
        cluster = journaled(journal, 0, harm=0)
    database = sqlite3.connect(path)
    for table in ("builds", "events", "records"):
        for change in (f"delete from {table}", f"update {table} set rowid = 1"):
            change = change.replace("rowid", "name" if table == "builds" else "build")
            with pytest.raises(sqlite3.IntegrityError, match="only appended to"):
                database.execute(change)
    database.close()
    with Journal(path) as journal:
        assert journal.replay(cluster.build.name) == cluster.build


def test_an_event_of_no_build_is_a_mistake_and_leaves_nothing(path: Path) -> None:
    with Journal(path) as journal:
        with pytest.raises(sqlite3.IntegrityError):
            journal.append("nobody's", Admitted())
        journal.submit("b", "key", "{}")
        assert journal.append("b", Admitted()) == 1


def test_an_event_and_its_records_are_written_together_or_not_at_all(path: Path) -> None:
    bad: Record = Became("running", "no \ud800 in SQLite")
    with Journal(path) as journal:
        journal.submit("b", "key", "{}")
        journal.append("b", Admitted())
        with pytest.raises(ValueError, match="surrogate"):
            journal.append("b", Admitted(), [Became("running", "sound"), bad])
        assert len(list(journal.events("b"))) == 1
        assert journal.history("b") == []
        assert journal.append("b", Admitted()) == 2


def test_a_coordinator_that_is_killed_loses_no_event_it_had_written(path: Path) -> None:
    script = f"""
import os
from pathlib import Path
from kingpair.coordinator.machine.events import Admitted
from kingpair.coordinator.journal.database import Journal
journal = Journal(Path({str(path)!r}))
journal.submit("b", "key", "{{}}")
for _ in range(50):
    journal.append("b", Admitted())
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", script], check=False, timeout=60, env=os.environ)
    with Journal(path) as journal:
        assert list(journal.events("b")) == [Admitted()] * 50


# ---- what is wrong with a journal is one line ----


@pytest.fixture
def written(path: Path) -> Path:
    with Journal(path) as journal:
        journaled(journal, 0, harm=0)
    return path


def test_a_second_coordinator_is_refused(written: Path) -> None:
    with Journal(written), pytest.raises(JournalHeld) as refused:
        Journal(written)
    assert_is_one_line(refused.value, written)
    Journal(written).close()


def test_a_database_that_another_program_holds_is_refused(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kingpair.coordinator.journal.database._WAIT_SECONDS", 0.01)
    other = sqlite3.connect(written, isolation_level=None)
    with Journal(written) as journal:
        other.execute("begin immediate")
        with pytest.raises(JournalHeld) as refused:
            journal.append("build 0", Admitted())
        assert_is_one_line(refused.value, written)
        other.execute("rollback")
        before = len(list(journal.events("build 0")))
        assert journal.append("build 0", Admitted()) == before + 1
    other.close()


def test_an_altered_event_is_found_and_named(written: Path) -> None:
    for change in ("update events set body = '{}'", "delete from events"):
        with_triggers_off(written, f"{change} where seq = 3")
        with Journal(written) as journal, pytest.raises(DamagedJournal) as damaged:
            journal.replay("build 0")
        assert "event 3 of build build 0" in str(damaged.value)
        assert_is_one_line(damaged.value, written)


def test_a_file_that_is_no_journal_is_refused(path: Path) -> None:
    path.write_bytes(b"not a database" * 1000)
    with pytest.raises(DamagedJournal) as damaged:
        Journal(path)
    assert_is_one_line(damaged.value, path)


def test_a_torn_or_overwritten_journal_never_reads_as_another_build(written: Path) -> None:
    whole = written.read_bytes()
    with Journal(written) as journal:
        build = journal.replay("build 0")
    chance = random.Random(0)
    for _ in range(40):
        at = chance.randrange(len(whole))
        after = b"" if chance.random() < 0.3 else chance.randbytes(64) + whole[at + 64 :]
        torn = whole[:at] + after
        written.write_bytes(torn)
        for beside in written.parent.glob(written.name + "-*"):
            beside.unlink()
        try:
            with Journal(written) as journal:
                assert not journal.builds() or journal.replay("build 0") == build
        except CannotBuild as refused:
            assert_is_one_line(refused, written)


def test_another_programs_database_is_refused(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("create table events (theirs)")
    database.close()
    with pytest.raises(DamagedJournal, match="another program"):
        Journal(path)


def test_a_journal_of_another_version_is_refused_with_both_versions(written: Path) -> None:
    database = sqlite3.connect(written)
    database.execute("pragma user_version = 7")
    database.close()
    with pytest.raises(DamagedJournal, match="version 7, this program reads 2"):
        Journal(written)


def test_a_journal_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    with pytest.raises(CannotBuild, match="No such file or directory"):
        Journal(tmp_path / "missing" / "journal.sqlite")


def assert_is_one_line(error: Exception, path: Path) -> None:
    assert str(path) in str(error)
    assert "\n" not in str(error)


def with_triggers_off(path: Path, change: str) -> None:
    database = sqlite3.connect(path)
    triggers = database.execute("select name from sqlite_schema where type = 'trigger'").fetchall()
    for (name,) in triggers:
        database.execute(f"drop trigger {name}")
    database.execute(change)
    database.commit()
    database.close()


OLD_REQUEST = (
    '{"materials": ["KQvK"], "metrics": ["dtc"], "priority": 2, "compact": false, '
    '"verify": true, "force": false, "by": "me", "foreman": 1}'
)
OLD_RECORDS = (
    ("Became", '{"state":"running","reason":"1 tables to build, 0 are there"}'),
    ("WavesPlanned", '{"waves":[["KQvK.dtc"]],"present":[],"logged":[]}'),
    ("Assigned", '{"domain":"KQvK.dtc","incarnation":1,"shares":[["node0",462]],"links_cut":0}'),
    (
        "PassCommitted",
        '{"domain":"KQvK.dtc","winner":0,"depth":0,"incarnation":1,"won":[0],"lost":[7],'
        '"exchanged":0,"over":false,"seconds":0.5}',
    ),
    ("PartWritten", '{"domain":"KQvK.dtc","part":0,"parts":1,"bytes":9}'),
    ("TablePublished", '{"domain":"KQvK.dtc","bytes":9,"digest":"d"}'),
    ("TableVerified", '{"domain":"KQvK.dtc"}'),
)


def test_a_journal_of_an_earlier_version_is_read(path: Path) -> None:
    """Its records lack the fields that were added since."""
    with Journal(path) as journal:
        journal.submit("b1", "b1", OLD_REQUEST)
    with sqlite3.connect(path) as database:
        rows = [("b1", 0, 1.0, *record) for record in OLD_RECORDS]
        columns = "(build, seq, time, kind, body)"
        database.executemany(f"insert into records {columns} values (?, ?, ?, ?, ?)", rows)
    database.close()
    with Journal(path) as journal:
        (submission,), rows_read = journal.builds(), journal.rows()
    records = BuildRecords()
    records.enter(submission)
    for row in rows_read:
        records.apply(row)
    build = records.builds["b1"]
    assert (build.spec.priority, build.spec.by, build.is_queued) == (2, "me", True)
    assert build.domains["KQvK.dtc"].state == "done"
    assert build.domains["KQvK.dtc"].decided == 7
