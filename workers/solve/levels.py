"""Levels of materials with pawns: what flows into their passes beside moves of kings and pieces.

A push leads to a structure of a lower level, always.  So all structures of a level are one domain,
solved to its end before the next level begins, and a push is a move into a domain whose passes are
played back beside our own:

    W_n = (unmove_w(L_{n-1}) | unpush_w(L'_{n-1}) | winning(n)) & open_w
    L_n = ((unmove_l(W_n) | unpush_l(W'_n) | freed(n)) & open_l)
          - unmove_l(open_w) - unpush_l(open_w')

where L', W' and open_w' are those of the levels that pushes lead to: one below for a single step,
two below for a double step; where an enemy pawn can capture en passant, en_passant.py says what
they are.  Conversions (conversions.py) are known before the first pass.  The passes are those of
every analysis (analysis.py), to which a level lends its inflows.

Memory: a level of five men takes at most 7 MiB a set; four sets for the level, three for each of
the two below it, and six for its conversions.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.share import Share
from kingpair.workers.index.structures import Structures, structures
from kingpair.workers.number_types import SIDES, Depth, Partition, Side, opponent
from kingpair.workers.passlog.history import History
from kingpair.workers.passlog.log import split
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer, zeros
from kingpair.workers.sets.recycled import empty_layer
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.arrows import PASSING, PLAIN, Arrows, arrows_from
from kingpair.workers.solve.conversions import Conversions, Find, conversions
from kingpair.workers.solve.en_passant import DoubleSteps, WithRight
from kingpair.workers.solve.exits import Sets
from kingpair.workers.solve.inflows import Inflow
from kingpair.workers.solve.levels_below import LevelBelow, arrows_of, with_right

Histories = Mapping[Side, History]  # by winner


class Level(NamedTuple):
    """A level at a worker: its domain, the tables that its conversions lead to, and the passes of
    the two levels below it, by the number of steps to them.
    """

    domain: Domain
    number: int
    metric: Metric
    find: Find
    below: Mapping[int, Histories]

    def conversions(self, threads: Threads) -> tuple[Conversions, Conversions]:
        return conversions(self.domain, self.metric, self.find, threads)

    @property
    def structures(self) -> Structures:
        return structures(*self.domain.material.pawns)


class LevelInflows:
    """The pushes and conversions that flow into the passes of a winner's analysis."""

    def __init__(
        self, level: Level, winner: Side, made: tuple[Conversions, Conversions], threads: Threads
    ) -> None:
        self._domain, self._winner, self._loser = level.domain, winner, opponent(winner)
        self._threads = threads
        self._wins, self._loses = made[winner], made[self._loser]
        kept, number, material = level.structures, level.number, level.domain.material
        own = alone(level.domain.share)
        self._first, self._count = kept.bounds(number)[0], len(level.domain.placings or ())
        self._arrows = {side: _pushes_of(kept, side, number) for side in SIDES}
        doubles = {side: with_right(kept, side, number) for side in SIDES if 2 in level.below}
        doubles = {side: steps for side, steps in doubles.items() if len(steps.structure)}
        # Double steps lead two levels down, but most levels of few pawns have none.
        wanted = {steps for arrows in self._arrows.values() for steps in arrows}
        self._below = {
            steps: LevelBelow(number - steps, own, kept, material, winner, logs[winner], threads)
            for steps, logs in level.below.items()
            if steps in wanted or (steps == 2 and doubles)
        }
        self._rights: dict[int, tuple[WithRight, DoubleSteps]] = {}
        for side, steps in doubles.items():
            below = self._below[2]
            right = WithRight(
                material, kept, steps, side, below, level.metric, level.find, own.own, threads
            )
            self._rights[side] = right, steps
        if self._loser in self._rights:
            self._rights[self._loser][0].begin()

    @property
    def last(self) -> int:
        """No pass before this depth is the last: a conversion or a push may lead to a position that
        is decided in the pass before.
        """
        lasts = [self._wins.last, self._loses.last]
        lasts += [below.last for below in self._below.values()]
        return 1 + max(lasts + [right.last for right, _ in self._rights.values()])

    def close(self, open_l: Layer) -> None:
        """open_l -= escapes."""
        open_l.words &= ~self._loses.escapes.words
        open_l.mark()

    def play(self, depth: Depth) -> None:
        """Brings the levels below to where they are after the pass of a depth."""
        for each in range(1, depth + 1):
            self._play_lost(Depth(each - 1))
            self._play_won(Depth(each))

    # ---- the steps ----

    def at_once(self) -> tuple[list[Inflow], Layer | None]:
        return self._holds(), self._loses.forced

    def win(self, depth: Depth) -> tuple[list[Inflow], Layer | None]:
        self._play_lost(Depth(depth - 1))
        pushes = [
            (below.kernel, below.lost.kernel, way, 0, *by_source)
            for below, way, by_source, _ in self._pushes(self._winner)
        ]
        return pushes, self._wins.winning(depth)

    def lose(self, depth: Depth) -> tuple[list[Inflow], list[Inflow]]:
        self._play_won(depth)
        pushes = [
            (below.kernel, below.won.kernel, way, 0, *by_source)
            for below, way, by_source, _ in self._pushes(self._loser)
        ]
        return pushes, self._holds()

    @property
    def freed(self) -> "FreedByConversions | None":
        return FreedByConversions(self._domain, self._loses) if self._loses.frees else None

    def _play_lost(self, depth: Depth) -> None:
        for below in self._below.values():
            below.play_lost(depth)
        if self._winner in self._rights:
            self._rights[self._winner][0].play_lost(depth)

    def _play_won(self, depth: Depth) -> None:
        for below in self._below.values():
            below.play_won(depth)
        if self._loser in self._rights:
            self._rights[self._loser][0].play_won(depth)

    # ---- pushes ----

    def _pushes(self, side: Side) -> list[tuple[LevelBelow | WithRight, int, Arrows, Arrows]]:
        """The levels that pushes of a side lead to; the arrows by structure entered and left."""
        found: list[tuple[LevelBelow | WithRight, int, Arrows, Arrows]] = [
            (self._below[steps], PLAIN if steps == 1 else PASSING, *arrows)
            for steps, arrows in self._arrows[side].items()
        ]
        if side in self._rights:
            right, steps = self._rights[side]
            rows, left = np.arange(len(steps.structure)), steps.structure - self._first
            by_row = arrows_from(len(rows), rows, left, steps.passed)
            by_left = arrows_from(self._count, left, rows, steps.passed)
            found.append((right, PASSING, by_row, by_left))
        return found

    def _holds(self) -> list[Inflow]:
        """Pushes of the loser into positions not yet won: they keep a position from being lost."""
        return [
            (below.kernel, below.open_w.kernel, way, 0, *by_left)
            for below, way, _, by_left in self._pushes(self._loser)
        ]

    def stalemates(self, open_w: Layer, open_l: Layer) -> Layer | None:
        if not all(self._domain.material.pawns):
            return None
        helpless = Helpless(self._domain, self._winner, self._holds(), self._threads)
        found = helpless.stalemates(open_w, open_l)
        if self._loses.forced is not None:
            found.words &= ~self._loses.forced.words
            found.mark()
        return found


