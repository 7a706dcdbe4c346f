"""Facts about the pieces of a walk of a set in a file: few are in memory at a time, each is written
if it has changed, and nothing is under way after a failure.
"""

import errno
from collections.abc import Iterator
from threading import Lock

import numpy as np
import pytest

from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.budget import AHEAD
from kingpair.workers.solve.piece_stream import DiskThreads, PieceStream, WaitingTime

PIECES = tuple(np.array([number], np.int16) for number in range(40))
WORKING = 2


class Disk:
    """A disk on which one piece can be unreadable and one unwritable, and the pieces in memory."""

    def __init__(self, unreadable: int | None = None, unwritable: int | None = None) -> None:
        self._unreadable, self._unwritable = unreadable, unwritable
        self.written, self.held, self.most_held = list[int](), set[int](), 0
        self._lock = Lock()

    def read(self, piece: Chunk) -> None:
        with self._lock:
            self.held.add(int(piece[0]))
            self.most_held = max(self.most_held, len(self.held))
        if int(piece[0]) == self._unreadable:
            raise OSError(errno.EIO, "Input/output error")

    def write(self, piece: Chunk) -> None:
        assert int(piece[0]) in self.held
        if int(piece[0]) == self._unwritable:
            raise OSError(errno.EIO, "Input/output error")
        self.written.append(int(piece[0]))

    def release(self, piece: Chunk) -> None:
        with self._lock:
            self.held.remove(int(piece[0]))


@pytest.fixture
def disk_threads() -> Iterator[DiskThreads]:
    threads = DiskThreads(WORKING)
    yield threads
    threads.close()


@pytest.fixture
def working() -> Iterator[Threads]:
    with Threads(WORKING) as threads:
        yield threads


def test_each_piece_is_lent_in_memory_and_written_if_it_changed(
    disk_threads: DiskThreads, working: Threads
) -> None:
    disk, waiting = Disk(), WaitingTime()
    stream = PieceStream(disk_threads, waiting, disk.write, disk.release)
    stream.begin(PIECES, disk.read)

    def job(piece: Chunk) -> bool:
        with stream.take(piece) as taken:
            taken.changed = int(piece[0]) % 3 == 0
            return int(piece[0]) in disk.held

    assert all(working.map(job, PIECES))
    stream.finish()
    assert sorted(disk.written) == [*range(0, 40, 3)]
    assert not disk.held
    assert disk.most_held <= WORKING + AHEAD
    assert waiting.seconds > 0


def test_a_piece_that_cannot_be_read_fails_the_job_that_takes_it(
    disk_threads: DiskThreads, working: Threads
) -> None:
    disk, begun = Disk(unreadable=7), list[int]()
    stream = PieceStream(disk_threads, WaitingTime(), disk.write, disk.release)
    stream.begin(PIECES, disk.read)

    def job(piece: Chunk) -> None:
        with stream.take(piece) as taken:
            begun.append(int(piece[0]))
            taken.changed = True

    with pytest.raises(OSError, match="Input/output error"):
        working.map(job, PIECES)
    stream.stop()
    assert 7 not in begun
    assert set(disk.written) == set(begun)


def test_a_piece_that_cannot_be_written_fails_the_walk(
    disk_threads: DiskThreads, working: Threads
) -> None:
    disk = Disk(unwritable=20)
    stream = PieceStream(disk_threads, WaitingTime(), disk.write, disk.release)
    stream.begin(PIECES, disk.read)

    def job(piece: Chunk) -> None:
        with stream.take(piece) as taken:
            taken.changed = True

    working.map(job, PIECES)
    with pytest.raises(OSError, match="Input/output error"):
        stream.finish()
    stream.stop()
    assert sorted(disk.written) == [number for number in range(40) if number != 20]


def test_jobs_that_all_fail_leave_nothing_under_way(
    disk_threads: DiskThreads, working: Threads
) -> None:
    disk = Disk()
    stream = PieceStream(disk_threads, WaitingTime(), disk.write, disk.release)
    stream.begin(PIECES, disk.read)

    def job(piece: Chunk) -> None:
        with stream.take(piece) as taken:
            taken.changed = True
            raise ValueError(int(piece[0]))

    with pytest.raises(ValueError, match=r"^0$"):
        working.map(job, PIECES)
    stream.stop()
    assert not disk.written


def test_a_new_piece_is_written_without_being_read(
    disk_threads: DiskThreads, working: Threads
) -> None:
    written: list[int] = []
    stream = PieceStream(
        disk_threads, WaitingTime(), lambda piece: written.append(int(piece[0])), lambda piece: None
    )

    def job(piece: Chunk) -> None:
        with stream.take(piece) as taken:
            taken.changed = True

    working.map(job, PIECES)
    stream.finish()
    assert sorted(written) == [*range(40)]
