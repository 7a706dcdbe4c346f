"""Counting anew what a table holds, partition by partition, as its verification goes along.

Only canonical slots with a legal position count, by the verifier's own rules of both: so slots
that hold no position cannot have been counted either, if the table's figures are the same.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workers.table import Counts

Tally = NDArray[np.uint64]


class Found(NamedTuple):
    """What the kernel says of one side to move in a partition."""

    placed: int
    legal: int
    wrong: int
    slot: int
    rank: int
    value: int
    expected: int


class Side:
    """What is known of the positions with one side to move."""

    def __init__(self, values: int) -> None:
        self.placed = self.legal = self.wrong = 0
        self.tally: Tally = np.zeros(values, np.uint64)  # by value, negative ones from the end
        self._first: dict[int, int] = {}  # by value, the first partition that has it
        self.earliest: tuple[int, int, Found] | None = None  # rank, row

    def enter(self, pair: int, slots: int, found: Found, tally: Tally) -> None:
        self.placed += found.placed
        self.legal += found.legal
        self.wrong += found.wrong
        self.tally += tally
        for value in map(int, np.flatnonzero(tally)):
            self._first[value] = min(pair, self._first.get(value, pair))
        if found.wrong:
            this = found.rank, pair * slots + found.slot, found
            self.earliest = this if self.earliest is None else min(self.earliest, this)

    def by_value(self) -> dict[int, int]:
        found = map(int, np.flatnonzero(self.tally))
        size = self.tally.size
        return {v if v < size // 2 else v - size: int(self.tally[v]) for v in found}

    def counts(self) -> Counts:
        """As a table's footer has them."""
        found = self.by_value()
        return {
            "win": {str(v): n for v, n in found.items() if v > 0},
            "loss": {str(-v - 1): n for v, n in found.items() if v < 0},
            "draw": found.get(0, 0),
            "illegal": self.placed - self.legal,
        }

    def first_with(self, value: int) -> int:
        """The first partition that has a value."""
        return self._first[value % self.tally.size]
