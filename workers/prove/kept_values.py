"""The values of the partitions that a proof has read on one of their two walks.

They are let go after the second walk, and their places are used again.  If no place is free, values
are not kept, and they are read again.

Places are made a few at a time, when no place is free.  They lie in memory that the passes of the
table or earlier proofs used, because the system clears new memory first, which takes as long as
reading the values.
"""

from threading import Lock
from typing import Any

import numpy as np

from kingpair.workers.number_types import Partition, Side
from kingpair.workers.sets.recycled import recycled
from kingpair.workers.table.value import Values

TOGETHER = 4 << 20  # values in the places that are made at a time


class KeptValues:
    """Places for the values of so many partitions.  Threads share them."""

    def __init__(self, places: int, slots: int, dtype: np.dtype[Any]) -> None:
        self._slots, self._dtype = slots, dtype
        self._unmade, self._lock = places, Lock()
        self._free: list[Values] = []
        self._kept: dict[tuple[Partition, Side], Values] = {}
        self._found: set[tuple[Partition, Side]] = set()

    def find(self, pair: Partition, side: Side) -> Values | None:
        """Returns the values of a partition if they are kept."""
        if (values := self._kept.get((pair, side))) is not None:
            self._found.add((pair, side))
        return values

    def room_for(self, pair: Partition, side: Side) -> Values:
        """Returns an array for the values of a partition: a place, if one is free."""
        with self._lock:
            if not self._free:
                self._make_places()
            if self._free:
                place = self._kept[pair, side] = self._free.pop()
                return place
        return np.empty(self._slots, self._dtype)

    def let_go(self) -> None:
        """Frees the places of all values that were found."""
        self._free += [self._kept.pop(key) for key in self._found]
        self._found.clear()

    def _make_places(self) -> None:
        some = min(self._unmade, max(1, TOGETHER // self._slots))
        self._unmade -= some
        made: Values = recycled(some * self._slots, self._dtype.type)
        self._free.extend(made.reshape(some, self._slots))
