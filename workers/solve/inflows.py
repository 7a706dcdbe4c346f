"""Inflows: what reaches the positions of a domain from elsewhere, beside its captures.

Without pawns there are none: every other move stays in the domain.  With pawns, pushes come from
the levels below, and conversions are sets that are known before the first pass (levels.py).
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.number_types import Depth, Partition
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.threads import Chunk

Inflow = tuple[_kernels.Domain, _kernels.Layer, int, int, NDArray[np.uint32], NDArray[np.uint32]]
"""A domain and a layer of it, and the arrows from there; see _kernels.pyi."""


class FreedSets(Protocol):
    """The layers freed(n): positions of the loser that join open_l at depth n."""

    layer: Layer

    def load(self, domain: Domain, depth: Depth, chunk: Chunk) -> None: ...
    def release(self, domain: Domain, last: Depth, chunk: Chunk, open_l: Layer) -> None: ...
    def withhold(
        self, domain: Domain, chunk: Chunk, pair: Partition, steps: range, open_l: Layer
    ) -> None: ...
    def close(self) -> None: ...


class Inflows(Protocol):
    """The moves and conversions that flow into the passes of a winner's analysis."""

    @property
    def last(self) -> int:
        """No pass before this depth is the last."""

    @property
    def freed(self) -> FreedSets | None: ...
    def close(self, open_l: Layer) -> None:
        """Takes out of open_l what an escape keeps from being lost."""

    def play(self, depth: Depth) -> None:
        """Brings the inflows to where they are after the pass of a depth."""

    def stalemates(self, open_w: Layer, open_l: Layer) -> Layer | None:
        """The positions of the loser without a move, if a domain above needs them."""

    def at_once(self) -> tuple[Sequence[Inflow], Layer | None]:
        """Moves of the loser that hold a position, and what he loses at once by conversions."""

    def win(self, depth: Depth) -> tuple[Sequence[Inflow], Layer | None]:
        """Moves of the winner into positions lost at the depth before, and winning conversions."""

    def lose(self, depth: Depth) -> tuple[Sequence[Inflow], Sequence[Inflow]]:
        """Moves of the loser into positions won at a depth, and those that hold a position."""


class NoInflows:
    """The inflows of a domain without pawns."""

    last = 0
    freed: FreedSets | None = None

    def close(self, open_l: Layer) -> None:
        """Leaves it as it is: captures that are escapes are sets by captive."""

    def play(self, depth: Depth) -> None:
        """Has nothing to play back."""

    def stalemates(self, open_w: Layer, open_l: Layer) -> Layer | None:
        return None

    def at_once(self) -> tuple[Sequence[Inflow], Layer | None]:
        return (), None

    def win(self, depth: Depth) -> tuple[Sequence[Inflow], Layer | None]:
        return (), None

    def lose(self, depth: Depth) -> tuple[Sequence[Inflow], Sequence[Inflow]]:
        return (), ()
