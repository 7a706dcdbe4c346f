"""The values of the partitions that a proof has read on one of their two walks, in one array.

They are let go after the second walk, and their places are used again.  The array is in memory that
earlier proofs used, because the system clears new memory first, which takes as long as reading the
values.  If no place is free, values are not kept, and they are read again.
"""

from typing import Any

import numpy as np

from kingpair.workers.number_types import Partition, Side
from kingpair.workers.sets.recycled import recycled
from kingpair.workers.table.value import Values


class KeptValues:
    """Places for the values of so many partitions.  Threads share them."""

    def __init__(self, places: int, slots: int, dtype: np.dtype[Any]) -> None:
        self._slots, self._dtype = slots, dtype
        self._values: Values = recycled(places * slots, dtype.type)
        self._free = [*range(places)]
        self._places: dict[tuple[Partition, Side], int] = {}
        self._found: set[tuple[Partition, Side]] = set()

    def find(self, pair: Partition, side: Side) -> Values | None:
        """Returns the values of a partition if they are kept."""
        if (place := self._places.get((pair, side))) is None:
            return None
        self._found.add((pair, side))
        return self._at(place)

    def room_for(self, pair: Partition, side: Side) -> Values:
        """Returns an array for the values of a partition: in a place, if one is free."""
        try:
            place = self._places[pair, side] = self._free.pop()
        except IndexError:
            return np.empty(self._slots, self._dtype)
        return self._at(place)

    def let_go(self) -> None:
        """Frees the places of all values that were found."""
        self._free += [self._places.pop(key) for key in self._found]
        self._found.clear()

    def _at(self, place: int) -> Values:
        return self._values[place * self._slots : (place + 1) * self._slots]
