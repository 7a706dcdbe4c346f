"""Frontiers as they travel: packed streams of the positions that a step found, by partition.

Between processes a frontier is an Arrow IPC stream of one record batch, a row for each partition:

    partition: uint32 not null          in ascending order within each thread's part of the share
    stream: large_binary not null       the positions found there, as in the pass log

The offsets of the column `stream` are the ends of the streams, and its data is their bytes, so
reading a batch copies nothing.  deploy/docs/format.md describes a stream.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kingpair.workers.index.share import Readers
from kingpair.workers.number_types import Partition
from kingpair.workers.passlog.log import LayerStream, joined, split
from kingpair.workers.sets.disk_use import DiskUse
from kingpair.workers.sets.threads import Chunk

SCHEMA = pa.schema(
    [
        pa.field("partition", pa.uint32(), nullable=False),
        pa.field("stream", pa.large_binary(), nullable=False),
    ]
)


class PackedFrontier(NamedTuple):
    """A frontier on its way to another worker: partitions, their streams in one buffer, and the
    end of each stream.
    """

    partitions: list[Partition]
    ends: list[int]
    streams: pa.Buffer

    def to_ipc(self) -> pa.Buffer:
        """Returns the frontier as an Arrow IPC stream."""
        offsets = np.concatenate([np.zeros(1, np.int64), np.asarray(self.ends, np.int64)])
        streams = pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), len(self.ends), [None, pa.py_buffer(offsets), self.streams]
        )
        partitions = pa.array(np.asarray(self.partitions, np.uint32))
        batch = pa.record_batch([partitions, streams], schema=SCHEMA)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, SCHEMA) as writer:
            writer.write_batch(batch)
        return sink.getvalue()

    @staticmethod
    def from_ipc(buffer: pa.Buffer) -> "PackedFrontier":
        """Returns the frontier of an Arrow IPC stream, whose bytes it shares."""
        with pa.ipc.open_stream(buffer) as reader:
            batch = reader.read_next_batch()
        partitions, streams = batch.column("partition"), batch.column("stream")
        _, offsets, data = streams.buffers()
        ends = np.frombuffer(offsets, np.int64, len(streams) + 1)[1:]
        return PackedFrontier(partitions.to_pylist(), ends.tolist(), data)

    def each(self) -> Iterator[tuple[Partition, LayerStream]]:
        streams = np.frombuffer(self.streams, np.uint8)
        return zip(self.partitions, split(streams, self.ends), strict=True)


class PackedChunk(NamedTuple):
    """The positions found in a chunk: partitions, their streams in one buffer, the end of each.
    The thread reuses the buffer, unless other workers read it.
    """

    partitions: Chunk
    streams: bytes | memoryview
    ends: list[int]


class StepResult(NamedTuple):
    """The result of a step: the number of positions found in each partition of the share, the
    frontiers that other workers read, and the use of the disk by sets.
    """

    counts: list[int]
    frontiers: dict[int, PackedFrontier]
    disk: DiskUse = DiskUse()

    @property
    def total(self) -> int:
        return sum(self.counts)


def sent_frontiers(
    found: Iterable[PackedChunk | None], readers: Readers, empty: int
) -> dict[int, PackedFrontier]:
    """Packs a frontier for each worker that reads a partition where something was found; a stream
    of `empty` bytes holds nothing.
    """
    sent: dict[int, dict[Partition, memoryview]] = {reader: {} for reader in readers}
    for packed in filter(None, found):
        streams = split(memoryview(packed.streams), packed.ends)
        for pair, stream in zip(packed.partitions.tolist(), streams, strict=True):
            for reader, wanted in readers.items():
                if len(stream) > empty and pair in wanted:
                    sent[reader][pair] = stream
    return {reader: packed_frontier(of) for reader, of in sent.items() if of}


def packed_frontier(streams: Mapping[Partition, bytes | memoryview]) -> PackedFrontier:
    """Packs streams, by partition, into one frontier."""
    buffer, ends = joined(streams.values())
    return PackedFrontier(list(streams), ends, pa.py_buffer(buffer))
