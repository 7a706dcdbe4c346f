"""The layers freed(n): positions of the loser whose deepest exit is found won at depth n.

They are made before the first pass, and wait in a file of their own, in the format of a pass log.
"""

from kingpair.workers import _kernels
from kingpair.workers.index.king_pairs import numbers_of
from kingpair.workers.number_types import Depth, Partition
from kingpair.workers.passlog.log import LayerChunk, LogFile
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.threads import Chunk
from kingpair.workers.solve.open_sets import step_of


class FreedLayers:
    """The layers freed(n) in a file of their own, and the one at hand."""

    def __init__(self, layer: Layer, log: LogFile) -> None:
        self.layer, self.log = layer, log

    def close(self) -> None:
        self.log.close()

    def load(self, domain: Domain, depth: Depth, chunk: Chunk) -> None:
        """Make the layer that of a depth, for the partitions of a chunk."""
        streams = self.log.read_chunk(LayerChunk(depth, False, int(chunk[0])))
        self.layer.live[domain.share.places[chunk]] = 0
        for pair, stream in zip(numbers_of(chunk), streams, strict=False):
            if stream.any():
                _kernels.restore(domain.kernel, pair, stream, self.layer.kernel)

    def release(self, domain: Domain, last: int, chunk: Chunk, open_l: Layer) -> None:
        """Put all that is freed up to a depth into the open set."""
        for found, streams in self.log.read_layers(chunk):
            if found.depth <= last:
                for pair, stream in zip(numbers_of(chunk), streams, strict=True):
                    _kernels.put_in(domain.kernel, pair, stream, open_l.kernel)

    def withhold(
        self, domain: Domain, chunk: Chunk, pair: Partition, steps: range, open_l: Layer
    ) -> None:
        """Take out of the open set of a partition what was freed in some steps."""
        place = chunk.tolist().index(pair)
        for found, streams in self.log.read_layers(chunk):
            if step_of(found) in steps:
                _kernels.take_out(domain.kernel, pair, streams[place], open_l.kernel)
