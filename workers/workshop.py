"""The tables of a build in their store, and the workshop beside them in which one is made.

    MATERIAL.METRIC.arrow                       a table
    .MATERIAL.METRIC.build/                     its workshop, until it is published and verified
        COLOUR.INCARNATION.WORKER.log           what a worker's own partitions held, pass by pass
        part.NUMBER.INCARNATION[.json]          a part of the table, and what is known of it

Names carry the incarnation of whoever writes, so a worker that was given up overwrites nothing.
"""

import json
import re
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from workers.errors import DamagedTable, ForeignTable
from workers.material import STRONGER, WEAKER, Material
from workers.metric import Metric
from workers.passlog import LogFile, Pass, PassLog
from workers.passtimes import note_of
from workers.store import Store, store_at
from workers.subject import Subject
from workers.table import Table, table_name

_COLOURS = {STRONGER: "stronger", WEAKER: "weaker"}
_LOG = re.compile(r"(stronger|weaker)\.(\d+)\.(\d+)\.log")

Smaller = dict[str, str]  # names of smaller tables and their digests


class Tables:
    """The tables of one store for one metric, opened once each."""

    def __init__(self, where: Path | Store, metric: str) -> None:
        self.store = store_at(where) if isinstance(where, Path) else where
        self.metric = metric
        self._open: dict[Material, Table] = {}
        self._lock = Lock()

    def name_of(self, material: Material) -> str:
        return table_name(material, self.metric)

    def columns(self, material: Material) -> Table:
        with self._lock:
            if material not in self._open:
                self._open[material] = Table(self.store.fetch(self.name_of(material)))
            return self._open[material]

    def smaller(self, material: Material) -> Smaller:
        """The digests of the tables that a material rests on."""
        names = sorted({c.material for c in material.captures() if c.material.letters})
        return {str(m): self.columns(m).digest for m in names}

    def has(self, material: Material) -> bool:
        """Whether the material's table is there, sound, and rests on the smaller tables that are
        there.
        """
        if not self.store.has(self.name_of(material)):
            return False
        try:
            return self.columns(material).smaller == self.smaller(material)
        except FileNotFoundError:
            return False
        except (DamagedTable, ForeignTable) as error:
            raise type(error)(f"{error} (kingpair build --force {material})") from error

    def forget(self, material: Material) -> None:
        """Another table has taken the name: what was open is not what is there."""
        with self._lock:
            table = self._open.pop(material, None)
        if table is not None:
            table.close()

    def workshop(self, material: Material) -> "Workshop":
        return Workshop(self.store, f".{material}.{self.metric}.build", material, self.metric)

    def remove(self, material: Material) -> None:
        self.forget(material)
        self.store.remove(self.name_of(material))
        self.store.remove(note_of(self.name_of(material)))

    def close(self) -> None:
        for table in self._open.values():
            table.close()
        self.store.close()


class Library:
    """All tables of one store."""

    def __init__(self, where: Path) -> None:
        self.store = store_at(where)
        self._tables = {metric: Tables(self.store, metric) for metric in Metric}

    def of(self, metric: Metric) -> Tables:
        return self._tables[metric]

    def has(self, subject: Subject) -> bool:
        return self.of(subject.metric).has(subject.material)

    def table(self, subject: Subject) -> Table:
        return self.of(subject.metric).columns(subject.material)

    def workshop(self, subject: Subject) -> "Workshop":
        return self.of(subject.metric).workshop(subject.material)

    def close(self) -> None:
        for tables in self._tables.values():
            tables.close()


class Logged(NamedTuple):
    """The passes of a winner's analysis that are in the logs, each with the incarnation that found
    it, and how many workers that had.
    """

    passes: list[tuple[Pass, int]]
    workers: dict[int, int]


class Workshop(NamedTuple):
    """Where a table is made."""

    store: Store
    folder: str
    material: Material
    metric: str

    def log(self, winner: int, incarnation: int, worker: int) -> str:
        return f"{self.folder}/{_COLOURS[winner]}.{incarnation}.{worker}.log"

    def part(self, number: int, incarnation: int) -> str:
        return f"{self.folder}/part.{number}.{incarnation}"

    def new_log(self, name: str, identity: dict[str, object]) -> PassLog:
        """A log that is begun, whatever had its name."""
        self.store.remove(name)
        return PassLog(self.store.here(name), identity, partial(self.store.extend, name))

    def read_log(self, name: str) -> LogFile:
        return LogFile(self.store.gather(name))

    def identity(self, winner: int, smaller: Smaller) -> dict[str, object]:
        """What the log of an analysis must agree on to be gone on from."""
        return {
            "material": str(self.material),
            "metric": str(self.metric),
            "winner": winner,
            "smaller": smaller,
        }

    def begin(self) -> None:
        self.store.make(self.folder)

    def clear(self) -> None:
        self.store.clear(self.folder)

    def last_incarnation(self) -> int:
        return max((incarnation for _, incarnation, _ in self._logs()), default=0)

    def logged(self, winner: int, smaller: Smaller) -> Logged:
        """The passes that all workers of an incarnation committed.  What a later one found again
        takes the place of what was found before.
        """
        passes: list[tuple[Pass, int]] = []
        workers: dict[int, int] = {}
        wanted, logs = self.identity(winner, smaller), dict[int, list[str]]()
        for w, incarnation, worker in self._logs():
            if w == winner:
                logs.setdefault(incarnation, []).append(self.log(w, incarnation, worker))
        for incarnation, names in logs.items():
            agreed, count = self._agreed(wanted, names)
            if count == len(names) and agreed and agreed[0].depth <= len(passes):
                passes[agreed[0].depth :] = [(done, incarnation) for done in agreed]
                workers[incarnation] = count
        return Logged(passes, workers)

    def _agreed(self, wanted: dict[str, object], logs: list[str]) -> tuple[list[Pass], int]:
        """What all workers of an incarnation committed, and how many there were."""
        agreed, count = None, 0
        for name in logs:
            with closing(self.read_log(name)) as log:
                stated = json.loads(log.identity or b"{}")
                if any(stated.get(key) != value for key, value in wanted.items()):
                    return [], 0
                passes = log.sound()
            agreed = passes if agreed is None else _both(agreed, passes)
            count = stated["workers"]
        return agreed or [], count

    def _logs(self) -> list[tuple[int, int, int]]:
        """Winner, incarnation and worker of the logs that are there."""
        found = [_LOG.fullmatch(name) for name in self.store.names(self.folder)]
        winners = {colour: winner for winner, colour in _COLOURS.items()}
        return sorted((winners[m[1]], int(m[2]), int(m[3])) for m in found if m)


def _both(ours: list[Pass], theirs: list[Pass]) -> list[Pass]:
    return [a for a, b in zip(ours, theirs, strict=False) if a == b]
