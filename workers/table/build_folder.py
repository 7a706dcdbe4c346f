"""The folder in which a table is built.  It lies beside the table until that is verified.

    .MATERIAL.METRIC.build/
        COLOUR.INCARNATION.WORKER.log     the pass log of a worker, for the analysis of one winner
        part.NUMBER.INCARNATION           a part of the table
        part.NUMBER.INCARNATION.json      the note of this part (parts.py, level_parts.py)

The names of the files of a slice (index/slices.py) begin with `levelNUMBER.`, or if it is a part of
a level with `levelNUMBER.FIRST-STOP.`: a level that is divided in another way has other files.

The logs may lie on disks of the machines that solve the table instead, each with a copy on another
one (`local_logs`, passlog/machine_logs.py): then no byte of them goes through the store.  They are
cleared when the table is published and proved, those of a level when no other level reads them.
Such machines also have the parts that they painted of a table that stays in parts, as
NUMBER.CONTENTS (parts_file.py), and others copy them from there to prove the table.

Names carry the incarnation of the workers that write.  So a worker that was replaced but still
runs overwrites nothing of its replacement.
"""

import json
import re
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from kingpair.workers.index.slices import LevelSlice
from kingpair.workers.number_types import STRONGER, WEAKER, Side
from kingpair.workers.passlog.log import LogFile, PassResult
from kingpair.workers.passlog.machine_logs import MachineLogs
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.store.filesystem import Store
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.parts_file import clear_unlisted_parts

_COLOURS = {STRONGER: "stronger", WEAKER: "weaker"}
_LOG = re.compile(r"(stronger|weaker)\.(\d+)\.(\d+)\.log")
_SLICE = re.compile(r"level(\d+(?:\.\d+-\d+)?)\.[a-z]")
_NOTE = re.compile(r"part\.(\d+)\.(\d+)\.json")

SmallerDigests = dict[str, str]  # names of smaller tables and their digests


class LoggedPasses(NamedTuple):
    """The passes of a winner's analysis that are in the logs, each with the incarnation that
    committed it; and how many workers each incarnation had.
    """

    passes: list[tuple[PassResult, int]]
    workers: dict[int, int]