def _pushes_of(kept: Structures, side: Side, level: int) -> dict[int, tuple[Arrows, Arrows]]:
    """The arrows of single and double steps, of those that a level has."""
    every = arrows_of(kept, side, level)
    return {steps: arrows for steps, arrows in every.items() if len(arrows[0][1])}


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


class FreedByConversions:
    """The layers freed(n) of a level, which its conversions hold."""

    def __init__(self, domain: Domain, loses: Conversions) -> None:
        self._loses = loses
        self.layer = empty_layer(len(domain.share.own), domain.kernel.rows)

    def load(self, domain: Domain, depth: Depth, chunk: Chunk) -> None:
        """Makes the layer that of a depth, for the partitions of a chunk."""
        self.layer.live[domain.share.places[chunk]] = 0
        if (packed := self._loses.freed(depth, int(chunk[0]))) is not None:
            streams, ends = packed
            layer = self.layer.kernel
            sound = _kernels.restore_all(domain.kernel, chunk, streams, ends.tolist(), layer)
            assert sound, "a layer that does not unpack"

    def release(self, domain: Domain, last: Depth, chunk: Chunk, open_l: Layer) -> None:
        """Puts all that is freed up to a depth into the open set."""
        for depth in range(1, last + 1):
            if (packed := self._loses.freed(depth, int(chunk[0]))) is not None:
                streams = split(packed[0], packed[1].tolist())
                for pair, stream in zip(chunk.tolist(), streams, strict=True):
                    sound = _kernels.put_in(domain.kernel, pair, stream, open_l.kernel)
                    assert sound, "a layer that does not unpack"

    def withhold(
        self, domain: Domain, chunk: Chunk, pair: Partition, steps: range, open_l: Layer
    ) -> None:
        raise AssertionError("the open sets of a level are not taken over")

    def close(self) -> None:
        """Closes nothing: the layers are in memory."""


class NoCaptures:
    """The exits of a level as sets by captive: none, its conversions are inflows."""

    last = 0
    escapes: Sets = ()
    never: Sets = ()
    forced: Sets = ()

    def winning(self, depth: Depth) -> Sets:
        return ()

    def freeing(self, depth: Depth) -> Sets:
        return ()


def alone(share: Share) -> Share:
    """A share without copies of what others own."""
    return Share(share.kings, share.owners, share.number, has_halo=False)
