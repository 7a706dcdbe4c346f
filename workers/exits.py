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

Cost: the smaller column is read once, a byte for each of its 462 x 64^(m-1) slots; a set of it is
read off when it is asked for.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workers import _kernels
from workers.bits import Words, aligned, zeros
from workers.domain import Domain, domain_of
from workers.geometry import DIAGONAL, PAIRS, PLACEMENTS
from workers.material import Capture, Material
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


def _each(captives: "list[Captive | None]", read: "Callable[[Captive], Marked | None]") -> Sets:
    return tuple(None if captive is None else read(captive) for captive in captives)


class ConversionExits:
    """For dtc: every exit has depth 1, nothing is freed."""

    last = 1

    def __init__(self, own: "list[Captive | None]", other: "list[Captive | None]") -> None:
        self.escapes = _each(own, Captive.not_won)
        self.never: Sets = ()
        self.forced = _each(own, Captive.won)
        self._winning = _each(other, Captive.lost)

    def winning(self, depth: int) -> Sets:
        return self._winning if depth == 1 else ()

    def freeing(self, depth: int) -> Sets:
        return ()


class MateExits:
    """For dtm: a capture into a position lost in n wins in n + 1; one won in n is freed at n."""

    def __init__(self, own: "list[Captive | None]", other: "list[Captive | None]") -> None:
        self._own, self._other = own, other
        self.escapes = _each(own, Captive.all)
        self.never = _each(own, Captive.not_won)
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


EXITS: "dict[Metric, Callable[[list[Captive | None], list[Captive | None]], Exits]]" = {
    Metric.DTC: ConversionExits,
    Metric.DTM: MateExits,
}


def exits_of(
    material: Material, metric: Metric, tables: Tables, threads: Threads
) -> tuple[Exits, Exits]:
    """The exits for the analysis of each winner: stronger, weaker."""
    loaded: dict[tuple[Material, bool, int], Captive] = {}
    captives = []
    for capture in material.captures():
        key = (capture.material, capture.swapped, material.sides[capture.man])
        if key not in loaded:
            loaded[key] = _load(material, capture, tables, threads)
        captives.append(loaded[key])
    return _for_winner(material, metric, captives, 0), _for_winner(material, metric, captives, 1)


def _for_winner(
    material: Material, metric: Metric, captives: "list[Captive]", winner: int
) -> Exits:
    pairs = list(zip(captives, material.sides, strict=True))
    own = [c if side == winner else None for c, side in pairs]
    other = [c if side != winner else None for c, side in pairs]
    return EXITS[metric](own, other)


