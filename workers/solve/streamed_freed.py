"""The layers freed(n) of an analysis whose sets lie in files (streamed_analysis.py).

They are made before the first pass, walk by walk, and wait in a log of their own.  A chunk of this
log is a piece of a walk of the loser's king, by the first partition of the piece.

    bound      = positions of the loser that have captures, all of them won
    freed(n)   = bound positions whose deepest capture is found won at depth n

The deepest are found first and leave `bound`, so each position is in one layer.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.index.king_pairs import numbers_of
from kingpair.workers.number_types import Depth, Partition, Side
from kingpair.workers.passlog.log import LayerChunk, LayerStream, PassResult
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.threads import Chunk, Pool, Threads
from kingpair.workers.solve.exits import Sets
from kingpair.workers.solve.walked_exits import ExitsByWalk
from kingpair.workers.solve.walked_sets import WalkedSet
from kingpair.workers.solve.walks import Walk, Window


class Windows(NamedTuple):
    """The loser's open set, and memory that is free before the first pass."""

    open_l: WalkedSet
    bound: Window
    found: Window
    empty: Window


class StreamedFreedLayers:
    """The layers freed(n) in a log, and a window for the one at hand."""

    def __init__(self, log: PassLog, window: Window) -> None:
        self._log, self._window = log, window

    @property
    def layer(self) -> Layer:
        return self._window.layer

    def close(self) -> None:
        self._log.close()

    def streams(self, depth: Depth, piece: Chunk) -> Iterator[tuple[Partition, LayerStream]]:
        """Yields what is freed at a depth in the partitions of a piece."""
        found = self._log.read_chunk(LayerChunk(depth, False, 0).at(piece))
        return zip(numbers_of(piece), found, strict=False)

    def has_any(self, depth: Depth, walk: Walk) -> bool:
        """Whether anything is freed at a depth; looks only at the list of what was logged."""
        first = LayerChunk(depth, False, 0)
        return any(
            first.at(piece) in self._log.layer_chunks(int(piece[0])) for piece in walk.pieces
        )

    def unload(self, walk: Walk, piece: Chunk) -> None:
        self._window.release(walk, piece)

    def load(self, depth: Depth, walk: Walk, piece: Chunk) -> bool:
        """Reads what is freed at a depth into the window.  Returns whether there is anything."""
        loaded = False
        for partition, stream in self.streams(depth, piece):
            loaded = _kernels.restore(walk.kernel, partition, stream, self.layer.kernel)
        return loaded

    def release(self, last: Depth, walk: Walk, piece: Chunk, open_l: Layer) -> None:
        """Puts all that is freed up to a depth into the open set."""
        for depth in map(Depth, range(1, last + 1)):
            for partition, stream in self.streams(depth, piece):
                _kernels.put_in(walk.kernel, partition, stream, open_l.kernel)


class FreedLayersMaker:
    """Makes the layers freed(n) of a loser from the exits and his open set."""

    def __init__(
        self,
        domain: Domain,
        loser: Side,
        exits: ExitsByWalk,
        windows: Windows,
        scratches: Pool[_kernels.Scratch],
        log: PassLog,
    ) -> None:
        self._domain, self._loser, self._exits = domain, loser, exits
        self._windows, self._scratches, self._log = windows, scratches, log

    def make(self, walks: Sequence[Walk], threads: Threads) -> StreamedFreedLayers:
        for walk in walks:
            exits = self._exits.of_loser(walk.held)

            def bind(piece: Chunk, walk: Walk = walk, never: Sets = exits.never) -> None:
                self._bind(never, walk, piece)

            threads.map(bind, walk.pieces)
            self._windows.empty.clear()
            for depth in map(Depth, range(self._exits.last, 0, -1)):
                captured = exits.freeing(depth)
                if any(captured):
                    self._divide(depth, captured, walk, threads)
            self._windows.bound.release(walk, walk.partitions)
        self._log.commit(PassResult(Depth(self._exits.last), 0, 0, True))
        return StreamedFreedLayers(self._log, self._windows.bound)

    def _bind(self, never: Sets, walk: Walk, piece: Chunk) -> None:
        """bound = positions that have captures, all of them won."""
        open_l, bound = self._windows.open_l, self._windows.bound.layer
        open_l.read(walk, piece)
        with self._scratches.lend() as scratch:
            _kernels.prepare(walk.kernel, piece, self._loser, never, bound.kernel, scratch)
        size = self._domain.words
        for partition in numbers_of(piece):
            place = walk.places[partition]
            if open_l.layer.live[place]:
                at = slice(place * size, (place + 1) * size)
                bound.words[at] &= ~open_l.layer.words[at]
                _kernels.refresh(walk.kernel, partition, bound.kernel)
        open_l.release(walk, piece)

    def _divide(self, depth: Depth, captured: Sets, walk: Walk, threads: Threads) -> None:
        """freed(n) = captures of the loser into `captured` & bound;  bound -= freed(n)."""

        def job(piece: Chunk) -> None:
            tally = np.zeros(len(piece), np.uint64)
            with self._scratches.lend() as scratch:
                _kernels.win(
                    walk.kernel,
                    piece,
                    self._loser,
                    captured,
                    self._windows.empty.layer.kernel,  # so no quiet move finds anything
                    self._windows.bound.layer.kernel,
                    self._windows.found.layer.kernel,
                    self._domain.canonical,
                    tally,
                    scratch,
                )
            if tally.any():
                packed = _kernels.pack(walk.kernel, piece, self._windows.found.layer.kernel)
                self._log.append(LayerChunk(depth, False, 0).at(piece), packed)
            self._windows.found.release(walk, piece)

        threads.map(job, walk.pieces)
