"""The passes of one analysis, read from the logs of all workers that took part.

A worker logs the positions of its own partitions, in chunks of its share.  The shares change from
incarnation to incarnation, so this module finds layers by partition:

    log range  = a log, and the passes of it that count
    identity   = {..., "partitions": the partitions of the worker, "together": how many to a chunk}
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.number_types import Depth, Partition
from kingpair.workers.passlog.log import (
    STALEMATES,
    LayerChunk,
    LayerStream,
    LogFile,
    PackedStreams,
    PassResult,
)

LayerStreams = dict[Partition, LayerStream]  # by partition


class PassRange(Protocol):
    """Consecutive passes that the workers of one incarnation logged."""

    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...
    @property
    def incarnation(self) -> int: ...
    @property
    def workers(self) -> int: ...


class LogRange(NamedTuple):
    """The passes `first` to `last` of a log."""

    log: LogFile
    first: int
    last: int


class History:
    """The layers of all passes of an analysis, from all its logs."""

    def __init__(self, entries: Sequence[LogRange]) -> None:
        self._entries = [(entry, _Chunks(entry.log)) for entry in entries]
        by_depth = {
            done.depth: done
            for log, first, last in entries
            for done in log.passes
            if first <= done.depth <= last
        }
        self.passes: list[PassResult] = [by_depth[depth] for depth in sorted(by_depth)]
        self.seconds = {
            depth: seconds
            for log, first, last in entries
            for depth, seconds in log.seconds.items()
            if first <= depth <= last
        }

    @property
    def depth(self) -> Depth:
        """The depth of the last pass, -1 before the first."""
        return self.passes[-1].depth if self.passes else Depth(-1)

    def bring(self, wanted: Sequence[int] | NDArray[np.int16]) -> None:
        """Prepares for reading the layers of some partitions: a log in an object store delivers
        them in few large pieces.
        """
        for (log, first, last), chunks in self._entries:
            log.bring(chunks.firsts_of(np.asarray(wanted)), first, last)

    def layers(
        self,
        chunk: Sequence[int] | NDArray[np.int16],
        depth: Depth | None = None,
        won: bool | None = None,
    ) -> Iterator[tuple[LayerChunk, LayerStreams]]:
        """Yields the layers of some partitions: of all passes, or of one depth or kind alone.

        A layer comes in one piece for each log and chunk that has any of the partitions.
        """
        for log, layer_chunks, places in self._layer_chunks(chunk):
            for found in layer_chunks:
                if depth in (None, found.depth) and won in (None, found.won):
                    streams = log.read_chunk(found)
                    yield found, {p: streams[place] for p, place in places.items()}

    def packed_layers(
        self, chunk: Sequence[int] | NDArray[np.int16]
    ) -> Iterator[tuple[LayerChunk, PackedStreams, NDArray[np.int16]]]:
        """Yields the layers of some partitions as they lie in the logs.

        The array holds the place of each partition's stream, or -1.
        """
        for (log, first, last), chunks in self._entries:
            for at, places in chunks.places_of(np.asarray(chunk)):
                for found in log.layer_chunks(at):
                    if first <= found.depth <= last:
                        yield found, log.read_packed(found), places

    def packed_layer(
        self, depth: Depth, won: bool, wanted: NDArray[np.bool_]
    ) -> Iterator[tuple[NDArray[np.int16], PackedStreams]]:
        """Yields the chunks of one layer that have any of the partitions that are marked, as they
        lie in the logs: partitions, and their streams.

        The layer STALEMATES is of the log that has the first pass.
        """
        for (log, first, last), chunks in self._entries:
            if first <= (0 if depth == STALEMATES else depth) <= last:
                for partitions in chunks.with_any(wanted):
                    streams = log.read_packed(LayerChunk(depth, won, 0).at(partitions))
                    if streams.ends.size:
                        yield partitions, streams

    def _layer_chunks(
        self, chunk: Sequence[int] | NDArray[np.int16]
    ) -> Iterator[tuple[LogFile, list[LayerChunk], dict[Partition, int]]]:
        """Yields each log with its layer chunks that have any of the partitions, and the places of
        these partitions in them.
        """
        for (log, first, last), chunks in self._entries:
            for at, places in chunks.of(np.asarray(chunk)):
                selected = [c for c in log.layer_chunks(at) if first <= c.depth <= last]
                yield log, selected, places


EMPTY_HISTORY = History([])


class _Chunks:
    """The chunks into which a log divides the partitions of its worker."""

    def __init__(self, log: LogFile) -> None:
        identity = json.loads(log.identity)
        partitions = np.array(identity["partitions"], np.int16)
        self._together: int = identity["together"]
        starts = range(0, len(partitions), self._together)
        self._chunks = [partitions[at : at + self._together] for at in starts]
        # The last place is that of all partitions that the worker does not have.
        self._order = np.full(2 + partitions.max(initial=-1), -1)
        self._order[partitions] = np.arange(len(partitions))

    def with_any(self, wanted: NDArray[np.bool_]) -> Iterator[NDArray[np.int16]]:
        """Yields the partitions of each chunk that has any of those that are marked."""
        for chunk in self._chunks:
            if wanted[chunk].any():
                yield chunk

    def firsts_of(self, wanted: NDArray[np.integer[Any]]) -> list[int]:
        """The first partitions of the chunks that have any of these."""
        order = self._order_of(wanted)
        return [int(self._chunks[chunk][0]) for chunk in self._numbers(order)]

    def of(
        self, wanted: NDArray[np.integer[Any]]
    ) -> Iterator[tuple[Partition, dict[Partition, int]]]:
        """Yields the chunks that have any of these partitions: the first partition of the chunk,
        and the place in it of each partition that is wanted.
        """
        for first, places in self.places_of(wanted):
            held = places >= 0
            partitions = map(Partition, wanted[held].tolist())
            yield first, dict(zip(partitions, places[held].tolist(), strict=True))

    def places_of(
        self, wanted: NDArray[np.integer[Any]]
    ) -> Iterator[tuple[Partition, NDArray[np.int16]]]:
        """Yields the same chunks: the first partition of the chunk, and for each partition that is
        wanted its place in it, or -1.
        """
        order = self._order_of(wanted)
        chunks, places = np.divmod(order, self._together)
        for chunk in self._numbers(order):
            first = Partition(int(self._chunks[chunk][0]))
            yield first, np.where(chunks == chunk, places, -1).astype(np.int16)

    def _order_of(self, wanted: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
        """The place of each partition among all of the worker, or -1."""
        found: NDArray[np.intp] = self._order[np.minimum(wanted, len(self._order) - 1)]
        return found

    def _numbers(self, order: NDArray[np.intp]) -> list[int]:
        """The chunks that hold partitions of these places."""
        # Not np.unique, which imports masked arrays, at the cost of a small build.
        held = np.zeros(len(self._chunks), np.bool_)
        held[order[order >= 0] // self._together] = True
        numbers: list[int] = np.flatnonzero(held).tolist()
        return numbers
