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
positions not won, and nothing is ever freed.  For dtm an exit carries its depth.

Cost: the smaller column is read once, a byte for each of its 462 x 64^(m-1) slots, a partition at
a time.  For dtc three sets are read off it on the way, and it is kept nowhere; for dtm it is kept,
and the set of a depth is read off it when it is asked for.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from workers import _kernels
from workers.bits import Words, zeros
from workers.domain import Domain, domain_of
from workers.geometry import DIAGONAL, PAIRS, PLACEMENTS
from workers.material import STRONGER, WEAKER, Capture, Material
from workers.metric import Metric
from workers.table import Values
from workers.threads import Chunk, Threads, chunks_of

Marked = tuple[Words, NDArray[np.uint8]]  # a set, and which partitions of it hold anything
Sets = tuple[Marked | None, ...]  # one for each man of the larger material, if it can be taken


class Columns(Protocol):
    """A finished table, as far as exits need it."""

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def values(self, pair: int, side: int) -> Values:
        """The values of a partition, `side` (0 stronger, 1 weaker) to move."""


class Tables(Protocol):
    """Where the smaller tables come from."""

    def columns(self, material: Material) -> Columns:
        """The table of a material; MissingTableError if there is none."""


class Exits(Protocol):
    """What an analysis asks; see the top of this file.  No exit is deeper than `last`."""

    last: int
    escapes: Sets
    never: Sets
    forced: Sets

    def winning(self, depth: int) -> Sets: ...
    def freeing(self, depth: int) -> Sets: ...


class Captive(Protocol):
    """What is kept of a smaller table's column, in the larger one's frame."""

    def __init__(self, smaller: Domain, dtype: np.dtype[Any] | None) -> None: ...
    def take(self, pair: int, legal: Words, values: Values | None) -> None:
        """A partition of it: the legal positions, and the values of all of them."""


Kept = TypeVar("Kept", bound=Captive)
Captives = list[Kept | None]  # one for each man of the larger material, if it counts


def exits_of(
    material: Material, metric: Metric, tables: Tables, threads: Threads
) -> tuple[Exits, Exits]:
    """The exits for the analysis of each winner: stronger, weaker."""
    if metric is Metric.DTC:
        return _both(material, _captives(material, Judged, tables, threads), ConversionExits)
    return _both(material, _captives(material, Valued, tables, threads), MateExits)


def _both(
    material: Material,
    captives: list[Kept],
    make: Callable[[Captives[Kept], Captives[Kept]], Exits],
) -> tuple[Exits, Exits]:
    first, second = (
        [c if of == side else None for c, of in zip(captives, material.sides, strict=True)]
        for side in (STRONGER, WEAKER)
    )
    return make(first, second), make(second, first)


def _captives(material: Material, keep: type[Kept], tables: Tables, threads: Threads) -> list[Kept]:
    """For each man what is kept of the table without him; those of like men are one."""
    loaded: dict[tuple[Material, bool, int], Kept] = {}
    captives = []
    for capture in material.captures():
        key = (capture.material, capture.swapped, material.sides[capture.man])
        if key not in loaded:
            loaded[key] = _read(_Column(material, capture, tables), keep, threads)
        captives.append(loaded[key])
    return captives


# ---- what is asked ----


def _each(captives: Captives[Kept], read: Callable[[Kept], Marked | None]) -> Sets:
    return tuple(None if captive is None else read(captive) for captive in captives)


class ConversionExits:
    """For dtc: every exit has depth 1, nothing is freed."""

    last = 1

    def __init__(self, own: "Captives[Judged]", other: "Captives[Judged]") -> None:
        self.escapes = _each(own, lambda captive: captive.not_won)
        self.never: Sets = ()
        self.forced = _each(own, lambda captive: captive.won)
        self._winning = _each(other, lambda captive: captive.lost)

    def winning(self, depth: int) -> Sets:
        return self._winning if depth == 1 else ()

    def freeing(self, depth: int) -> Sets:
        return ()


class MateExits:
    """For dtm: a capture into a position lost in n wins in n + 1; one won in n is freed at n."""

    def __init__(self, own: "Captives[Valued]", other: "Captives[Valued]") -> None:
        self._own, self._other = own, other
        self.escapes = _each(own, lambda captive: captive.all)
        self.never = _each(own, lambda captive: captive.not_won)
        self.forced: Sets = ()
        self.last = max(
            1,
            *(c.deepest(1) for c in own if c),
            *(c.deepest(-1) for c in other if c),
        )

    def winning(self, depth: int) -> Sets:
        return _each(self._other, lambda captive: captive.equal(-depth))

    def freeing(self, depth: int) -> Sets:
        return _each(self._own, lambda captive: captive.equal(depth))


# ---- what is kept ----


def _empty(smaller: Domain) -> Marked:
    return zeros(len(PAIRS) * smaller.words, np.uint64), np.ones(len(PAIRS), np.uint8)


class Judged:
    """Who wins: the sets of positions won, lost and not won for the side to move."""

    def __init__(self, smaller: Domain, dtype: np.dtype[Any] | None) -> None:
        self._size, self._used = smaller.words, smaller.slots // 64
        self.won, self.lost, self.not_won = (_empty(smaller) for _ in range(3))

    def take(self, pair: int, legal: Words, values: Values | None) -> None:
        at = slice(pair * self._size, (pair + 1) * self._size)
        won, lost = self.won[0][at], self.lost[0][at]
        if values is not None:
            _kernels.signs(values, won[: self._used], lost[: self._used])
        np.bitwise_and(legal, ~won, out=self.not_won[0][at])
        self.won[1][pair], self.lost[1][pair] = won.any(), lost.any()


