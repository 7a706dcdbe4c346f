"""Columns of smaller tables, read in the frame of a larger material.

A smaller table's column is brought into the king pairs and the order of men of the larger material,
a partition at a time: its legal positions, all slots and not only canonical ones, and their values.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Exit
from kingpair.workers.index.king_pairs import numbers_of
from kingpair.workers.number_types import SIDES, Partition, Side
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.sets.memory import Words, zeros
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.table.format import COLUMNS
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.value import Values


class Columns(Protocol):
    """The columns of a finished table."""

    @property
    def counts(self) -> Mapping[str, Any]:
        """The positions by side to move, result and distance."""

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def values(self, pair: Partition, side: Side) -> Values:
        """The values of a partition, `side` (0 stronger, 1 weaker) to move."""


class Tables(Protocol):
    """The source of the smaller tables."""

    def table(self, key: TableKey) -> Columns:
        """Returns the table of a key, or raises MissingTableError."""


class CaptureSets(Protocol):
    """Sets of positions after a capture, from a smaller table, in the larger one's frame."""

    def add(self, pair: Partition, legal: Words, values: Values | None) -> None:
        """Adds a partition, given its legal positions and their values."""


class ExitColumn:
    """A smaller table's column, and its place in the frame of the larger material."""

    def __init__(self, key: TableKey, capture: Exit, tables: Tables) -> None:
        smaller = TableKey(capture.material, key.metric)
        self.domain = domain_of(smaller.material)
        self.to_move = SIDES[key.material.sides[capture.captive] ^ capture.swapped]
        # Bare kings: never won, never lost, and no table is needed to know it.
        self.table = tables.table(smaller) if self.domain.index.axes else None
        # `survivors` lists our men as the smaller table counts them; we need the place of each.
        men = sorted(capture.survivors)
        self.axes = [capture.survivors.index(man) for man in men] if capture.swapped else None

    @property
    def dtype(self) -> np.dtype[Any] | None:
        return None if self.table is None else self.table.dtype

    def distances(self, result: str) -> set[int]:
        """Returns the distances to a result (`win`, `loss`) that the column has."""
        if self.table is None:
            return set()
        return set(map(int, self.table.counts[COLUMNS[self.to_move]][result]))


def read_column(
    column: ExitColumn, sets: CaptureSets, threads: Threads, partitions: Chunk | None = None
) -> None:
    """Adds partitions of a column to sets of positions; all of them if none are named."""
    readers = threads.pool(lambda: _ColumnReader(column))

    def job(chunk: Chunk) -> None:
        with readers.lend() as reader:
            for pair in numbers_of(chunk):
                sets.add(pair, *reader.read(pair))

    threads.map(job, column.domain.index.chunks(partitions))


class _ColumnReader:
    """Reads one partition of a column after the other, in a thread."""

    def __init__(self, column: ExitColumn) -> None:
        self._column, self._domain = column, column.domain
        self._scratch = _kernels.Scratch(self._domain.kernel)
        self._legal, self._turned_legal = self._set(), self._set()
        self._values, self._turned_values = self._slots(), self._slots()

    def _set(self) -> Words:
        return zeros(self._domain.words, np.uint64)

    def _slots(self) -> Values | None:
        dtype = self._column.dtype
        return None if dtype is None else zeros(self._domain.slots, dtype.type)

    def read(self, pair: Partition) -> tuple[Words, Values | None]:
        """Returns a partition of the larger frame: its legal positions, and their values (0
        elsewhere).  Both are overwritten by the next call.
        """
        if self._column.axes is None:
            self._fill(pair)
            return self._legal, self._values
        kings = self._domain.index.kings
        stronger, weaker = kings.squares[pair]
        source, symmetry = kings.placements[weaker, stronger]
        self._fill(source)
        kernel, axes = self._domain.kernel, self._column.axes
        _kernels.reframe(kernel, symmetry, axes, self._legal, self._turned_legal)
        if self._values is not None and self._turned_values is not None:
            _kernels.reframe_values(kernel, symmetry, axes, self._values, self._turned_values)
        return self._turned_legal, self._turned_values

    def _fill(self, pair: Partition) -> None:
        """Reads a partition in the frame of the smaller table."""
        table, to_move = self._column.table, self._column.to_move
        _kernels.legal(self._domain.kernel, pair, to_move, self._legal, self._scratch)
        if table is not None and self._values is not None:
            spread(self._domain, pair, self._legal, table.values(pair, to_move), self._values)


def spread(smaller: Domain, pair: Partition, legal: Words, stored: Values, out: Values) -> None:
    """Writes the values of all legal slots of a partition, given those of the canonical ones."""
    diagonal = smaller.on_diagonal(pair)
    canonical = smaller.canonical_of(diagonal)
    kept = np.unpackbits((legal & canonical).view(np.uint8), bitorder="little", count=out.size)
    np.multiply(stored, kept, out=out, casting="unsafe")
    if (others := legal & ~canonical).any():
        _kernels.spread_values(smaller.kernel, diagonal, others, out)
