"""A worker's share of a domain: the partitions it owns, and those around them.

    own       written by this worker alone
    halo      neighbours that others own: copies, brought up to date with what their owners find
    readers   which of its own partitions another worker has in its halo

In the arrays of a worker its own partitions come first, then the halo.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workers.geometry import PAIRS, neighbours

Pairs = NDArray[np.int16]


class Share:
    """The share of worker `number`, where partition p belongs to worker `owners[p]`."""

    def __init__(self, owners: Sequence[int], number: int) -> None:
        assert len(owners) == len(PAIRS), "an owner for each partition"
        self.owners, self.number = owners, number
        self.own = np.flatnonzero(np.array(owners) == number).astype(np.int16)

    @cached_property
    def halo(self) -> Pairs:
        own = set(map(int, self.own))
        around = {q for p in own for q in neighbours()[p]}
        return np.array(sorted(around - own), np.int16)

    @cached_property
    def places(self) -> Pairs:
        """Where each partition lies in the arrays, -1 where it is not held."""
        places = np.full(len(PAIRS), -1, np.int16)
        held = np.concatenate([self.own, self.halo])
        places[held] = np.arange(len(held), dtype=np.int16)
        return places

    @property
    def held(self) -> int:
        return len(self.own) + len(self.halo)

    @cached_property
    def readers(self) -> dict[int, frozenset[int]]:
        found: dict[int, set[int]] = {}
        for p in map(int, self.own):
            for q in neighbours()[p]:
                if self.owners[q] != self.number:
                    found.setdefault(self.owners[q], set()).add(p)
        return {reader: frozenset(pairs) for reader, pairs in sorted(found.items())}


WHOLE = Share([0] * len(PAIRS), 0)
"""Everything, and nobody else."""
