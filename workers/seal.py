"""That a table's file is, byte for byte, the one that was written.

    file  = head | batch | batch | ... | end
    end   = end of stream | footer | length of the footer | magic

The footer has a digest of the bytes of the head and of each batch; and a seal, the digest of the
end itself, in which the seal's own 32 digits count as zeros.  So no bit is without a digest: not
those that Arrow pads with, nor those of which zstd makes nothing.

Cost: the end is read when a table is opened, all of the file when it is checked.
"""

import struct
from itertools import pairwise
from typing import Any, NamedTuple

import flatbuffers
import numpy as np
import xxhash
from flatbuffers.number_types import UOffsetTFlags

UNSEALED = "0" * 32
DIGITS = 16  # of the digest of a piece

_LAST = struct.Struct("<I6s")  # the length of the footer, the magic
_STREAM_END = 8
_PLACE = np.dtype([("offset", "<i8"), ("metadata", "<i4"), ("padding", "<i4"), ("body", "<i8")])
_RECORD_BATCHES = 10  # a Footer's fourth field


def digest_of(data: Any) -> str:
    """Of the bytes of a piece, or of anything that holds bytes."""
    return xxhash.xxh3_64_hexdigest(data)


def seal(end: bytes) -> bytes:
    """The end of a file with its seal in the place left for it."""
    assert end.count(UNSEALED.encode()) == 1, "one place for one seal"
    return end.replace(UNSEALED.encode(), xxhash.xxh3_128_hexdigest(end).encode())


class End(NamedTuple):
    """The end of a file, and where it begins."""

    at: int
    data: bytes

    def has(self, seal: str) -> bool:
        """Whether this is its seal."""
        unsealed = self.data.replace(seal.encode(), UNSEALED.encode())
        return xxhash.xxh3_128_hexdigest(unsealed) == seal

    def pieces(self) -> list[int]:
        """Where each piece of the file before the end begins, the head and the batches, and where
        the last of them stops.
        """
        footer = self.data[_STREAM_END : -_LAST.size]
        root = flatbuffers.table.Table(footer, flatbuffers.encode.Get(_OFFSET, footer, 0))
        field = root.Offset(_RECORD_BATCHES)
        places = np.frombuffer(footer, _PLACE, root.VectorLen(field), root.Vector(field))
        sizes = places["metadata"] + places["body"]
        stops = [*places["offset"].tolist(), self.at]
        if (places["offset"] + sizes).tolist() != stops[1:]:
            raise ValueError("batches that do not lie side by side")
        return [0, *stops]


_OFFSET = UOffsetTFlags.packer_type


def end_in(file: Any) -> End:
    """The end of a file that pyarrow has opened; ValueError if it cannot have one."""
    size = file.size()
    length, _ = _LAST.unpack(file.read_at(_LAST.size, size - _LAST.size))
    at = size - _LAST.size - length - _STREAM_END
    if at < 0:
        raise ValueError("a footer that is longer than its file")
    return End(at, file.read_at(size - at, at))


def first_damaged(file: Any, digests: str) -> int | None:
    """The first piece whose bytes do not have its digest: 0 the head, n the n-th batch."""
    for number, (start, stop) in enumerate(pairwise(end_in(file).pieces())):
        file.seek(start)
        stated = digests[number * DIGITS : (number + 1) * DIGITS]
        if digest_of(file.read_buffer(stop - start)) != stated:
            return number
    return None
