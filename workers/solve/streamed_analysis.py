"""An analysis that does not hold all of its sets: a pass goes walk by walk.

While one king stands still, the other stays within one of ten *walks* of at most 58 partitions.
`win` looks at L_{n-1} where the winner's king can have gone, and at open_w of its own partition;
`lose` looks at W_n and open_w where the loser's king can go, and at open_l of its own partition.
So a step holds two sets of a walk, a quarter of a bitmap in all:

    step    of a walk, from          of a partition, from and to
    win     L_{n-1}, the pass log    open_w, its file            W_n, the pass log
    lose    W_n, the pass log        open_l, its file            L_n, the pass log
            open_w, its file

The equations, the kernels and what is logged are those of analysis.py, so the table has the same
bytes.  Instead of its file either open set may be in memory (sets_mode.py).

Cost of a pass: at most three bitmaps read and two written; one each if open_w is in memory.  A walk
in which nothing was found is not touched.  Memory: two bitmaps of a walk, or one and the open sets
that are held; the sets of a piece for each thread; and the exits.  The files have no name: an
analysis that resumes makes its sets again from legality and the log.

One of several workers goes through the partitions of its share.  Around them it reads what other
workers found in the same pass as they sent it, and that of earlier runs from their logs.  It keeps
copies of open_w where `lose` reads it, and writes those once more that change.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.number_types import Depth, Side, opponent
from kingpair.workers.passlog.history import EMPTY_HISTORY, History
from kingpair.workers.passlog.log import LayerChunk
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.exits import Sets
from kingpair.workers.solve.frontiers import PackedFrontier, StepResult
from kingpair.workers.solve.layer_reader import LayerReader
from kingpair.workers.solve.layer_writer import LayerWriter, Streams, packed
from kingpair.workers.solve.sets_mode import SetsMode
from kingpair.workers.solve.streamed_freed import FreedLayersMaker, StreamedFreedLayers, Windows
from kingpair.workers.solve.streamed_opening import StreamedOpening
from kingpair.workers.solve.walked_exits import ExitsByWalk
from kingpair.workers.solve.walked_sets import SetsByWalk, WalkedSet
from kingpair.workers.solve.walks import Walk

Tally = NDArray[np.uint64]
Step = Callable[[Walk, Chunk, Tally, _kernels.Scratch], bool]
"""Runs a kernel on a piece of a walk.  Returns whether the open set changed in any case."""
Begin = Callable[[Walk], bool]
"""Reads what a step needs of a walk.  Returns whether the step can find anything there."""
ExitKernel = Callable[..., None]


class StreamedAnalysis:
    """The state of one colour's analysis on disk, and the steps that carry it on."""

    def __init__(
        self,
        domain: Domain,
        winner: Side,
        exits: ExitsByWalk,
        threads: Threads,
        log: PassLog,
        scratch: Path,
        passes_per_move: int = 1,
        mode: SetsMode = SetsMode.WALKS,
    ) -> None:
        self.domain, self.exits, self.log = domain, exits, log
        self.winner, self.loser = winner, opponent(winner)
        self._threads, self._behind = threads, passes_per_move
        self._scratches = threads.scratches(domain)
        self._layers = self._layers_after(EMPTY_HISTORY)
        self._sets = sets = SetsByWalk(domain, scratch, mode, threads.count)
        self._walks, self._open_w, self._open_l = sets.walks, sets.open_w, sets.open_l
        self._found, self._before = sets.window(), sets.window()
        self._freed: StreamedFreedLayers | None = None

    @property
    def last_exit(self) -> int:
        return self.exits.last

    def close(self) -> None:
        self._sets.close()
        if self._freed is not None:
            self._freed.close()

    # ---- the steps ----

    def prepare(self, history: History = EMPTY_HISTORY) -> dict[int, PackedFrontier]:
        """Makes the open sets as they are after the last pass of a history.  Other workers read
        that pass from the logs.
        """
        self._layers = self._layers_after(history)
        opening = StreamedOpening(
            self.domain, self.winner, self._sets, self._scratches, self._threads, history
        )
        opening.open(self.exits)
        if self.exits.has_freed:
            self._freed = self._make_freed_layers()
        if history.passes:
            opening.replay(self._freed)
        return {}

    def lose_at_once(self) -> StepResult:
        """L_0."""
        return self._run_with_exits(
            _kernels.lose_at_once,
            (self._open_w.layer, self._open_l.layer),
            exits=lambda walk: self.exits.of_loser(walk.held).forced,
            read=self._read_open_w,
            found=LayerChunk(Depth(0), False, 0),
        )

    def win(self, depth: Depth, inbound: Sequence[PackedFrontier] = ()) -> StepResult:
        """W_n."""
        before = Depth(depth - self._behind)
        self._layers.receive(Depth(depth - 1), False, inbound, self._behind)
        return self._run_with_exits(
            _kernels.win,
            (self._before.layer, self._open_w.layer),
            exits=lambda walk: self.exits.winning(depth, walk.held),
            read=lambda walk: self._restore(before, False, walk),
            found=LayerChunk(depth, True, 0),
        )

    def lose(self, depth: Depth, inbound: Sequence[PackedFrontier] = ()) -> StepResult:
        """L_n."""
        self._layers.receive(depth, True, inbound)

        def step(walk: Walk, piece: Chunk, tally: Tally, scratch: _kernels.Scratch) -> bool:
            freed = self._freed is not None and self._freed.load(depth, walk, piece)
            _kernels.lose(
                walk.kernel,
                piece,
                self.winner,
                self._before.layer.kernel,
                self._open_w.layer.kernel,
                self._open_l.layer.kernel,
                self._found.layer.kernel,
                self.domain.canonical,
                tally,
                scratch,
                None if self._freed is None else self._freed.layer.kernel,
            )
            if freed and self._freed is not None:
                self._freed.unload(walk, piece)
            return freed

        def begin(walk: Walk) -> bool:
            is_freed = self._freed is not None and self._freed.has_any(depth, walk)
            return (self._restore(depth, True, walk) or is_freed) and self._read_open_w(walk, depth)

        return self._run(begin, step, LayerChunk(depth, False, 0))

    def _run_with_exits(
        self,
        kernel: ExitKernel,
        layers: tuple[Layer, Layer],
        exits: Callable[[Walk], Sets],
        read: Begin,
        found: LayerChunk,
    ) -> StepResult:
        """Runs a step that finds positions by the exits of a walk and two sets that it reads."""
        captured: Sets = ()
        sets = *(layer.kernel for layer in layers), self._found.layer.kernel

        def begin(walk: Walk) -> bool:
            nonlocal captured
            captured = ()  # what is not needed any more goes before more is read
            captured = exits(walk)
            return read(walk) or any(captured)

        def step(walk: Walk, piece: Chunk, tally: Tally, scratch: _kernels.Scratch) -> bool:
            at = walk.kernel, piece, self.winner, captured
            kernel(*at, *sets, self.domain.canonical, tally, scratch)
            return False

        return self._run(begin, step, found)

    def _own(self, mover: Side) -> WalkedSet:
        """The open set of the positions with a side to move."""
        return self._open_w if mover == self.winner else self._open_l

    def _run(self, begin: Begin, step: Step, found: LayerChunk) -> StepResult:
        """Runs a step on each walk that `begin` does not find empty, and logs what it found."""
        mover = self.winner if found.won else self.loser
        open_, counts = self._own(mover), np.zeros(self.domain.index.partitions, np.uint64)
        share, before = self.domain.share, self._sets.disk_use
        log = LayerWriter(self.log, self.domain, found, share.readers[opponent(mover)])
        for walk in self._walks[mover]:
            done = self._run_walk(open_, walk, step) if begin(walk) else []
            for piece, (tally, streams) in zip(walk.pieces, done, strict=False):
                counts[piece] = tally
                log.add(streams)
            log.flush(walk.partitions)
        use = self._sets.disk_use.since(before)
        use = use._replace(seconds=use.seconds / self._threads.count)
        return StepResult(counts[share.own].tolist(), log.sent(), use)

    def _run_walk(self, open_: WalkedSet, walk: Walk, step: Step) -> list[tuple[Tally, Streams]]:
        """Runs a step on the pieces of a walk.  Returns the counts and the streams of each."""

        def job(piece: Chunk) -> tuple[Tally, Streams]:
            tally: Tally = np.zeros(len(piece), np.uint64)
            self._found.take(walk, piece)
            with take(piece) as taken:
                with self._scratches.lend() as scratch:
                    taken.changed = step(walk, piece, tally, scratch)
                taken.changed |= bool(tally.any())
            streams = packed(walk.kernel, piece, self._found.layer) if tally.any() else {}
            self._found.release(walk, piece)
            return tally, streams

        with open_.pieces(walk) as take:
            return self._threads.map(job, walk.pieces)

    # ---- windows ----

    def _layers_after(self, history: History) -> LayerReader:
        return LayerReader(history, self.log, self.domain.share, self.domain.index.together)

    def _read_open_w(self, walk: Walk, won: Depth | None = None) -> bool:
        """Reads open_w for a walk, in which the step can find something then.  What others have
        found won at a depth leaves the copies.
        """
        open_w = self._open_w

        def read_copies(piece: Chunk) -> None:
            open_w.read(walk, piece)
            streams = () if won is None else tuple(self._layers.streams(won, True, piece))
            for partition, stream in streams:
                _kernels.take_out(walk.kernel, partition, stream, open_w.layer.kernel)
            if streams:
                open_w.write(walk, piece)

        self._threads.map(lambda piece: open_w.read(walk, piece), walk.pieces)
        self._threads.map(read_copies, walk.copies)
        return True

    def _restore(self, depth: Depth, won: bool, walk: Walk) -> bool:
        """Reads a layer of the log into the window.  Returns whether the walk has any of it."""
        layer = self._before.layer
        self._before.renew(walk)

        def job(piece: Chunk) -> None:
            for partition, stream in self._layers.streams(depth, won, piece):
                _kernels.restore(walk.kernel, partition, stream, layer.kernel)

        if depth >= 0:
            self._threads.map(job, (*walk.pieces, *walk.copies))
        return bool(layer.live.any())

    def _make_freed_layers(self) -> StreamedFreedLayers:
        log = PassLog(self.log.path.with_suffix(".freed"), {"winner": self.winner})
        windows = Windows(self._open_l, self._sets.window(), self._found, self._before)
        maker = FreedLayersMaker(self.domain, self.loser, self.exits, windows, self._scratches, log)
        return maker.make(self._walks[self.loser], self._threads)
