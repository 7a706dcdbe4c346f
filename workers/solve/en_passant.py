"""The right to capture en passant: levels of structures that a double step has just entered.

The position after a double step beside an enemy pawn is no slot, as the other side may capture en
passant.  Its layers follow from those of the slot without the right and from where the captures
lead.  If the winner has made the step,

    L'_n = (L_n & c <= n | (L_{<n} | stalemates) & c = n) - escapes

where c is the depth of the deepest lawful capture, all of which are won for him, and escapes are
positions with a lawful capture that is not: the loser has one move more, which may be his only one.
If the loser has made the step,

    W'_n = (W_n | c = n) - W'_{<n}

where c is the depth in which the shortest capture wins.  Where a conversion ends the phase, c is 0
for the loser's captures and 1 for the winner's.  A capture is lawful if the position that it leads
to is legal: no rule about pins is needed.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import FIXED
from kingpair.workers.index.pawn_words import pawn_words
from kingpair.workers.index.structures import NO_SQUARE, Pushes, Squares, Structures
from kingpair.workers.number_types import Side
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.recycled import empty_layer
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.arrows import PLAIN, arrows_from
from kingpair.workers.solve.conversions import Find
from kingpair.workers.solve.exit_values import (
    CarriedDomain,
    CarriedExits,
    ExitValues,
    LayersByValue,
)
from kingpair.workers.solve.frames import SeenChild, child_of, places_in

Flags = NDArray[np.bool_]
CaptureValues = NDArray[np.int16]
_NEVER = 1 << 14  # deeper than any position
NONE = np.int16(np.iinfo(np.int16).min)
"""Stands for a capture that is not lawful."""


class DoubleSteps(NamedTuple):
    """Double steps beside an enemy pawn: where they lead, and what they leave, enter and pass."""

    structure: NDArray[np.int64]
    into: NDArray[np.int64]
    entered: NDArray[np.int64]
    passed: NDArray[np.int64]


def beside_enemies(kept: Structures, pushes: Pushes, side: Side) -> Flags:
    """Which pushes of a side are double steps after which a pawn can be captured en passant."""
    enemies = [pawn for pawn, of in enumerate(kept.sides) if of != side]
    there = kept.squares[pushes.structure][:, enemies].astype(np.int64)
    entered = pushes.entered.astype(np.int64)[:, None]
    beside = (np.abs((there & 7) - (entered & 7)) == 1) & (there >> 3 == entered >> 3)
    found: Flags = (pushes.passed != NO_SQUARE) & beside.any(axis=1)
    return found


class SlotDomain(Protocol):
    """A slice below, and the numbers of its structures."""

    numbers: range

    @property
    def kernel(self) -> _kernels.Domain: ...


class Played(SlotDomain, Protocol):
    """A slice below, whose layers are those of the depth that was played last."""

    open_w: Layer
    won: Layer
    lost: Layer

    @property
    def stalemates(self) -> Layer | None: ...


class RightHolders:
    """The positions that double steps of one side lead to, each with the right to capture.

    `captures` are the values of the captures for the side that has made the step: [captor on the
    left or right][partition][double step and slot], NONE where there is no lawful one.
    """

    def __init__(
        self,
        material: Material,
        kept: Structures,
        steps: DoubleSteps,
        captures: CaptureValues,
        below: SlotDomain,
        own: Chunk,
        threads: Threads,
    ) -> None:
        pawns = pawn_words(kept.squares[steps.into], kept.sides)
        carried = CarriedDomain(material.pieces, pawns)
        self._exits = CarriedExits(carried, None, 0)
        self.kernel, self._index = carried.kernel, carried.index
        self._slots, self._threads = below.kernel, threads
        self._chunks = self._index.chunks(own)  # the level below has no other partitions
        self._scratches = threads.pool(lambda: _kernels.Scratch(self.kernel))
        rows = np.arange(len(steps.structure))
        self._from_slots = arrows_from(
            len(below.numbers), steps.into - below.numbers.start, rows, 0 * rows
        )
        self.captures = captures.reshape(2, len(FIXED), -1)
        self.lawful: Flags = self.captures != NONE

    def take(self, source: Layer, out: Layer) -> None:
        """out = the same slots, for each double step that leads to them."""
        out.words[:], out.occupied[:], out.live[:] = 0, 0, 0
        inflow = (self._slots, source.kernel, PLAIN, 0, *self._from_slots)

        def job(chunk: Chunk) -> None:
            with self._scratches.lend() as scratch:
                _kernels.collect(self.kernel, chunk, 0, inflow, out.kernel, scratch)

        self._threads.map(job, self._chunks)

    def any_lawful(self, chosen: Flags) -> Layer:
        """The positions with a lawful capture that is among some."""
        return self.layer(np.logical_or.reduce(self.lawful & chosen, axis=0))

    def empty(self) -> Layer:
        return empty_layer(len(FIXED), self._index.rows)

    def layer(self, flags: Flags) -> Layer:
        """A set from flags by partition, double step and slot."""
        return Layer.of(flags, self._index.rows)

    def by_value(self, values: NDArray[np.int16]) -> LayersByValue:
        """The layers of each value but 0."""
        padded = np.zeros((len(FIXED), self._exits.domain.slots), np.int16)
        padded[:, : values.shape[1]] = values
        return LayersByValue.of(self._exits, padded)


class WithRight(RightHolders):
    """Their layers, played back beside those of the level below."""

    def __init__(
        self,
        material: Material,
        kept: Structures,
        steps: DoubleSteps,
        captures: CaptureValues,
        below: Played,
        metric: Metric,
        own: Chunk,
        threads: Threads,
    ) -> None:
        super().__init__(material, kept, steps, captures, below, own, threads)
        self._below, captures = below, self.captures
        self._lawful = self.any_lawful(self.lawful)
        self._escapes = self.any_lawful(captures <= 0)
        deepest = np.maximum(captures, 0).max(axis=0)
        shortest = np.where(self.lawful & (captures < 0), -captures, _NEVER).min(axis=0)
        shortest[shortest == _NEVER] = 0
        if not metric.exits_carry_depth:
            deepest[:], shortest = 0, np.minimum(shortest, 1)
        self._loses, self._wins = self.by_value(deepest), self.by_value(shortest)
        self._settled = self.layer(deepest == 0)  # c <= the depth that was played last
        self.last = max((*self._loses.layers, *self._wins.layers), default=0)
        self.open_w, self.won, self.lost, self._before = (self.empty() for _ in range(4))

    def begin(self) -> None:
        """Makes `open_w` all positions of the winner, as the level below has them."""
        self.take(self._below.open_w, self.open_w)

    def play_lost(self, depth: int) -> None:
        """Makes `lost` the layer L'_depth; the level below has played it."""
        if depth == 0 and self._below.stalemates is not None:
            self.take(self._below.stalemates, self._before)
            self._before.words &= self._lawful.words
        self.take(self._below.lost, self.lost)
        slots = self.lost.words.copy()
        reached = self._settled if depth == 0 else self._loses.of_value(depth)
        if reached is not None:
            self._settled.words |= reached.words
        self.lost.words &= self._settled.words
        if reached is not None:
            self.lost.words |= self._before.words & reached.words
        self.lost.take_out(self._escapes.words)
        self._before.words |= slots
        self.lost.mark()

    def play_won(self, depth: int) -> None:
        """Makes `won` the layer W'_depth, and takes it out of `open_w`."""
        self.take(self._below.won, self.won)
        if (captured := self._wins.of_value(depth)) is not None:
            self.won.words |= captured.words
        self.won.words &= self.open_w.words
        self.open_w.take_out(self.won.words)
        self.won.mark()
        self.open_w.mark()


