"""Slices of materials with pawns: what flows into their passes beside moves of kings and pieces.

A push leads to a structure of a lower level, always.  So a level, or some structures of it, is one
domain, solved to its end before the slices begin whose pushes lead into it, and a push is a move
into a domain whose passes are played back beside our own:

    W_n = (unmove_w(L_{n-1}) | unpush_w(L'_{n-1}) | winning(n)) & open_w
    L_n = ((unmove_l(W_n) | unpush_l(W'_n) | freed(n)) & open_l)
          - unmove_l(open_w) - unpush_l(open_w')

where L', W' and open_w' are those of the slices that pushes lead to: a level below for a single
step, two below for a double step; where an enemy pawn can capture en passant, en_passant.py says
what they are.  Conversions (conversions.py) are known before the first pass.  The passes are those
of every analysis (analysis.py), to which a slice lends its inflows.

Memory: a level of five men takes at most 7 MiB a set; four sets for the slice, three for each of
those below it, and six for its conversions.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.share import Share
from kingpair.workers.index.slices import LevelSlice
from kingpair.workers.index.structures import Structures, structures
from kingpair.workers.number_types import SIDES, Depth, Partition, Side, opponent
from kingpair.workers.passlog.history import History
from kingpair.workers.passlog.log import split
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.recycled import empty_layer
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.arrows import PASSING, PLAIN, Arrows, arrows_from
from kingpair.workers.solve.conversions import Conversions, Find, conversions
from kingpair.workers.solve.en_passant import (
    CaptureValues,
    DoubleSteps,
    WithRight,
    captures_after,
)
from kingpair.workers.solve.exits import Sets
from kingpair.workers.solve.helpless import Helpless
from kingpair.workers.solve.inflows import Inflow
from kingpair.workers.solve.levels_below import LevelBelow, SlicePushes

Histories = Mapping[Side, History]  # by winner


class Level(NamedTuple):
    """A level or another slice at a worker: its domain, the tables that its conversions lead to,
    and the passes of the slices below it.
    """

    domain: Domain
    slice: LevelSlice
    metric: Metric
    find: Find
    below: Mapping[LevelSlice, Histories]
    captures_read: dict[tuple[LevelSlice, Side], CaptureValues]

    def conversions(self, threads: Threads) -> tuple[Conversions, Conversions]:
        return conversions(self.domain, self.metric, self.find, threads)

    @property
    def structures(self) -> Structures:
        return structures(*self.domain.material.pawns)

    def pushes(self, side: Side) -> SlicePushes:
        return SlicePushes.of(self.structures, side, self.slice.numbers(self.structures))

    def captures(
        self, steps: DoubleSteps, lower: LevelSlice, side: Side, threads: Threads
    ) -> CaptureValues:
        """The values of the captures en passant after double steps of a side into a slice below.
        The analyses of both winners share them.
        """
        key, of = (lower, side), (self.domain.material, self.structures)
        if key not in self.captures_read:
            self.captures_read[key] = captures_after(*of, steps, side, self.find, threads)
        return self.captures_read[key]

    def way_to(self, lower: LevelSlice) -> int:
        """How pushes lead to a slice below: past a square or not."""
        return PLAIN if self.slice.level - lower.level == 1 else PASSING


class PushesInto(NamedTuple):
    """Pushes of a side into a domain, and the arrows by structure entered and by structure left."""

    below: LevelBelow | WithRight
    way: int
    by_entered: Arrows
    by_left: Arrows


class LevelInflows:
    """The pushes and conversions that flow into the passes of a winner's analysis."""

    def __init__(
        self, level: Level, winner: Side, made: tuple[Conversions, Conversions], threads: Threads
    ) -> None:
        self._domain, self._winner, self._loser = level.domain, winner, opponent(winner)
        self._threads = threads
        self._wins, self._loses = made[winner], made[self._loser]
        self._pushes: dict[Side, list[PushesInto]] = {side: [] for side in SIDES}
        self._below: list[LevelBelow] = []
        self._rights: dict[Side, list[WithRight]] = {side: [] for side in SIDES}
        pushes = {side: level.pushes(side) for side in SIDES}
        for lower, logs in level.below.items():
            self._reach(level, lower, logs[winner], pushes)
        for right in self._rights[self._loser]:
            right.begin()

    def _reach(
        self, level: Level, lower: LevelSlice, history: History, pushes: Mapping[Side, SlicePushes]
    ) -> None:
        """Takes in a slice below, if any pushes lead there."""
        kept, material = level.structures, level.domain.material
        numbers, own = lower.numbers(kept), alone(level.domain.share)
        arrows = {side: pushes[side].arrows(numbers) for side in SIDES}
        doubles = {side: pushes[side].with_right(numbers) for side in SIDES}
        if not any(len(arrows[side][0][1]) or len(doubles[side].structure) for side in SIDES):
            return  # double steps lead two levels down, but most levels of few pawns have none
        below = LevelBelow(lower, own, kept, material, self._winner, history, self._threads)
        self._below.append(below)
        for side in SIDES:
            if len(arrows[side][0][1]):
                into = PushesInto(below, level.way_to(lower), *arrows[side])
                self._pushes[side].append(into)
            if len((steps := doubles[side]).structure):
                captures = level.captures(steps, lower, side, self._threads)
                right = WithRight(
                    *(material, kept, steps, captures, below),
                    *(level.metric, own.own, self._threads),
                )
                self._rights[side].append(right)
                self._pushes[side].append(PushesInto(right, PASSING, *arrows_with(steps, level)))

    @property
    def last(self) -> int:
        """No pass before this depth is the last: a conversion or a push may lead to a position that
        is decided in the pass before.
        """
        lasts = [self._wins.last, self._loses.last]
        lasts += [below.last for below in self._below]
        return 1 + max(lasts + [right.last for side in SIDES for right in self._rights[side]])

    def close(self, open_l: Layer) -> None:
        """open_l -= escapes."""
        open_l.take_out(self._loses.escapes.words)
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
            (below.kernel, below.lost.kernel, way, 0, *by_entered)
            for below, way, by_entered, _ in self._pushes[self._winner]
        ]
        return pushes, self._wins.winning(depth)

    def lose(self, depth: Depth) -> tuple[list[Inflow], list[Inflow]]:
        self._play_won(depth)
        pushes = [
            (below.kernel, below.won.kernel, way, 0, *by_entered)
            for below, way, by_entered, _ in self._pushes[self._loser]
        ]
        return pushes, self._holds()

    @property
    def freed(self) -> "FreedByConversions | None":
        return FreedByConversions(self._domain, self._loses) if self._loses.frees else None

    def _play_lost(self, depth: Depth) -> None:
        for below in self._below:
            below.play_lost(depth)
        for right in self._rights[self._winner]:
            right.play_lost(depth)

    def _play_won(self, depth: Depth) -> None:
        for below in self._below:
            below.play_won(depth)
        for right in self._rights[self._loser]:
            right.play_won(depth)

    # ---- pushes ----

    def _holds(self) -> list[Inflow]:
        """Pushes of the loser into positions not yet won: they keep a position from being lost."""
        return [
            (below.kernel, below.open_w.kernel, way, 0, *by_left)
            for below, way, _, by_left in self._pushes[self._loser]
        ]

    def stalemates(self, open_w: Layer, open_l: Layer) -> Layer | None:
        if not all(self._domain.material.pawns):
            return None
        helpless = Helpless(self._domain, self._winner, self._holds(), self._threads)
        found = helpless.stalemates(open_w, open_l)
        if self._loses.forced is not None:
            found.take_out(self._loses.forced.words)
            found.mark()
        return found


def arrows_with(steps: DoubleSteps, level: Level) -> tuple[Arrows, Arrows]:
    """The arrows of double steps after which a pawn can be captured en passant: each enters a row
    of its own.
    """
    own = level.slice.numbers(level.structures)
    rows, left = np.arange(len(steps.structure)), steps.structure - own.start
    return (
        arrows_from(len(rows), rows, left, steps.passed),
        arrows_from(len(own), left, rows, steps.passed),
    )


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
