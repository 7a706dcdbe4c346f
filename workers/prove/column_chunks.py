"""The columns that a table with pawns is verified from: its own, and those of smaller tables.

A chunk holds the values of some consecutive structures, or of a whole table without pawns; or a
part of one of these: some of its partitions.  Chunks that were read stay in memory until their last
use, as long as there is room; the one that is needed again last goes first.
"""

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence, Set
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.number_types import Side
from kingpair.workers.sets.recycled import recycled
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import BLOCK, Table
from kingpair.workers.table.row_reader import READ_TOGETHER
from kingpair.workers.table.value import DRAW, Values, loss_in, win_in

KEPT_BYTES = 192 << 20
CHUNK_ROWS = 1 << 22
NEVER = 1 << 32

WHOLE = -1

ColumnName = tuple[int, Side, int, int]
"""A table by its place in the list, a side to move, a structure, and a part or WHOLE."""
HeldChunks = tuple[list[ColumnName], list[Values]]


PartitionsOf = Callable[[int, int], Sequence[int]]
"""The partitions of a part, given the place of a table in the list and the part."""
WriteValues = Callable[[Values, Values], None]
"""Writes what values of a table are to the table that is verified: given them, and where to."""


class ColumnSource(NamedTuple):
    """A table whose columns are read, and what its values are to the table that is verified."""

    table: Table
    write: WriteValues


def as_they_are(values: Values, out: Values) -> None:
    out[:] = values


def results(values: Values, out: Values) -> None:
    """1 for a win, 0 for a draw, -1 for a loss."""
    np.sign(values, out=out)


class Classes(NamedTuple):
    """Numbers for the results under the 50-move rule: within its limit, and late."""

    won: int
    won_late: int
    lost: int
    lost_late: int

    def write(self, values: Values, out: Values) -> None:
        won = np.where(values > CLOCK_LIMIT, self.won_late, self.won)
        lost = np.where(values < loss_in(CLOCK_LIMIT), self.lost_late, self.lost)
        out[:] = np.where(values > 0, won, np.where(values < 0, lost, DRAW))


VALUES = Classes(win_in(1), win_in(CLOCK_LIMIT + 1), loss_in(0), loss_in(CLOCK_LIMIT + 1))


def seen_after_exit(metric: Metric, classes: Classes = VALUES) -> WriteValues:
    """Writes the values of a smaller table, as far as they count after a move that leads there.

    If such a move ends the phase, only the result matters, or the result under the 50-move rule.
    Both fit any type.
    """
    if metric.exits_carry_depth:
        return as_they_are
    return classes.write if metric.exits_carry_class else results


class ColumnChunks:
    """Reads chunks of columns.  Threads share them."""

    def __init__(
        self,
        sources: Sequence[ColumnSource],
        dtype: np.dtype[Any],
        threads: Threads,
        partitions: PartitionsOf,
    ) -> None:
        self._sources, self._dtype, self._partitions = sources, dtype, partitions
        self._readers = [threads.pool(source.table.another_reader) for source in sources]
        self.together = [_structures_of_a_chunk(source.table) for source in sources]
        self._kept: OrderedDict[ColumnName, _Chunk] = OrderedDict()
        self._uses: dict[ColumnName, _Uses] = {}
        self._lock = Lock()

    def expect(self, needs: Iterable[Set[ColumnName]]) -> None:
        """Says which chunks will be held together, in order, and no other ones."""
        self._uses.clear()
        for place, names in enumerate(needs):
            for name in names:
                self._uses.setdefault(name, _Uses()).add(place)

    def holding(
        self, names: Set[ColumnName], needed_next: Set[ColumnName] = frozenset()
    ) -> HeldChunks:
        """The values of some chunks, which are named by their first structures.

        These, and those that are needed next, stay in memory even beyond the limit.
        """
        chunks = sorted(names)
        return chunks, [self._chunk(chunk, names | needed_next) for chunk in chunks]

    def _chunk(self, name: ColumnName, staying: Set[ColumnName]) -> Values:
        with self._lock:
            chunk = self._kept.setdefault(name, _Chunk())
            self._kept.move_to_end(name)
            if name in self._uses:
                self._uses[name].begin()
        with chunk.lock:
            if chunk.values is None:
                self._make_room(staying)
                chunk.values = self._read(name)
            return chunk.values

    def _make_room(self, staying: Set[ColumnName]) -> None:
        """Lets chunks go: all that will not be needed again, and those that are needed last if they
        take too much memory, of these the least recently used one first.  The next one takes their
        memory.
        """
        with self._lock:
            held = sum(chunk.bytes for chunk in self._kept.values())
            going = [name for name in self._kept if name not in staying]
            for name in sorted(going, key=self._next_use, reverse=True):
                if held > KEPT_BYTES or self._next_use(name) == NEVER:
                    held -= self._kept.pop(name).bytes

    def _next_use(self, name: ColumnName) -> int:
        return self._uses[name].next if name in self._uses else NEVER

    def _read(self, name: ColumnName) -> Values:
        spans = self._spans(name)
        found, at = recycled(sum(map(len, spans)), self._dtype.type), 0
        for span in spans:
            self._read_rows(name, span, found[at : at + len(span)])
            at += len(span)
        return found

    def _spans(self, name: ColumnName) -> list[range]:
        """The rows of a chunk."""
        number, _, first, part = name
        index = self._sources[number].table.index
        size, run = index.structure_rows, index.slots
        if part == WHOLE:
            return [range(first * size, min((first + self.together[number]) * size, index.rows))]
        starts = (first * size + pair * run for pair in self._partitions(number, part))
        return [range(at, at + run) for at in starts]

    def _read_rows(self, name: ColumnName, rows: range, out: Values) -> None:
        number, side = name[:2]
        with self._readers[number].lend() as reader:
            stop = -(-rows.stop // BLOCK)
            for block in range(rows.start // BLOCK, stop, READ_TOGETHER):
                at, end = max(block * BLOCK, rows.start), min(block + READ_TOGETHER, stop)
                blocks = reader.blocks_from(block, end, side)
                values = blocks[at - block * BLOCK : rows.stop - block * BLOCK]
                self._sources[number].write(values, out[at - rows.start :][: len(values)])


class _Uses:
    """The places at which a chunk will be held."""

    def __init__(self) -> None:
        self._places, self._begun = array("I"), 0

    def add(self, place: int) -> None:
        self._places.append(place)

    def begin(self) -> None:
        self._begun += 1

    @property
    def next(self) -> int:
        return self._places[self._begun] if self._begun < len(self._places) else NEVER


class _Chunk:
    def __init__(self) -> None:
        self.lock = Lock()
        self.values: Values | None = None

    @property
    def bytes(self) -> int:
        return 0 if self.values is None else self.values.nbytes


def _structures_of_a_chunk(table: Table) -> int:
    return max(1, CHUNK_ROWS // table.index.structure_rows)
