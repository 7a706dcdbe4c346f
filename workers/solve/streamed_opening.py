"""The open sets of an analysis that goes walk by walk, as the last pass of a history left them.

    open_w = legal_w - W_{<=n}               of own partitions, and of the copies that `lose` reads
    open_l = legal_l - escapes - L_{<=n}     and what was freed up to pass n

They are made again from legality, the exits and the logs: the files of an analysis that died are
gone with it.
"""

from collections.abc import Callable, Iterator

from kingpair.workers import _kernels
from kingpair.workers.number_types import Partition, Side, opponent
from kingpair.workers.passlog.history import History
from kingpair.workers.passlog.log import LayerStream
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.threads import Chunk, Pool, Threads
from kingpair.workers.solve.exits import Sets
from kingpair.workers.solve.streamed_freed import StreamedFreedLayers
from kingpair.workers.solve.walked_exits import ExitsByWalk
from kingpair.workers.solve.walked_sets import SetsByWalk, WalkedSet
from kingpair.workers.solve.walks import Walk


class StreamedOpening:
    """Opens the sets of a winner's analysis, walk by walk."""

    def __init__(
        self,
        domain: Domain,
        winner: Side,
        sets: SetsByWalk,
        scratches: Pool[_kernels.Scratch],
        threads: Threads,
        history: History,
    ) -> None:
        self._domain, self._winner, self._loser = domain, winner, opponent(winner)
        self._sets, self._scratches, self._threads = sets, scratches, threads
        self._history = history

    def open(self, exits: ExitsByWalk) -> None:
        """Makes the open sets as they are before the first pass, but the copies as they are now."""
        for walk in self._sets.walks[self._winner]:
            self._open(self._winner, walk, ())
        for walk in self._sets.walks[self._loser]:
            self._open_copies(walk)
            self._open(self._loser, walk, exits.of_loser(walk.held).escapes)

    def replay(self, freed: StreamedFreedLayers | None) -> None:
        """Takes what was found in earlier passes out of the own partitions."""
        for mover in (self._winner, self._loser):
            for walk in self._sets.walks[mover]:
                self._replay(mover, walk, freed if mover == self._loser else None)

    def _open(self, mover: Side, walk: Walk, escapes: Sets) -> None:
        """open = legal - escapes, which the loser alone has."""
        open_ = self._set(mover)

        def prepare(piece: Chunk) -> None:
            self._prepare(mover, walk, piece, escapes)

        self._change(open_, walk, prepare, reads=False)

    def _open_copies(self, walk: Walk) -> None:
        """Of other workers' partitions nothing but what is won leaves open_w."""

        def copy(piece: Chunk) -> None:
            self._prepare(self._winner, walk, piece, ())
            self._take_out(walk, self._found(piece, won=True), self._sets.open_w)

        self._change(self._sets.open_w, walk.of_copies(), copy, reads=False)

    def _replay(self, mover: Side, walk: Walk, freed: StreamedFreedLayers | None) -> None:
        open_, won = self._set(mover), mover == self._winner

        def replay(piece: Chunk) -> None:
            if freed is not None:
                freed.release(self._history.depth, walk, piece, open_.layer)
            self._take_out(walk, self._found(piece, won), open_)

        self._change(open_, walk, replay, reads=True)

    def _set(self, mover: Side) -> WalkedSet:
        """The open set of the positions with a side to move."""
        return self._sets.open_w if mover == self._winner else self._sets.open_l

    def _prepare(self, mover: Side, walk: Walk, piece: Chunk, escapes: Sets) -> None:
        layer = self._set(mover).layer.kernel
        with self._scratches.lend() as scratch:
            _kernels.prepare(walk.kernel, piece, mover, escapes, layer, scratch)

    def _found(self, piece: Chunk, won: bool) -> Iterator[tuple[Partition, LayerStream]]:
        for _, streams in self._history.layers(piece, won=won):
            yield from streams.items()

    @staticmethod
    def _take_out(
        walk: Walk, found: Iterator[tuple[Partition, LayerStream]], open_: WalkedSet
    ) -> None:
        for partition, stream in found:
            _kernels.take_out(walk.kernel, partition, stream, open_.layer.kernel)

    def _change(
        self, open_: WalkedSet, walk: Walk, job: Callable[[Chunk], None], reads: bool
    ) -> None:
        """Changes all pieces of a walk of an open set."""

        def change(piece: Chunk) -> None:
            with take(piece) as taken:
                job(piece)
                taken.changed = True

        with open_.pieces(walk, reads=reads) as take:
            self._threads.map(change, walk.pieces)
