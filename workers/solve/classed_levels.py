"""Pushes where they end the phase (dtz): only the classes of the positions that they lead to count.

The classes of a level are read off its logs: pass by pass the positions found leave the set of all
that were there, and what is left at the end is drawn.

After a double step beside an enemy pawn, the mover can choose between the captures en passant and
all other moves.  If s has made the step and t is to move,

    lost    (the slot is lost, or a stalemate with a lawful capture) - captures not won for s
    won     the slot is won, or a capture is lost for s

and the class is late if the deepest of a loser's moves is, or if all of a winner's are.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kingpair.workers import _kernels
from kingpair.workers.index.slices import LevelSlice
from kingpair.workers.number_types import Depth, Side, opponent
from kingpair.workers.passlog.history import History
from kingpair.workers.passlog.log import STALEMATES
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer, Words
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.arrows import PASSING, Arrows
from kingpair.workers.solve.en_passant import DoubleSteps, Flags, RightHolders
from kingpair.workers.solve.levels import Level, alone, arrows_with
from kingpair.workers.solve.levels_below import open_all, play
from kingpair.workers.table.value import loss_in


class ByClass(NamedTuple):
    """Positions with a side to move by its result.  The late ones take longer than the 50-move
    rule allows; those that are won or lost do not.
    """

    every: Layer
    not_won: Layer
    lost: Layer
    lost_late: Layer
    won: Layer
    won_late: Layer


class PushesByClass(NamedTuple):
    """Pushes of a side into positions of a domain, and their classes for the other side."""

    kernel: _kernels.Domain
    way: int
    arrows: Arrows
    into: ByClass


def pushes_of(level: Level, side: Side, threads: Threads, limit: int) -> Iterator[PushesByClass]:
    """The pushes of a side, by the slices that they lead to."""
    if not level.domain.material.pawns[side]:
        return
    pushes = level.pushes(side)
    for lower in level.below:
        numbers = lower.numbers(level.structures)
        arrows, double = pushes.arrows(numbers)[0], pushes.with_right(numbers)
        if not len(arrows[1]) and not len(double.structure):
            continue
        below = ClassedLevel(level, lower, opponent(side), threads, limit)
        yield PushesByClass(below.kernel, level.way_to(lower), arrows, below.classes)
        if len(double.structure):
            yield _with_right(level, lower, below, double, side, threads, limit)


class ClassedLevel:
    """A slice below: its positions with one side to move, by class."""

    def __init__(
        self, level: Level, lower: LevelSlice, mover: Side, threads: Threads, limit: int
    ) -> None:
        kept, logs, own = level.structures, level.below[lower], alone(level.domain.share)
        self.numbers = lower.numbers(kept)
        self._domain = Domain(level.domain.material, own, lower.placings(kept))
        self._own, self._threads, self._limit = own, threads, limit
        self._metric, self._found = level.metric, self._empty()
        every = self._empty()
        open_all(self._domain, mover, every, threads)
        left = every.like(every.words)
        lost = self._classes(logs.get(opponent(mover)), False, left)
        won = self._classes(logs.get(mover), True, left)
        not_won = every.like(every.words & ~won[0].words & ~won[1].words)
        self.classes = ByClass(every, not_won, *lost, *won)
        self.stalemates = self._stalemates(logs.get(opponent(mover)))

    @property
    def kernel(self) -> _kernels.Domain:
        return self._domain.kernel

    def _empty(self) -> Layer:
        return Layer.empty(len(self._own.own), self._domain.kernel.rows)

    def _classes(self, history: History | None, won: bool, left: Layer) -> tuple[Layer, Layer]:
        """The positions that a winner's analysis has found, within the limit and beyond it.  They
        are taken out of `left`.
        """
        early, late = (self._found_in(history, won, late, left) for late in (False, True))
        return early, late

    def _found_in(self, history: History | None, won: bool, late: bool, left: Layer) -> Layer:
        before = left.words.copy()
        if history is None:
            return self._empty()
        for done in history.passes:
            beyond = self._metric.distance(done.depth, won) > self._limit
            if beyond == late and (done.won if won else done.lost):
                self._play(history, done.depth, won, left.kernel)
        return left.like(before & ~left.words)

    def _play(self, history: History, depth: int, won: bool, less: _kernels.Layer | None) -> None:
        at = Depth(depth)
        play(history, at, won, self._domain, self._own, self._found, less, self._threads)

    def _stalemates(self, history: History | None) -> Layer:
        """Positions in which the mover has no move and is not in check.

        They are logged, and needed, only if both sides have pawns.
        """
        self._found.live[:] = 0
        if history is not None and all(self._domain.material.pawns):
            self._play(history, STALEMATES, False, None)
        return self._found.like(self._found.dense())


def _with_right(
    level: Level,
    lower: LevelSlice,
    below: ClassedLevel,
    steps: DoubleSteps,
    side: Side,
    threads: Threads,
    limit: int,
) -> PushesByClass:
    """Double steps beside enemy pawns, into positions with the right to capture en passant."""
    material, kept = level.domain.material, level.structures
    own = alone(level.domain.share).own
    captures = level.captures(steps, lower, side, threads)
    holders = RightHolders(material, kept, steps, captures, below, own, threads)
    arrows, _ = arrows_with(steps, level)
    return PushesByClass(holders.kernel, PASSING, arrows, _classes(holders, below, limit))


def _classes(holders: RightHolders, below: ClassedLevel, limit: int) -> ByClass:
    """The classes of positions with the right, by those of their slots and of the captures."""

    def slot(source: Layer) -> Words:
        out = holders.empty()
        holders.take(source, out)
        return out.words

    def after(chosen: Flags) -> Words:
        """The positions with a lawful capture that is among those."""
        return holders.any_lawful(chosen).words

    captures, classes = holders.captures, below.classes
    every, lost_late = slot(classes.every), slot(classes.lost_late)
    stalemates = slot(below.stalemates) & after(holders.lawful)
    lost = (slot(classes.lost) | lost_late | stalemates) & ~after(captures <= 0)
    late = lost & (lost_late | after(captures > limit))
    in_time = (captures < 0) & (captures >= loss_in(limit))
    won = slot(classes.won) | (after(in_time) & every)
    won_late = slot(classes.won_late)
    won_late |= after(captures < 0) & every
    won_late &= ~won
    sets: list[Words] = [every, every & ~won & ~won_late, lost & ~late, late, won, won_late]
    return ByClass(*map(holders.empty().like, sets))
