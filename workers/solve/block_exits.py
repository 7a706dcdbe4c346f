"""Exits of Chinese chess: captures into the smaller tables, as sets over their blocks.

exits.py says what the sets mean.  A smaller set is held as the smaller material's own domain holds
it; which of its positions a capture leads to is known to the kernels
(workers/kernels/xiangqi_captures.hpp).  Where the smaller material counts its sides the other way
round, its column is first turned upside down (`FlippedColumn`).

For dtm a column is kept as one stream for each depth and block.  The set of a depth is unpacked
when it is asked for, and emptied before the next one is.
"""

from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.xiangqi.board import SQUARES, flip, mirror
from kingpair.workers.game.xiangqi.material import (
    FRAME,
    FREE_MAX,
    XiangqiCapture,
    XiangqiMaterial,
)
from kingpair.workers.index.frame import SidePlacement
from kingpair.workers.index.king_pairs import numbers_of
from kingpair.workers.number_types import SIDES, Partition, Side, opponent
from kingpair.workers.sets.block_domain import BlockDomain, block_domain
from kingpair.workers.sets.memory import Layer, Words, zeros
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.capture_sets import DepthSets, OutcomeSets, PositionSet
from kingpair.workers.solve.exit_columns import Tables
from kingpair.workers.solve.exits import ConversionExits, Exits, MateExits
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.value import Values

EXITS = FREE_MAX + 2 * len(FRAME)


class BlockOutcomes(OutcomeSets):
    """The sets of positions won, lost and not won for the side to move."""

    def __init__(self, smaller: BlockDomain) -> None:
        self._kernel, self._words = smaller.kernel, smaller.words
        self.won, self.lost, self.not_won = (_empty(smaller) for _ in range(3))

    def add(self, pair: Partition, legal: Words, values: Values | None) -> None:
        at = slice(pair * self._words, (pair + 1) * self._words)
        won, lost = self.won[0][at], self.lost[0][at]
        if values is not None:
            _kernels.signs_of_slots(self._kernel, values, legal, won, lost)
        np.bitwise_and(legal, ~won, out=self.not_won[0][at])
        self.won[1][pair], self.lost[1][pair] = won.any(), lost.any()

    def __getstate__(self) -> dict[str, Any]:
        return {"won": self.won, "lost": self.lost, "not_won": self.not_won}


class BlockDepths(DepthSets):
    """The sets of positions by depth, as streams until they are asked for."""

    def __init__(self, smaller: BlockDomain, sides: tuple[str, str]) -> None:
        self._sides = sides
        self.all, self.not_won = _empty(smaller), _empty(smaller)
        self._streams: dict[int, dict[Partition, NDArray[np.uint8]]] = {}
        self._shown: dict[int, tuple[Layer, int]] = {}

    @property
    def _domain(self) -> BlockDomain:
        return block_domain(*self._sides)

    def add(self, pair: Partition, legal: Words, values: Values | None) -> None:
        domain = self._domain
        at = slice(pair * domain.words, (pair + 1) * domain.words)
        self.all[0][at] = self.not_won[0][at] = legal
        if values is None:
            return
        won, lost = (np.zeros(domain.words, np.uint64) for _ in SIDES)
        _kernels.signs_of_slots(domain.kernel, values, legal, won, lost)
        self.not_won[0][at] &= ~won
        for value, stream in _kernels.streams_by_value(domain.kernel, values, legal):
            self._streams.setdefault(value, {})[pair] = stream

    def deepest(self, sign: int) -> int:
        return max((sign * value for value in self._streams), default=0)

    def equal(self, value: int) -> PositionSet | None:
        """Returns the positions of one value; the next call of the same sign overwrites them."""
        if value not in self._streams:
            return None
        domain, sign = self._domain, 1 if value > 0 else -1
        if sign not in self._shown:
            self._shown[sign] = Layer.empty(domain.index.partitions, domain.index.rows), 0
        layer, former = self._shown[sign]
        if former != value:
            for block, stream in self._streams.get(former, {}).items():
                _kernels.take_out(domain.kernel, block, stream, layer.kernel)
            for block, stream in self._streams[value].items():
                _kernels.put_in(domain.kernel, block, stream, layer.kernel)
            self._shown[sign] = layer, value
        marks = np.zeros(domain.index.partitions, np.uint8)
        marks[list(self._streams[value])] = 1
        return layer.words, marks

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_shown": {}}


Found = TypeVar("Found", BlockOutcomes, BlockDepths)
ByExit = list[Found | None]


def block_exits(key: TableKey, tables: Tables, threads: Threads) -> tuple[Exits, Exits]:
    """Returns the exits for the analysis of each winner: stronger, weaker."""
    material = cast(XiangqiMaterial, key.material)
    outcomes: list[ByExit[BlockOutcomes]] = [[None] * EXITS for _ in SIDES]
    depths: list[ByExit[BlockDepths]] = [[None] * EXITS for _ in SIDES]
    loaded: dict[tuple[tuple[str, str], int], BlockOutcomes | BlockDepths] = {}
    for capture in material.men_taken():
        # Like men are taken into the same positions.
        if (same := (capture.sides, capture.side)) not in loaded:
            domain = block_domain(*capture.sides)
            sets = (
                BlockDepths(domain, capture.sides)
                if key.metric.exits_carry_depth
                else BlockOutcomes(domain)
            )
            _read(key, capture, domain, sets, tables, threads)
            loaded[same] = sets
        found = loaded[same]
        if isinstance(found, BlockDepths):
            depths[capture.side][capture.exit] = found
        else:
            outcomes[capture.side][capture.exit] = found
    if key.metric.exits_carry_depth:
        return MateExits(*_as_chess(depths)), MateExits(*reversed(_as_chess(depths)))
    return ConversionExits(*_as_chess(outcomes)), ConversionExits(*reversed(_as_chess(outcomes)))


