"""The verification of a table with pawns, some structures at a time.

Values are proved as verify.py says.  More moves lead into proved values: pushes into other
structures of the same table, promotions into smaller tables.  A promotion ends the phase
as a capture does.  A push continues it, but ends it where plies are counted (dtz).
kernels/verify_pawns.hpp plays the moves.

The structures do not depend on each other: each is judged by the values that the table states.
So they are verified in any order, and a task is a range of structures.  With pieces it is a single
one, and those of a level that need the same chunks of smaller tables follow each other: a promotion
leads to a few structures of a smaller table, but from all over the level.

Cost: 2 to 5 ns a row and thread, of which 0.5 to read it.  Up to 192 MiB of columns are held, more
while a task needs them: five men with a pawn can promote it into four columns of 121 MB.  Besides
one strip of keys for each strip of a structure and thread.
"""

from bisect import bisect_right
from collections.abc import Sequence, Set
from functools import lru_cache, partial
from typing import Any

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.number_types import SIDES, Row, Side
from kingpair.workers.prove.column_chunks import (
    ColumnChunks,
    ColumnName,
    ColumnSource,
    as_they_are,
    seen_after_exit,
)
from kingpair.workers.prove.recount import PartitionCheck, SideRecount, ValueCounts
from kingpair.workers.prove.verdict import ReportProgress
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import COLUMNS, Table

TASK_ROWS = 1 << 20


class StructureVerification:
    """A table with pawns under verification."""

    def __init__(
        self,
        table: Table,
        smaller: dict[Material, Table],
        dtype: np.dtype[Any],
        threads: Threads,
        listen: ReportProgress,
    ) -> None:
        metric = table.metric
        described = [_described(t) for t in (table, *smaller.values())]
        self._kernel = _kernels.StructureVerifier(
            described, metric.exits_carry_depth, metric.push_ends_phase
        )
        below = [ColumnSource(t, seen_after_exit(metric)) for t in smaller.values()]
        sources = [ColumnSource(table, as_they_are), *below]
        self._columns = ColumnChunks(sources, dtype, threads)
        self._table, self._threads, self._listen = table, threads, listen
        self._rows = table.index.structure_rows
        self._structures = table.index.rows // self._rows
        self._together = 1 if table.material.pieces else max(1, TASK_ROWS // self._rows)
        # No method of its own: in a cycle the columns would stay until garbage is collected.
        self._needs = lru_cache(2048)(partial(_needs, self._kernel, self._columns.together))
        self.sides = [SideRecount(1 << 8 * dtype.itemsize) for _ in COLUMNS]

    def verify_positions(self) -> None:
        """Verifies all positions, of some structures those with either side to move together: each
        column is read once.
        """
        tasks = self._tasks()
        self._columns.expect(self._needs(*self._bounds(task)) for task in tasks)
        next_tasks = [*tasks[self._threads.count :], *tasks[-self._threads.count :]]
        checks = self._threads.stream(self._check, zip(tasks, next_tasks, strict=True))
        for done, (task, found) in enumerate(zip(tasks, checks, strict=True), 1):
            for side, (check, tally) in zip(self.sides, found, strict=True):
                side.add(task, self._together * self._rows, check, tally)
            self._listen(done / len(tasks))

    def _tasks(self) -> list[int]:
        """All tasks, in the order in which they are done."""
        tasks = list(range(-(-self._structures // self._together)))
        return sorted(tasks, key=self._place) if self._together == 1 else tasks

    def _place(self, structure: int) -> tuple[int, list[ColumnName]]:
        """A structure's level, and the chunks of smaller tables that it needs."""
        needs = self._needs(*self._bounds(structure))
        structures = self._table.index.structures
        assert structures is not None, "a table with pawns has structures"
        level = bisect_right(structures.levels, structure, key=lambda level: level.stop)
        return level, sorted(name for name in needs if name[0])

    def first_row(self, side: Side, value: int) -> Row:
        """The first row that holds a position with a side to move and a value."""
        first, stop = self._bounds(self.sides[side].first_with(value))
        for structure in range(first, stop):
            held = self._columns.holding(self._needs(structure, structure + 1))
            if (row := self._kernel.find(structure, SIDES[side], *held, value)) >= 0:
                return Row(row)
        raise AssertionError(f"value {value} was counted and is not there")

    def _bounds(self, task: int) -> tuple[int, int]:
        """The first structure of a task, and the first one after it."""
        first = min(task * self._together, self._structures)
        return first, min(first + self._together, self._structures)

    def _check(self, tasks: tuple[int, int]) -> list[tuple[PartitionCheck, ValueCounts]]:
        """Judges the positions of some structures, by the side to move, given the task and the one
        that the thread does next.
        """
        first, stop = self._bounds(tasks[0])
        needed, needed_next = (self._needs(*self._bounds(each)) for each in tasks)
        held, found = self._columns.holding(needed, needed_next), []
        for mover in SIDES:
            tally = np.zeros_like(self.sides[mover].tally)
            check = PartitionCheck(*self._kernel.check(first, stop, mover, *held, tally))
            found.append((check._replace(slot=check.slot - first * self._rows), tally))
        return found


def _needs(
    kernel: "_kernels.StructureVerifier", together: Sequence[int], first: int, stop: int
) -> Set[ColumnName]:
    """The chunks that judging some structures takes."""
    return {name for side in SIDES for name in kernel.needs(first, stop, side, together)}


def _described(table: Table) -> "_kernels.TableDescription":
    """A table's pieces, its pawns and its structures, as the kernel takes them."""
    structures = table.index.structures
    pawns = table.material.pawns
    squares = np.zeros((0, sum(pawns)), np.uint8) if structures is None else structures.squares
    return list(table.material.pieces), pawns, squares
