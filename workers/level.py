"""The workers of a table with pawns: those of its slices, and the one that joins their parts.

A slice, a level or some structures of one, is a domain of its own.  Its workers do what all workers
do (worker.py), with differences:

    pushes        lead to the slices below, whose passes are read from their logs
    a part        of the table holds some structures of the slice
    a partition   of the coordinator is a square of the stronger king: 64, of 3,612 king pairs
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.errors import DamagedLog
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import FIXED
from kingpair.workers.index.share import Share
from kingpair.workers.index.slices import LevelSlice
from kingpair.workers.index.structures import Numbers, structures
from kingpair.workers.number_types import Depth, Partition, Side
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import trim_heap
from kingpair.workers.sets.recycled import recycled
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.analysis import Analysis
from kingpair.workers.solve.child_columns import Solved
from kingpair.workers.solve.conversions import Conversions
from kingpair.workers.solve.frontiers import PackedFrontier, StepResult
from kingpair.workers.solve.inflows import Inflows
from kingpair.workers.solve.levels import Histories, Level, LevelInflows, NoCaptures
from kingpair.workers.solve.open_sets import OpenSets
from kingpair.workers.solve.zeroing import Zeroing, ZeroingInflows, zeroing
from kingpair.workers.table.build_folder import BuildFolder
from kingpair.workers.table.format import COLUMNS, Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.level_joining import join_levels
from kingpair.workers.table.level_parts import write_level_part
from kingpair.workers.table.pass_logs import PassLogs, Written
from kingpair.workers.table.table_store import TableStore
from kingpair.workers.table.value import Values
from kingpair.workers.worker import TableWorker, Worker

_ROWS_TOGETHER = 1 << 20  # of a smaller table, that a thread reads at a time


class LowerSlice(NamedTuple):
    """A slice below: which one it is, where its passes are logged, and who wrote its parts."""

    slice: LevelSlice
    logs: Sequence[tuple[Side, Written]]
    parts: Sequence[tuple[int, int]]


class LevelWorker(Worker):
    """Worker `number` of an incarnation of a slice; `below` are those that its pushes lead to."""

    def __init__(
        self,
        key: TableKey,
        slice_: LevelSlice,
        below: Sequence[LowerSlice],
        owners: Sequence[int],
        number: int,
        incarnation: int,
        store: TableStore,
        threads: Threads,
        compact: bool = False,
    ) -> None:
        self._slice, self._below = slice_, below
        self._level_logs: list[PassLogs] = []
        self._is_secured = False
        self._read_level: Level | None = None
        self._made: tuple[Conversions, Conversions] | None = None
        self._zeroing: tuple[Zeroing, Zeroing] | None = None
        super().__init__(key, owners, number, incarnation, store, threads, compact)

    def _domains(self, owners: Sequence[int], number: int) -> tuple[Domain, Domain]:
        material = self.key.material
        placings = self._slice.placings(structures(*material.pawns))
        whole = Domain(material, placings=placings)
        if self._workers == 1:
            return whole, whole
        return whole, Domain(material, Share(FIXED, of_king_pairs(owners), number), placings)

    def _build_folder(self) -> BuildFolder:
        return self._store.build_folder(self.key, self._slice)

    def _new_analysis(self, winner: Side, log: PassLog, open_sets: OpenSets) -> Analysis:
        threads, passes = self._threads, self.key.metric.passes_per_move
        if self._read_level is None:
            below = self._histories_below()
            self._read_level = Level(
                self.domain, self._slice, self.key.metric, self._find, below, {}
            )
        inflows, captures = self._inflows(self._read_level, winner), NoCaptures()
        return Analysis(self.domain, winner, captures, threads, log, open_sets, passes, inflows)

    def _inflows(self, level: Level, winner: Side) -> Inflows:
        threads = self._threads
        if level.metric.push_ends_phase:
            self._zeroing = self._zeroing or zeroing(level, threads)
            return ZeroingInflows(level, winner, self._zeroing, threads)
        if self._made is None:
            self._made = level.conversions(threads)
            trim_heap()
        return LevelInflows(level, winner, self._made, threads)

    def _histories_below(self) -> dict[LevelSlice, Histories]:
        """The passes of the slices below."""
        found: dict[LevelSlice, Histories] = {}
        try:
            for below in self._below:
                folder = self._store.build_folder(self.key, below.slice)
                logs = PassLogs(folder, self._identity.smaller, len(FIXED))
                self._level_logs.append(logs)
                own = self.domain.share.own
                found[below.slice] = logs.histories(below.logs, own)
        except DamagedLog as damage:
            damage.is_below = True
            raise
        return found

    def _leave_level(self) -> None:
        self._read_level = self._made = self._zeroing = None
        while self._level_logs:
            self._level_logs.pop().close()

    def lose_at_once(self) -> StepResult:
        return self._by_square(super().lose_at_once())

    def win(self, depth: Depth, inbound: Sequence[PackedFrontier]) -> StepResult:
        return self._by_square(super().win(depth, inbound))

    def lose(self, depth: Depth, inbound: Sequence[PackedFrontier]) -> StepResult:
        return self._by_square(super().lose(depth, inbound))

    def _by_square(self, found: StepResult) -> StepResult:
        squares, places = self._squares
        counts = np.bincount(places, found.counts, minlength=len(squares)).astype(np.int64)
        return StepResult(counts.tolist(), found.frontiers)

    @cached_property
    def _squares(self) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """The squares of the stronger king, and the place of that of each partition of its own."""
        squares = [FIXED.squares[pair][0] for pair in self.domain.share.own]
        return np.unique(np.array(squares, np.int64), return_inverse=True)

    def _find(self, material: Material) -> Solved:
        # Bare kings are always drawn: they have no table, and none is read.
        key = TableKey(material, self.key.metric)
        return _Columns(self._store.table(key) if material.letters else None, self._threads)

    def paint(
        self, parts: Sequence[tuple[int, range]], written: Sequence[tuple[Side, Written]]
    ) -> list[int]:
        """Writes parts of the slice: some of its structures each, by their places in it."""
        self._end_analysis()
        if not self._is_secured:
            self._logs.secure_solved(written)
            self._is_secured = True
        self._leave_level()
        trim_heap()
        whole, packing = self._whole, self._packing
        logs = self._logs.histories(written, whole.share.own)
        where = self._identity, packing, self._threads
        return [
            write_level_part(
                self._folder,
                self._folder.part_name(number, self.incarnation),
                whole,
                logs,
                chosen,
                *where,
            )
            for number, chosen in parts
        ]

    def close(self) -> None:
        super().close()
        self._leave_level()


class TableJoiner(TableWorker):
    """A worker of a table with pawns: one makes the table of the parts of its slices, and all of
    them prove it.
    """

    open_sets_address = None  # it leaves nothing to take over
    readers = ()  # and finds nothing that others read

    def __init__(
        self,
        key: TableKey,
        below: Sequence[LowerSlice],
        incarnation: int,
        store: TableStore,
        threads: Threads,
        compact: bool = False,
    ) -> None:
        super().__init__(key, 0, incarnation, store, threads, compact)
        self._below = below

    def publish(self, parts: Sequence[int], written: Sequence[Any]) -> tuple[int, str]:
        """Joins the parts of all slices, and gives the table its name; its bytes and digest."""
        kept = structures(*self.key.material.pawns)
        slices = sorted(self._below, key=lambda below: below.slice.numbers(kept).start)
        folders = [(self._store.build_folder(self.key, of.slice), of.parts) for of in slices]
        joined = self._folder.part_name(0, self.incarnation)
        join_levels(
            self._store.store, folders, joined, self._identity, self._packing, self._threads
        )
        trim_heap()
        return self._published()


def of_king_pairs(owners: Sequence[int]) -> list[int]:
    """The owner of each king pair, given that of each square of the stronger king."""
    return [owners[stronger] for stronger, _ in FIXED.squares]


class _Columns(NamedTuple):
    """A finished table, as conversions read it."""

    table: Table | None
    threads: Threads

    @property
    def _there(self) -> Table:
        assert self.table is not None, "a column of bare kings"
        return self.table

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._there.dtype

    @property
    def slots(self) -> int:
        return self._there.index.slots

    def column(self, side: Side, numbers: Numbers) -> NDArray[Any]:
        table = self._there
        size = table.index.structure_rows
        found = recycled(len(numbers) * size, table.dtype.type).reshape(len(numbers), size)
        readers = self.threads.pool(table.another_reader)

        def read(some: slice) -> None:
            (ends,) = np.nonzero(np.diff(numbers[some]) != 1)
            with readers.lend() as reader:
                for run in np.split(np.arange(len(numbers))[some], ends + 1):
                    out = found[run[0] : run[-1] + 1].reshape(-1)
                    reader.copy_rows(int(numbers[run[0]]) * size, out, side)

        together = max(1, _ROWS_TOGETHER // size)
        self.threads.map(read, [slice(at, at + together) for at in range(0, len(found), together)])
        return found

    def longest(self, side: Side) -> int:
        counts = self._there.counts[COLUMNS[side]]
        return max((int(n) for result in ("win", "loss") for n in counts[result]), default=0)

    def another_reader(self) -> "_Columns":
        return self._replace(table=self._there.another_reader())

    def copy_partitions(self, first: Partition, out: Values, side: Side) -> None:
        self._there.copy_rows(first * self.slots, out, side)
