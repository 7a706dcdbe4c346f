"""Memory for sets of positions: large, zeroed, aligned, and on huge pages where the system has
them.

A bitmap of a six-man material is 0.9 GiB.  Anonymous memory costs nothing until it is written,
and is freed together with its last view.
"""

import ctypes
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import mkstemp
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.errors import CannotBuild

_HUGE = 2 << 20
_PIECE = 1 << 15  # words

Words = NDArray[np.uint64]
Scalar = TypeVar("Scalar", bound=np.generic)


def zeros(count: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """A zeroed array, aligned to a page."""
    size = max(count * np.dtype(dtype).itemsize, 1)
    return np.frombuffer(mapped(size), dtype=dtype, count=count)


def mapped(size: int) -> mmap.mmap:
    """So many bytes of zeros."""
    # Private: shared memory, which is the default here, gets no huge pages.
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if size >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def sparse_zeros(count: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """A zeroed array of which little is written, here and there: memory is taken in small pages."""
    size = max(count * np.dtype(dtype).itemsize, 1)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        with suppress(OSError):  # a kernel without huge pages
            memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, dtype=dtype, count=count)


def copy_written(source: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
    """Copies an array into zeroed memory; pieces of zeros take none there."""
    for at in range(0, source.size, _HUGE):
        if (piece := source[at : at + _HUGE]).any():
            target[at : at + _HUGE] = piece


def unnamed_file(directory: Path, size: int) -> int:
    """Opens a file of so many bytes without a name.  The system removes it when it is closed.

    The space on the disk is allocated at once.  Raises CannotBuild if the disk is full.
    """
    with named_scratch_errors(directory):
        fd, name = mkstemp(dir=directory)
        os.unlink(name)
        try:
            os.posix_fallocate(fd, 0, size)
        except BaseException:
            os.close(fd)
            raise
        return fd


@contextmanager
def named_scratch_errors(directory: Path) -> Iterator[None]:
    """Turns an error of the disk into one that names the directory for sets."""
    try:
        yield
    except OSError as error:
        raise CannotBuild(
            f"cannot keep sets in {directory}: {error.strerror or error}; committed passes are "
            "kept, make room or choose another --scratch and run the same command again"
        ) from error


def aligned(words: NDArray[Any]) -> NDArray[np.uint64]:
    """A copy of words that the kernels can read."""
    out = zeros(words.size, np.uint64)
    out[:] = words.ravel()
    return out


def trim_heap() -> None:
    """Gives freed memory back to the system.

    The C library of Linux keeps what many short-lived blocks have left: several times what a level
    of a table with pawns holds.
    """
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Any:
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


_MAY_MOVE, _FIXED, _KEEP_SOURCE = 1, 2, 4  # MREMAP_MAYMOVE, MREMAP_FIXED, MREMAP_DONTUNMAP


def move_pages(source: int, target: int, size: int) -> bool:
    """Moves private memory from one address to another, without a copy.  The source is empty then,
    and what was at the target is gone.  Returns whether the system can do that (Linux 5.7 can).
    """
    remap = _mremap()
    if remap is None:
        return False
    flags = _MAY_MOVE | _FIXED | _KEEP_SOURCE
    return bool(remap(source, size, size, flags, target) == target)


@cache
def _mremap() -> Any:
    remap = getattr(ctypes.CDLL(None), "mremap", None)
    if remap is not None:
        size, address = ctypes.c_size_t, ctypes.c_void_p
        remap.argtypes, remap.restype = (address, size, size, ctypes.c_int, address), address
    return remap


class Layer:
    """A set of positions of one side to move, held for some partitions; see kernels.hpp."""

    def __init__(self, words: Words, occupied: NDArray[np.uint8], live: NDArray[np.uint32]) -> None:
        self.words, self.occupied, self.live = words, occupied, live
        self.kernel = _kernels.Layer(words, occupied, live)

    @staticmethod
    def of(flags: NDArray[np.bool_], rows: int) -> "Layer":
        """A layer from a flag for each slot: [partition][slot]."""
        layer = Layer.empty(len(flags), rows)
        packed = np.packbits(flags, axis=1, bitorder="little")
        layer.words.view(np.uint8).reshape(len(flags), -1)[:, : packed.shape[1]] = packed
        layer.mark()
        return layer

    def mark(self) -> None:
        """Brings the marks up to date, once all words are valid."""
        # A reduction of rows as short as these takes three times as long.
        unit = self.words.reshape(-1, 8)
        held = unit[:, 0] | unit[:, 1]
        for word in range(2, 8):
            held |= unit[:, word]
        self.occupied[:] = np.packbits(held.reshape(-1, 8) != 0, axis=1, bitorder="little").ravel()
        by_partition = self.occupied.reshape(len(self.live), -1)
        self.live[:] = np.count_nonzero(by_partition, axis=1)

    def clear(self) -> None:
        """Marks no row as occupied: then it holds nothing, whatever its words are."""
        self.occupied[:] = 0
        self.live[:] = 0

    def take_out(self, words: Words) -> None:
        """Takes positions out of the words; the marks stay as they are."""
        for at in range(0, self.words.size, _PIECE):  # what lies between stays in the cache
            self.words[at : at + _PIECE] &= ~words[at : at + _PIECE]

    def like(self, words: Words) -> "Layer":
        """Another layer of as many partitions, with these words."""
        made = Layer.empty(len(self.live), len(self.occupied) // len(self.live))
        made.words[:] = words
        made.mark()
        return made

    def dense(self) -> Words:
        """All words, zero where the layer holds nothing."""
        occupied = self.occupied.reshape(len(self.live), -1) * (self.live > 0)[:, None]
        return np.where(np.repeat(occupied.ravel() != 0, 64), self.words, np.uint64(0))

    @staticmethod
    def empty(partitions: int, rows: int) -> "Layer":
        return Layer(
            zeros(partitions * rows * 64, np.uint64),
            zeros(partitions * rows, np.uint8),
            zeros(partitions, np.uint32),
        )
