"""Writing a table: blocks into record batches, batches into a file.

    file      = header | batches | trailer
    header    = magic | the schema
    trailer   = end of stream | footer | length of the footer | magic       sealed (seal.py)

pyarrow compresses batches in several threads.  This module writes the header and the trailer
itself, because pyarrow writes a footer only to a file whose batches it compressed one by one.  The
bytes of a file depend on the values alone, not on which worker wrote which part.
"""

import json
import os
import struct
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import UnsupportedOperation
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from kingpair.workers.errors import CannotBuild
from kingpair.workers.table.footer import footer_of
from kingpair.workers.table.format import BLOCK, COLUMNS, LAYOUT, Compression, Counts
from kingpair.workers.table.key import TableIdentity
from kingpair.workers.table.seal import (
    PLACE,
    UNSEALED,
    block_digest,
    contents_digest,
    digest_of,
    seal,
)
from kingpair.workers.table.value import Values

SYNC_EVERY = 128 << 20


# ---- batches ----


class WrittenBlocks(NamedTuple):
    """Consecutive blocks in the file: the sizes of the metadata and of the body of each batch, the
    digests of the batches, and those of the blocks' values.  Digests may stand together in a text.
    """

    metadata: list[int]
    bodies: list[int]
    batch_digests: list[str]
    digests: list[str]

    @classmethod
    def none(cls) -> "WrittenBlocks":
        return cls([], [], [], [])

    @property
    def bytes(self) -> int:
        return sum(self.metadata) + sum(self.bodies)

    def extend(self, other: "WrittenBlocks") -> None:
        self.metadata.extend(other.metadata)
        self.bodies.extend(other.bodies)
        self.batch_digests.extend(other.batch_digests)
        self.digests.extend(other.digests)

    def noted(self) -> "WrittenBlocks":
        """The same, but each list of digests has one long text: a reader parses it faster."""
        joined = ["".join(self.batch_digests)], ["".join(self.digests)]
        return WrittenBlocks(self.metadata, self.bodies, *joined)


class EncodedBlocks(NamedTuple):
    """Consecutive blocks ready for the file: their Arrow messages, batches and digests."""

    data: list[pa.Buffer]
    blocks: WrittenBlocks

    def extend(self, other: "EncodedBlocks") -> None:
        self.data.extend(other.data)
        self.blocks.extend(other.blocks)


def table_schema(
    identity: TableIdentity, dtype: np.dtype[Any], columns: Sequence[str] = COLUMNS
) -> pa.Schema:
    kind = pa.from_numpy_dtype(dtype)
    fields = [pa.field(name, kind, nullable=False) for name in columns]
    return pa.schema(fields, metadata={"kingpair": identity.json()})


def encode(schema: pa.Schema, white: Values, black: Values, packing: Compression) -> EncodedBlocks:
    """Compresses consecutive rows into batches.  Only the last batch of a table may be short."""
    return encode_columns(schema, (white, black), packing)


def encode_columns(
    schema: pa.Schema, stored: Sequence[Values], packing: Compression
) -> EncodedBlocks:
    """Compresses consecutive rows of the columns that the schema names."""
    options = pa.ipc.IpcWriteOptions(
        compression=pa.Codec("zstd", compression_level=packing.level), use_threads=False
    )
    rows = packing.blocks * BLOCK
    sink = pa.BufferOutputStream()
    ends: list[int] = []
    digests: list[str] = []
    whole = pa.record_batch([_as_arrow(column) for column in stored], schema=schema)
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        for at in range(0, whole.num_rows, rows):
            writer.write_batch(whole.slice(at, rows))
            ends.append(sink.tell())
            for block in range(at, min(at + rows, whole.num_rows), BLOCK):
                digests += [block_digest(column[block : block + BLOCK]) for column in stored]
    data = sink.getvalue()
    start = _message_size(data)
    batches = [
        data.slice(begin, end - begin) for begin, end in zip([start, *ends[:-1]], ends, strict=True)
    ]
    written = _written(batches, digests)
    return EncodedBlocks([data.slice(start, ends[-1] - start)], written)