def captures_after(
    material: Material,
    kept: Structures,
    steps: DoubleSteps,
    side: Side,
    find: Find,
    threads: Threads,
) -> CaptureValues:
    """The values of the captures for the side that has made the step: [captor on the left or
    right][partition][double step][slot]; NONE where no capture is lawful.
    """
    exit_ = next(
        exit_
        for exit_ in material.exits()
        if exit_.side != side
        and exit_.mover is not None
        and exit_.takes is not None
        and material.letters[exit_.mover] == material.letters[exit_.takes] == "P"
    )
    child = child_of(material, exit_)
    solved = find(child.material)
    shape = (2, len(FIXED), len(steps.structure), 64 ** len(material.pieces))
    found = np.full(shape, NONE, np.int16)
    for number, at, squares, sides in _taken(kept, steps, side):
        carried = CarriedDomain(material.pieces, pawn_words(squares, sides))
        seen = SeenChild(solved, child, side, places_in(child, squares, sides))
        found[number][:, at] = _read(ExitValues(CarriedExits(carried, None, 0), seen), threads)
    return found


def _taken(
    kept: Structures, steps: DoubleSteps, side: Side
) -> Iterator[tuple[int, NDArray[np.intp], Squares, list[Side]]]:
    """Captures by one pawn of another: whether from the left or the right, after which double
    steps, and the pawns that are left with their sides.
    """
    squares = kept.squares[steps.into].astype(np.int64)
    pawns = range(len(kept.sides))
    for number, files in enumerate((-1, 1)):
        captor = steps.entered + files
        on_board = (steps.entered & 7) + files == captor & 7
        for pawn, taken in product(pawns, pawns):
            if kept.sides[pawn] == side or kept.sides[taken] != side:
                continue
            met = on_board & (squares[:, pawn] == captor) & (squares[:, taken] == steps.entered)
            if (at := np.flatnonzero(met)).size:
                after = squares[at].astype(np.uint8)
                after[:, pawn] = steps.passed[at]
                left = [each for each in pawns if each != taken]
                yield number, at, after[:, left], [kept.sides[each] for each in left]


def _read(captures: ExitValues, threads: Threads) -> NDArray[np.int16]:
    """Values by partition and structure, NONE where a capture is not lawful."""
    _, not_won, won = captures.judged(threads)
    lawful = np.unpackbits((not_won.words | won.words).view(np.uint8), bitorder="little")
    values = captures.values(threads).astype(np.int16)
    values[lawful.reshape(values.shape) == 0] = NONE
    index = captures.exits.domain.index
    return values[:, : index.slots].reshape(len(FIXED), index.structures, -1)
