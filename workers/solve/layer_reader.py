"""Reads the layers of an analysis that is under way, for the partitions of a walk.

passes of a history           from its logs, which are those of all workers
later ones, own partitions    from this worker's log
later ones, copies            from the frontiers that the owners sent, which stay packed
"""

from collections.abc import Iterator, Sequence

from kingpair.workers.index.share import Share
from kingpair.workers.number_types import Depth, Partition
from kingpair.workers.passlog.history import History
from kingpair.workers.passlog.log import LayerChunk, LayerStream, LogFile
from kingpair.workers.sets.threads import Chunk
from kingpair.workers.solve.frontiers import PackedFrontier


class LayerReader:
    """The passes of a history, and after them those of a share's log and of other workers."""

    def __init__(self, history: History, log: LogFile, share: Share, together: int) -> None:
        self._history, self._log, self._together = history, log, together
        self._own, self._places = share.own, share.places
        self._received: dict[tuple[Depth, bool], dict[Partition, LayerStream]] = {}

    def receive(
        self, depth: Depth, won: bool, inbound: Sequence[PackedFrontier], kept: int = 1
    ) -> None:
        """Takes what other workers found at a depth, in place of all but the last such layers."""
        self._received[depth, won] = dict(item for frontier in inbound for item in frontier.each())
        for layer in [*self._received]:
            if layer[1] == won and layer[0] <= depth - kept:
                del self._received[layer]

    def streams(
        self, depth: Depth, won: bool, partitions: Chunk
    ) -> Iterator[tuple[Partition, LayerStream]]:
        """Yields the streams of a layer, for those of the partitions that have any."""
        if depth <= self._history.depth:
            for _, streams in self._history.layers(partitions, depth, won):
                yield from streams.items()
            return
        chunks: dict[int, list[tuple[Partition, int]]] = {}  # by number: partitions, their places
        received = self._received.get((depth, won), {})
        for partition in map(Partition, partitions.tolist()):
            if (place := int(self._places[partition])) < len(self._own):
                number, at = divmod(place, self._together)
                chunks.setdefault(number, []).append((partition, at))
            elif (stream := received.get(partition)) is not None:
                yield partition, stream
        for number, wanted in sorted(chunks.items()):
            first = int(self._own[number * self._together])
            logged = self._log.read_chunk(LayerChunk(depth, won, first))
            yield from ((partition, logged[at]) for partition, at in wanted if at < len(logged))
