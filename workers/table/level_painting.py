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
from kingpair.workers.number_types import STRONGER, WEAKER, Side
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Words
from kingpair.workers.sets.recycled import recycled
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.table.painting import Histories, layers_of
from kingpair.workers.table.value import Values

_PAINTED_SLOTS = 1 << 18  # at a time: the canvas stays in the processor's cache
_FILLED_SLOTS = 1 << 20  # in one job


class PaintedLevel(NamedTuple):
    """The values of structures by column and row, and their numbers of legal positions."""

    columns: tuple[Values, Values]
    legal: tuple[int, int]


class _Canvas(NamedTuple):
    """Memory for some partitions: their values, and the sets of their positions."""

    values: Values
    sets: Words


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
        # Without pieces a structure has one slot for each king pair, which bytes mark.
        self._are_points = self._run == 1
        size = 64 * padded if self._are_points else padded
        kind = np.uint8 if self._are_points else np.uint64
        self._masks = recycled(2 * self._structures * size, kind).reshape(2, self._structures, size)
        if self._are_points:
            self._masks[:, :, self._rows :] = 0

    def paint(self) -> PaintedLevel:
        chunks = self._domain.index.chunks()
        scratches = self._threads.scratches(self._domain)
        # New memory for each canvas would take longer than to paint it.
        canvases = self._threads.pool(self._canvas)

        def job(chunk: Chunk) -> None:
            with scratches.lend() as scratch, canvases.lend() as canvas:
                self._paint_chunk(chunk, canvas, scratch)

        self._threads.map(job, chunks)
        held = self._threads.map(self._fill, self._pieces())
        white, black = (column[:, : self._rows].reshape(-1) for column in self._columns)
        return PaintedLevel((white, black), (sum(w for w, _ in held), sum(b for _, b in held)))

    def _canvas(self) -> _Canvas:
        values = recycled(2 * self._together * self._held, self._columns.dtype.type)
        return _Canvas(values, recycled(self._together * self._domain.words, np.uint64))

    def _pieces(self) -> list[slice]:
        """The structures in pieces that are worth a job."""
        size = max(1, _FILLED_SLOTS // self._rows)
        return [slice(at, at + size) for at in range(0, self._structures, size)]

    @property
    def _held(self) -> int:
        """The slots of a partition on a canvas."""
        domain = self._domain
        return domain.words * 64 if domain.index.axes < 2 else domain.slots

    @property
    def _together(self) -> int:
        """The partitions that are painted together."""
        return max(1, _PAINTED_SLOTS // self._held)

    def _paint_chunk(self, chunk: Chunk, canvas: _Canvas, scratch: _kernels.Scratch) -> None:
        kernel = self._domain.kernel
        painting = _kernels.Painting(kernel, chunk, layers_of(self._metric, self._logs, chunk))
        for at in range(0, len(chunk), self._together):
            pairs = chunk[at : at + self._together]
            columns = canvas.values[: 2 * len(pairs) * self._held].reshape(2, -1)
            counted = np.zeros((2, len(pairs)), np.int64)
            sound = painting.paint(kernel, at, self._domain.canonical, columns, counted, scratch)
            assert sound, "a layer that does not unpack"
            self._copy(pairs, columns, canvas.sets[: len(pairs) * self._domain.words], scratch)

    def _copy(self, pairs: Chunk, columns: Values, sets: Words, scratch: _kernels.Scratch) -> None:
        """Moves painted partitions, and the masks of their positions, to their places."""
        copy = self._copy_points if self._are_points else self._copy_runs
        for side in (STRONGER, WEAKER):
            painted = columns[side].reshape(len(pairs), -1)
            counted = self._domain.counted_of(pairs, side, sets, scratch)
            copy(side, int(pairs[0]), painted, counted)

    def _copy_points(self, side: Side, first: int, painted: Values, sets: Words) -> None:
        start = self._chosen.start
        _kernels.turn_points(painted, start, self._columns[side], first)
        _kernels.turn_bits(sets, start, self._masks[side], first)

    def _copy_runs(self, side: Side, first: int, painted: Values, sets: Words) -> None:
        for out, by_pair in ((self._columns[side], painted), (self._masks[side], sets)):
            # [king pair][structure][slot or word], of which the last row may be longer
            run = out.shape[1] // self._domain.index.partitions
            whole = by_pair[:, : self._domain.index.structures * run]
            turned = whole.reshape(len(whole), -1, run).swapaxes(0, 1)
            places = out.reshape(self._structures, -1, run)[:, first : first + len(whole)]
            places[:] = turned[self._chosen.start : self._chosen.stop]

    def _fill(self, piece: slice) -> tuple[int, int]:
        """Fills the rows of some structures that hold no position.  Returns how many hold one, by
        side to move.
        """
        fill = self._fill_points if self._are_points else self._fill_runs
        stronger, weaker = (
            fill(columns, masks)
            for columns, masks in zip(self._columns[:, piece], self._masks[:, piece], strict=True)
        )
        return stronger, weaker

    def _fill_points(self, columns: Values, marks: NDArray[np.uint8]) -> int:
        return _kernels.fill_marked(columns, marks)

    def _fill_runs(self, columns: Values, masks: Words) -> int:
        for column, mask in zip(columns, masks, strict=True):
            _kernels.fill(column, mask)
        return int(np.bitwise_count(masks).sum(dtype=np.int64))
