"""Facts about logs in segments: whatever was brought beforehand, reading a range gives its bytes,
and a reader asks the store for about what it needs.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kingpair.workers.store.segments import Range, Segment, SegmentedLog, index_of

SIZES = 3000, 1, 70_000, 900_000, 4096


class Counted:
    """A segment that can be read from any byte on; counts the bytes that it gives."""

    given = 0

    def __init__(self, data: bytes) -> None:
        self._data = data

    def size(self) -> int:
        return len(self._data)

    def read_at(self, size: int, at: int) -> bytes:
        assert 0 <= at < len(self._data), "a range that the segment does not have"
        self.given += size
        return self._data[at : at + size]

    def close(self) -> None:
        """Nothing is open."""


class Written:
    """A log in segments, with a few ranges of each in its index."""

    def __init__(self, directory: Path) -> None:
        chance = random.Random(7)
        self.data = chance.randbytes(sum(SIZES))
        whole = directory / "whole"
        whole.write_bytes(self.data)
        fd = os.open(whole, os.O_RDONLY)
        self.segments, self.heads, start = list[Segment](), list[Range](), 0
        for size in SIZES:
            heads = [(at, min(at + 30, start + size)) for at in range(start, start + size, 20_000)]
            data = Counted(self.data[start : start + size])
            self.segments.append(Segment(data, index_of(heads, start, fd)))
            self.heads += heads
            start += size
        os.close(fd)
        brought = os.open(directory / "brought", os.O_RDWR | os.O_CREAT)
        self.log = SegmentedLog(self.segments, brought)

    @property
    def given(self) -> int:
        return sum(segment.file.given for segment in self.segments)


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Written]:
    found = Written(tmp_path)
    yield found
    found.log.close()


def test_a_range_is_read_whatever_was_brought(written: Written) -> None:
    chance, end = random.Random(3), len(written.data)
    for _ in range(5):
        for _ in range(20):
            at, size = chance.randrange(end), chance.choice([1, 40, 5000, 200_000])
            assert written.log.read(size, at) == written.data[at : at + size]
        starts = [chance.randrange(end - 3000) for _ in range(8)]
        written.log.bring((at, at + 3000) for at in starts)


def test_the_end_is_read_as_of_a_file(written: Written) -> None:
    end = len(written.data)
    assert written.log.size == end
    assert written.log.read(100, end - 7) == written.data[-7:]
    assert written.log.read(100, end) == b""


def test_ranges_of_the_index_are_not_asked_for(written: Written) -> None:
    for first, stop in written.heads:
        assert written.log.read(stop - first, first) == written.data[first:stop]
    assert written.given == 0


def test_ranges_that_were_brought_are_not_asked_for_again(written: Written) -> None:
    ranges = [(at, at + 100) for at in range(100_000, 900_000, 300_000)]
    written.log.bring(ranges)
    assert written.given == sum(stop - first for first, stop in ranges)
    written.log.bring([(150, 250), *ranges])
    for first, stop in [(150, 250), *ranges]:
        assert written.log.read(stop - first, first) == written.data[first:stop]
    assert written.given == 100 + sum(stop - first for first, stop in ranges)


def test_ranges_that_lie_near_each_other_come_together(written: Written) -> None:
    written.log.bring([(80_000, 80_100), (81_000, 81_100)])
    assert written.given == 1100
