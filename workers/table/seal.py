"""The digests that cover every byte of a table's file.

    file      = header | batch | batch | ... | trailer
    trailer   = end of stream | footer | length of the footer | magic

The footer has a digest of the bytes of the header and of each batch.  It also has a seal: the
digest of the trailer itself, in which the 32 digits of the seal count as zeros.  So a digest covers
every bit of the file, also the padding of Arrow and the bits that zstd ignores.

Cost: opening a table reads the trailer, checking it reads all of the file.
"""

import struct
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from kingpair.workers.table.value import Values

UNSEALED = "0" * 32
DIGITS = 16  # of the digest of a piece

_LAST = struct.Struct("<I6s")  # the length of the footer, the magic
_STREAM_END = 8
PLACE = np.dtype([("offset", "<i8"), ("metadata", "<i4"), ("padding", "<i4"), ("body", "<i8")])
"""A Block of Arrow's File.fbs: a batch in the file, and the sizes of its metadata and body."""
_RECORD_BATCHES = 10  # the place of a Footer's fourth field in its table of fields
_HEADER = 8  # the place of a Message's third field
_BUFFERS = 8  # the place of a RecordBatch's third field
_NUMBER = 4  # bytes


def digest_of(data: Any) -> str:
    """The digest of a piece: of bytes or of any buffer."""
    return xxhash.xxh3_64_hexdigest(data)


def seal(trailer: bytes) -> bytes:
    """The trailer with its seal in place of the zeros."""
    assert trailer.count(UNSEALED.encode()) == 1, "one place for one seal"
    return trailer.replace(UNSEALED.encode(), xxhash.xxh3_128_hexdigest(trailer).encode())


def block_digest(values: Values) -> str:
    return xxhash.xxh3_64_hexdigest(values.data)


def contents_digest(identity: str, counts: str, blocks: str) -> str:
    from hashlib import blake2b  # it loads OpenSSL, which a probe does not need

    whole = blake2b(digest_size=16)
    for part in (identity, counts, blocks):
        whole.update(blake2b(part.encode(), digest_size=16).digest())
    return whole.hexdigest()


class FooterMetadata(NamedTuple):
    """The metadata of a table's footer."""

    layout: int
    counts: str
    blocks: str
    digest: str
    pieces: str
    seal: str | None

    @classmethod
    def of(cls, metadata: Mapping[bytes, bytes]) -> "FooterMetadata":
        said = {key.decode(): value.decode() for key, value in dict(metadata).items()}
        counts, blocks, digest = (said[f"kingpair.{key}"] for key in ("counts", "blocks", "digest"))
        layout, pieces = int(said.get("kingpair.layout", "1")), said.get("kingpair.pieces", "")
        return cls(layout, counts, blocks, digest, pieces, said.get("kingpair.seal"))


class Trailer(NamedTuple):
    """The trailer of a file, and its place."""

    at: int
    data: bytes

    def has(self, seal: str) -> bool:
        """Whether the trailer has this seal and agrees with it."""
        unsealed = self.data.replace(seal.encode(), UNSEALED.encode())
        return xxhash.xxh3_128_hexdigest(unsealed) == seal

    def pieces(self) -> NDArray[np.int64]:
        """The beginnings of the header and of each batch, and the end of the last batch."""
        footer = self.data[_STREAM_END : -_LAST.size]
        field = _field(footer, number_at(footer, 0), _RECORD_BATCHES)
        vector = field + number_at(footer, field)
        places = np.frombuffer(footer, PLACE, number_at(footer, vector), vector + _NUMBER)
        stops = np.append(places["offset"], self.at)
        if not np.array_equal(places["offset"] + places["metadata"] + places["body"], stops[1:]):
            raise ValueError("batches that do not lie side by side")
        return np.append(0, stops)


def number_at(data: bytes, at: int, size: int = _NUMBER) -> int:
    """A number or an offset of a flatbuffer; the package for them starts too slowly for a probe."""
    return int.from_bytes(data[at : at + size], "little", signed=True)


def _field(data: bytes, table: int, entry: int) -> int:
    """The place of a table's field, whose offset is at this entry of the table of fields."""
    return table + number_at(data, table - number_at(data, table) + entry, size=2)


def buffers_of(metadata: bytes) -> int:
    """Finds the list of buffers in the metadata of a record batch: the place of its first entry."""
    header = _field(metadata, number_at(metadata, 0), _HEADER)
    vector = _field(metadata, header + number_at(metadata, header), _BUFFERS)
    return vector + number_at(metadata, vector) + _NUMBER


def read_trailer(file: Any) -> Trailer:
    """Reads the trailer of a file that pyarrow has opened; ValueError if it cannot have one."""
    size = file.size()
    length, _ = _LAST.unpack(file.read_at(_LAST.size, size - _LAST.size))
    at = size - _LAST.size - length - _STREAM_END
    if at < 0:
        raise ValueError("a footer that is longer than its file")
    return Trailer(at, file.read_at(size - at, at))


def first_damaged(file: Any, digests: str, pieces: Iterable[int] | None = None) -> int | None:
    """The first piece that disagrees with its digest: 0 the header, n the n-th batch, or None.
    Reads all pieces, or some.
    """
    bounds = read_trailer(file).pieces()
    for number in range(len(bounds) - 1) if pieces is None else pieces:
        start, stop = bounds[number : number + 2].tolist()
        stated = digests[number * DIGITS : (number + 1) * DIGITS]
        # Not from the file's position: other threads may read the same open file.
        if digest_of(file.read_at(stop - start, start)) != stated:
            return number
    return None
