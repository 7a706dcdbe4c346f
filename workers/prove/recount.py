"""The recount: counts a table's positions again, partition by partition, during verification.

It counts only canonical slots with a legal position, by the verifier's own rules for both.  So if
the recount agrees with the table's counts, these include no slot without a position.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.game.outcome import Outcome
from kingpair.workers.table.format import Counts
from kingpair.workers.table.value import DRAW, moves_of, outcome_of

ValueCounts = NDArray[np.uint64]


NOWHERE = np.iinfo(np.int64).max
"""In place of a partition, for a value that no partition has."""


class PartitionCheck(NamedTuple):
    """The result of the kernel for one partition and one side to move."""

    placed: int
    legal: int
    wrong: int
    slot: int
    rank: int
    value: int
    expected: int


class SideRecount:
    """The recount of the positions with one side to move, and the first of them that is wrong."""

    def __init__(self, values: int) -> None:
        self.placed = self.legal = self.wrong = 0
        self.tally: ValueCounts = np.zeros(
            values, np.uint64
        )  # by value, negative ones from the end
        self._first = np.full(values, NOWHERE)  # by value, the first partition that has it
        self.earliest: tuple[int, int, PartitionCheck] | None = None  # rank, row

    def add(self, pair: int, slots: int, found: PartitionCheck, tally: ValueCounts) -> None:
        self.placed += found.placed
        self.legal += found.legal
        self.wrong += found.wrong
        self.tally += tally
        np.minimum(self._first, pair, out=self._first, where=tally > 0)
        if found.wrong:
            this = found.rank, pair * slots + found.slot, found
            self.earliest = this if self.earliest is None else min(self.earliest, this)

    def as_json(self) -> dict[str, Any]:
        """Returns the counts and the first contradiction, for another process to add."""
        tally = {str(v): int(self.tally[v]) for v in map(int, np.flatnonzero(self.tally))}
        return {
            "placed": self.placed,
            "legal": self.legal,
            "wrong": self.wrong,
            "tally": tally,
            "first": {value: self.first_with(int(value)) for value in tally},
            "earliest": self.earliest,
        }

    def merge(self, found: dict[str, Any]) -> None:
        """Adds what another recount of the same table counted and found in other partitions."""
        self.placed += found["placed"]
        self.legal += found["legal"]
        self.wrong += found["wrong"]
        for value, number in found["tally"].items():
            self.tally[int(value)] += np.uint64(number)
        for value, pair in found["first"].items():
            self._first[int(value)] = min(pair, self._first[int(value)])
        if found["earliest"]:
            rank, row, check = found["earliest"]
            this = rank, row, PartitionCheck(*check)
            self.earliest = this if self.earliest is None else min(self.earliest, this)

    def by_value(self) -> dict[int, int]:
        found = map(int, np.flatnonzero(self.tally))
        size = self.tally.size
        return {v if v < size // 2 else v - size: int(self.tally[v]) for v in found}

    def counts(self) -> Counts:
        """The counts in the form of a table's footer."""
        found = self.by_value()
        return {
            "win": _by_moves(found, Outcome.WIN),
            "loss": _by_moves(found, Outcome.LOSS),
            "draw": found.get(DRAW, 0),
            "illegal": self.placed - self.legal,
        }

    def first_with(self, value: int) -> int:
        """The first partition that has a value."""
        return int(self._first[value % self.tally.size])


def _by_moves(found: dict[int, int], outcome: Outcome) -> dict[str, int]:
    return {str(moves_of(v)): n for v, n in found.items() if outcome_of(v) is outcome}
