"""A worker's share of a domain: the partitions it owns, and those around them.

    own       written by this worker alone
    halo      neighbours that others own: copies, brought up to date with what their owners find
    readers   which of its own partitions another worker reads, after a step of one side: what is
              won is read along the loser's moves, what is lost along the winner's

In the arrays of a worker its own partitions come first, then the halo.
"""

from collections.abc import Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.index.king_pairs import KingPairs, numbers_of
from kingpair.workers.number_types import STRONGER, WEAKER, Partition, Side

Pairs = NDArray[np.int16]
Readers = dict[int, frozenset[Partition]]
"""The partitions that each other worker reads."""


class Share:
    """The share of worker `number`, where partition p belongs to worker `owners[p]`.

    With `has_halo` false it has its own partitions alone: those of a level that is solved, where
    nothing is found any more.
    """

    def __init__(
        self, kings: KingPairs, owners: Sequence[int], number: int, has_halo: bool = True
    ) -> None:
        assert len(owners) == len(kings), "an owner for each partition"
        self.kings, self.owners, self.number, self._has_halo = kings, owners, number, has_halo
        self.own = np.flatnonzero(np.array(owners) == number).astype(np.int16)

    @cached_property
    def halo(self) -> Pairs:
        own = set(map(int, self.own))
        around = {q for p in own for q in self.kings.neighbours[p]} if self._has_halo else own
        return np.array(sorted(around - own), np.int16)

    @cached_property
    def is_own(self) -> NDArray[np.bool_]:
        """Whether each partition is its own."""
        found: NDArray[np.bool_] = np.array(self.owners) == self.number
        return found

    @cached_property
    def places(self) -> Pairs:
        """The place of each partition in the arrays, -1 for those that are not held."""
        places = np.full(len(self.kings), -1, np.int16)
        held = np.concatenate([self.own, self.halo])
        places[held] = np.arange(len(held), dtype=np.int16)
        return places

    @property
    def held(self) -> int:
        return len(self.own) + len(self.halo)

    @cached_property
    def readers(self) -> tuple[Readers, Readers]:
        """By the side along whose king's moves a partition is read."""
        return self._readers(STRONGER), self._readers(WEAKER)

    def _readers(self, side: Side) -> Readers:
        found: dict[int, set[Partition]] = {}
        for p in numbers_of(self.own):
            for q in self.kings.entered[side][p]:
                if self.owners[q] != self.number:
                    found.setdefault(self.owners[q], set()).add(p)
        return {reader: frozenset(pairs) for reader, pairs in sorted(found.items())}


@cache
def whole(kings: KingPairs) -> Share:
    """The share of a single worker: all partitions."""
    return Share(kings, [0] * len(kings), 0)
