"""Conversions of a domain with pawns: captures and promotions, as sets of the positions they are
made from.

    winning(n)    positions of side s with a conversion that wins in n
    escapes       positions of side s that a conversion keeps from being lost, to begin with
    freed(n)      those of them whose last such conversion is found won at depth n
    forced        positions of side s with a conversion that loses at once, if there is nothing else

For a metric whose phase ends with a conversion, winning(1) are all conversions into positions that
are lost for the other side, escapes those into positions not won, and nothing is freed.  If the
depth goes on, a conversion into a position lost in n wins in n + 1, every conversion is an escape,
and where all of them are won the deepest one frees.

Each family of exits reads the values of the child's positions in the frame of the domain, takes
them apart into sets, and has a kernel carry these along arrows between structures (carry.hpp):

    a piece or king takes a piece     the same pawns
    a piece or king takes a pawn      a structure without the pawn, met on its square
    a pawn takes a piece              a structure with the pawn elsewhere, or none where it promotes
    a pawn takes a pawn               likewise
    a pawn is promoted                a structure without it, the new piece on its square
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import STRONGER, WEAKER, Side, opponent
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer, Words
from kingpair.workers.sets.recycled import empty_layer
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.arrows import arrows_from
from kingpair.workers.solve.child_columns import Solved
from kingpair.workers.solve.exit_values import (
    CarriedDomain,
    CarriedExits,
    ExitValues,
    LayersByValue,
    Streams,
    words_after,
)
from kingpair.workers.solve.families import families
from kingpair.workers.solve.frames import (
    Child,
    SeenChild,
    child_of,
    places_in,
)

Find = Callable[[Material], Solved]


def conversions(
    domain: Domain, metric: Metric, find: Find, threads: Threads
) -> "tuple[Conversions, Conversions]":
    """The conversions of the stronger and of the weaker side."""
    make = WithDepths if metric.exits_carry_depth else AtOnce
    return make(domain, STRONGER, find, threads), make(domain, WEAKER, find, threads)


class Conversions:
    """The conversions of a side: sources of sets, which are carried into the domain."""

    last: int
    escapes: Layer
    forced: Layer | None = None
    frees = False  # whether a position that an escape keeps from being lost may be freed
    _freed: Mapping[int, Mapping[int, Streams]] = {}  # by depth and the first of a chunk

    def __init__(self, domain: Domain, side: Side, find: Find, threads: Threads) -> None:
        self._domain, self._side, self._threads = domain, side, threads
        self._scratches = threads.scratches(domain)
        # One after the other: the values that exits lead to take more memory than all sets.
        self._prepare(chain(_of_pieces(domain, side, find), _of_pawns(domain, side, find)))

    def _prepare(self, sources: "Iterable[ExitValues]") -> None:
        raise NotImplementedError

    def winning(self, depth: int) -> Layer | None:
        raise NotImplementedError

    def freed(self, depth: int, chunk: int) -> Streams | None:
        """The layer freed(n) of the partitions of a chunk, given the first of them."""
        return self._freed[depth][chunk] if depth in self._freed else None

    def _empty(self) -> Layer:
        return empty_layer(len(self._domain.share.own), self._domain.kernel.rows)

    def _chunks(self) -> Sequence[NDArray[np.int16]]:
        return self._domain.index.chunks(self._domain.share.own)

    def _carry(self, exits: "CarriedExits", layer: Layer, out: Layer) -> None:
        """out |= the positions with an exit into a set of the domain that the exits lead to."""
        if exits.family is None:
            words = [layer.words if axis == exits.axis else None for axis in exits.captives]
            self._each_chunk(_kernels.collect_captures, self._side, words, out.kernel)
            return
        inflow = (exits.domain.kernel, layer.kernel, exits.family.way, exits.axis, *exits.arrows)
        self._each_chunk(_kernels.collect, self._side, inflow, out.kernel)

    def _bound(self, never: Layer) -> Words:
        """Legal positions with an escape that is not there for good."""
        legal = self._empty()
        self._each_chunk(_kernels.prepare, self._side, (), legal.kernel)
        return legal.words & self.escapes.words & ~never.words

    def _packed(self, layer: Layer) -> dict[int, Streams]:
        """The streams of a layer, by the first partition of each chunk."""
        packed = {}
        for chunk in self._chunks():
            streams, ends = _kernels.pack(self._domain.kernel, chunk, layer.kernel)
            found = np.frombuffer(bytes(streams), np.uint8), np.array(ends, np.uint32)
            packed[int(chunk[0])] = found
        return packed

    def _each_chunk(self, kernel: Callable[..., None], *arguments: Any) -> None:
        def job(chunk: NDArray[np.int16]) -> None:
            with self._scratches.lend() as scratch:
                kernel(self._domain.kernel, chunk, *arguments, scratch)

        self._threads.map(job, self._chunks())


class AtOnce(Conversions):
    """A conversion ends the phase: only the result matters."""

    last = 1

    def _prepare(self, sources: "Iterable[ExitValues]") -> None:
        self._winning, self.escapes, self.forced = (self._empty() for _ in range(3))
        for source in sources:
            lost, drawn, won = source.judged(self._threads)
            drawn.take_out(lost.words)
            self._carry(source.exits, lost, self._winning)
            self._carry(source.exits, drawn, self.escapes)
            self._carry(source.exits, won, self.forced)
            del source, lost, drawn, won  # the next one takes their memory
        self.escapes.words |= self._winning.words  # only its words are read

    def winning(self, depth: int) -> Layer | None:
        return self._winning if depth == 1 else None


class WithDepths(Conversions):
    """The depth goes on after a conversion."""

    frees = True

    def _prepare(self, sources: "Iterable[ExitValues]") -> None:
        self.escapes, never = self._empty(), self._empty()
        self._sources: list[LayersByValue] = []
        for source in sources:
            _, not_won, won = source.judged(self._threads)
            self._carry(source.exits, not_won, never)
            for layer in (not_won, won):
                self._carry(source.exits, layer, self.escapes)
            self._sources.append(source.by_value(self._threads))
            del source
        self.last = max((abs(v) for source in self._sources for v in source.layers), default=1)
        self._freed = self._sorted(never)
        self._sources = [source.lost() for source in self._sources]

    def _sorted(self, never: Layer) -> dict[int, dict[int, Streams]]:
        """Positions all of whose conversions are won, by the deepest of these."""
        bound = self._bound(never)
        found: dict[int, dict[int, Streams]] = {}
        for depth in range(self.last, 0, -1):
            layer = self._of_value(depth)
            layer.words &= bound
            layer.mark()
            if layer.live.any():
                bound &= ~layer.words
                found[depth] = self._packed(layer)
        return found

    def _of_value(self, value: int) -> Layer:
        """The positions with a conversion into one of a value."""
        out = self._empty()
        for source in self._sources:
            if (layer := source.of_value(value)) is not None:
                self._carry(source.exits, layer, out)
        return out

    def winning(self, depth: int) -> Layer | None:
        """A position lost in n - 1 has the value -n."""
        return self._of_value(-depth) if depth <= self.last else None


# ---- sources ----


def _of_pieces(domain: Domain, side: Side, find: Find) -> Iterator[ExitValues]:
    """A piece or king takes a piece: as without pawns, for each structure."""
    material, placings = domain.material, domain.placings
    assert placings is not None
    captives = range(len(material.pieces))
    for exit_ in material.exits():
        if exit_.side != side or exit_.mover is not None or exit_.takes is None:
            continue
        if material.letters[exit_.takes] != "P":
            child = child_of(material, exit_)
            (axis,) = set(captives) - set(child.left)
            places = places_in(child, placings.squares, placings.of.sides)
            carried = CarriedDomain(_left(material, child), placings.words)
            # Nothing here keeps the column of one family while that of the next is read.
            yield ExitValues(
                CarriedExits(carried, None, axis, captives),
                SeenChild(find(child.material), child, opponent(side), places),
            )


def _of_pawns(domain: Domain, side: Side, find: Find) -> Iterator[ExitValues]:
    """Exits that pawns make, and those in which pieces and kings take pawns."""
    material = domain.material
    for family in families(domain, side):
        child = child_of(material, family.exit)
        every = places_in(child, family.squares, family.sides, family.promoted_on)
        _, first, place = np.unique(every.codes, return_index=True, return_inverse=True)
        places = every.of(first)
        arrows = arrows_from(len(places), place.ravel(), family.made_from, family.on)
        left = family.squares[first], family.sides, places.promoted_on
        carried = CarriedDomain(_left(material, child), words_after(*left))
        yield ExitValues(
            CarriedExits(carried, family, family.axis, (), arrows),
            SeenChild(find(child.material), child, opponent(side), places),
        )


def _left(material: Material, child: Child) -> list[tuple[str, int]]:
    return [material.pieces[axis] for axis in child.left]
