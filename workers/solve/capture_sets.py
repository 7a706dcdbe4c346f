"""Sets of positions after a capture, read from a column of a smaller table.

Each kind keeps what one metric asks of an exit: the result, the result under the 50-move rule, or
the depth.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.number_types import Partition
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Words, zeros
from kingpair.workers.table.value import Values, loss_in

PositionSet = tuple[Words, NDArray[np.uint8]]  # a bitmap, and a flag for each partition in use
Allocate = Callable[[int, Any], NDArray[Any]]  # a zeroed array of so many numbers of a type


def _empty(smaller: Domain, allocate: Allocate) -> PositionSet:
    partitions = smaller.index.partitions
    return allocate(partitions * smaller.words, np.uint64), np.ones(partitions, np.uint8)


class OutcomeSets:
    """The sets of positions won, lost and not won for the side to move."""

    def __init__(
        self, smaller: Domain, dtype: np.dtype[Any] | None, allocate: Allocate = zeros
    ) -> None:
        self._size, self._used = smaller.words, smaller.slots // 64
        self.won, self.lost, self.not_won = (_empty(smaller, allocate) for _ in range(3))

    def add(self, pair: Partition, legal: Words, values: Values | None) -> None:
        at = slice(pair * self._size, (pair + 1) * self._size)
        won, lost = self.won[0][at], self.lost[0][at]
        if values is not None:
            _kernels.signs(values, won[: self._used], lost[: self._used])
        np.bitwise_and(legal, ~won, out=self.not_won[0][at])
        self.won[1][pair], self.lost[1][pair] = won.any(), lost.any()


class ClassSets:
    """The sets of positions by result; the 50-move rule divides the wins and the losses."""

    def __init__(
        self,
        limit: int,
        smaller: Domain,
        dtype: np.dtype[Any] | None,
        allocate: Allocate = zeros,
    ) -> None:
        self._limit, self._size, self._used = limit, smaller.words, smaller.slots // 64
        self.all, self.not_won, self.won, self.won_late, self.lost, self.lost_late = (
            _empty(smaller, allocate) for _ in range(6)
        )

    def add(self, pair: Partition, legal: Words, values: Values | None) -> None:
        at = slice(pair * self._size, (pair + 1) * self._size)
        self.all[0][at] = self.not_won[0][at] = legal
        won, won_late, lost, lost_late = (
            of[0][at][: self._used] for of in (self.won, self.won_late, self.lost, self.lost_late)
        )
        if values is not None:
            _kernels.signs(values, won, lost)
            self.not_won[0][at][: self._used] &= ~won
            _divide(won, won_late, values > self._limit)
            _divide(lost, lost_late, values < loss_in(self._limit))
        for words, marks in (self.won, self.won_late, self.lost, self.lost_late):
            marks[pair] = words[at].any()


def _divide(early: Words, late: Words, is_late: NDArray[np.bool_]) -> None:
    """Moves the late ones of a set into a set of their own."""
    if is_late.any():
        late[:] = np.packbits(is_late, bitorder="little").view(np.uint64)
        early &= ~late


class DepthSets:
    """The values of a column, and the sets of positions by depth that are read off them."""

    def __init__(
        self, smaller: Domain, dtype: np.dtype[Any] | None, allocate: Allocate = zeros
    ) -> None:
        self._size, self._slots = smaller.words, smaller.slots
        self._partitions = smaller.index.partitions
        self.all, self.not_won = _empty(smaller, allocate), _empty(smaller, allocate)
        self._values: Values | None = None
        if dtype is not None:
            self._values = allocate(smaller.index.size, dtype.type)
        self._read: list[Partition] = []
        self._equal: dict[int, Words] = {}
        self._allocate = allocate

    def add(self, pair: Partition, legal: Words, values: Values | None) -> None:
        at = slice(pair * self._size, (pair + 1) * self._size)
        self.all[0][at] = self.not_won[0][at] = legal
        if values is not None and self._values is not None:
            self._values[pair * self._slots : (pair + 1) * self._slots] = values
            self._read.append(pair)
            won, lost = (np.zeros(self._slots // 64, np.uint64) for _ in range(2))
            _kernels.signs(values, won, lost)
            self.not_won[0][at][: won.size] &= ~won

    def _partition_values(self) -> Iterator[tuple[Partition, Values]]:
        """Yields the partitions that were read, and their values."""
        if self._values is not None:
            for pair in self._read:
                yield pair, self._values[pair * self._slots : (pair + 1) * self._slots]

    @cached_property
    def present(self) -> dict[Partition, Values]:
        """The distinct values of each partition that was read."""
        return {pair: _distinct(values) for pair, values in self._partition_values()}

    def deepest(self, sign: int) -> int:
        """Returns the largest n for which a value is n (sign 1) or -n (sign -1)."""
        present = self.present.values()
        return max((sign * int(value) for values in present for value in values), default=0)

    def equal(self, value: int) -> PositionSet | None:
        """Returns the positions of one value; the next call of the same sign overwrites them."""
        marks = np.zeros(self._partitions, np.uint8)
        for pair, distinct in self.present.items():
            marks[pair] = (distinct == value).any()
        if not marks.any():
            return None
        sign = 1 if value > 0 else -1
        if sign not in self._equal:
            self._equal[sign] = self._allocate(self._partitions * self._size, np.uint64)
        words = self._equal[sign]
        for pair, values in self._partition_values():
            if marks[pair]:
                at = pair * self._size
                _kernels.equal(values, value, words[at : at + self._slots // 64])
        return words, marks


def _distinct(values: Values) -> Values:
    """Returns each value once.  numpy's `unique` would import a fifth of numpy, to do the same."""
    seen = np.zeros(1 << 8 * values.itemsize, np.bool_)
    seen[values] = True  # negative values count from the end
    found: Values = np.flatnonzero(seen).astype(f"u{values.itemsize}").view(values.dtype)
    return found
