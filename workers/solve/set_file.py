"""A set of positions in a file, partition by partition, of which windows are held in memory.

The words lie in a file without a name, which is gone when the process ends.  The marks of occupied
rows stay in memory: a byte for each row of 4,096 positions, and the number of them in a
partition.  A partition without occupied rows is neither read nor written.

The file is read and written, not mapped: a pass goes through all of it, and the pages that the
system keeps of a mapped file are those that are needed last.  Where the file system can, the words
go between the disk and the window directly: a copy in the system's memory would count as memory of
the process, and take most of the processor's time.
"""

import os
from contextlib import suppress
from fcntl import F_GETFL, F_SETFL, fcntl
from mmap import PAGESIZE, mmap
from pathlib import Path
from threading import Lock

import numpy as np

from kingpair.workers.index.share import Pairs
from kingpair.workers.number_types import Partition
from kingpair.workers.sets.disk_use import DiskUse
from kingpair.workers.sets.memory import Layer, named_scratch_errors, unnamed_file

_BLOCK = PAGESIZE  # bytes: what is moved directly begins and ends at multiples of these


class SetFile:
    """A set on disk.  Threads may read and write different partitions at once."""

    def __init__(
        self, directory: Path, partitions: int, rows: int, places: Pairs | None = None
    ) -> None:
        """Takes the room that the set needs.  Raises CannotBuild if there is none.  `places` has
        the place of each partition in the file, if that is not its number.
        """
        self._directory, self._bytes = directory, rows * 512
        self._places = np.arange(partitions, dtype=np.int16) if places is None else places
        self._fd = unnamed_file(directory, partitions * self._bytes)
        self._is_direct = self._bytes % _BLOCK == 0 and _moves_directly(self._fd)
        self._occupied = np.zeros((partitions, rows), np.uint8)
        self._live = np.zeros(partitions, np.uint32)
        self.use = DiskUse()
        self._lock = Lock()

    def read(self, partition: Partition, layer: Layer, place: int) -> None:
        """Reads a partition into a place of a layer."""
        number = int(self._places[partition])
        layer.live[place] = live = self._live[number]
        rows, words = self._occupied.shape[1], self._part(layer, place)
        occupied = layer.occupied[place * rows : (place + 1) * rows]
        if not live:
            # The place may have what another partition left there.
            occupied[:] = 0
            np.frombuffer(words, np.uint8)[:] = 0
            return
        occupied[:] = self._occupied[number]
        at = number * self._bytes
        with named_scratch_errors(self._directory):
            self._read_all(words, at)
        if not self._is_direct:
            self._forget(at)
        self._count(DiskUse(read=self._bytes))

    def write(self, partition: Partition, layer: Layer, place: int) -> None:
        """Writes the partition that is in a place of a layer."""
        rows, number = self._occupied.shape[1], int(self._places[partition])
        self._live[number] = live = layer.live[place]
        if not live:
            return
        self._occupied[number] = layer.occupied[place * rows : (place + 1) * rows]
        words = self._part(layer, place)
        at = number * self._bytes
        with named_scratch_errors(self._directory):
            self._write_all(words, at)
        self._count(DiskUse(written=self._bytes))

    def _count(self, more: DiskUse) -> None:
        with self._lock:
            self.use = self.use.plus(more)

    def _read_all(self, words: memoryview, at: int) -> None:
        done = 0
        while done < len(words):
            if not (count := os.preadv(self._fd, [words[done:]], at + done)):
                raise OSError("a set is shorter than it was")
            done += count

    def _write_all(self, words: memoryview, at: int) -> None:
        done = 0
        while done < len(words):
            done += os.pwrite(self._fd, words[done:], at + done)

    def _part(self, layer: Layer, place: int) -> memoryview:
        words = layer.words[place * self._bytes // 8 : (place + 1) * self._bytes // 8]
        return words.view(np.uint8).data

    def _forget(self, at: int) -> None:
        """Drops a partition from the system's cache: only the next pass reads it again."""
        with suppress(OSError):
            os.posix_fadvise(self._fd, at, self._bytes, os.POSIX_FADV_DONTNEED)

    def close(self) -> None:
        os.close(self._fd)


def _moves_directly(fd: int) -> bool:
    """Has a file moved to and from the disk without a copy in the system's memory.  Returns whether
    its file system can do that.
    """
    flags = fcntl(fd, F_GETFL)
    try:
        fcntl(fd, F_SETFL, flags | os.O_DIRECT)
        os.preadv(fd, [mmap(-1, _BLOCK)], 0)
    except (OSError, AttributeError):  # AttributeError: a system without direct files
        fcntl(fd, F_SETFL, flags)
        return False
    return True
