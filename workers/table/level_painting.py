"""Painting a level of a table with pawns: the columns of its structures, from its pass logs.

The kernels hold a level as [king pair][structure][slot], a table as [structure][king pair][slot].
So the painter copies each partition to its places in the columns, and the masks of its positions to
theirs.  Then it fills the rows that hold no position: such a row repeats the row before it, or is 0
where a structure begins.

Several painters divide the structures of a level; each of them reads all of its logs.

Cost: memory for the columns of the structures; the kernels visit every slot of the level twice.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import SIDES, STRONGER, WEAKER
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Words
from kingpair.workers.sets.recycled import recycled
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.table.painting import Histories, layers_of
from kingpair.workers.table.value import Values

_PAINTED_SLOTS = 1 << 18  # at a time: the canvas stays in the processor's cache


class PaintedLevel(NamedTuple):
    """The values of structures by column and row, and their numbers of legal positions."""

    columns: tuple[Values, Values]
    legal: tuple[int, int]


class LevelPainter:
    """Paints the columns of some structures of a level, given by their places in it."""

    def __init__(
        self,
        domain: Domain,
        metric: Metric,
        logs: Histories,
        chosen: range,
        dtype: np.dtype[Any],
        threads: Threads,
    ) -> None:
        self._domain, self._metric = domain, metric
        self._logs, self._threads = logs, threads
        index = self._domain.index
        self._chosen, self._structures, self._run = chosen, len(chosen), 64**index.axes
        self._rows = index.partitions * self._run  # of a structure
        padded = -(-self._rows // 64)
        shape = (2, self._structures, 64 * padded)
        self._columns: Values = recycled(int(np.prod(shape)), dtype.type).reshape(shape)
        # Without pieces a structure has one bit for each king pair, which bytes hold until the end.
        self._by_bit = self._run == 1
        size = 64 * padded if self._by_bit else padded
        kind = np.uint8 if self._by_bit else np.uint64
        self._masks = recycled(2 * self._structures * size, kind).reshape(2, self._structures, size)
        if self._by_bit:
            self._masks[:, :, self._rows :] = 0

    def paint(self) -> PaintedLevel:
        chunks = self._domain.index.chunks()
        scratches = self._threads.scratches(self._domain)

        def job(chunk: Chunk) -> None:
            with scratches.lend() as scratch:
                self._paint_chunk(chunk, scratch)

        self._threads.map(job, chunks)
        legal = self._threads.map(self._fill, range(self._structures))
        white, black = (column[:, : self._rows].reshape(-1) for column in self._columns)
        return PaintedLevel((white, black), (sum(w for w, _ in legal), sum(b for _, b in legal)))

    def _paint_chunk(self, chunk: Chunk, scratch: _kernels.Scratch) -> None:
        kernel = self._domain.kernel
        painting = _kernels.Painting(kernel, chunk, layers_of(self._metric, self._logs, chunk))
        held = self._domain.words * 64 if self._domain.index.axes < 2 else self._domain.slots
        together = max(1, _PAINTED_SLOTS // held)
        for at in range(0, len(chunk), together):
            pairs = chunk[at : at + together]
            canvas = np.zeros((2, len(pairs) * held), self._columns.dtype)
            counted = np.zeros((2, len(pairs)), np.int64)
            sound = painting.paint(kernel, at, self._domain.canonical, canvas, counted, scratch)
            assert sound, "a layer that does not unpack"
            self._copy(pairs, canvas, scratch)

    def _copy(self, pairs: Chunk, canvas: Values, scratch: _kernels.Scratch) -> None:
        """Moves painted partitions, and the masks of their positions, to their places."""
        first, count = int(pairs[0]), len(pairs)
        for side in (STRONGER, WEAKER):
            painted = canvas[side].reshape(count, -1)[
                :, : self._domain.index.structures * self._run
            ]
            columns = self._columns[side, :, first * self._run : (first + count) * self._run]
            columns[:] = self._turned(painted)
            masks = self._turned(self._mask(self._domain.counted_of(pairs, side, scratch)))
            at = first * masks.shape[1] // count
            self._masks[side, :, at : at + masks.shape[1]] = masks

    def _mask(self, words: Words) -> NDArray[Any]:
        """The part of the words that names slots, by bit if the structures share words."""
        if not self._by_bit:
            return words[:, : self._domain.index.structures * self._run // 64]
        bits = words.view(np.uint8)
        count = self._domain.index.structures
        return np.unpackbits(bits, axis=1, bitorder="little", count=count)

    def _turned(self, by_pair: NDArray[Any]) -> NDArray[Any]:
        """From [king pair][structure and slot] to [chosen structure][king pair and slot]."""
        whole = by_pair.reshape(len(by_pair), self._domain.index.structures, -1)
        chosen = whole[:, self._chosen.start : self._chosen.stop]
        return chosen.swapaxes(0, 1).reshape(self._structures, -1)

    def _fill(self, structure: int) -> tuple[int, int]:
        """Fills the rows of a structure that hold no position.  Returns how many hold one."""
        found = []
        for side in SIDES:
            mask = self._masks[side, structure]
            if self._by_bit:
                mask = np.packbits(mask, bitorder="little").view(np.uint64)
            _kernels.fill(self._columns[side, structure], mask)
            found.append(int(np.bitwise_count(mask).sum(dtype=np.int64)))
        return found[STRONGER], found[WEAKER]
