"""Exits: captures into the smaller tables, as sets over the partitions of the larger one.

When a man of side s is taken, it is s that moves next, in the smaller material.  So of each
smaller table one column matters, that of s to move.  It is brought into the frame of the larger
material: its king pairs, its order of men, all slots and not only canonical ones.  What an analysis
asks of it are sets of smaller positions; captures into them are what counts for the larger:

    escapes       captures that keep a position of the loser from being lost, to begin with
    freeing(n)    those that stop doing so at depth n, for they were found won
    never         those that never do: not won at all
    forced        captures that lose at once, if the loser has nothing else
    winning(n)    captures that win in n

A conversion ends the phase, so for dtc an exit has depth 1 or none: escapes are the smaller
positions not won, and nothing is ever freed.  For dtm an exit carries its depth.  For dtz an exit
has depth 1, or 101 if the 50-move rule does not let the smaller position be won.

Here n is a pass.  Where plies are counted, pass n finds what is won in n - 1 plies and what is lost
in n (analysis.py).

A capture leads to the same kings, or a king that takes moves.  So one of several workers reads of
the smaller tables its own partitions and those that a king can enter from them.

Cost: the smaller column is read once, a byte for each of its 462 x 64^(m-1) slots, a partition at
a time.  For dtc three sets are read off it on the way, for dtz six, and it is kept nowhere; for dtm
it is kept, and the set of a depth is read off it when it is asked for.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import CLOCK_LIMIT
from kingpair.workers.number_types import SIDES, Depth
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.capture_sets import ClassSets, DepthSets, OutcomeSets, PositionSet
from kingpair.workers.solve.exit_columns import CaptureSets, ExitColumn, Tables, read_column
from kingpair.workers.table.key import TableKey

Sets = tuple[PositionSet | None, ...]  # one for each man of the larger material, if it can be taken


class Exits(Protocol):
    """The sets that an analysis reads; see the top of this file.  No exit is deeper than `last`."""

    last: int
    escapes: Sets
    never: Sets
    forced: Sets

    def winning(self, depth: Depth) -> Sets: ...
    def freeing(self, depth: Depth) -> Sets: ...


Kind = TypeVar("Kind", bound=CaptureSets)
Make = Callable[[Domain, np.dtype[Any] | None], Kind]  # from a smaller domain and its values' type
ByMan = list[Kind | None]  # one for each man of the larger material, None if not of the side


def exits_of(
    key: TableKey,
    tables: Tables,
    threads: Threads,
    limit: int = CLOCK_LIMIT,
    partitions: Chunk | None = None,
) -> tuple[Exits, Exits]:
    """Returns the exits for the analysis of each winner: stronger, weaker.  `limit` is that of the
    50-move rule in plies.  If partitions are named, only those of them.
    """

    def read(make: Make[Kind]) -> list[Kind]:
        return _capture_sets(key, make, tables, threads, partitions)

    if key.metric.exits_carry_class:
        by_class = read(partial(ClassSets, limit))
        return _both(key.material, by_class, partial(ZeroingExits, limit))
    if key.metric.exits_carry_depth:
        return _both(key.material, read(DepthSets), MateExits)
    return _both(key.material, read(OutcomeSets), ConversionExits)


def _both(
    material: Material,
    by_man: list[Kind],
    make: Callable[[ByMan[Kind], ByMan[Kind]], Exits],
) -> tuple[Exits, Exits]:
    first, second = (
        [c if of == side else None for c, of in zip(by_man, material.sides, strict=True)]
        for side in SIDES
    )
    return make(first, second), make(second, first)


def _capture_sets(
    key: TableKey,
    make: Make[Kind],
    tables: Tables,
    threads: Threads,
    partitions: Chunk | None,
) -> list[Kind]:
    """Returns for each man the sets of the table without him; like men share theirs."""
    loaded: dict[tuple[Material, bool, int], Kind] = {}
    by_man = []
    for capture in key.material.captures():
        taken = (capture.material, capture.swapped, key.material.sides[capture.captive])
        if taken not in loaded:
            column = ExitColumn(key, capture, tables)
            loaded[taken] = make(column.domain, column.dtype)
            read_column(column, loaded[taken], threads, partitions)
        by_man.append(loaded[taken])
    return by_man


# ---- exits by metric ----


def _each(by_man: ByMan[Kind], read: Callable[[Kind], PositionSet | None]) -> Sets:
    return tuple(None if sets is None else read(sets) for sets in by_man)


class ConversionExits:
    """For dtc: every exit has depth 1, nothing is freed."""

    last = 1

    def __init__(self, own: ByMan[OutcomeSets], other: ByMan[OutcomeSets]) -> None:
        self.escapes = _each(own, lambda sets: sets.not_won)
        self.never: Sets = ()
        self.forced = _each(own, lambda sets: sets.won)
        self._winning = _each(other, lambda sets: sets.lost)

    def winning(self, depth: Depth) -> Sets:
        return self._winning if depth == 1 else ()

    def freeing(self, depth: Depth) -> Sets:
        return ()


class MateExits:
    """For dtm: a capture into a position lost in n wins in n + 1; one won in n is freed at n."""

    def __init__(self, own: ByMan[DepthSets], other: ByMan[DepthSets]) -> None:
        self._own, self._other = own, other
        self.escapes = _each(own, lambda sets: sets.all)
        self.never = _each(own, lambda sets: sets.not_won)
        self.forced: Sets = ()
        wins, losses = (c.deepest(-1) for c in other if c), (c.deepest(1) for c in own if c)
        self.last = max((1, *wins, *losses))

    def winning(self, depth: Depth) -> Sets:
        return _each(self._other, lambda sets: sets.equal(-depth))

    def freeing(self, depth: Depth) -> Sets:
        return _each(self._own, lambda sets: sets.equal(depth))


class ZeroingExits:
    """For dtz: a capture wins in 1 ply or in `limit` + 1, and loses in as many."""

    def __init__(self, limit: int, own: ByMan[ClassSets], other: ByMan[ClassSets]) -> None:
        self._beyond = limit + 1
        self.escapes = _each(own, lambda sets: sets.all)
        self.never = _each(own, lambda sets: sets.not_won)
        self.forced: Sets = ()
        self._lost = _each(other, lambda sets: sets.lost), _each(other, lambda sets: sets.lost_late)
        self._won = _each(own, lambda sets: sets.won), _each(own, lambda sets: sets.won_late)
        has_late = any(
            sets and sets[1].any() for late in (self._lost[1], self._won[1]) for sets in late
        )
        self.last = self._beyond + 1 if has_late else 2

    def winning(self, depth: int) -> Sets:
        return self._by_class(self._lost, depth - 1)

    def freeing(self, depth: int) -> Sets:
        return self._by_class(self._won, depth)

    def _by_class(self, sets: tuple[Sets, Sets], plies: int) -> Sets:
        if plies not in (1, self._beyond):
            return ()
        return sets[plies == self._beyond]
