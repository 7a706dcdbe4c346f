"""Levels that pushes lead to: their layers, played back from their pass logs beside the passes of a
higher level.

single step    the level below
double step    two levels below; where an enemy pawn can capture en passant, en_passant.py
"""

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.errors import DamagedLog
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.share import Share
from kingpair.workers.index.structures import NO_SQUARE, Pushes, Structures
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
    """A level that pushes lead to: its layers are played back as our passes go on.

    It has the partitions that are a worker's own alone: a push leaves the kings where they are.
    """

    def __init__(
        self,
        level: int,
        own: Share,
        of: Structures,
        material: Material,
        winner: Side,
        history: History,
        threads: Threads,
    ) -> None:
        bounds = of.bounds(level)
        self.first, self.count = bounds[0], bounds[1] - bounds[0]
        self._domain = Domain(material, own, of.of_level(level))
        self._history, self._threads = history, threads
        self._own = frozenset(own.own.tolist())
        self.open_w, self.won, self.lost = (self._layer() for _ in range(3))
        open_all(self._domain, winner, self.open_w, threads)
        self.stalemates = self._layer() if all(material.pawns) else None
        if self.stalemates is not None:
            self._play(STALEMATES, False, self.stalemates, None)

    def _layer(self) -> Layer:
        return empty_layer(len(self._own), self._domain.kernel.rows)

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
    own: frozenset[int],
    layer: Layer,
    less: _kernels.Layer | None,
    threads: Threads,
) -> None:
    """Makes `layer` what a pass found in a worker's own partitions, and takes it out of `less`."""
    layer.live[:] = 0

    def job(packed: tuple[Chunk, PackedStreams]) -> None:
        partitions, (streams, ends) = packed
        kernel, all_ends = domain.kernel, ends.tolist()
        if own.issuperset(partitions.tolist()):
            _sound(_kernels.restore_all(kernel, partitions, streams, all_ends, layer.kernel, less))
            return
        # Another number of workers logged it.
        for pair, stream in zip(partitions.tolist(), split(streams, all_ends), strict=True):
            if pair in own:
                _sound(_kernels.restore(kernel, pair, stream, layer.kernel, less))

    try:
        threads.map(job, history.packed_layer(depth, won, own))
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


def arrows_of(kept: Structures, side: Side, level: int) -> dict[int, tuple[Arrows, Arrows]]:
    """Arrows of single (1) and double (2) steps, by the structure entered and by the one left; but
    for double steps beside an enemy pawn.
    """
    pushes = kept.pushes(side)
    first, end = kept.bounds(level)
    own = _of_level(kept, pushes, level) & ~beside_enemies(kept, pushes, side)
    found = {}
    for steps in range(1, min(level, 2) + 1):
        chosen = own & ((pushes.passed != NO_SQUARE) == (steps == 2))
        below, below_end = kept.bounds(level - steps)
        left, entered = pushes.structure[chosen] - first, pushes.into[chosen] - below
        square = pushes.passed[chosen] * (steps == 2)
        found[steps] = (
            arrows_from(below_end - below, entered, left, square),
            arrows_from(end - first, left, entered, square),
        )
    return found


def with_right(kept: Structures, side: Side, level: int) -> DoubleSteps:
    """The double steps of a level after which a pawn can be captured en passant."""
    pushes = kept.pushes(side)
    chosen = _of_level(kept, pushes, level) & beside_enemies(kept, pushes, side)
    columns = (pushes.structure, pushes.into, pushes.entered, pushes.passed)
    return DoubleSteps(*(column[chosen].astype(np.int64) for column in columns))


def _of_level(kept: Structures, pushes: Pushes, level: int) -> NDArray[np.bool_]:
    first, end = kept.bounds(level)
    found: NDArray[np.bool_] = (pushes.structure >= first) & (pushes.structure < end)
    return found
