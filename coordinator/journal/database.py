"""The journal: what happened to every build, in SQLite, appended and never changed.  The truth.

    builds    name | key | request | time          what was asked for; a key is one build for ever
    events    build | seq | time | kind | body | check
    records   id | build | seq | time | kind | body    what was settled: commits, states, workers

An event and its records are one transaction.  An event that leads to no command changes nothing
outside this process, such as the answer of one worker while others are waited for.  It is entered
with the next one that does, so a step of many workers is one transaction.  `check` is a CRC over
the event and the check before it, so a row that is altered or missing is noticed.  Events with
records are synced to disk before `append` returns: they commit something, or hand out an
incarnation.  The others are merely written: a power failure loses at most the last steps of passes,
a crash of the process at most events that led to nothing.

State, history and progress are folds: `replay` folds the events of a build into its state, the
records are its history.  Of a build in one process, whose pass logs say how far it came, records
alone are noted, with 0 for the event.  The ids of records are one increasing sequence over all
builds.  One process writes, and holds a lock beside the file; any may read.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, get_args
from zlib import crc32

from pydantic import TypeAdapter, ValidationError

from kingpair.coordinator.journal.rows import JournalEntry, Row, Submission
from kingpair.coordinator.journal.schema import SCHEMA
from kingpair.coordinator.machine.commands import Command
from kingpair.coordinator.machine.events import Event
from kingpair.coordinator.machine.records import Record
from kingpair.coordinator.machine.state import BuildJob
from kingpair.coordinator.machine.step import fold, step
from kingpair.workers.errors import CannotBuild

VERSION = 2
_WAIT_SECONDS = 5.0  # for another program that holds the database for a moment


class JournalHeld(CannotBuild):
    """Another process writes to this journal, or holds its database."""


class DamagedJournal(CannotBuild):
    """A journal that does not read back, or was written by another version."""


class Journal:
    """A journal open for writing."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path, self._clock = path, clock
        self._lock = RLock()
        self._last: dict[str, tuple[int, int]] = {}  # seq and check of each build's last event
        self._waiting: dict[str, list[Event]] = {}  # events to be entered with a build's next one
        self._held = _hold(path)
        self._syncs: bool | None = None  # what the database was last told, if it was
        try:
            with told(self.path):
                self._database = self._opened()
        except BaseException:
            os.close(self._held)
            raise

    def close(self) -> None:
        self._database.close()
        os.close(self._held)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- writing ----

    def submit(self, name: str, key: str, request: str) -> Submission:
        """Enters a build and returns it, or returns the one that was entered under this key."""
        with self._lock, self._transaction(synced=True) as database:
            database.execute(
                "insert into builds values (?, ?, ?, ?) on conflict (key) do nothing",
                (name, key, request, self._clock()),
            )
            (row,) = database.execute("select * from builds where key = ?", (key,))
            return Submission(*row)

    def append(self, build: str, event: Event, records: Sequence[Record] = ()) -> int:
        """Appends the events that wait, an event and its records; returns the event's number."""
        with self._lock, self._transaction(bool(records)) as database:
            seq, check = self._end(build)
            rows, now = list[tuple[object, ...]](), self._clock()
            for each in (*self._waiting.get(build, ()), event):
                kind, body = _written(each, _EVENTS)
                seq, check = seq + 1, _check(check, kind, body)
                rows.append((build, seq, now, kind, body, check))
            database.executemany("insert into events values (?, ?, ?, ?, ?, ?)", rows)
            _enter(database, build, seq, now, records)
        self._last[build] = seq, check
        self._waiting.pop(build, None)
        return seq

    def defer(self, build: str, event: Event) -> None:
        """Has an event wait for the next one of its build."""
        with self._lock:
            self._waiting.setdefault(build, []).append(event)

    def _enter_waiting(self, build: str) -> None:
        if waiting := self._waiting.get(build):
            self.append(build, waiting.pop())

    def note(self, build: str, records: Sequence[Record], synced: bool) -> None:
        """Appends records of a build whose events are not kept."""
        with self._lock, self._transaction(synced) as database:
            _enter(database, build, 0, self._clock(), records)

    # ---- reading ----

    def builds(self) -> list[Submission]:
        with told(self.path), self._lock:
            rows = self._database.execute("select * from builds order by time, name").fetchall()
        return [Submission(*row) for row in rows]

    def events(self, build: str) -> Iterator[Event]:
        """Yields all events of a build, and checks them."""
        check = seq = 0
        for at, (seq, kind, body, stated) in enumerate(self._event_rows(build), 1):
            check = _check(check, kind, body)
            if (at, check) != (seq, stated):
                raise self._damaged(f"event {at} of build {build} is altered or missing")
            yield self._read(kind, body, _EVENTS)
        if seq < (settled := self._last_settled(build)):
            raise self._damaged(f"event {settled} of build {build} is missing")

    def replay(self, build: str) -> BuildJob:
        """Returns the state of a build: the fold of its events."""
        return fold(build, self.events(build))

    def history(self, build: str, after: int = 0) -> list[JournalEntry]:
        """Returns the records of the events after a number, in order."""
        query = "select seq, time, kind, body from records where build = ? and seq > ? order by id"
        with told(self.path), self._lock:
            rows = self._database.execute(query, (build, after)).fetchall()
        return [
            JournalEntry(seq, at, self._read(kind, body, _RECORDS)) for seq, at, kind, body in rows
        ]

    def rows(self, after: int = 0, limit: int = -1) -> list[Row]:
        """Returns the records of all builds that come after one, in order."""
        with told(self.path), self._lock:
            found = self._database.execute(ROWS, (after, limit)).fetchall()
        return [row_of(self.path, *row) for row in found]

    @property
    def last_row(self) -> int:
        """The id of the last record, 0 if there is none."""
        with told(self.path), self._lock:
            (last,) = self._database.execute("select max(id) from records").fetchone()
        return int(last or 0)

    # ---- the database ----

    def _opened(self) -> sqlite3.Connection:
        database = sqlite3.connect(
            self.path, _WAIT_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            database.execute("pragma journal_mode = wal")
            database.execute("pragma foreign_keys = on")
            (version,) = database.execute("pragma user_version").fetchone()
            if version == 0:
                if database.execute("select 1 from sqlite_schema").fetchone():
                    raise self._damaged("it is another program's database")
                script = SCHEMA + f"pragma user_version = {VERSION};"
                database.executescript(f"begin immediate; {script} commit;")
            elif version != VERSION:
                raise self._damaged(f"version {version}, this program reads {VERSION}")
            elif (found := database.execute("pragma quick_check").fetchone()[0]) != "ok":
                raise self._damaged(str(found))
        except BaseException:
            database.close()
            raise
        return database

    @contextmanager
    def _transaction(self, synced: bool) -> Iterator[sqlite3.Connection]:
        database = self._database
        with told(self.path):
            if synced is not self._syncs:
                database.execute(f"pragma synchronous = {'full' if synced else 'normal'}")
                self._syncs = synced
            database.execute("begin immediate")
            try:
                yield database
                database.execute("commit")
            except BaseException:
                if database.in_transaction:
                    database.execute("rollback")
                raise

    def _event_rows(self, build: str) -> list[Any]:
        query = 'select seq, kind, body, "check" from events where build = ? order by seq'
        self._enter_waiting(build)
        with told(self.path), self._lock:
            return self._database.execute(query, (build,)).fetchall()

    def _last_settled(self, build: str) -> int:
        query = "select coalesce(max(seq), 0) from records where build = ?"
        with told(self.path), self._lock:
            (last,) = self._database.execute(query, (build,)).fetchone()
        return int(last)

    def _end(self, build: str) -> tuple[int, int]:
        if build not in self._last:
            query = 'select seq, "check" from events where build = ? order by seq desc limit 1'
            row = self._database.execute(query, (build,)).fetchone()
            self._last[build] = row or (0, 0)
        return self._last[build]

    def _read(self, kind: str, body: str, kinds: Mapping[str, TypeAdapter[Any]]) -> Any:
        return _value(self.path, kind, body, kinds)

    def _damaged(self, what: str) -> DamagedJournal:
        return _damaged(self.path, what)


def advance(journal: Journal, build: BuildJob, event: Event) -> tuple[BuildJob, list[Command]]:
    """Takes one step, and enters it into the journal before its commands are returned, if any."""
    after, to_do = step(build, event)
    if to_do:
        records = [command for command in to_do if isinstance(command, Record)]
        journal.append(build.name, event, records)
    else:
        journal.defer(build.name, event)
    return after, to_do


def _hold(path: Path) -> int:
    """Takes the lock beside the database; closing it releases it."""
    beside = path.with_name(path.name + ".lock")
    try:
        held = os.open(beside, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise CannotBuild(f"cannot open the journal {path}: {error.strerror}") from error
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        raise JournalHeld(
            f"another service or build holds {path}; let that one build, stop it, or choose "
            "another directory"
        ) from None
    return held


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into ours."""
    try:
        yield
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:  # not SQLite's but the module's own: text that is none
            raise _damaged(path, str(error)) from error
        if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise JournalHeld(
                f"{path} is held by another program; close it and try again"
            ) from error
        raise CannotBuild(
            f"cannot use the journal {path}: {error}; what was committed is kept, mend that and "
            "try again"
        ) from error
    except sqlite3.IntegrityError:
        raise  # a programmer's error: an unknown build, an entry that is changed
    except sqlite3.DatabaseError as error:
        raise _damaged(path, str(error)) from error


ROWS = "select id, build, seq, time, kind, body from records where id > ? order by id limit ?"


def _enter(
    database: sqlite3.Connection, build: str, seq: int, now: float, records: Sequence[Record]
) -> None:
    rows = [(build, seq, now, *_written(record, _RECORDS)) for record in records]
    database.executemany(
        "insert into records (build, seq, time, kind, body) values (?, ?, ?, ?, ?)", rows
    )


def row_of(path: Path, number: Any, build: Any, seq: Any, at: Any, kind: Any, body: Any) -> Row:
    return Row(number, build, seq, at, _value(path, kind, body, _RECORDS))


def _value(path: Path, kind: str, body: str, kinds: Mapping[str, TypeAdapter[Any]]) -> Any:
    try:
        return kinds[kind].validate_json(body)
    except (KeyError, ValidationError) as error:
        raise _damaged(path, f"it has a {kind!r} that this program cannot read") from error


def _damaged(path: Path, what: str) -> DamagedJournal:
    said = " ".join(what.split())
    return DamagedJournal(
        f"the journal {path} is damaged: {said}; move it away and submit the builds again, tables "
        "and pass logs are kept"
    )


def _check(before: int, kind: str, body: str) -> int:
    return crc32(f"{kind} {body}".encode(), before)


def _adapters(union: Any) -> dict[str, TypeAdapter[Any]]:
    return {kind.__name__: TypeAdapter(kind) for kind in get_args(union)}


def _written(value: Event | Record, kinds: Mapping[str, TypeAdapter[Any]]) -> tuple[str, str]:
    kind = type(value).__name__
    return kind, kinds[kind].dump_json(value).decode()


_EVENTS = _adapters(Event)
_RECORDS = _adapters(Record)