def _as_arrow(values: Values) -> pa.Array:
    """The values as Arrow has them, without a copy.  `pa.array` does the same, but it loads
    numpy's masked arrays first, which a small build has no other use for.
    """
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def encode_batch(schema: pa.Schema, column: pa.Array) -> EncodedBlocks:
    """A batch of one column, as it is, without digests of blocks."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_batch(pa.record_batch([column], schema=schema))
        end = sink.tell()
    data = sink.getvalue()
    start = _message_size(data)
    message = data.slice(start, end - start)
    return EncodedBlocks([message], _written([message], []))


def _written(batches: list[pa.Buffer], digests: list[str]) -> WrittenBlocks:
    metadata = [*map(_message_size, batches)]
    bodies = [batch.size - size for batch, size in zip(batches, metadata, strict=True)]
    return WrittenBlocks(metadata, bodies, [*map(digest_of, batches)], digests)


def _message_size(data: pa.Buffer) -> int:
    """The length of a message's metadata with its prefix: ff ff ff ff | length u32 | metadata."""
    marker, length = struct.unpack("<II", data[:8])
    assert marker == 0xFFFFFFFF, "no Arrow message where one was written"
    return int(8 + length)


# ---- the file ----


def cannot_write(path: str, error: OSError) -> CannotBuild:
    return CannotBuild(
        f"cannot write {path}: {error.strerror or error}; make room or choose another --tables, "
        "then run the same command again"
    )


def sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


_MAGIC = b"ARROW1"
_END_OF_STREAM = struct.pack("<II", 0xFFFFFFFF, 0)


def header_of(schema: pa.Schema) -> bytes:
    """The bytes before the first batch."""
    described: bytes = schema.serialize().to_pybytes()
    return _MAGIC + b"\0\0" + described


def write_blocks(file: BinaryIO, parts: Iterable[EncodedBlocks]) -> WrittenBlocks:
    written = WrittenBlocks.none()
    size = synced = 0
    for part in parts:
        for data in part.data:
            file.write(data)
            size += data.size
        if size - synced > SYNC_EVERY:
            # So the disk works while the next blocks are encoded, not after the last of them.
            file.flush()
            with suppress(UnsupportedOperation):  # a file in memory
                os.fdatasync(file.fileno())
            synced = size
        written.extend(part.blocks)
    return written


class SealedTrailer(NamedTuple):
    """The bytes behind the last batch, and the digest of the table."""

    data: bytes
    digest: str


def sealed_trailer(
    header: bytes,
    schema: pa.Schema,
    identity: TableIdentity,
    blocks: WrittenBlocks,
    counts: Counts,
    layout: int | None = None,
) -> SealedTrailer:
    places = np.zeros(len(blocks.bodies), PLACE)
    places["metadata"], places["body"] = blocks.metadata, blocks.bodies
    ends = len(header) + np.cumsum(places["metadata"] + places["body"])
    places["offset"] = np.concatenate(([len(header)], ends))[:-1]
    stated, counted = identity.json(), json.dumps(counts, sort_keys=True)
    digests = "".join(blocks.digests)
    digest = contents_digest(stated, counted, digests)
    footer = footer_of(
        schema,
        places,
        {
            "kingpair.layout": str(LAYOUT if layout is None else layout),
            "kingpair.counts": counted,
            "kingpair.blocks": digests,
            "kingpair.digest": digest,
            "kingpair.pieces": "".join([digest_of(header), *blocks.batch_digests]),
            "kingpair.seal": UNSEALED,
        },
    )
    trailer = _END_OF_STREAM + footer + struct.pack("<I", len(footer)) + _MAGIC
    return SealedTrailer(seal(trailer), digest)
