"""One colour's analysis of one material: who wins as that colour, and in how many moves.

    L_0 = mates and forced conversions                       `lose_at_once`
    W_n = (unmove_w(L_{n-1}) | exits_w) & open_w              `win`       exits only for n = 1
    L_n = (unmove_l(W_n) & open_l) - unmove_l(open_w)         `lose`

Four bitmaps last from pass to pass: open_w and open_l, what each side may still be found to be,
and the frontiers W_n and L_n, of which only occupied rows are ever looked at.  What a pass finds
goes to the pass log the moment a chunk of partitions is done; depths are not kept here.

Memory: four bitmaps, 4 x 462 x 64^m / 8 bytes, and 3 partitions of scratch a thread.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from workers import _kernels
from workers.bits import Layer
from workers.domain import Domain
from workers.exits import Exits
from workers.geometry import PAIRS
from workers.passlog import Found, PassLog
from workers.threads import Chunk, Threads, chunks_of

Tally = NDArray[np.uint64]  # distinct positions found, per partition


class Analysis:
    """The state of one colour's analysis, and the steps that carry it on."""

    def __init__(
        self, domain: Domain, winner: int, exits: Exits, threads: Threads, log: PassLog
    ) -> None:
        self.domain, self.winner, self.exits, self.log = domain, winner, exits, log
        self._threads = threads
        self._scratches = threads.scratches(domain)
        self._chunks = chunks_of(domain.axes)
        self.open_w, self.open_l, self.won, self.lost = (
            Layer(len(PAIRS), domain.kernel.rows) for _ in range(4)
        )

    def prepare(self) -> None:
        """open_w = legal_w;  open_l = legal_l - escapes."""

        def job(chunk: Chunk) -> None:
            with self._scratches.lend() as scratch:
                _kernels.prepare(
                    self.domain.kernel,
                    chunk,
                    self.winner,
                    self.exits.not_won,
                    self.open_w.kernel,
                    self.open_l.kernel,
                    scratch,
                )

        self._threads.map(job, self._chunks)

    def lose_at_once(self) -> int:
        """L_0; how many distinct positions."""

        def step(chunk: Chunk, counts: Tally, scratch: _kernels.Scratch) -> None:
            _kernels.lose_at_once(
                self.domain.kernel,
                chunk,
                self.winner,
                self.exits.won,
                self.open_w.kernel,
                self.open_l.kernel,
                self.lost.kernel,
                self.domain.canonical,
                counts,
                scratch,
            )

        return self._step(step, False, 0)

    def win(self, depth: int) -> int:
        """W_n; how many distinct positions."""
        lost_after = self.exits.lost if depth == 1 else ()

        def step(chunk: Chunk, counts: Tally, scratch: _kernels.Scratch) -> None:
            _kernels.win(
                self.domain.kernel,
                chunk,
                self.winner,
                lost_after,
                self.lost.kernel,
                self.open_w.kernel,
                self.won.kernel,
                self.domain.canonical,
                counts,
                scratch,
            )

        return self._step(step, True, depth)

    def lose(self, depth: int) -> int:
        """L_n; how many distinct positions."""

        def step(chunk: Chunk, counts: Tally, scratch: _kernels.Scratch) -> None:
            _kernels.lose(
                self.domain.kernel,
                chunk,
                self.winner,
                self.won.kernel,
                self.open_w.kernel,
                self.open_l.kernel,
                self.lost.kernel,
                self.domain.canonical,
                counts,
                scratch,
            )

        return self._step(step, False, depth)

    def commit(self, depth: int, won: int, lost: int) -> None:
        self.log.commit(depth, won, lost)

    def _step(
        self,
        step: Callable[[Chunk, Tally, _kernels.Scratch], None],
        won: bool,
        depth: int,
    ) -> int:
        layer = self.won if won else self.lost

        def job(chunk: Chunk) -> int:
            counts = np.zeros(len(chunk), np.uint64)
            with self._scratches.lend() as scratch:
                step(chunk, counts, scratch)
            if total := int(counts.sum()):
                self.log.append(Found(depth, won, int(chunk[0])), self._pack(chunk, layer))
            return total

        return sum(self._threads.map(job, self._chunks))

    def _pack(self, chunk: Chunk, layer: Layer) -> tuple[bytes, list[int]]:
        return _kernels.pack(self.domain.kernel, chunk, layer.kernel)

    # ---- going on from a log ----

    def replay(self) -> None:
        """After `prepare`: take out all that the log found, and put back the last lost layer."""
        last = self.log.depth

        def job(chunk: Chunk) -> None:
            for found, streams in self.log.streams(chunk):
                open_ = self.open_w if found.won else self.open_l
                for pair, stream in zip(chunk, streams, strict=True):
                    sound = _kernels.take_out(self.domain.kernel, int(pair), stream, open_.kernel)
                    if found.depth == last and not found.won:
                        sound &= _kernels.restore(
                            self.domain.kernel, int(pair), stream, self.lost.kernel
                        )
                    assert sound, "a stream whose checksum held does not unpack"
            for pair in chunk:
                _kernels.refresh(self.domain.kernel, int(pair), self.open_w.kernel)
                _kernels.refresh(self.domain.kernel, int(pair), self.open_l.kernel)

        self._threads.map(job, self._chunks)
