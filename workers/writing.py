"""Writing a table: blocks into record batches, batches into a file.

    file  = head | batches | end
    head  = magic | the schema
    end   = end of stream | footer | length of the footer | magic       sealed (workers/seal.py)

pyarrow compresses batches, in as many threads as there are; the head and the end are written by
hand, for it writes footers only to files whose batches it has compressed itself, one by one.
What lies in a file depends on the values alone, not on who wrote which part of it.
"""

import json
import os
import struct
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple

import flatbuffers
import numpy as np
import pyarrow as pa

from workers.errors import CannotBuild
from workers.seal import UNSEALED, digest_of, seal
from workers.table import (
    BLOCK,
    COLUMNS,
    LAYOUT,
    Counts,
    Identity,
    Packing,
    Values,
    block_digest,
    contents_digest,
)

SYNC_EVERY = 128 << 20


# ---- batches ----


class Batch(NamedTuple):
    """A record batch as it stands in the file: the sizes of its metadata and body, and the digest
    of these bytes.
    """

    metadata: int
    body: int
    digest: str


class Blocks(NamedTuple):
    """Consecutive blocks that are written: their batches, and the digests of their values."""

    batches: list[Batch]
    digests: list[str]

    def extend(self, other: "Blocks") -> None:
        self.batches.extend(other.batches)
        self.digests.extend(other.digests)


class Part(NamedTuple):
    """Consecutive blocks that are to be written: encapsulated messages, and what is known of
    them.
    """

    data: list[pa.Buffer]
    blocks: Blocks

    def extend(self, other: "Part") -> None:
        self.data.extend(other.data)
        self.blocks.extend(other.blocks)


def schema_of(identity: Identity, dtype: np.dtype[Any]) -> pa.Schema:
    kind = pa.from_numpy_dtype(dtype)
    fields = [pa.field(name, kind, nullable=False) for name in COLUMNS]
    return pa.schema(fields, metadata={"kingpair": identity.json()})


def encode(schema: pa.Schema, white: Values, black: Values, packing: Packing) -> Part:
    """Compress consecutive rows, whole batches but for the end of the table."""
    options = pa.ipc.IpcWriteOptions(
        compression=pa.Codec("zstd", compression_level=packing.level), use_threads=False
    )
    rows = packing.blocks * BLOCK
    sink = pa.BufferOutputStream()
    ends: list[int] = []
    digests: list[str] = []
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        for at in range(0, len(white), rows):
            columns = [column[at : at + rows] for column in (white, black)]
            writer.write_batch(pa.record_batch([pa.array(c) for c in columns], schema=schema))
            ends.append(sink.tell())
            for block in range(0, len(columns[0]), BLOCK):
                digests += [block_digest(c[block : block + BLOCK]) for c in columns]
    data = sink.getvalue()
    start = _message_size(data)
    batches = [
        _batch(data.slice(begin, end - begin))
        for begin, end in zip([start, *ends[:-1]], ends, strict=True)
    ]
    return Part([data.slice(start, ends[-1] - start)], Blocks(batches, digests))


def _batch(message: pa.Buffer) -> Batch:
    metadata = _message_size(message)
    return Batch(metadata, message.size - metadata, digest_of(message))


def _message_size(data: pa.Buffer) -> int:
    """The length of a message's metadata with its prefix: ff ff ff ff | length u32 | metadata."""
    marker, length = struct.unpack("<II", data[:8])
    assert marker == 0xFFFFFFFF, "no Arrow message where one was written"
    return int(8 + length)


# ---- the file ----


def cannot_write(path: str, error: OSError) -> CannotBuild:
    return CannotBuild(
        f"cannot write {path}: {error.strerror or error}; make room or choose another --out, "
        "then run the same command again"
    )


def sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


_MAGIC = b"ARROW1"
_END_OF_STREAM = struct.pack("<II", 0xFFFFFFFF, 0)


def head_of(schema: pa.Schema) -> bytes:
    """What stands before the first batch."""
    described: bytes = schema.serialize().to_pybytes()
    return _MAGIC + b"\0\0" + described


def write_blocks(file: BinaryIO, parts: Iterable[Part]) -> Blocks:
    written = Blocks([], [])
    size = synced = 0
    for part in parts:
        for data in part.data:
            file.write(data)
            size += data.size
        if size - synced > SYNC_EVERY:
            # The disk works while the next parts are made, not after the last of them.
            file.flush()
            os.fdatasync(file.fileno())
            synced = size
        written.extend(part.blocks)
    return written


class End(NamedTuple):
    """What stands behind the last batch, and the digest of the table."""

    data: bytes
    digest: str


def end_of(
    head: bytes, schema: pa.Schema, identity: Identity, blocks: Blocks, counts: Counts
) -> End:
    places: list[tuple[int, int, int]] = []
    at = len(head)
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
            "kingpair.layout": str(LAYOUT),
            "kingpair.counts": counted,
            "kingpair.blocks": digests,
            "kingpair.digest": digest,
            "kingpair.pieces": "".join([digest_of(head), *(b.digest for b in blocks.batches)]),
            "kingpair.seal": UNSEALED,
        },
    )
    end = _END_OF_STREAM + footer + struct.pack("<I", len(footer)) + _MAGIC
    return End(seal(end), digest)


# ---- the footer ----


def _footer(
    schema: pa.Schema, places: list[tuple[int, int, int]], metadata: Mapping[str, str]
) -> bytes:
    """Arrow's Footer (File.fbs): version 5, the schema, the place of each batch, our metadata."""
    b = flatbuffers.Builder(1024 + 24 * len(places) + sum(map(len, metadata.values())))
    custom = _key_values(b, metadata)
    b.StartVector(24, len(places), 8)
    for offset, head, body in reversed(places):
        b.Prep(8, 24)
        b.PrependInt64(body)
        b.Pad(4)
        b.PrependInt32(head)
        b.PrependInt64(offset)
    batches = b.EndVector()
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
    b.StartObject(2)
    b.PrependInt32Slot(0, field.type.bit_width, 0)
    b.PrependBoolSlot(1, True, False)
    integer = b.EndObject()
    b.StartObject(7)
    b.PrependUOffsetTRelativeSlot(0, name, 0)
    b.PrependBoolSlot(1, field.nullable, False)
    b.PrependUint8Slot(2, 2, 0)  # Int
    b.PrependUOffsetTRelativeSlot(3, integer, 0)
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
