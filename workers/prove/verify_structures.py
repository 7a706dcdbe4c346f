"""The verification of a table with pawns, some structures at a time.

Values are proved as verify.py says.  More moves lead into proved values: pushes into other
structures of the same table, promotions into smaller tables.  A promotion ends the phase
as a capture does.  A push continues it, but ends it where plies are counted (dtz).
kernels/verify_pawns.hpp plays the moves.

The structures do not depend on each other: each is judged by the values that the table states.
So they are verified in any order, and a task is a range of structures.  With pieces it is a single
one.

While a side moves, the king of the other one stands.  So where a move leads into large tables, a
task is a walk: the positions in which that king stands on one of up to eight squares that are
images of each other.  It needs the same walk of these tables, up to an eighth of them.  Tasks of a
level that need the same parts of smaller tables follow each other.  An answer to a double step
moves the other king, so where both sides have pawns there are no walks.

Cost: 2 to 5 ns a row and thread, of which 0.5 to read it.  Up to 192 MiB of columns are held, more
while a task needs them: of five men with a pawn, which can promote it into four tables, a walk of
each is up to 15 MB; of six men, 1 GB.  Besides the strips of keys of one square of the king that
stands: 256 KiB a thread for five men.
"""

from bisect import bisect_right
from collections.abc import Sequence, Set
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.walk_parts import PARTED_PIECES, WALKS
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
EVERY_WALK = -1
KING_WALKS = range(WALKS // len(SIDES))


class Task(NamedTuple):
    """Structures, whose positions are verified with some sides to move: all, or those of a walk."""

    first: int
    stop: int
    sides: tuple[Side, ...] = SIDES
    walk: int = EVERY_WALK


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
        self._columns = ColumnChunks(sources, dtype, threads, self._kernel.runs)
        self._structure_rows = [source.table.index.structure_rows for source in sources]
        self._are_large = [len(s.table.material.pieces) >= PARTED_PIECES for s in sources]
        self._table, self._threads, self._listen = table, threads, listen
        self._rows = table.index.structure_rows
        self._structures = table.index.rows // self._rows
        self._together = 1 if table.material.pieces else max(1, TASK_ROWS // self._rows)
        # No method of its own: in a cycle the columns would stay until garbage is collected.
        self._needs = lru_cache(4096)(partial(_needs, self._kernel, self._columns.together))
        self._values = 1 << 8 * dtype.itemsize
        self.begin_recount()

    def begin_recount(self) -> None:
        """Forgets what was counted and found."""
        self.sides = [SideRecount(self._values) for _ in COLUMNS]

    def verify_positions(self) -> None:
        self._verify(self._tasks)

    def verify_part(self, part: int, parts: int) -> None:
        """Verifies one of so many parts of all positions: consecutive tasks."""
        count = len(self._tasks)
        self._verify(self._tasks[count * part // parts : count * (part + 1) // parts])

    def _verify(self, tasks: Sequence[Task]) -> None:
        """Verifies the positions of some tasks, of some structures those with either side to move
        together: each column is read once.
        """
        self._columns.expect(map(self._needs, tasks))
        next_tasks = [*tasks[self._threads.count :], *tasks[-self._threads.count :]]
        checks = self._threads.stream(self._check, zip(tasks, next_tasks, strict=True))
        for done, (task, found) in enumerate(zip(tasks, checks, strict=True), 1):
            for side, (check, tally) in zip(task.sides, found, strict=True):
                self.sides[side].add(task.first, self._rows, check, tally)
            self._listen(done / len(tasks))

    @cached_property
    def _tasks(self) -> list[Task]:
        """All tasks, in the order in which they are done."""
        if self._table.material.pieces:
            every = [task for each in range(self._structures) for task in self._tasks_of(each)]
            return sorted(every, key=self._place)
        starts = range(0, self._structures, self._together)
        return [Task(at, min(at + self._together, self._structures)) for at in starts]

    def _tasks_of(self, structure: int) -> list[Task]:
        """The tasks of a structure: a side that moves into large tables has one for each walk.  If
        both sides can promote, each has a task: other structures need the same chunks as one of
        them, and few the same as both.
        """
        whole = Task(structure, structure + 1)
        if all(self._table.material.pawns):
            apart = [whole._replace(sides=(side,)) for side in SIDES]
            return apart if all(map(self._promotes, apart)) else [whole]
        walking = [side for side in SIDES if self._leads_far(whole._replace(sides=(side,)))]
        found = [whole._replace(sides=(s,), walk=walk) for s in walking for walk in KING_WALKS]
        if rest := tuple(side for side in SIDES if side not in walking):
            found.append(whole._replace(sides=rest))
        return found

    def _promotes(self, task: Task) -> bool:
        return any(self._structure_rows[name[0]] > self._rows for name in self._needs(task))

    def _leads_far(self, task: Task) -> bool:
        return any(self._are_large[name[0]] for name in self._needs(task))

    def _place(self, task: Task) -> tuple[int, list[ColumnName]]:
        """A task's level, and the chunks of smaller tables that it needs."""
        structures = self._table.index.structures
        assert structures is not None, "a table with pawns has structures"
        level = bisect_right(structures.levels, task.first, key=lambda level: level.stop)
        return level, sorted(name for name in self._needs(task) if name[0])

    def first_row(self, side: Side, value: int) -> Row:
        """The first row that holds a position with a side to move and a value."""
        first = self.sides[side].first_with(value)
        stop = min(first + self._together, self._structures)
        for structure in range(first, stop):
            needs = self._needs(Task(structure, structure + 1, (side,)))
            held = self._columns.holding({name for name in needs if name[:2] == (0, side)})
            if (row := self._kernel.find(structure, side, *held, value)) >= 0:
                return Row(row)
        raise AssertionError(f"value {value} was counted and is not there")

    def _check(self, tasks: tuple[Task, Task]) -> list[tuple[PartitionCheck, ValueCounts]]:
        """Judges the positions of a task by the side to move, given it and the one that the thread
        does next.
        """
        task, found = tasks[0], []
        held = self._columns.holding(*map(self._needs, tasks))
        for mover in task.sides:
            tally = np.zeros_like(self.sides[mover].tally)
            check = PartitionCheck(
                *self._kernel.check(task.first, task.stop, mover, task.walk, *held, tally)
            )
            found.append((check._replace(slot=check.slot - task.first * self._rows), tally))
        return found


def _needs(
    kernel: "_kernels.StructureVerifier", together: Sequence[int], task: Task
) -> Set[ColumnName]:
    """The chunks that a task takes."""
    return {
        name
        for side in task.sides
        for name in kernel.needs(task.first, task.stop, side, task.walk, together)
    }


def _described(table: Table) -> "_kernels.TableDescription":
    """A table's pieces, its pawns and its structures, as the kernel takes them."""
    structures = table.index.structures
    pawns = table.material.pawns
    squares = np.zeros((0, sum(pawns)), np.uint8) if structures is None else structures.squares
    return list(table.material.pieces), pawns, squares
