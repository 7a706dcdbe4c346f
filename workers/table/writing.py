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
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from io import UnsupportedOperation
from typing import Any, BinaryIO, NamedTuple

import flatbuffers
import numpy as np
import pyarrow as pa

from kingpair.workers.errors import CannotBuild
from kingpair.workers.table.format import BLOCK, COLUMNS, LAYOUT, Compression, Counts
from kingpair.workers.table.key import TableIdentity
from kingpair.workers.table.seal import UNSEALED, block_digest, contents_digest, digest_of, seal
from kingpair.workers.table.value import Values

SYNC_EVERY = 128 << 20


# ---- batches ----


class WrittenBatch(NamedTuple):
    """A record batch in the file: the sizes of its metadata and body, and the digest of both."""

    metadata: int
    body: int
    digest: str


class WrittenBlocks(NamedTuple):
    """Consecutive blocks in the file: their batches, and the digests of their values."""

    batches: list[WrittenBatch]
    digests: list[str]

    def extend(self, other: "WrittenBlocks") -> None:
        self.batches.extend(other.batches)
        self.digests.extend(other.digests)


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
        _batch(data.slice(begin, end - begin))
        for begin, end in zip([start, *ends[:-1]], ends, strict=True)
    ]
    return EncodedBlocks([data.slice(start, ends[-1] - start)], WrittenBlocks(batches, digests))


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
    return EncodedBlocks([message], WrittenBlocks([_batch(message)], []))


def _batch(message: pa.Buffer) -> WrittenBatch:
    metadata = _message_size(message)
    return WrittenBatch(metadata, message.size - metadata, digest_of(message))


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
    written = WrittenBlocks([], [])
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
    places: list[tuple[int, int, int]] = []
    at = len(header)
    for metadata, body, _ in blocks.batches:
        places.append((at, metadata, body))
        at += metadata + body
    stated, counted = identity.json(), json.dumps(counts, sort_keys=True)
    digests = "".join(blocks.digests)
    digest = contents_digest(stated, counted, digests)
    footer = _footer(
        schema,
        places,
        {
            "kingpair.layout": str(LAYOUT if layout is None else layout),
            "kingpair.counts": counted,
            "kingpair.blocks": digests,
            "kingpair.digest": digest,
            "kingpair.pieces": "".join([digest_of(header), *(b.digest for b in blocks.batches)]),
            "kingpair.seal": UNSEALED,
        },
    )
    trailer = _END_OF_STREAM + footer + struct.pack("<I", len(footer)) + _MAGIC
    return SealedTrailer(seal(trailer), digest)


# ---- the footer ----


def _footer(
    schema: pa.Schema, places: list[tuple[int, int, int]], metadata: Mapping[str, str]
) -> bytes:
    """Arrow's Footer (File.fbs): version 5, the schema, the place of each batch, our metadata."""
    b = flatbuffers.Builder(1024 + 24 * len(places) + sum(map(len, metadata.values())))
    custom = _key_values(b, metadata)
    batches = _structs(b, b"".join(_PLACE.pack(*place) for place in places), len(places))
    b.StartVector(24, 0, 8)
    dictionaries = b.EndVector()
    described = _schema(b, schema)
    b.StartObject(5)
    b.PrependInt16Slot(0, 4, 0)
    b.PrependUOffsetTRelativeSlot(1, described, 0)
    b.PrependUOffsetTRelativeSlot(2, dictionaries, 0)
    b.PrependUOffsetTRelativeSlot(3, batches, 0)
    b.PrependUOffsetTRelativeSlot(4, custom, 0)
    b.Finish(b.EndObject())
    return bytes(b.Output())


_PLACE = struct.Struct("<qi4xq")  # a Block of File.fbs: offset, length of the metadata, of the body


def _structs(b: flatbuffers.Builder, data: bytes, count: int) -> int:
    """A vector of so many structs, as bytes: to prepend number by number takes a tenth of a second
    for 5,000 batches.
    """
    b.StartVector(len(data) // max(count, 1), count, 8)
    b.head -= len(data)
    b.Bytes[b.head : b.head + len(data)] = data
    return int(b.EndVector())


def _schema(b: flatbuffers.Builder, schema: pa.Schema) -> int:
    fields = _offsets(b, [_field(b, field) for field in schema])
    metadata = _key_values(b, {k.decode(): v.decode() for k, v in schema.metadata.items()})
    b.StartObject(4)
    b.PrependInt16Slot(0, 0, 0)
    b.PrependUOffsetTRelativeSlot(1, fields, 0)
    b.PrependUOffsetTRelativeSlot(2, metadata, 0)
    return int(b.EndObject())


def _field(b: flatbuffers.Builder, field: pa.Field) -> int:
    name, children = b.CreateString(field.name), _offsets(b, [])
    is_binary = pa.types.is_binary(field.type)
    b.StartObject(0 if is_binary else 2)
    if not is_binary:
        b.PrependInt32Slot(0, field.type.bit_width, 0)
        b.PrependBoolSlot(1, True, False)
    kind = b.EndObject()
    b.StartObject(7)
    b.PrependUOffsetTRelativeSlot(0, name, 0)
    b.PrependBoolSlot(1, field.nullable, False)
    b.PrependUint8Slot(2, 4 if is_binary else 2, 0)  # Binary, Int
    b.PrependUOffsetTRelativeSlot(3, kind, 0)
    b.PrependUOffsetTRelativeSlot(5, children, 0)
    return int(b.EndObject())


def _key_values(b: flatbuffers.Builder, pairs: Mapping[str, str]) -> int:
    made = []
    for key, value in pairs.items():
        written = b.CreateString(key), b.CreateString(value)
        b.StartObject(2)
        b.PrependUOffsetTRelativeSlot(0, written[0], 0)
        b.PrependUOffsetTRelativeSlot(1, written[1], 0)
        made.append(b.EndObject())
    return _offsets(b, made)


def _offsets(b: flatbuffers.Builder, offsets: list[int]) -> int:
    b.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        b.PrependUOffsetTRelative(offset)
    return int(b.EndVector())
