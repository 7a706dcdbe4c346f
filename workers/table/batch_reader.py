"""Reads one column of a record batch with a single read of the file, past Arrow's reader.

Arrow's reader looks through the metadata of a batch again each time, and may read through a map of
the file, whose first touch of a page costs as much as to read the batch.  All batches of a file are
written alike: the metadata of each has at the same place where the buffers lie.

    batch    = marker | length of the metadata | metadata | body
    metadata = ... | offset and length of each buffer in the body | ...
    buffer   = length of the values in bytes | zstd

Each column has two buffers, and the first is empty as no value is null.  Whatever does not look as
expected is left to Arrow's reader, which has the words for what is wrong.
"""

import os
import struct
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.table.parts_file import PartsFile, PlainFile
from kingpair.workers.table.seal import buffers_of
from kingpair.workers.table.value import Values

BatchPlace: TypeAlias = tuple[int, int, int, int, int, int, int, int]
"""The place of a column's values in a record batch, as the kernel that finds them takes it.

The open file, the place of the batch in it, its length and its digest; where its metadata list the
buffers, the number of the column, its bytes of values, and the bytes of each value.
"""

_HEAD = struct.Struct("<4xi")  # the marker, the length of the metadata


class BatchReader:
    """Reads the batches of a file, which lie between `pieces`.  Threads may share it."""

    def __init__(self, file: PlainFile | PartsFile, pieces: NDArray[np.int64]) -> None:
        self.file = file
        self._pieces = pieces.data
        self._codec = pa.Codec("zstd")
        self._buffers: int | None = None  # the place of their list in a batch, once one was read

    def values(self, batch: int, field: int, rows: int, dtype: "np.dtype[Any]") -> Values | None:
        """The values of a column; None if the batch does not look as expected."""
        return self.values_of(range(batch, batch + 1), field, rows, rows, dtype)

    def values_of(
        self, batches: range, field: int, rows: int, last: int, dtype: "np.dtype[Any]"
    ) -> Values | None:
        """The values of a column in consecutive batches: so many rows in each, and in the last one.
        None if any of them does not look as expected.
        """
        # zstd decodes frames that follow each other at once. A call has costs of its own, as it
        # asks what processor this is, which takes longer than all else on a virtual machine.
        places = np.asarray(self._pieces[batches.start + 1 : batches.stop + 2])
        width = dtype.itemsize
        data = self.file.read_range(*places[[0, -1]].tolist())
        size = ((len(batches) - 1) * rows + last) * width
        try:
            buffers = self._place_of_buffers(memoryview(data))
            code = _kernels.frames_of(data, places, buffers, field, rows * width, last * width)
            if code is None:
                return None
            return np.frombuffer(self._codec.decompress(code, size), dtype)
        except (struct.error, OSError, ValueError):
            return None

    def place_of_values(
        self, batch: int, field: int, size: int, width: int, digest: int, wait: bool
    ) -> BatchPlace | None:
        """The place of a column's values, for the kernel that finds some of them: the column has so
        many bytes of them, so many for each, and the batch has this digest.  None if that is not
        known.
        """
        start, stop = self._place(batch)
        if (place := self.file.place(start)) is None:
            return None
        if self._buffers is None:
            if (data := self.read(batch, wait=wait)) is None:
                return None
            with suppress(struct.error, ValueError):
                self._place_of_buffers(memoryview(data))
        if self._buffers is None:
            return None
        return *place, stop - start, digest, self._buffers, field, size, width

    def _place_of_buffers(self, batch: memoryview) -> int:
        """The place of the list of buffers, which is the same in all batches."""
        if self._buffers is None:
            (metadata,) = _HEAD.unpack_from(batch)
            self._buffers = buffers_of(bytes(batch[_HEAD.size :][:metadata])) + _HEAD.size
        return self._buffers

    def read_ahead(self, batch: int) -> None:
        """Lets the system read a batch; by itself it reads megabytes around it in a map."""
        start, stop = self._place(batch)
        if (place := self.file.place(start)) is not None:
            os.posix_fadvise(*place, stop - start, os.POSIX_FADV_WILLNEED)

    def is_in_memory(self, batch: int) -> bool:
        """Whether the system has all of the batch in memory: then a read of it needs no disk."""
        return self.read(batch, wait=False) is not None

    def read(self, batch: int, *, wait: bool) -> bytearray | None:
        """The bytes of a batch; None if the disk has to be read for them and `wait` is false."""
        start, stop = self._place(batch)
        if (place := self.file.place(start)) is None:
            return bytearray(self.file.read_range(start, stop)) if wait else None
        data = bytearray(stop - start)
        try:
            found = os.preadv(place.fd, [data], place.at, 0 if wait else os.RWF_NOWAIT)
        except OSError:  # it would wait, or the file system cannot tell
            return None
        return data if found == stop - start else None

    def _place(self, batch: int) -> tuple[int, int]:
        return self._pieces[batch + 1], self._pieces[batch + 2]
