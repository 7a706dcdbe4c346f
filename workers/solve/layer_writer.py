"""Writes a layer to the pass log while its partitions are found in any order."""

from kingpair.workers import _kernels
from kingpair.workers.index.king_pairs import numbers_of
from kingpair.workers.index.share import Readers
from kingpair.workers.number_types import Partition
from kingpair.workers.passlog.log import LayerChunk, joined, split
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.threads import Chunk
from kingpair.workers.solve.frontiers import PackedFrontier, packed_frontier

Streams = dict[Partition, bytes]


def packed(kernel: _kernels.Domain, partitions: Chunk, layer: Layer) -> Streams:
    """Returns the streams of what a layer has in some partitions."""
    streams, ends = _kernels.pack(kernel, partitions, layer.kernel)
    return dict(zip(numbers_of(partitions), map(bytes, split(streams, ends)), strict=True))


class LayerWriter:
    """Appends a layer to the log: each chunk as soon as all its partitions are done.  What other
    workers read is kept for them until the step ends.
    """

    def __init__(self, log: PassLog, domain: Domain, found: LayerChunk, readers: Readers) -> None:
        self._log, self._found, self._readers = log, found, readers
        self._together, self._places = domain.index.together, domain.share.places
        self._chunks = domain.index.chunks(domain.share.own)
        self._left = list(map(len, self._chunks))
        self._streams: Streams = {}
        self._sent: dict[int, Streams] = {reader: {} for reader in readers}
        self._empty = bytes(domain.empty_stream)

    def add(self, streams: Streams) -> None:
        self._streams.update(streams)
        for partition, stream in streams.items():
            for reader, wanted in self._readers.items():
                if partition in wanted and stream != self._empty:
                    self._sent[reader][partition] = stream

    def flush(self, done: Chunk) -> None:
        """Takes in that some partitions are done, whether they have streams or not."""
        for partition in numbers_of(done):
            number = int(self._places[partition]) // self._together
            self._left[number] -= 1
            if not self._left[number]:
                self._append(self._chunks[number])

    def sent(self) -> dict[int, PackedFrontier]:
        """Returns what each other worker reads of the layer."""
        return {reader: packed_frontier(found) for reader, found in self._sent.items() if found}

    def _append(self, chunk: Chunk) -> None:
        streams = [self._streams.pop(p, self._empty) for p in numbers_of(chunk)]
        if any(stream != self._empty for stream in streams):
            self._log.append(self._found.at(chunk), joined(streams))