def _as_chess(by_side: list[Any]) -> list[Any]:
    """The sets of each side's men; a list is not known to mypy as a list of base classes."""
    return by_side


def _read(
    key: TableKey,
    capture: XiangqiCapture,
    domain: BlockDomain,
    sets: BlockOutcomes | BlockDepths,
    tables: Tables,
    threads: Threads,
) -> None:
    """Reads the column of the side that lost a man, which moves next."""
    column = _column(key, capture, domain, tables)
    standing, scratches = SpreadValues(domain), threads.scratches(domain)

    def job(chunk: Chunk) -> None:
        for block in numbers_of(chunk):
            legal = zeros(domain.words, np.uint64)
            with scratches.lend() as scratch:
                _kernels.legal(domain.kernel, block, capture.side, legal, scratch)
            values = None if column is None else column.values(block)
            sets.add(block, legal, None if values is None else standing.spread(block, values))

    threads.map(job, domain.index.chunks())


def _column(
    key: TableKey, capture: XiangqiCapture, domain: BlockDomain, tables: Tables
) -> "SmallerColumn | FlippedColumn | None":
    """The column as our frame shows it; None for bare kings, which draw and have no table."""
    if not capture.material.letters:
        return None
    table = tables.table(TableKey(capture.material, key.metric))
    if not capture.swapped:
        return SmallerColumn(table, capture.side)
    theirs = SmallerColumn(table, opponent(capture.side))
    return FlippedColumn(domain, block_domain(*reversed(capture.sides)), theirs)


class SmallerColumn:
    """A column of a smaller table; each thread reads it under a lock of the table."""

    def __init__(self, table: Any, side: Side) -> None:
        self._table, self._side = table, side

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self._table.dtype
        return dtype

    def values(self, block: Partition) -> Values:
        values: Values = self._table.values(block, self._side)
        return values


class SpreadValues:
    """Which canonical slot stands for each slot, where that is not the slot itself."""

    def __init__(self, domain: BlockDomain) -> None:
        self._domain = domain
        has_like_men = len(set(domain.index.men)) < domain.index.axes
        self._by_halved = {
            halved: domain.standing(halved) for halved in (False, True) if halved or has_like_men
        }

    def spread(self, block: Partition, values: Values) -> Values:
        """The values of all slots, given those of the canonical ones; without padding."""
        used = values[: self._domain.index.slots_used]
        standing = self._by_halved.get(self._domain.on_diagonal(block))
        spread: Values = used if standing is None else used[standing]
        return np.ascontiguousarray(spread)


class FlippedColumn:
    """A column whose material counts the sides the other way round, seen upside down."""

    def __init__(self, ours: BlockDomain, theirs: BlockDomain, column: SmallerColumn) -> None:
        self._ours, self._theirs, self._column = ours.index, theirs.index, column
        self._spread = SpreadValues(theirs)
        self._slots = [self._slots_of(mirrored) for mirrored in (False, True)]

    def _slots_of(self, mirrored: bool) -> NDArray[np.int64]:
        """For each of our slots of a placement theirs."""
        ours, theirs = self._ours, self._theirs
        shown = np.array([_shown(square, mirrored) for square in SQUARES])
        grids = np.meshgrid(*map(np.array, ours.squares_by_axis), indexing="ij")
        squares = [shown[grid.ravel()] for grid in grids]
        slots = np.zeros(ours.slots_each, np.int64)
        left = list(enumerate(ours.men))
        for (letter, side), possible in zip(theirs.men, theirs.squares_by_axis, strict=True):
            place = next(p for p in left if p[1] == (letter, 1 - side))
            left.remove(place)
            slots = slots * len(possible) + np.searchsorted(np.array(possible), squares[place[0]])
        return slots

    def values(self, block: Partition) -> Values:
        upper, lower = self._ours.kings.upper, self._ours.lower
        below, size = _flipped(upper.kept[block]), self._ours.slots_each
        out: Values = np.empty(self._ours.slots_used, self._column.dtype)
        for inner, placement in enumerate(lower.kept):
            number, mirrored = self._theirs.kings.upper.keep(_flipped(placement))
            theirs = Partition(number)
            first = self._inner(below, mirrored) * size
            values = self._spread.spread(theirs, self._column.values(theirs))
            out[inner * size : (inner + 1) * size] = values[first + self._slots[mirrored]]
        return out

    def _inner(self, below: SidePlacement, mirrored: bool) -> int:
        return self._theirs.lower.keep(below.mirrored if mirrored else below).number


def _shown(square: int, mirrored: bool) -> int:
    return mirror(flip(square)) if mirrored else flip(square)


def _flipped(placement: SidePlacement) -> SidePlacement:
    king, advisors, elephants = (tuple(sorted(map(flip, men))) for men in placement.by_letter)
    return SidePlacement(king[0], advisors, elephants)


def _empty(domain: BlockDomain) -> PositionSet:
    partitions = domain.index.partitions
    return zeros(partitions * domain.words, np.uint64), np.ones(partitions, np.uint8)
