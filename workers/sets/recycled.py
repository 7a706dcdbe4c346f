"""Arrays in memory that was used before: their contents are arbitrary until they are written.

The system clears each page of new memory, which takes longer than most uses of a large array.  So
the memory of an array is used again when the last reference to the array is gone.  Mappings
that hold no array are kept, up to `KEPT` bytes in all; the system gets back the rest of them.
"""

import mmap
from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.sets.memory import Layer, Scalar, mapped, zeros

KEPT = 256 << 20
SMALL = 64 << 20  # the bytes of a small array
_LEAST = 32 << 20  # the smallest mapping: many arrays share one
_UNIT = mmap.PAGESIZE
_ROW_WORDS = 64


class _Span(NamedTuple):
    """Some bytes of a mapping."""

    start: int
    stop: int


class _Mapping:
    """Memory of the system, and the spans of it that are free, in order."""

    def __init__(self, size: int) -> None:
        self.memory, self.size = mapped(size), size
        self.free = [_Span(0, size)]

    @property
    def is_free(self) -> bool:
        return self.free == [_Span(0, self.size)]

    def take(self, size: int) -> int | None:
        """Takes the first free span of a size.  Returns where it starts."""
        for at, (start, stop) in enumerate(self.free):
            if stop - start >= size:
                self.free[at : at + 1] = [_Span(start + size, stop)] * (start + size < stop)
                return start
        return None

    def put_back(self, span: _Span) -> None:
        joined: list[_Span] = []
        for each in sorted([*self.free, span]):
            if joined and joined[-1].stop == each.start:
                joined[-1] = _Span(joined[-1].start, each.stop)
            else:
                joined.append(each)
        self.free = joined


class Recycler:
    """Hands out memory, and takes it back when the last view of an array is gone."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept, self._lock = kept, Lock()
        self._mappings: list[_Mapping] = []
        # An array may end at any time, also while this thread holds the lock.
        self._returned: deque[tuple[_Mapping, _Span]] = deque()

    def array(self, count: int, dtype: type[Scalar]) -> NDArray[Scalar]:
        """An array whose values are arbitrary, aligned to a page."""
        size = max(1, -(-count * np.dtype(dtype).itemsize // _UNIT)) * _UNIT
        with self._lock:
            self._take_back()
            mapping, start = self._taken(size)
        array: NDArray[Any] = np.frombuffer(mapping.memory, dtype, count, start)
        ended = finalize(array, self._returned.append, (mapping, _Span(start, start + size)))
        ended.atexit = False
        return array

    @property
    def mapped_bytes(self) -> int:
        """Bytes of all mappings: those that hold arrays, and those that are kept."""
        with self._lock:
            self._take_back()
            return sum(mapping.size for mapping in self._mappings)

    def _taken(self, size: int) -> tuple[_Mapping, int]:
        for mapping in self._mappings:
            if (start := mapping.take(size)) is not None:
                return mapping, start
        self._mappings.append(_Mapping(max(size, _LEAST)))
        start = self._mappings[-1].take(size)
        assert start is not None, "a new mapping without room"
        return self._mappings[-1], start

    def _take_back(self) -> None:
        while self._returned:
            mapping, span = self._returned.popleft()
            mapping.put_back(span)
        free = [mapping for mapping in self._mappings if mapping.is_free]
        kept = sum(mapping.size for mapping in free)
        for mapping in free:
            if kept > self._kept:
                self._mappings.remove(mapping)
                kept -= mapping.size


_RECYCLER = Recycler()


def recycled(count: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """An array of this process's recycler: its values are arbitrary."""
    return _RECYCLER.array(count, dtype)


def recycled_if_small(count: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """An array whose values are arbitrary.  A large one is in new memory: the memory of a large
    array that is gone would stay with the process until the next one is made.
    """
    make = recycled if count * np.dtype(dtype).itemsize <= SMALL else zeros
    return make(count, dtype)


def small_zeros(count: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """A zeroed array.  A small one is in memory that was used before."""
    if count * np.dtype(dtype).itemsize > SMALL:
        return zeros(count, dtype)
    array = recycled(count, dtype)
    array[:] = 0
    return array


def unwritten_layer(
    partitions: int, rows: int, make: Callable[..., NDArray[Any]] = recycled
) -> Layer:
    """A layer whose contents are arbitrary until all of it is written."""
    words = partitions * rows * _ROW_WORDS
    return Layer(
        make(words, np.uint64), make(partitions * rows, np.uint8), make(partitions, np.uint32)
    )


def empty_layer(partitions: int, rows: int) -> Layer:
    """A layer that holds nothing, as `Layer.empty` makes it."""
    layer = unwritten_layer(partitions, rows)
    layer.clear()
    layer.words[:] = 0
    return layer
