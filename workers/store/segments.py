"""Logs in an object store, which are read range by range.

    LOG/000007          the bytes of a log that one call of `sync_log` made durable
    LOG/000007.index    those of them that say what the log has: the heads of its records

A reader gets the indexes of all segments first, so it knows what the log has.  Of the rest it
takes the ranges that it needs: those that it says beforehand come in few large pieces, in several
threads, into a sparse file of this machine; any other one by itself.  So of several workers each
gets about its own part of what the others have logged.

    index = count u64 | (offset in the segment u64 | size u64) per range | the bytes of the ranges
"""

import os
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

INDEX = ".index"
_GAP = 256 << 10  # bytes between two ranges that are read along with them
_PIECE = 8 << 20  # the most that a thread reads at once
READERS = 8

Range = tuple[int, int]  # the first byte, and the first one after it


class LogBytes(Protocol):
    """The bytes of a log that is read."""

    size: int

    def read(self, size: int, at: int) -> bytes: ...
    def copies(self, size: int, at: int) -> Iterator[bytes]:
        """Yields the same bytes from elsewhere, for when those that were read are damaged."""

    def bring(self, ranges: Iterable[Range]) -> None:
        """Prepares for reading some ranges, each as a whole."""

    def close(self) -> None: ...


class LogInFile:
    """A log in a file of this machine."""

    def __init__(self, fd: int) -> None:
        self._fd, self.size = fd, os.fstat(fd).st_size

    def read(self, size: int, at: int) -> bytes:
        return os.pread(self._fd, size, at)

    def copies(self, size: int, at: int) -> Iterator[bytes]:
        return iter(())

    def bring(self, ranges: Iterable[Range]) -> None:
        """Needs nothing: the system reads ahead by itself."""

    def close(self) -> None:
        os.close(self._fd)


def index_of(heads: Sequence[Range], start: int, fd: int) -> bytes:
    """The index of a segment that begins at `start` of a log, given ranges of the log."""
    places = (number for first, stop in heads for number in (first - start, stop - first))
    data = b"".join(os.pread(fd, stop - first, first) for first, stop in heads)
    return struct.pack(f"<{1 + 2 * len(heads)}Q", len(heads), *places) + data


class Segment(NamedTuple):
    """A segment that can be read from any byte on, and its index."""

    file: Any  # of pyarrow
    index_bytes: bytes

    @property
    def heads(self) -> list[tuple[int, bytes]]:
        """The ranges of the index: the place of each in the segment, and its bytes."""
        (count,) = struct.unpack_from("<Q", self.index_bytes)
        found, at = [], 8 + 16 * count
        for first, size in struct.iter_unpack("<QQ", self.index_bytes[8:at]):
            found.append((first, self.index_bytes[at : at + size]))
            at += size
        return found


class SegmentedLog:
    """A log of which some segments are in a store."""

    def __init__(self, segments: Sequence[Segment], fd: int) -> None:
        self._files, self._fd = [segment.file for segment in segments], fd
        self._starts = [0]
        self._heads: dict[int, bytes] = {}
        for file, segment in zip(self._files, segments, strict=True):
            start = self._starts[-1]
            self._heads.update((start + first, data) for first, data in segment.heads)
            self._starts.append(start + file.size())
        self.size = self._starts[-1]
        self._brought: list[Range] = []  # ascending

    def read(self, size: int, at: int) -> bytes:
        head = self._heads.get(at, b"")
        if len(head) >= size:
            return head[:size]
        size = max(0, min(size, self.size - at))
        if self._is_brought(at, at + size):
            return os.pread(self._fd, size, at)
        return self._fetch(at, at + size)

    def copies(self, size: int, at: int) -> Iterator[bytes]:
        return iter(())

    def bring(self, ranges: Iterable[Range]) -> None:
        missing = _merged(r for r in ranges if not self._is_brought(*r))
        with ThreadPoolExecutor(READERS, thread_name_prefix="log") as readers:
            list(readers.map(self._keep, _pieces(missing)))
        self._brought = _merged([*self._brought, *missing], 0)

    def close(self) -> None:
        os.close(self._fd)
        for file in self._files:
            file.close()

    def _is_brought(self, first: int, stop: int) -> bool:
        place = bisect_right(self._brought, (first, self.size + 1)) - 1
        return place >= 0 and self._brought[place][1] >= stop

    def _keep(self, piece: Range) -> None:
        os.pwrite(self._fd, self._fetch(*piece), piece[0])

    def _fetch(self, first: int, stop: int) -> bytes:
        """Reads a range from the segments that have some of it."""
        found = []
        for file, (start, end) in zip(self._files, pairwise(self._starts), strict=True):
            if first < end and start < stop:
                at = max(first, start)
                found.append(file.read_at(min(stop, end) - at, at - start))
        return b"".join(found)


def _merged(ranges: Iterable[Range], gap: int = _GAP) -> list[Range]:
    """The ranges in order; those with at most a gap between them as one."""
    found: list[Range] = []
    for first, stop in sorted(ranges):
        if found and first - found[-1][1] <= gap:
            found[-1] = found[-1][0], max(found[-1][1], stop)
        else:
            found.append((first, stop))
    return found


def _pieces(ranges: Iterable[Range]) -> Iterable[Range]:
    for first, stop in ranges:
        for at in range(first, stop, _PIECE):
            yield at, min(at + _PIECE, stop)
