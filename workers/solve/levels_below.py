"""Slices that pushes lead to: their layers, played back from their pass logs beside the passes of a
slice of a higher level.

single step    slices of the level below
double step    slices two levels below; where an enemy pawn can capture en passant, en_passant.py
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.errors import DamagedLog
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.share import Share
from kingpair.workers.index.slices import LevelSlice
from kingpair.workers.index.structures import NO_SQUARE, Numbers, Pushes, Structures
from kingpair.workers.number_types import Depth, Side
from kingpair.workers.passlog.history import History
from kingpair.workers.passlog.log import STALEMATES, PackedStreams, split
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.recycled import empty_layer
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.arrows import Arrows, arrows_from
from kingpair.workers.solve.en_passant import DoubleSteps, beside_enemies


class LevelBelow:
    """A slice that pushes lead to: its layers are played back as our passes go on.

    It has the partitions that are a worker's own alone: a push leaves the kings where they are.
    """

    def __init__(
        self,
        lower: LevelSlice,
        own: Share,
        of: Structures,
        material: Material,
        winner: Side,
        history: History,
        threads: Threads,
    ) -> None:
        self.numbers = lower.numbers(of)
        self._domain = Domain(material, own, lower.placings(of))
        self._history, self._threads = history, threads
        self._own = own
        self.open_w, self.won, self.lost = (self._layer() for _ in range(3))
        open_all(self._domain, winner, self.open_w, threads)
        self.stalemates = self._layer() if all(material.pawns) else None
        if self.stalemates is not None:
            self._play(STALEMATES, False, self.stalemates, None)

    def _layer(self) -> Layer:
        return empty_layer(len(self._own.own), self._domain.kernel.rows)

    @property
    def last(self) -> int:
        """The last depth at which anything was found."""
        return max((p.depth for p in self._history.passes if p.won or p.lost), default=0)

    @property
    def kernel(self) -> _kernels.Domain:
        return self._domain.kernel

    def play_lost(self, depth: Depth) -> None:
        """Makes `lost` the layer L_depth."""
        self._play(depth, False, self.lost, None)

    def play_won(self, depth: Depth) -> None:
        """Makes `won` the layer W_depth, and takes it out of `open_w`."""
        self._play(depth, True, self.won, self.open_w.kernel)

    def _play(self, depth: Depth, won: bool, layer: Layer, less: _kernels.Layer | None) -> None:
        play(self._history, depth, won, self._domain, self._own, layer, less, self._threads)


def play(
    history: History,
    depth: Depth,
    won: bool,
    domain: Domain,
    own: Share,
    layer: Layer,
    less: _kernels.Layer | None,
    threads: Threads,
) -> None:
    """Makes `layer` what a pass found in a worker's own partitions, and takes it out of `less`."""
    layer.live[:] = 0
    owned = own.is_own

    def job(packed: tuple[Chunk, PackedStreams]) -> None:
        partitions, (streams, ends) = packed
        kernel, all_ends = domain.kernel, ends.tolist()
        if owned[partitions].all():
            _sound(_kernels.restore_all(kernel, partitions, streams, all_ends, layer.kernel, less))
            return
        # Another number of workers logged it.
        for pair, stream in zip(partitions.tolist(), split(streams, all_ends), strict=True):
            if owned[pair]:
                _sound(_kernels.restore(kernel, pair, stream, layer.kernel, less))

    try:
        threads.map(job, history.packed_layer(depth, won, owned))
    except DamagedLog as damage:
        damage.is_below = True
        raise


def _sound(unpacked: bool) -> None:
    assert unpacked, "a stream whose checksum held does not unpack"


def open_all(domain: Domain, mover: Side, layer: Layer, threads: Threads) -> None:
    """layer = all positions with a side to move."""
    scratches = threads.scratches(domain)

    def job(chunk: Chunk) -> None:
        with scratches.lend() as scratch:
            _kernels.prepare(domain.kernel, chunk, mover, (), layer.kernel, scratch)

    threads.map(job, domain.index.chunks(domain.share.own))


class SlicePushes(NamedTuple):
    """The pushes of a side from the structures of a slice, and which of them are double steps after
    which a pawn can be captured en passant.
    """

    own: range
    pushes: Pushes
    beside: NDArray[np.bool_]

    @staticmethod
    def of(kept: Structures, side: Side, own: range) -> "SlicePushes":
        every = kept.pushes(side)
        chosen = _among(every.structure, own)
        pushes = every.of(chosen)
        return SlicePushes(own, pushes, beside_enemies(kept, pushes, side))

    def arrows(self, lower: range) -> tuple[Arrows, Arrows]:
        """Arrows into the structures of a lower slice, by the structure entered and by the one
        left; but for double steps beside an enemy pawn.
        """
        pushes = self.pushes
        chosen = _among(pushes.into, lower) & ~self.beside
        left, entered = pushes.structure[chosen] - self.own.start, pushes.into[chosen] - lower.start
        passed = pushes.passed[chosen]
        square = passed * (passed != NO_SQUARE)
        return (
            arrows_from(len(lower), entered, left, square),
            arrows_from(len(self.own), left, entered, square),
        )

    def with_right(self, lower: range) -> DoubleSteps:
        """The double steps into a lower slice after which a pawn can be captured en passant."""
        pushes, chosen = self.pushes, _among(self.pushes.into, lower) & self.beside
        columns = (pushes.structure, pushes.into, pushes.entered, pushes.passed)
        return DoubleSteps(*(column[chosen].astype(np.int64) for column in columns))


def _among(numbers: Numbers, some: range) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (numbers >= some.start) & (numbers < some.stop)
    return found
