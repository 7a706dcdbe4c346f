"""Exits for an analysis that goes walk by walk: sets of the partitions at hand alone.

A capture moves no king, or one within its walk, so a walk needs the same partitions of the smaller
tables.  They are read when the walk comes, and what was read for the walk before is dropped.

    dtc, dtz    own: before the first pass, for each walk     other: in each pass with winning exits
    dtm         the same; a partition is read again only if it has the depth that is asked for

Which depths there are at all is known from what the tables count.

Cost: a smaller column is read some three times in all, in distance to mate once more for each
depth, as far as its partitions have it.  Memory: that of exits.py, for the largest walk.
"""

from functools import partial
from typing import Any, Protocol

from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.number_types import Depth, Partition, Side, opponent
from kingpair.workers.sets.memory import sparse_zeros
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.capture_sets import ClassSets, DepthSets, OutcomeSets
from kingpair.workers.solve.exit_columns import ExitColumn, Tables, read_column
from kingpair.workers.solve.exits import (
    ConversionExits,
    Exits,
    MateExits,
    Sets,
    ZeroingExits,
)
from kingpair.workers.table.key import TableKey


class ExitsByWalk(Protocol):
    """The exits of an analysis; no exit is deeper than `last`.  `has_freed` says whether captures
    may stop being escapes.
    """

    last: int
    has_freed: bool

    def of_loser(self, partitions: Chunk) -> Exits:
        """The loser's captures in some partitions: escapes, never, forced and freeing(n)."""

    def winning(self, depth: Depth, partitions: Chunk) -> Sets:
        """The winner's captures in some partitions that win at a depth."""


class WalkedExits:
    """The exits of the analysis of one winner, read from the smaller tables for each walk."""

    def __init__(
        self,
        key: TableKey,
        winner: Side,
        tables: Tables,
        threads: Threads,
        limit: int = CLOCK_LIMIT,
    ) -> None:
        self._metric, self._threads, self._limit = key.metric, threads, limit
        self._sides, self._winner = key.material.sides, winner
        known: dict[tuple[str, int], ExitColumn] = {}
        men = zip(key.material.captures(), key.material.letters, key.material.sides, strict=True)
        self._columns = [
            known.setdefault((letter, side), ExitColumn(key, capture, tables))
            for capture, letter, side in men
        ]
        # As exits.py has it, the loser takes men of the winner.
        self._won = self._distances("win", winner)
        self._lost = self._distances("loss", opponent(winner))
        self._present: dict[ExitColumn, dict[Partition, set[int]]] = {}
        self.last, self.has_freed = self._last(), key.metric.frees_escapes

    def _distances(self, result: str, captive: Side) -> set[int]:
        """The distances to a result after captures of a side's men."""
        men = zip(self._columns, self._sides, strict=True)
        return {n for column, side in men if side == captive for n in column.distances(result)}

    def _last(self) -> int:
        match self._metric:
            case Metric.DTC:
                return 1
            case Metric.DTM:
                return max([1, *self._won, *(n + 1 for n in self._lost)])
        has_late = any(n > self._limit for n in self._won | self._lost)
        return self._limit + 2 if has_late else 2

    def of_loser(self, partitions: Chunk) -> Exits:
        return self._exits(self._read(self._winner, partitions), self._none())

    def winning(self, depth: Depth, partitions: Chunk) -> Sets:
        if not self._wins_at(depth):
            return ()
        return self._exits(
            self._none(), self._read(opponent(self._winner), partitions, -depth)
        ).winning(depth)

    def _wins_at(self, depth: Depth) -> bool:
        match self._metric:
            case Metric.DTC:
                return depth == 1
            case Metric.DTM:
                return depth - 1 in self._lost
        return depth - 1 in (1, self._limit + 1)

    def _none(self) -> list[Any]:
        return [None] * len(self._columns)

    def _exits(self, own: list[Any], other: list[Any]) -> Exits:
        match self._metric:
            case Metric.DTC:
                return ConversionExits(own, other)
            case Metric.DTM:
                return MateExits(own, other)
        return ZeroingExits(self._limit, own, other)

    def _read(self, captive: Side, partitions: Chunk, value: int | None = None) -> list[Any]:
        """The sets of some partitions after captures of a side's men, by man; like men share them.
        If a value is named, partitions that are known not to have it are left out.
        """
        read: dict[ExitColumn, Any] = {}
        for column, side in zip(self._columns, self._sides, strict=True):
            if side == captive and column not in read:
                read[column] = self._sets(column)
                read_column(
                    column, read[column], self._threads, self._with(column, partitions, value)
                )
                if self._metric.exits_carry_depth:
                    self._note(column, read[column])
        return [
            read[column] if side == captive else None
            for column, side in zip(self._columns, self._sides, strict=True)
        ]

    def _sets(self, column: ExitColumn) -> Any:
        make: Any = {
            Metric.DTC: OutcomeSets,
            Metric.DTM: DepthSets,
            Metric.DTZ: partial(ClassSets, self._limit),
        }[self._metric]
        return make(column.domain, column.dtype, sparse_zeros)

    def _with(self, column: ExitColumn, partitions: Chunk, value: int | None) -> Chunk:
        known = self._present.get(column, {})
        wanted = [
            value is None or pair not in known or value in known[pair]
            for pair in map(Partition, partitions.tolist())
        ]
        return partitions[wanted]

    def _note(self, column: ExitColumn, sets: DepthSets) -> None:
        """Notes which values the partitions have that were read."""
        known = self._present.setdefault(column, {})
        for pair, values in sets.present.items():
            known[pair] = set(values.tolist())
