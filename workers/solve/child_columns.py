"""The values of a solved material that exits lead to: [structure][partition][slot].

A table with pawns has the partitions of a structure side by side, and exits lead into some of its
structures: their values are read into memory as a whole.

A table without pawns has one partition after the other, and no exit changes the pair of kings as
the table sees it.  Our partitions that see the same one of the table are read together.  So a
thread holds a few partitions of the table and reads each of them once: 262,144 values where five
men are left, which stay in its cache, and 16.8 million where six are.

Cost: the rows of the table are read once for each family of exits.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.index.index import Index
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.structures import Numbers
from kingpair.workers.number_types import Partition, Side
from kingpair.workers.table.value import Values, loss_in

_SLOTS = 1 << 18  # of a table, that are read at a time

Read = tuple[NDArray[Any], int]
"""Values `[structure][partition][slot]` of consecutive partitions, and the first of these."""


class Solved(Protocol):
    """A finished table, as far as exits need it."""

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def slots(self) -> int:
        """Slots of a partition."""

    def column(self, side: Side, numbers: Numbers) -> NDArray[Any]:
        """The values of some structures with a side to move."""

    def longest(self, side: Side) -> int:
        """The longest distance with a side to move."""

    def another_reader(self) -> "Solved":
        """Opens the same table for another thread."""

    def copy_partitions(self, first: Partition, out: Values, side: Side) -> None:
        """Writes consecutive partitions of a table without pawns."""


class ColumnReader(Protocol):
    """Reads a column for one thread."""

    def of(self, chunk: NDArray[np.int16]) -> Read:
        """The values that a chunk of our partitions sees."""


class ChildColumn(Protocol):
    """The values of some structures with a side to move."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def longest(self) -> int:
        """No win or loss takes longer than that."""

    def chunks(self, index: Index) -> Sequence[NDArray[np.int16]]:
        """All partitions of ours, in pieces that are read together."""

    def reader(self) -> ColumnReader: ...


class EveryPartition:
    """A column in memory.  It is its own reader."""

    def __init__(self, values: NDArray[Any], pairs: NDArray[np.intp]) -> None:
        self._values = values
        self._order = np.argsort(pairs, kind="stable").astype(np.int16)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._values.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._values.dtype

    @property
    def longest(self) -> int:
        most, least = int(self._values.max()), int(self._values.min())
        return max(most, loss_in(0) - least)

    def chunks(self, index: Index) -> Sequence[NDArray[np.int16]]:
        return index.chunks(self._order)

    def reader(self) -> "EveryPartition":
        return self

    def of(self, chunk: NDArray[np.int16]) -> Read:
        return self._values, 0


class PartitionByPartition(NamedTuple):
    """A column of a table without pawns."""

    solved: Solved
    side: Side
    pairs: NDArray[np.intp]

    @property
    def shape(self) -> tuple[int, ...]:
        return 1, len(TURNED), self.solved.slots

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.solved.dtype

    @property
    def longest(self) -> int:
        return self.solved.longest(self.side)

    def chunks(self, index: Index) -> Sequence[NDArray[np.int16]]:
        return tuple(self._chunks(index))

    def _chunks(self, index: Index) -> Iterator[NDArray[np.int16]]:
        together = max(1, _SLOTS // self.solved.slots)
        order = np.argsort(self.pairs, kind="stable").astype(np.int16)
        (ends,) = np.nonzero(np.diff(self.pairs[order] // together))
        for some in np.split(order, ends + 1):
            yield from index.chunks(some)

    def reader(self) -> "_PartitionReader":
        return _PartitionReader(self.solved.another_reader(), self.side, self.pairs)


class _PartitionReader:
    """Reads the partitions that a chunk sees; the last ones are kept."""

    def __init__(self, solved: Solved, side: Side, pairs: NDArray[np.intp]) -> None:
        self._solved, self._side, self._pairs = solved, side, pairs
        self._values: NDArray[Any] = np.empty((1, 0, solved.slots), solved.dtype)
        self._held = range(0)

    def of(self, chunk: NDArray[np.int16]) -> Read:
        first, stop = int(self._pairs[chunk[0]]), int(self._pairs[chunk[-1]]) + 1
        if self._held != range(first, stop):
            if self._values.shape[1] < stop - first:
                shape = 1, stop - first, self._solved.slots
                self._values = np.empty(shape, self._solved.dtype)
            out = self._values[:, : stop - first]
            self._solved.copy_partitions(Partition(first), out.reshape(-1), self._side)
            self._held = range(first, stop)
        return self._values[:, : stop - first], first
