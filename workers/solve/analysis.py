"""One colour's analysis of one material: who wins as that colour, and in how many moves.

    L_0 = mates and forced conversions                                    `lose_at_once`
    W_n = (unmove_w(L_{n-1}) | winning exits(n)) & open_w                 `win`
    L_n = ((unmove_l(W_n) | freed(n)) & open_l) - unmove_l(open_w)        `lose`

These are passes n in the winner's moves.  Plies are counted with the same equations: pass n finds
what is won in n - 1 plies and what is lost in n.  The winner's ply takes a pass of its own, so
W_n comes from L_{n-2}, and there are two frontiers L.

Four bitmaps last from pass to pass.  The open sets open_w and open_l hold the positions that may
still be found won or lost.  The frontiers W_n and L_n hold what the last pass found; only their
occupied rows are read.  A position of the loser that can escape by a capture is not open.  Where
exits carry a depth, it is freed in the pass in which its last escape is found won: it then joins
open_l.  The layers freed(n) are made before the first pass and kept in a file (freed_layers.py).
The deepest is made first, so that each position is in one of them.

Each thread appends the positions of a chunk of partitions to the pass log when the chunk is done;
depths are not kept here.  The open sets have a mark for each partition that says how many steps it
has seen.  An analysis that resumes recomputes only the partitions that are torn or behind the log.

A worker does all this for its own partitions.  Of the partitions around them, which other workers
own, it keeps copies of open_w and of the frontiers.  Each step receives the packed frontiers of the
step before, and removes W_n from the copy of open_w.  A copy for which no frontier came is marked
as not live, and counts as empty whatever bits it has.

Memory: bitmaps of 64^m / 8 bytes, four for each partition of its own, six while freed layers are
made, three for each copy; and 3 partitions of scratch a thread.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.index.king_pairs import numbers_of
from kingpair.workers.index.share import Readers
from kingpair.workers.number_types import Depth, Partition, Side, opponent
from kingpair.workers.passlog.history import EMPTY_HISTORY, History
from kingpair.workers.passlog.log import STALEMATES, LayerChunk, LayerStream, LogFile, PassResult
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.exits import Exits, Sets
from kingpair.workers.solve.freed_layers import FreedLayers
from kingpair.workers.solve.frontiers import (
    PackedChunk,
    PackedFrontier,
    StepResult,
    sent_frontiers,
)
from kingpair.workers.solve.inflows import FreedSets, Inflows, NoInflows
from kingpair.workers.solve.open_sets import TORN, OpenSets, Removal, step_after, step_of

Tally = NDArray[np.uint64]  # distinct positions found, per partition
Step = Callable[[Chunk, Tally, _kernels.Scratch], None]


class Analysis:
    """The state of one colour's analysis, and the steps that carry it on."""

    def __init__(
        self,
        domain: Domain,
        winner: Side,
        exits: Exits,
        threads: Threads,
        log: PassLog,
        open_sets: OpenSets | None = None,
        passes_per_move: int = 1,
        inflows: Inflows | None = None,
    ) -> None:
        self.domain, self.exits, self.log = domain, exits, log
        self.winner, self.loser = winner, opponent(winner)
        self._inflows: Inflows = inflows or NoInflows()
        self._threads = threads
        self._scratches = threads.scratches(domain)
        self._share = domain.share
        self._chunks = domain.index.chunks(self._share.own)
        self._around = domain.index.chunks(self._share.halo)
        self.open_sets = open_sets or OpenSets.private(domain)
        self.open_w, self.open_l = self.open_sets.open_w, self.open_sets.open_l
        self.won = self._layer(self._share.held)
        self._losses = [self._layer(self._share.held) for _ in range(passes_per_move)]
        self._freed: FreedSets | None = None

    def _layer(self, partitions: int) -> Layer:
        return self.domain.layer(partitions)

    @property
    def lost(self) -> Layer:
        """The frontier L_n, where distances count moves: there is only one."""
        assert len(self._losses) == 1, "one of two frontiers"
        return self._losses[0]

    def _lost(self, depth: int) -> Layer:
        """The frontier L_n, until that of a later pass takes its place."""
        return self._losses[depth % len(self._losses)]

    @property
    def last_exit(self) -> int:
        return max(self.exits.last, self._inflows.last)

    # ---- the steps ----

    def prepare(self, history: History = EMPTY_HISTORY) -> dict[int, PackedFrontier]:
        """open_w = legal_w;  open_l = legal_l - escapes;  the layers freed(n).

        Then brings them to the state after the last pass, and returns the frontiers that other
        workers read.  Partitions that are in that state already are not recomputed.
        """
        self.open_sets.begin(self.winner)
        if self.exits.never:
            self._freed = self._open_freed_layers()
        self._undo_passes(history.depth)
        own, around = self._torn_chunks(self._chunks), self._torn_chunks(self._around)
        self._open(self.winner, (), self.open_w, (*own, *around))
        self._open(self.loser, self.exits.escapes, self.open_l, own)
        self._inflows.close(self.open_l)
        if self.exits.never and self._freed is None:
            self._freed = self._make_freed_layers()
        self._freed = self._freed or self._inflows.freed
        self._inflows.play(history.depth)
        self._replay(own, history)
        self._replay_copies(around, history)
        return self._restore_frontiers(history)

    def lose_at_once(self) -> StepResult:
        """L_0."""
        self.open_sets.begin_pass(Depth(0))
        self._log_stalemates()
        holds, forced = self._inflows.at_once()

        def step(chunk: Chunk, tally: Tally, scratch: _kernels.Scratch) -> None:
            _kernels.lose_at_once(
                self.domain.kernel,
                chunk,
                self.winner,
                self.exits.forced,
                self.open_w.kernel,
                self.open_l.kernel,
                lost.kernel,
                self.domain.canonical,
                tally,
                scratch,
                holds=holds,
                forced=None if forced is None else forced.kernel,
            )

        lost = self._lost(0)
        return self._run(step, lost, LayerChunk(Depth(0), False, 0))

    def win(self, depth: Depth, inbound: Sequence[PackedFrontier] = ()) -> StepResult:
        """W_n, given the frontiers of L_{n-1} that other workers found."""
        self.open_sets.begin_pass(depth)
        self._receive(inbound, self._lost(depth - 1))
        pushes, winning = self._inflows.win(depth)
        captured, lost = self.exits.winning(depth), self._lost(depth - len(self._losses))

        def step(chunk: Chunk, tally: Tally, scratch: _kernels.Scratch) -> None:
            _kernels.win(
                self.domain.kernel,
                chunk,
                self.winner,
                captured,
                lost.kernel,
                self.open_w.kernel,
                self.won.kernel,
                self.domain.canonical,
                tally,
                scratch,
                pushes=pushes,
                winning=None if winning is None else winning.kernel,
            )

        return self._run(step, self.won, LayerChunk(depth, True, 0))

    def lose(self, depth: Depth, inbound: Sequence[PackedFrontier] = ()) -> StepResult:
        """L_n, given the frontiers of W_n that other workers found."""
        self._receive(inbound, self.won, LayerChunk(depth, True, 0))
        pushes, holds = self._inflows.lose(depth)

        def step(chunk: Chunk, tally: Tally, scratch: _kernels.Scratch) -> None:
            if self._freed is not None:
                self._freed.load(self.domain, depth, chunk)
            _kernels.lose(
                self.domain.kernel,
                chunk,
                self.winner,
                self.won.kernel,
                self.open_w.kernel,
                self.open_l.kernel,
                lost.kernel,
                self.domain.canonical,
                tally,
                scratch,
                None if self._freed is None else self._freed.layer.kernel,
                pushes=pushes,
                holds=holds,
            )

        lost = self._lost(depth)
        return self._run(step, lost, LayerChunk(depth, False, 0))

    def close(self) -> None:
        if self._freed is not None:
            self._freed.close()

    def _run(self, step: Step, layer: Layer, found: LayerChunk) -> StepResult:
        """Runs a step over all chunks, and logs what it found as soon as a chunk is done."""
        marks, after = self.open_sets.marks, step_of(found)

        def job(chunk: Chunk) -> tuple[Tally, PackedChunk | None]:
            place = self._place(chunk)
            marks[place] = TORN
            tally, packed = self._run_chunk(step, layer, chunk)
            if packed is not None:
                self.log.append(found.at(chunk), (packed.streams, packed.ends))
                self.open_sets.record(found, packed)
            marks[place] = after
            return tally, packed if readers else None

        readers = self._readers(won=found.won)
        done = self._threads.map(job, self._chunks)
        counts = np.concatenate([tally for tally, _ in done])
        sent = sent_frontiers((packed for _, packed in done), readers, self.domain.empty_stream)
        return StepResult(counts.tolist(), sent)

    def _readers(self, won: bool) -> Readers:
        """The readers of a frontier: `lose` reads what is won along the loser's king's moves, `win`
        what is lost along the winner's.
        """
        return self._share.readers[self.loser if won else self.winner]

    def _place(self, chunk: Chunk) -> slice:
        """Returns the places of a chunk in the arrays, which are consecutive."""
        first = int(self._share.places[chunk[0]])
        return slice(first, first + len(chunk))

    def _run_chunk(
        self, step: Step, layer: Layer, chunk: Chunk
    ) -> tuple[Tally, PackedChunk | None]:
        """Runs a step on a chunk; returns its counts, and the positions found if there are any.

        The tally may be zero all the same: it counts one position of each mirrored pair, and with
        pawns the other one can be in another chunk.
        """
        tally = np.zeros(len(chunk), np.uint64)
        with self._scratches.lend() as scratch:
            step(chunk, tally, scratch)
        return tally, self._pack(chunk, layer) if layer.live[self._place(chunk)].any() else None

    def _pack(self, chunk: Chunk, layer: Layer) -> PackedChunk:
        streams, ends = _kernels.pack(self.domain.kernel, chunk, layer.kernel)
        return PackedChunk(chunk, bytes(streams) if any(self._share.readers) else streams, ends)

    def _receive(
        self, inbound: Sequence[PackedFrontier], layer: Layer, taken: LayerChunk | None = None
    ) -> None:
        """Copies the frontiers of other workers; positions `taken` leave the copies of open_w."""
        kernel, threads = self.domain.kernel, self._threads
        marks, places = self.open_sets.marks, self._share.places
        less = None if taken is None else self.open_w.kernel
        layer.live[places[self._share.halo]] = 0
        if taken is not None:
            for frontier in inbound:
                self.open_sets.record(taken, frontier)
                marks[places[frontier.partitions]] = TORN

        def job(items: Sequence[tuple[Partition, LayerStream]]) -> None:
            for pair, stream in items:
                sound = _kernels.restore(kernel, pair, stream, layer.kernel, less)
                assert sound, f"a frontier that does not unpack, of partition {pair}"

        came = [item for frontier in inbound for item in frontier.each()]
        threads.map(job, [came[first :: threads.count] for first in range(threads.count)])
        if taken is not None:
            for frontier in inbound:
                marks[places[frontier.partitions]] = step_of(taken)

    def _log_stalemates(self) -> None:
        if (layer := self._inflows.stalemates(self.open_w, self.open_l)) is not None:
            for chunk in self._chunks:
                packed = _kernels.pack(self.domain.kernel, chunk, layer.kernel)
                self.log.append(LayerChunk(STALEMATES, False, 0).at(chunk), packed)

    def _open(self, mover: Side, escapes: Sets, open_: Layer, chunks: Iterable[Chunk]) -> None:
        """open = legal - escapes."""

        def job(chunk: Chunk) -> None:
            with self._scratches.lend() as scratch:
                _kernels.prepare(self.domain.kernel, chunk, mover, escapes, open_.kernel, scratch)

        self._threads.map(job, chunks)

    # ---- exits that carry a depth ----

    def _open_freed_layers(self) -> FreedLayers | None:
        """Opens the layers freed(n) of the last owner; without them its open sets are invalid."""
        if (path := self.open_sets.freed_file) is not None:
            with suppress(FileNotFoundError):
                log = LogFile(path)
                if log.sound_passes():
                    return FreedLayers(self._layer(len(self._share.own)), log)
                log.close()
        self.open_sets.invalidate()
        return None

    def _make_freed_layers(self) -> FreedLayers:
        """Divides the positions that have captures, all of them won, by the deepest of these."""
        bound, freed = (self._layer(len(self._share.own)) for _ in range(2))
        self._open(self.loser, self.exits.never, bound, self._chunks)
        self._threads.map(partial(self._remove_open, bound), self._chunks)
        log = PassLog(self.log.path.with_suffix(".freed"), {"winner": self.winner})
        for depth in map(Depth, range(self.exits.last, 0, -1)):
            captured = self.exits.freeing(depth)
            if any(captured):
                step = partial(self._capture_into, captured, bound, freed)
                self._log_layer(step, freed, LayerChunk(depth, False, 0), log)
        log.commit(PassResult(Depth(self.exits.last), 0, 0, True))
        self.open_sets.freed_file = log.path
        return FreedLayers(freed, log)

    def _remove_open(self, bound: Layer, chunk: Chunk) -> None:
        """bound -= open_l: positions without a capture are open from the first."""
        size = self.domain.words
        for pair in numbers_of(chunk):
            at = int(self._share.places[pair]) * size
            part = slice(at, at + size)
            bound.words[part] &= ~self.open_l.words[part]
            _kernels.refresh(self.domain.kernel, pair, bound.kernel)

    def _capture_into(
        self,
        captured: Sets,
        bound: Layer,
        found: Layer,
        chunk: Chunk,
        tally: Tally,
        scratch: _kernels.Scratch,
    ) -> None:
        """found = captures of the loser into `captured` & bound;  bound -= found."""
        _kernels.win(
            self.domain.kernel,
            chunk,
            self.loser,
            captured,
            self._lost(0).kernel,  # nothing is lost yet, so no quiet move finds anything
            bound.kernel,
            found.kernel,
            self.domain.canonical,
            tally,
            scratch,
        )

    def _log_layer(self, step: Step, layer: Layer, found: LayerChunk, log: PassLog) -> None:
        def job(chunk: Chunk) -> None:
            _, packed = self._run_chunk(step, layer, chunk)
            if packed is not None:
                log.append(found.at(chunk), (packed.streams, packed.ends))

        self._threads.map(job, self._chunks)

    # ---- resuming ----

    def _undo_passes(self, depth: Depth) -> None:
        """Puts back the positions that passes after a depth removed, if the undo has them."""
        since, marks = step_after(depth), self.open_sets.marks
        removed = self.open_sets.removed(since)
        if removed is None:
            marks[marks > since] = TORN
            return

        def job(chunk: Chunk) -> None:
            for pair, place in zip(chunk.tolist(), self._share.places[chunk], strict=True):
                if (mark := int(marks[place])) > since:
                    marks[place] = TORN
                    self._put_back(pair, [r for r in removed.get(pair, ()) if r.step <= mark])
                    if self._freed is not None:
                        steps = range(since + 1, mark + 1)
                        self._freed.withhold(self.domain, chunk, pair, steps, self.open_l)
                    marks[place] = since

        self._threads.map(job, (*self._chunks, *self._around))

    def _put_back(self, pair: Partition, removed: Iterable[Removal]) -> None:
        for removal in removed:
            layer = self.open_w if removal.won else self.open_l
            _sound(_kernels.put_in(self.domain.kernel, pair, removal.stream, layer.kernel))

    def _torn_chunks(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Returns the chunks with a torn partition, and marks all of their partitions as torn."""
        marks = self.open_sets.marks
        torn = [chunk for chunk in chunks if (marks[self._place(chunk)] == TORN).any()]
        for chunk in torn:
            marks[self._place(chunk)] = TORN
        return torn

    def _replay(self, own: Iterable[Chunk], history: History) -> None:
        """Removes all positions that were found from the open sets of the own partitions."""

        def job(chunk: Chunk) -> None:
            if self._freed is not None:
                self._freed.release(self.domain, history.depth, chunk, self.open_l)
            self._take_out(history.layers(chunk, won=False), self.open_l)

        self._threads.map(job, own)
        self._replay_copies(own, history)

    def _replay_copies(self, chunks: Iterable[Chunk], history: History) -> None:
        """Removes the won positions from open_w; copies of other partitions have nothing else."""
        marks = self.open_sets.marks

        def job(chunk: Chunk) -> None:
            self._take_out(history.layers(chunk, won=True), self.open_w)
            marks[self._place(chunk)] = step_after(history.depth)

        self._threads.map(job, chunks)

    def _take_out(
        self, layers: Iterable[tuple[LayerChunk, dict[Partition, LayerStream]]], open_: Layer
    ) -> None:
        for _, streams in layers:
            for pair, stream in streams.items():
                _sound(_kernels.take_out(self.domain.kernel, pair, stream, open_.kernel))

    def _restore_frontiers(self, history: History) -> dict[int, PackedFrontier]:
        """Restores the last lost layers, and returns the frontiers that other workers read."""
        earlier = range(max(0, history.depth + 1 - len(self._losses)), history.depth)
        for depth in map(Depth, earlier):
            lost = self._lost(depth)
            self._threads.map(
                partial(self._restore, history, depth, lost), (*self._chunks, *self._around)
            )
        lost = self._lost(history.depth)

        def job(chunk: Chunk) -> PackedChunk | None:
            self._restore(history, history.depth, lost, chunk)
            return self._pack(chunk, lost) if readers else None

        readers = self._readers(won=False)
        restored = self._threads.map(job, self._chunks) if history.passes else ()
        return sent_frontiers(restored, readers, self.domain.empty_stream)

    def _restore(self, history: History, depth: Depth, lost: Layer, chunk: Chunk) -> None:
        for _, streams in history.layers(chunk, depth, won=False):
            for pair, stream in streams.items():
                _sound(_kernels.restore(self.domain.kernel, pair, stream, lost.kernel))


def _sound(unpacked: bool) -> None:
    assert unpacked, "a stream whose checksum held does not unpack"
