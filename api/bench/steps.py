"""The steps of an analysis against the copy bandwidth, on real states.

A dense state is that of pass 2, a sparse one that of pass 20: of KRBvKR seven rows in eight are
then occupied, and one in twenty.  The bytes touched are counted from the sets before and after a
step, and are those that it cannot do without:

    frontier   its occupied units, once for the partition and once for every king's step out of it
    found      a unit read and written where it was open, and written where it was found
    verified   the units that prove a loss: those of the partition and of its neighbours
    marks      a byte per row of each set

What stays in the cache, and candidates for a loss that some move refutes, are not counted.  So a
share is a lower limit, and small where a step has much to compute and little to read.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from itertools import count
from time import process_time

import numpy as np
from numpy.typing import NDArray

from kingpair.api.bench.bandwidth import Rate, best_of
from kingpair.api.bench.streams import StreamKernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import STRONGER, Depth, Side, opponent
from kingpair.workers.passlog.log import Buffer, LayerChunk, PassResult
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.analysis import Analysis, Step
from kingpair.workers.solve.exit_columns import Tables
from kingpair.workers.solve.exits import exits_of
from kingpair.workers.solve.frontiers import StepResult
from kingpair.workers.table.key import TableKey

SUBJECT = Material.parse("KRBvKR")
KING_ALONE = Material.parse("KBBNvK")
"""Here the loser's un-moves are a king's and nothing else."""

DENSE, SPARSE = 2, 20
STATES = {DENSE: "dense", SPARSE: "sparse"}
UNIT = 64  # bytes

Units = NDArray[np.int64]  # occupied ones, by partition


# ---- an analysis without its log ----


class NoLog(PassLog):
    """A pass log that keeps nothing."""

    def __init__(self) -> None:
        self.passes: list[PassResult] = []

    def append(self, found: LayerChunk, packed: tuple[Buffer, list[int]]) -> None:
        pass

    def commit(self, done: PassResult, seconds: float = 0.0) -> "Future[str]":
        self.passes.append(done)
        durable = Future[str]()
        durable.set_result("")
        return durable

    def close(self) -> None:
        pass


class Unlogged(Analysis):
    """An analysis that neither packs nor logs what it finds."""

    def _run(self, step: Step, layer: Layer, found: LayerChunk) -> StepResult:
        def job(chunk: Chunk) -> NDArray[np.uint64]:
            tally = np.zeros(len(chunk), np.uint64)
            with self._scratches.lend() as scratch:
                step(chunk, tally, scratch)
            return tally

        counts = np.concatenate(self._threads.map(job, self._chunks))
        return StepResult(counts.tolist(), {})


def solve(analysis: Analysis) -> float:
    """Runs an analysis to its end.  Returns the processor time of `win` and `lose` in all passes,
    that of other threads included.
    """
    analysis.prepare()
    won, lost, taken = 0, analysis.lose_at_once().total, 0.0
    analysis.log.commit(PassResult(Depth(0), won, lost, False))
    for depth in map(Depth, count(1)):
        start = process_time()
        won, lost = analysis.win(depth).total, analysis.lose(depth).total
        taken += process_time() - start
        over = depth >= analysis.last_exit and not lost
        durable = analysis.log.commit(PassResult(depth, won, lost, over))
        if over:
            break
    durable.result()
    analysis.close()
    return taken


class Snapshot:
    """The sets of an analysis as they were, so that a step can be run on them again."""

    def __init__(self, analysis: Analysis) -> None:
        layers = (analysis.open_w, analysis.open_l, analysis.won, analysis.lost)
        arrays = [a for layer in layers for a in (layer.words, layer.occupied, layer.live)]
        self._kept = [(array, array.copy()) for array in arrays]

    def restore(self) -> None:
        for array, kept in self._kept:
            np.copyto(array, kept)


# ---- the bytes that a step cannot do without ----


def units(layer: Layer) -> Units:
    marks = np.bitwise_count(layer.occupied).reshape(len(TURNED), -1)
    found: Units = marks.sum(axis=1, dtype=np.int64)
    return found


def size(found: Units) -> int:
    return UNIT * int(found.sum())


def _read(analysis: Analysis, side: Side, wanted: Units) -> int:
    """The bytes read to un-move a side, or to find its moves: both read the same partitions."""
    steps = np.count_nonzero(TURNED.arrays[1][side, :, :, 0] >= 0, axis=1)
    return size(wanted * (steps + (side in analysis.domain.material.sides)))


def _settled(found: Layer) -> int:
    return 3 * size(units(found)) + 3 * found.occupied.nbytes


def _touched_by_prepare(a: Analysis) -> int:
    smaller = sum(marked[0].nbytes for marked in a.exits.escapes if marked is not None)
    return smaller + a.open_w.words.nbytes + a.open_l.words.nbytes


def _touched_at_once(a: Analysis, open_w: Units, open_l: Units) -> int:
    looked_at = size(open_w) + size(open_l)
    return looked_at + _read(a, opponent(a.winner), units(a.lost)) + _settled(a.lost)


def _touched_by_win(a: Analysis, frontier: Units) -> int:
    return _read(a, a.winner, frontier) + _settled(a.won)


def _touched_by_lose(a: Analysis, frontier: Units) -> int:
    return _read(a, opponent(a.winner), frontier + units(a.lost)) + _settled(a.lost)


# ---- the steps, timed ----


class Steps:
    """The steps of one analysis, each run a few times on the state it meets."""

    def __init__(self, material: Material, tables: Tables, threads: Threads, repeats: int) -> None:
        exits = exits_of(TableKey(material, Metric.DTC), tables, threads)[STRONGER]
        self.analysis = Unlogged(domain_of(material), STRONGER, exits, threads, NoLog())
        self.threads, self.repeats = threads, repeats

    def all_kernels(self) -> Iterator[Rate]:
        """Measures all kernels in the order in which they run."""
        yield self._prepare()
        yield self._lose_at_once()
        for depth in map(Depth, range(1, SPARSE + 1)):
            if depth not in STATES:
                self.analysis.win(depth)
                self.analysis.lose(depth)
                continue
            yield self._win(depth)
            yield from StreamKernels(self.analysis, self.threads, self.repeats).rates(STATES[depth])
            yield self._lose(depth)

    def king_alone(self) -> Iterator[Rate]:
        self._prepare()
        self._lose_at_once()
        for depth in map(Depth, range(1, DENSE)):
            self.analysis.win(depth)
            self.analysis.lose(depth)
        self.analysis.win(Depth(DENSE))
        yield self._lose(Depth(DENSE))._replace(kernel="lose, king alone")

    def _prepare(self) -> Rate:
        a = self.analysis
        seconds = best_of(self.repeats, a.prepare, a.open_sets.invalidate)
        return self._rate("prepare", Depth(0), _touched_by_prepare(self.analysis), seconds)

    def _lose_at_once(self) -> Rate:
        a = self.analysis
        opened = units(a.open_w), units(a.open_l)
        seconds = best_of(self.repeats, a.lose_at_once, Snapshot(a).restore)
        return self._rate("lose_at_once", Depth(0), _touched_at_once(a, *opened), seconds)

    def _win(self, depth: Depth) -> Rate:
        a, frontier = self.analysis, units(self.analysis.lost)
        seconds = best_of(self.repeats, lambda: a.win(depth), Snapshot(a).restore)
        return self._rate("win", depth, _touched_by_win(a, frontier), seconds)

    def _lose(self, depth: Depth) -> Rate:
        a, frontier = self.analysis, units(self.analysis.won)
        seconds = best_of(self.repeats, lambda: a.lose(depth), Snapshot(a).restore)
        return self._rate("lose", depth, _touched_by_lose(a, frontier), seconds)

    def _rate(self, kernel: str, depth: Depth, touched: int, seconds: float) -> Rate:
        return Rate(kernel, STATES.get(depth, "dense"), self.threads.count, touched, seconds)