class Valued:
    """In how many moves: the values, and the sets that can be read off them."""

    def __init__(self, smaller: Domain, dtype: np.dtype[Any] | None) -> None:
        self._size, self._slots = smaller.words, smaller.slots
        self.all, self.not_won = _empty(smaller), _empty(smaller)
        self._values: Values | None = None
        if dtype is not None:
            self._values = zeros(len(PAIRS) * smaller.slots, dtype.type)
        self._equal: dict[int, Marked] = {}

    def take(self, pair: int, legal: Words, values: Values | None) -> None:
        at = slice(pair * self._size, (pair + 1) * self._size)
        self.all[0][at] = self.not_won[0][at] = legal
        if values is not None and self._values is not None:
            self._values[pair * self._slots : (pair + 1) * self._slots] = values
            won, lost = (np.zeros(self._slots // 64, np.uint64) for _ in range(2))
            _kernels.signs(values, won, lost)
            self.not_won[0][at][: won.size] &= ~won

    def _parts(self) -> Iterator[Values]:
        if self._values is not None:
            for pair in range(len(PAIRS)):
                yield self._values[pair * self._slots : (pair + 1) * self._slots]

    @cached_property
    def _present(self) -> list[Values]:
        """The values in each partition, once each."""
        return [np.unique(part) for part in self._parts()]

    def deepest(self, sign: int) -> int:
        """The largest n for which a value is n (sign 1) or -n (sign -1)."""
        return max((sign * int(value) for part in self._present for value in part), default=0)

    def equal(self, value: int) -> Marked | None:
        """The positions of one value; overwritten by the next call of the same sign."""
        marks = np.array([(values == value).any() for values in self._present], np.uint8)
        if not marks.any():
            return None
        sign = 1 if value > 0 else -1
        if sign not in self._equal:
            self._equal[sign] = zeros(len(PAIRS) * self._size, np.uint64), marks
        words = self._equal[sign][0]
        for pair, values in enumerate(self._parts()):
            if marks[pair]:
                at = pair * self._size
                _kernels.equal(values, value, words[at : at + self._slots // 64])
        return words, marks


# ---- reading ----


class _Column:
    """A smaller table's column, and how the larger material sees it."""

    def __init__(self, material: Material, capture: Capture, tables: Tables) -> None:
        self.domain = domain_of(capture.material)
        self.to_move = material.sides[capture.man] ^ capture.swapped
        # Bare kings: never won, never lost, and no table is needed to know it.
        self.table = tables.columns(capture.material) if self.domain.axes else None
        # `survivors` lists our men as the smaller table counts them; we need the place of each.
        men = sorted(capture.survivors)
        self.axes = [capture.survivors.index(man) for man in men] if capture.swapped else None

    @property
    def dtype(self) -> np.dtype[Any] | None:
        return None if self.table is None else self.table.dtype


def _read(column: _Column, keep: type[Kept], threads: Threads) -> Kept:
    kept = keep(column.domain, column.dtype)
    desks = threads.pool(lambda: _Desk(column))

    def job(chunk: Chunk) -> None:
        with desks.lend() as desk:
            for pair in map(int, chunk):
                kept.take(pair, *desk.read(pair))

    threads.map(job, chunks_of(column.domain.axes))
    return kept


class _Desk:
    """Where a thread reads one partition after the other."""

    def __init__(self, column: _Column) -> None:
        self._column, self._domain = column, column.domain
        self._scratch = _kernels.Scratch(self._domain.kernel)
        self._legal, self._turned_legal = self._set(), self._set()
        self._values, self._turned_values = self._slots(), self._slots()

    def _set(self) -> Words:
        return zeros(self._domain.words, np.uint64)

    def _slots(self) -> Values | None:
        dtype = self._column.dtype
        return None if dtype is None else zeros(self._domain.slots, dtype.type)

    def read(self, pair: int) -> tuple[Words, Values | None]:
        """A partition of the larger frame: legal positions, and the values of all of them (0
        elsewhere); until the next is read.
        """
        if self._column.axes is None:
            self._fill(pair)
            return self._legal, self._values
        stronger, weaker = PAIRS[pair]
        source, symmetry = PLACEMENTS[weaker, stronger]
        self._fill(source)
        kernel, axes = self._domain.kernel, self._column.axes
        _kernels.reframe(kernel, symmetry, axes, self._legal, self._turned_legal)
        if self._values is not None and self._turned_values is not None:
            _kernels.reframe_values(kernel, symmetry, axes, self._values, self._turned_values)
        return self._turned_legal, self._turned_values

    def _fill(self, pair: int) -> None:
        """As the smaller table has it."""
        table, to_move = self._column.table, self._column.to_move
        _kernels.legal(self._domain.kernel, pair, to_move, self._legal, self._scratch)
        if table is not None and self._values is not None:
            _spread(self._domain, pair, self._legal, table.values(pair, to_move), self._values)


def _spread(smaller: Domain, pair: int, legal: Words, stored: Values, out: Values) -> None:
    """The values of all legal slots of a partition from those of the canonical ones."""
    diagonal = bool(DIAGONAL[pair])
    canonical = smaller.canonical_of(diagonal)
    kept = np.unpackbits((legal & canonical).view(np.uint8), bitorder="little", count=out.size)
    np.multiply(stored, kept, out=out, casting="unsafe")
    if (others := legal & ~canonical).any():
        _kernels.spread_values(smaller.kernel, diagonal, others, out)
