"""The keys of captures that a proof reads: for each man, the worth of taking him.

They come from the smaller tables.  Those of some partitions need no other partitions: a capture
leads to the smaller table's partition with the same kings.  So a part of a proof reads as much of
the smaller tables as it has partitions.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Exit, Material
from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.index.king_pairs import TURNED, numbers_of
from kingpair.workers.number_types import SIDES, Partition, Side
from kingpair.workers.prove.column_chunks import Classes, seen_after_exit
from kingpair.workers.sets.threads import Pool, Threads
from kingpair.workers.table.format import Table
from kingpair.workers.table.value import Values

ValueKeys = NDArray[np.uint8] | NDArray[np.uint16]
Partitions = NDArray[np.int16]
NewArray = Callable[..., Any]
"""Makes a zeroed array of so many items of a type."""

TOGETHER = 1 << 20  # slots in a job
_KEYS = Classes(won=2, won_late=CLOCK_LIMIT + 2, lost=-1, lost_late=-CLOCK_LIMIT - 1)
"""The keys of captures if distances count plies (kernels/verify.hpp): a capture wins or loses in 1
or 101 plies.
"""


class CaptureKeys:
    """The keys of the captures of each man, in the partitions that were entered."""

    def __init__(
        self,
        material: Material,
        metric: Metric,
        kernel: _kernels.Verifier,
        smaller: dict[Material, Table],
        dtype: np.dtype[Any],
        threads: Threads,
        new_array: NewArray,
    ) -> None:
        self._material, self._metric, self._kernel = material, metric, kernel
        self._smaller, self._dtype, self._threads = smaller, dtype, threads
        self._new_array, self._key = new_array, np.dtype(f"u{dtype.itemsize}")
        self._readers = {each: readers_of(table, threads) for each, table in smaller.items()}
        self._size = int(64 ** (len(material.letters) - 1))
        self._by_man: dict[tuple[str, int], ValueKeys] = {}
        self.leave()

    def leave(self) -> None:
        """Lets go of all captures that were entered."""
        self._entered = np.zeros(len(TURNED), np.bool_)
        self._by_man.clear()
        self.of_men: list[ValueKeys] = [*map(self._of_man, self._material.captures())]
        """By man; like men share one array."""

    def _man(self, capture: Exit) -> tuple[str, int]:
        side = self._material.sides[capture.captive]
        return self._material.letters[capture.captive], side

    def _of_man(self, capture: Exit) -> ValueKeys:
        man = self._man(capture)
        if man not in self._by_man:
            self._by_man[man] = self._new_array(len(TURNED) * self._size, self._key.type)
        return self._by_man[man]

    def enter(self, pairs: Collection[int]) -> None:
        """Enters the captures of some partitions, unless they have been entered."""
        new = [pair for pair in pairs if not self._entered[pair]]
        if not new:
            return
        done = set[tuple[str, int]]()
        for capture in self._material.captures():
            if (man := self._man(capture)) not in done:
                self._enter(capture, self._by_man[man], new)
                done.add(man)
        self._entered[new] = True

    def _enter(self, capture: Exit, keys: ValueKeys, pairs: Sequence[int]) -> None:
        smaller, size = self._smaller.get(capture.material), self._size
        if smaller is None:
            assert not capture.material.letters, "bare kings alone need no table"
            keys[:] = _kernels.Verifier.draw(self._key.itemsize)
            return
        side = self._material.sides[capture.captive]
        column = self._column(smaller, SIDES[side ^ capture.swapped], _same_kings(capture, pairs))

        def job(pairs: Partitions) -> None:
            for pair in numbers_of(pairs):
                here = keys[pair * size : (pair + 1) * size]
                self._kernel.taken(capture.captive, pair, column, here)

        self._threads.map(job, partition_jobs(pairs, size))

    def _column(self, smaller: Table, side: Side, pairs: Sequence[int]) -> Values:
        """The values of a smaller table with one side to move, in this table's type."""
        size = 64 ** len(smaller.material.letters)
        column: Values = self._new_array(len(TURNED) * size, self._dtype.type)
        readers = self._readers[smaller.material]
        write = seen_after_exit(self._metric, _KEYS)

        def job(pairs: Partitions) -> None:
            for pair in numbers_of(pairs):
                with readers.lend() as table:
                    values = table.values(pair, side)
                write(values, column[pair * size : (pair + 1) * size])

        self._threads.map(job, partition_jobs(pairs, size))
        return column


def _same_kings(capture: Exit, pairs: Sequence[int]) -> list[int]:
    """The smaller table's partitions that have the kings of these."""
    if not capture.swapped:
        return sorted(pairs)
    numbers, _ = TURNED.placed
    kings = (TURNED.squares[pair] for pair in pairs)
    return sorted({int(numbers[weaker, stronger]) for stronger, weaker in kings})


def readers_of(table: Table, threads: Threads) -> Pool[Table]:
    """One reader for each thread, because Arrow does not promise that a reader is thread-safe."""
    return threads.pool(table.another_reader)


def partition_jobs(pairs: Sequence[int], slots: int) -> list[Partitions]:
    size = max(1, TOGETHER // slots)
    return [
        np.array([Partition(pair) for pair in pairs[at : at + size]], np.int16)
        for at in range(0, len(pairs), size)
    ]
