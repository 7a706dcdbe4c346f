"""The missing column of a packed table, derived from the stored one by playing every move.

The proof of a table computes what each value must be from the values one move on.  The derivation
runs the same code and writes these values down instead of comparing them.  Then rows that hold no
position repeat the row before them, as everywhere (format.py).

With pawns the moves lead into the column that is stored, too, pushes into other structures of it.
Only whether a pawn may be taken en passant alone depends on moves of the other side, and not on
their values.

Cost: as much as proving one side to move, and a column of memory: 121 MB for five men, 355 MB with
one pawn, 7.8 GB for six men.
"""

from collections.abc import Set

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import Partition, Side, opponent
from kingpair.workers.prove.capture_keys import Partitions, ValueKeys, partition_jobs
from kingpair.workers.prove.column_chunks import ColumnName
from kingpair.workers.prove.verify import Verification, proof_dtype
from kingpair.workers.prove.verify_structures import StructureVerification, Task
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.sets.memory import zeros
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import Table
from kingpair.workers.table.value import Values


def missing_column(packed: Table, smaller: dict[Material, Table], threads: Threads) -> Values:
    """The column that a packed table does not store.  The smaller tables must be whole."""
    (stored,) = packed.stored
    derivation = StructureDerivation if packed.material.has_pawns else Derivation
    column = derivation(packed, smaller, threads).column(opponent(stored))
    return column.astype(packed.dtype, copy=False)


class Derivation(Verification):
    """A packed table without pawns whose missing column is derived."""

    def __init__(self, packed: Table, smaller: dict[Material, Table], threads: Threads) -> None:
        super().__init__(packed, smaller, threads, lambda share: None)
        self._domain = domain_of(packed.material)

    def column(self, mover: Side) -> Values:
        """The values with `mover` to move."""
        column: Values = zeros(len(TURNED) * self.slots, self.dtype.type)
        walks = _kernels.Verifier.walks(mover)
        quiet: ValueKeys = zeros(max(map(len, walks)) * self.slots, self.key.type)
        for walk in walks:
            place = np.full(len(TURNED), -1, np.int16)
            place[walk] = np.arange(len(walk))
            self._read(opponent(mover), walk, place, quiet)
            self._derive(mover, walk, place, quiet, column)
        return column

    def _derive(
        self, mover: Side, walk: list[int], place: Partitions, quiet: ValueKeys, column: Values
    ) -> None:
        scratches = self.threads.scratches(self._domain)

        def job(pairs: Partitions) -> None:
            with scratches.lend() as scratch:
                for pair in map(Partition, pairs.tolist()):
                    rows = column[pair * self.slots : (pair + 1) * self.slots]
                    self.kernel.derive(pair, mover, quiet, place, rows)
                    words = self._domain.counted(pair, mover, scratch)
                    _kernels.fill(rows, words[: self.slots // 64])

        self.threads.map(job, partition_jobs(walk, self.slots))


class StructureDerivation(StructureVerification):
    """A packed table with pawns whose missing column is derived, some structures at a time."""

    def __init__(self, packed: Table, smaller: dict[Material, Table], threads: Threads) -> None:
        dtype = proof_dtype(packed, smaller)
        super().__init__(packed, smaller, dtype, threads, lambda share: None)
        self._column: Values = zeros(packed.index.rows, dtype.type)

    def column(self, mover: Side) -> Values:
        """The values with `mover` to move."""

        def job(first: int) -> None:
            task = Task(first, min(first + self._together, self._structures), (mover,))
            held = self._columns.holding(self._entered(task, mover))
            rows = self._column[task.first * self._rows : task.stop * self._rows]
            self._kernel.derive(task.first, task.stop, mover, *held, rows)

        self._threads.map(job, range(0, self._structures, self._together))
        return self._column

    def _entered(self, task: Task, mover: Side) -> Set[ColumnName]:
        """The chunks that the moves lead into."""
        return {name for name in self._needs(task) if name[:2] != (0, mover)}