class Captive:
    """A smaller table's column in the larger one's frame, and the sets that can be read off it."""

    def __init__(self, smaller: Domain, legal: Words, values: Values | None) -> None:
        self._size, self._slots = smaller.words, smaller.slots
        self._legal, self._values = legal, values
        self._least = [int(part.min()) for part in self._parts()]
        self._most = [int(part.max()) for part in self._parts()]
        self._equal: dict[int, Marked] = {}

    def _parts(self) -> Iterator[Values]:
        if self._values is not None:
            for pair in range(len(PAIRS)):
                yield self._values[pair * self._slots : (pair + 1) * self._slots]

    def deepest(self, sign: int) -> int:
        """The largest n for which a value is n (sign 1) or -n (sign -1)."""
        return max((sign * value for value in (*self._least, *self._most)), default=0)

    @cached_property
    def _present(self) -> list[Values]:
        """The values in each partition, once each."""
        return [np.unique(part) for part in self._parts()]

    def all(self) -> Marked:
        return self._legal, np.ones(len(PAIRS), np.uint8)

    def won(self) -> Marked:
        return self._signs()[0]

    def lost(self) -> Marked:
        return self._signs()[1]

    def not_won(self) -> Marked:
        words = self._legal & ~self.won()[0]
        return aligned(words), np.ones(len(PAIRS), np.uint8)

    def _signs(self) -> tuple[Marked, Marked]:
        won, lost = (zeros(self._legal.size, np.uint64) for _ in range(2))
        marks = np.zeros((2, len(PAIRS)), np.uint8)
        for pair, values in enumerate(self._parts()):
            at, words = pair * self._size, self._slots // 64
            _kernels.signs(values, won[at : at + words], lost[at : at + words])
            marks[:, pair] = self._most[pair] > 0, self._least[pair] < 0
        return (won, marks[0]), (lost, marks[1])

    def equal(self, value: int) -> Marked | None:
        """The positions of one value; overwritten by the next call of the same sign."""
        marks = np.array([(values == value).any() for values in self._present], np.uint8)
        if not marks.any():
            return None
        sign = 1 if value > 0 else -1
        if sign not in self._equal:
            self._equal[sign] = zeros(self._legal.size, np.uint64), marks
        words = self._equal[sign][0]
        for pair, values in enumerate(self._parts()):
            if marks[pair]:
                at = pair * self._size
                _kernels.equal(values, value, words[at : at + self._slots // 64])
        return words, marks


def _load(material: Material, capture: Capture, tables: Tables, threads: Threads) -> Captive:
    smaller = domain_of(capture.material)
    to_move = material.sides[capture.man] ^ capture.swapped
    legal, values = _column(smaller, tables, to_move, threads)
    if capture.swapped:
        # `survivors` lists our men as the smaller table counts them; we need the place of each.
        axes = [capture.survivors.index(man) for man in sorted(capture.survivors)]
        legal, values = _reframed(smaller, axes, legal, values, threads)
    return Captive(smaller, legal, values)


def _column(
    smaller: Domain, tables: Tables, to_move: int, threads: Threads
) -> tuple[Words, Values | None]:
    """Legal positions, and the values of all of them (0 elsewhere), in the smaller frame."""
    legal = zeros(len(PAIRS) * smaller.words, np.uint64)
    # Bare kings: never won, never lost, and no table is needed to know it.
    table = tables.columns(smaller.material) if smaller.axes else None
    values: Values | None = None
    if table is not None:
        values = zeros(len(PAIRS) * smaller.slots, table.dtype.type)
    scratches = threads.scratches(smaller)

    def job(chunk: Chunk) -> None:
        with scratches.lend() as scratch:
            for pair in map(int, chunk):
                words = legal[pair * smaller.words : (pair + 1) * smaller.words]
                _kernels.legal(smaller.kernel, pair, to_move, words, scratch)
                if table is not None and values is not None:
                    part = values[pair * smaller.slots : (pair + 1) * smaller.slots]
                    _spread(smaller, pair, words, table.values(pair, to_move), part)

    threads.map(job, chunks_of(smaller.axes))
    return legal, values


def _spread(smaller: Domain, pair: int, legal: Words, stored: Values, out: Values) -> None:
    """The values of all legal slots of a partition from those of the canonical ones."""
    diagonal = bool(DIAGONAL[pair])
    canonical = smaller.canonical_of(diagonal)
    kept = np.unpackbits((legal & canonical).view(np.uint8), bitorder="little", count=out.size)
    np.multiply(stored, kept, out=out, casting="unsafe")
    if (others := legal & ~canonical).any():
        _kernels.spread_values(smaller.kernel, diagonal, others, out)


def _reframed(
    smaller: Domain, axes: list[int], legal: Words, values: Values | None, threads: Threads
) -> tuple[Words, Values | None]:
    new_legal = zeros(legal.size, np.uint64)
    new_values: Values | None = None if values is None else zeros(values.size, values.dtype.type)
    size, slots = smaller.words, smaller.slots

    def job(chunk: Chunk) -> None:
        for pair in map(int, chunk):
            stronger, weaker = PAIRS[pair]
            source, symmetry = PLACEMENTS[weaker, stronger]
            _kernels.reframe(
                smaller.kernel,
                symmetry,
                axes,
                legal[source * size : (source + 1) * size],
                new_legal[pair * size : (pair + 1) * size],
            )
            if values is not None and new_values is not None:
                _kernels.reframe_values(
                    smaller.kernel,
                    symmetry,
                    axes,
                    values[source * slots : (source + 1) * slots],
                    new_values[pair * slots : (pair + 1) * slots],
                )

    threads.map(job, chunks_of(smaller.axes))
    return new_legal, new_values