class BuildFolder(NamedTuple):
    """The build folder of a table in a store, for the table as a whole or for a slice of it."""

    store: Store
    key: TableKey
    slice: LevelSlice | None = None
    local_logs: MachineLogs | None = None

    @property
    def name(self) -> str:
        return self.key.build_folder

    @property
    def level(self) -> int | None:
        return None if self.slice is None else self.slice.level

    @property
    def _prefix(self) -> str:
        return "" if self.slice is None else f"level{self.slice}."

    def log_name(self, winner: int, incarnation: int, worker: int) -> str:
        return f"{self.name}/{self._prefix}{_COLOURS[winner]}.{incarnation}.{worker}.log"

    def part_name(self, number: int, incarnation: int) -> str:
        return f"{self.name}/{self._prefix}part.{number}.{incarnation}"

    def note_name(self, part: str) -> str:
        return f"{part}.json"

    def near_name(self, part: str) -> str:
        """The name that machines know a part of the table by, given its name in the store."""
        return f"{self.name}/{PurePosixPath(part).name}"

    def fetched_part(self, part: str) -> Path:
        """A path at which a part of the table can be read: a machine's copy, or the store's."""
        near = None if self.local_logs is None else self.local_logs.fetched(self.near_name(part))
        return self.store.fetch(part) if near is None else near

    def noted_parts(self) -> list[tuple[int, int]]:
        """The number and incarnation of each part that has a note."""
        found = [_NOTE.fullmatch(name) for name in self._files()]
        return sorted((int(m[1]), int(m[2])) for m in found if m)

    @property
    def local_names(self) -> str:
        """The folder of its logs on machines; of a slice, and how their names in it begin."""
        return self.name if self.slice is None else f"{self.name}/{self._prefix}"

    def new_log(self, name: str, identity: dict[str, object], is_copied: bool = False) -> PassLog:
        """Begins a log and removes any earlier one of its name.  If machines keep the logs, it is
        copied to another one, should that be asked for.
        """
        if self.local_logs is not None:
            return self.local_logs.begin(name, identity, is_copied)
        self.store.remove(name)
        return PassLog(self.store.local_path(name), identity, partial(self.store.sync_log, name))

    def opened_logs(self, name: str) -> Iterator[LogFile]:
        """Opens a log and then its copies, until the caller has found what it needs."""
        if self.local_logs is not None:
            yield from self.local_logs.opened(name)
        with suppress(FileNotFoundError):
            yield LogFile(self.store.local_path(name), self.store.open_log(name))

    def secure_log(self, name: str) -> None:
        """Has a log copied to a second machine if only one has it."""
        if self.local_logs is not None:
            self.local_logs.secure(name)

    def log_identity(self, winner: Side, smaller: SmallerDigests) -> dict[str, object]:
        """The part of a log's identity that must agree for a build to resume from the log."""
        identity: dict[str, object] = {
            "material": str(self.key.material),
            "metric": str(self.key.metric),
            "winner": winner,
            "smaller": smaller,
        }
        if self.slice is None:
            return identity
        identity["level"] = self.slice.level
        if self.slice.places is not None:
            identity["structures"] = list(self.slice.places)
        return identity

    def create(self) -> None:
        self.store.make_folder(self.name)

    def clear(self) -> None:
        self.store.remove_folder(self.name)
        clear_unlisted_parts(self.store, self.key)
        self.clear_local_logs()

    def clear_local_logs(self) -> None:
        if self.local_logs is not None:
            self.local_logs.remove(self.local_names)

    def clear_logs(self) -> None:
        for name in self.store.names(self.name):
            if name.startswith(self._prefix) and _LOG.fullmatch(name.removeprefix(self._prefix)):
                self.store.remove(f"{self.name}/{name}")
        self.clear_local_logs()

    def slices(self) -> frozenset[LevelSlice]:
        """The slices of the table that have a file here."""
        found = map(_SLICE.match, self._names())
        return frozenset(LevelSlice.parse(m[1]) for m in found if m)

    def clear_others(self, slices: Collection[LevelSlice]) -> None:
        """Clears what belongs to slices that are none of these."""
        for name in self._names():
            if (m := _SLICE.match(name)) and LevelSlice.parse(m[1]) not in slices:
                self.store.remove(f"{self.name}/{name}")
                if self.local_logs is not None:
                    self.local_logs.remove(f"{self.name}/{name}")

    def last_incarnation(self) -> int:
        """The last incarnation of which there is a log or a part."""
        logs = (incarnation for _, incarnation, _ in self._logs())
        return max((*logs, *(incarnation for _, incarnation in self.noted_parts())), default=0)

    def logged_passes(self, winner: Side, smaller: SmallerDigests) -> LoggedPasses:
        """The passes that all workers of an incarnation committed.  If a later incarnation
        committed a pass again, its pass counts.
        """
        passes: list[tuple[PassResult, int]] = []
        workers: dict[int, int] = {}
        wanted, logs = self.log_identity(winner, smaller), dict[int, list[str]]()
        for w, incarnation, worker in self._logs():
            if w == winner:
                logs.setdefault(incarnation, []).append(self.log_name(w, incarnation, worker))
        for incarnation, names in logs.items():
            agreed, count = self._agreed(wanted, names)
            if count == len(names) and agreed and agreed[0].depth <= len(passes):
                passes[agreed[0].depth :] = [(done, incarnation) for done in agreed]
                workers[incarnation] = count
        return LoggedPasses(passes, workers)

    def _agreed(self, wanted: dict[str, object], logs: list[str]) -> tuple[list[PassResult], int]:
        """The passes that all workers of an incarnation committed, and how many workers it had."""
        agreed, count = None, 0
        for name in logs:
            with closing(next(self.opened_logs(name))) as log:
                stated = json.loads(log.identity or b"{}")
                if any(stated.get(key) != value for key, value in wanted.items()):
                    return [], 0
                passes = log.sound_passes()
            agreed = passes if agreed is None else _common(agreed, passes)
            count = stated["workers"]
        return agreed or [], count

    def _logs(self) -> list[tuple[int, int, int]]:
        """The winner, incarnation and worker of each log in the folder."""
        found = [_LOG.fullmatch(name) for name in self._files()]
        winners = {colour: winner for winner, colour in _COLOURS.items()}
        return sorted((winners[m[1]], int(m[2]), int(m[3])) for m in found if m)

    def _files(self) -> list[str]:
        """The names of the files of this slice, without its prefix."""
        names, prefix = self._names(), self._prefix
        return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]

    def _names(self) -> list[str]:
        """The names of the files, in the store and on this machine."""
        local = () if self.local_logs is None else self.local_logs.names(self.name)
        return sorted({*self.store.names(self.name), *local})


def _common(ours: list[PassResult], theirs: list[PassResult]) -> list[PassResult]:
    return [a for a, b in zip(ours, theirs, strict=False) if a == b]
