"""The values that a family of exits leads to, as sets of the positions after the exit.

These positions have a domain of their own: the pieces that are left, in the frame of the domain
that the exits leave, and as its structures what they leave of the pawns.  A position counts if it
is legal there, whatever the child's table holds in its place.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.index.index import Index
from kingpair.workers.index.king_pairs import FIXED
from kingpair.workers.index.pawn_words import PawnWords, pawn_words, square_bits
from kingpair.workers.index.structures import Squares
from kingpair.workers.number_types import Side
from kingpair.workers.sets.domain import ROW_WORDS, pawn_sets
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.recycled import empty_layer, recycled, unwritten_layer
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.arrows import Arrows
from kingpair.workers.solve.families import Family
from kingpair.workers.solve.frames import SeenChild

Streams = tuple[NDArray[np.uint8], NDArray[np.uint32]]
"""The streams of some partitions in one buffer, and where each ends."""


class CarriedDomain:
    """The domain of sets that are carried: some pieces, and the pawns of each structure."""

    def __init__(self, pieces: Sequence[tuple[str, int]], pawns: PawnWords) -> None:
        self.index = Index(FIXED, len(pieces), len(pawns.standing))
        self.kernel = _kernels.Domain(
            pieces,
            *FIXED.arrays,
            np.arange(len(FIXED), dtype=np.int16),
            FIXED.halved,
            pawn_sets(pawns, self.index),
        )

    @property
    def slots(self) -> int:
        """Slots of a partition in columns of values, which go on to the end of the last row."""
        return self.index.rows * ROW_WORDS * 64

    def empty(self) -> Layer:
        return empty_layer(len(FIXED), self.index.rows)

    def unwritten(self) -> Layer:
        """A layer whose contents are arbitrary until all of it is written."""
        return unwritten_layer(len(FIXED), self.index.rows)

    def blank(self) -> Layer:
        """An empty layer, in the memory of the last one: new memory would take longer."""
        self._blank.words[:] = 0
        return self._blank

    @cached_property
    def _blank(self) -> Layer:
        return self.empty()


class CarriedExits(NamedTuple):
    """How a family of exits leads into a domain of sets that are carried.

    A family of captures of pieces by pieces has no arrows: `captives` are all axes.
    """

    domain: CarriedDomain
    family: Family | None
    axis: int
    captives: Sequence[int] = ()
    arrows: tuple[()] | Arrows = ()


class ExitValues(NamedTuple):
    """The values that a family of exits leads to."""

    exits: CarriedExits
    seen: SeenChild

    def judged(self, threads: Threads) -> tuple[Layer, Layer, Layer]:
        """The positions that are lost, not won and won for the side to move."""
        domain = self.exits.domain
        sets = domain.unwritten(), domain.unwritten(), domain.unwritten()
        self._each_chunk(threads, self.seen.judge, sets)
        return sets

    def values(self, threads: Threads) -> NDArray[Any]:
        """Values `[partition][slot]`, 0 where there is no position."""
        domain = self.exits.domain
        size = len(FIXED) * domain.slots
        values = recycled(size, self.seen.dtype.type).reshape(len(FIXED), -1)
        self._each_chunk(threads, self.seen.values, values)
        return values

    def by_value(self, threads: Threads) -> "LayersByValue":
        return LayersByValue.of(self.exits, self.values(threads))

    def _each_chunk(self, threads: Threads, read: Callable[..., None], out: Any) -> None:
        kernel = self.exits.domain.kernel
        scratches = threads.pool(lambda: _kernels.Scratch(kernel))
        readers = threads.pool(self.seen.reader)

        def job(chunk: NDArray[np.int16]) -> None:
            with scratches.lend() as scratch, readers.lend() as reader:
                read(kernel, chunk, reader, out, scratch)

        threads.map(job, self.seen.chunks(self.exits.domain.index))


class LayersByValue(NamedTuple):
    """The layers of each value that a family of exits leads to."""

    exits: CarriedExits
    layers: Mapping[int, Streams]

    @classmethod
    def of(cls, exits: CarriedExits, values: NDArray[Any]) -> "LayersByValue":
        """The layers of values `[partition][slot]`; 0 has none."""
        # Many short lists would take more memory than the streams.
        layers = {
            value: (streams, np.array(ends, np.uint32))
            for value, (streams, ends) in _kernels.layers_of(exits.domain.kernel, values).items()
        }
        return cls(exits, layers)

    def lost(self) -> "LayersByValue":
        """The layers of the positions that are lost for the side to move."""
        lost = {value: layer for value, layer in self.layers.items() if value < 0}
        return self._replace(layers=lost)

    def of_value(self, value: int) -> Layer | None:
        """The layer of a value, until the next one is asked for."""
        if value not in self.layers:
            return None
        domain = self.exits.domain
        layer = domain.blank()
        chunk = np.arange(len(FIXED), dtype=np.int16)
        streams, ends = self.layers[value]
        sound = _kernels.restore_all(domain.kernel, chunk, streams, ends.tolist(), layer.kernel)
        assert sound, "a layer that does not unpack"
        return layer


def words_after(
    squares: Squares, sides: Sequence[Side], promoted_on: NDArray[np.intp]
) -> PawnWords:
    """Pawns that are left, and a piece that was a pawn: it stands in the way as pawns do."""
    pawns = pawn_words(squares, sides)
    promoted = square_bits(np.maximum(promoted_on, 0)[:, None].astype(np.uint8))
    promoted[promoted_on < 0] = 0
    return pawns._replace(standing=pawns.standing | promoted)
