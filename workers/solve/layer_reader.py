"""Reads the layers of an analysis that is under way: of this log, and of those of earlier runs."""

from collections.abc import Iterator

from kingpair.workers.number_types import Depth, Partition
from kingpair.workers.passlog.history import History
from kingpair.workers.passlog.log import LayerChunk, LayerStream, LogFile
from kingpair.workers.sets.threads import Chunk


class LayerReader:
    """The passes of a history, and after them those of a log with all partitions in order."""

    def __init__(self, history: History, log: LogFile, together: int) -> None:
        self._history, self._log, self._together = history, log, together

    def streams(
        self, depth: Depth, won: bool, partitions: Chunk
    ) -> Iterator[tuple[Partition, LayerStream]]:
        """Yields the streams of a layer, for those of the partitions that have any logged."""
        if depth <= self._history.depth:
            for _, streams in self._history.layers(partitions, depth, won):
                yield from streams.items()
            return
        together = self._together
        for first in sorted(
            {partition // together * together for partition in partitions.tolist()}
        ):
            logged = self._log.read_chunk(LayerChunk(depth, won, first))
            for partition in partitions.tolist():
                if first <= partition < first + len(logged):
                    yield partition, logged[partition - first]
