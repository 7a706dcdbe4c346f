"""Positions of a slice in which the loser has no move: mates and stalemates."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.number_types import Side
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer, zeros
from kingpair.workers.sets.recycled import empty_layer
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.inflows import Inflow


class Helpless(NamedTuple):
    """Positions of the loser without a move; `holds` are his pushes."""

    domain: Domain
    winner: Side
    holds: Sequence[Inflow]
    threads: Threads

    def stalemates(self, open_w: Layer, open_l: Layer) -> Layer:
        """Those in which he is not in check: with the winner to move each is a position, too."""
        domain = self.domain
        own, rows = len(domain.share.own), domain.kernel.rows
        bound, every, helpless, found = (empty_layer(own, rows) for _ in range(4))
        bound.words[:], every.words[:] = open_l.words, ~np.uint64(0)
        bound.mark()
        every.mark()
        scratches = self.threads.scratches(domain)

        def job(chunk: Chunk) -> None:
            counts = zeros(len(chunk), np.uint64)
            with scratches.lend() as scratch:
                _kernels.lose_at_once(
                    domain.kernel,
                    chunk,
                    self.winner,
                    (),
                    open_w.kernel,
                    bound.kernel,
                    helpless.kernel,
                    domain.canonical,
                    counts,
                    scratch,
                    holds=self.holds,
                    forced=every.kernel,
                )

        self.threads.map(job, domain.index.chunks(domain.share.own))
        found.words[:] = helpless.dense() & open_w.words[: found.words.size]
        found.mark()
        return found
