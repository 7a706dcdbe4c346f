"""Painting: writes the columns of a table from the pass logs.

Solving keeps no depths.  At the end the painter fills the columns of each partition from the
layers that the passes logged.  A layer W_n paints a win in n in the winner's column, a layer L_n a
loss in n in the loser's column; unpainted positions are draws.  Rows that hold no position then
repeat the row before them, which costs next to nothing once compressed.

Cost: one byte written per decided position and one per row without a position; the rest is
compression.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import SIDES, Depth, Partition, Side, Slot, opponent
from kingpair.workers.passlog.history import History
from kingpair.workers.passlog.log import LayerStream
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.table.fens import fen_at
from kingpair.workers.table.format import BLOCK, COLUMNS, Compression, Counts
from kingpair.workers.table.key import TableIdentity
from kingpair.workers.table.value import Values, loss_in, smallest_dtype, win_in
from kingpair.workers.table.writing import EncodedBlocks, WrittenBlocks, encode, table_schema

Histories = Mapping[Side, History]  # by winner
LongestFens = dict[str, dict[str, str]]  # by column and result: a FEN


def _check(sound: bool) -> None:
    assert sound, "a stream with a sound checksum does not unpack"


def _mover_of(winner: Side, won: bool) -> int:
    """The side to move in a layer of a winner's analysis."""
    return winner if won else opponent(winner)


def smallest_table_dtype(logs: Histories) -> np.dtype[Any]:
    """The smallest type that holds every value."""
    return smallest_dtype(max((p.depth for log in logs.values() for p in log.passes), default=0))


def _value_of(metric: Metric, depth: int, won: bool) -> int:
    """The value of the positions of a layer for their side to move."""
    distance = metric.distance(depth, won)
    return win_in(distance) if won else loss_in(distance)


def layers_of(
    metric: Metric, logs: Histories, chunk: Chunk
) -> list[tuple[int, int, LayerStream, NDArray[np.uint64], Chunk]]:
    """The layers of a chunk as the kernels paint them; see _kernels.pyi."""
    return [
        (_mover_of(winner, found.won), _value_of(metric, found.depth, found.won), *packed, places)
        for winner, log in logs.items()
        for found, packed, places in log.packed_layers(chunk)
    ]


@dataclass
class Painter:
    """Paints parts of a table, which hold consecutive partitions each, and counts their legal
    positions.  All threads share the chunks of all parts.
    """

    domain: Domain
    logs: Histories
    threads: Threads
    packing: Compression
    partitions: Sequence[Chunk]  # of each part
    metric: Metric

    def __post_init__(self) -> None:
        self.dtype = smallest_table_dtype(self.logs)
        self._scratches = self.threads.scratches(self.domain)
        self._chunks = [self.domain.index.chunks(each) for each in self.partitions]
        self._legal = np.zeros((2, self.domain.index.partitions), np.int64)
        # The partitions painted together: one, or all of a chunk if they are small.
        largest = max(len(chunks[0]) for chunks in self._chunks)
        self._together = 1 if self.domain.slots >= BLOCK else largest
        size = self._together * self.domain.slots
        self._canvases = self.threads.pool(lambda: np.zeros(2 * size, self.dtype))

    def parts(self, identity: TableIdentity) -> Iterator[Iterator[EncodedBlocks]]:
        """Yields the encoded blocks of each part in order.  Once all of a part are consumed, its
        `legal` is complete.
        """
        schema = table_schema(identity, self.dtype)
        every = chain.from_iterable(self._chunks)
        blocks = self.threads.stream(lambda chunk: self._blocks(chunk, schema), every)
        for chunks in self._chunks:
            yield islice(blocks, len(chunks))

    def legal(self, part: int) -> list[int]:
        """The number of legal positions of a part, by side to move."""
        return [int(side.sum()) for side in self._legal[:, self.partitions[part]]]

    def _blocks(self, chunk: Chunk, schema: pa.Schema) -> EncodedBlocks:
        painting = self._painting(chunk)
        part = EncodedBlocks([], WrittenBlocks.none())
        with self._canvases.lend() as canvas, self._scratches.lend() as scratch:
            for at in range(0, len(chunk), self._together):
                pairs = chunk[at : at + self._together]
                columns = canvas[: 2 * len(pairs) * self.domain.slots].reshape(2, -1)
                self._paint(painting, at, pairs, columns, scratch)
                part.extend(self._encoded(columns, schema))
        return part

    def _encoded(self, columns: Values, schema: pa.Schema) -> EncodedBlocks:
        return encode(schema, columns[0], columns[1], self.packing)

    def _painting(self, chunk: Chunk) -> _kernels.Painting:
        """The layers that hold positions of a chunk, read from the logs."""
        return _kernels.Painting(
            self.domain.kernel, chunk, layers_of(self.metric, self.logs, chunk)
        )

    def _paint(
        self,
        painting: _kernels.Painting,
        at: int,
        pairs: Chunk,
        columns: Values,
        scratch: _kernels.Scratch,
    ) -> None:
        """Paints the partitions that begin at index `at` of a chunk, and counts their positions."""
        legal = np.zeros((2, len(pairs)), np.int64)
        kernel, canonical = self.domain.kernel, self.domain.canonical
        _check(painting.paint(kernel, at, canonical, columns, legal, scratch))
        self._legal[:, pairs] = legal

    def longest(self, part: int) -> LongestFens:
        """The FENs of the first longest win and loss of each side in a part."""
        return {
            name: {
                result: fen
                for result, winner in (("win", side), ("loss", opponent(side)))
                if (depth := deepest(self.logs, winner, result == "win")) is not None
                and (fen := self._first(part, winner, result == "win", depth, side)) is not None
            }
            for side, name in zip(SIDES, COLUMNS, strict=True)
        }

    def _first(self, part: int, winner: Side, won: bool, depth: Depth, side: Side) -> str | None:
        """The FEN of the first position of a layer in the order of rows, None if there is none."""
        empty = self.domain.empty_stream
        for chunk in self._chunks[part]:
            streams: dict[Partition, LayerStream] = {}
            for _, found in self.logs[winner].layers(chunk, depth, won):
                streams |= found
            for pair in sorted(p for p, stream in streams.items() if stream.size > empty):
                column = np.zeros(self.domain.slots, np.int8)
                _check(_kernels.paint(self.domain.kernel, streams[pair], 1, column))
                slots = np.flatnonzero(column & self.domain.canonical_marks(pair))
                if slots.size:
                    return fen_at(self.domain.material, pair, Slot(int(slots[0])), side)
        return None


# ---- counts ----


def deepest(logs: Histories, winner: Side, won: bool) -> Depth | None:
    """The depth of the last pass that found a won (or lost) position, None if no pass did."""
    passes = logs[winner].passes if winner in logs else []
    return max((p.depth for p in passes if (p.won if won else p.lost)), default=None)


def table_counts(
    domain: Domain, metric: Metric, logs: Histories, legal: Sequence[int], first: LongestFens
) -> Counts:
    """The counts of a table: distinct positions by side to move, result and moves, and the longest
    win and loss of each side.
    """
    placements = domain.placements()
    counts: Counts = {}
    longest: dict[str, Any] = {}
    for side, name in zip(SIDES, COLUMNS, strict=True):
        counts[name] = _side_counts(metric, logs, side, legal[side], placements)
        longest[name] = {
            result: {
                "moves": metric.distance(depth, result == "win"),
                "fen": first[name][result],
            }
            for result, winner in (("win", side), ("loss", opponent(side)))
            if (depth := deepest(logs, winner, result == "win")) is not None
        }
    counts["longest"] = longest
    return counts


def side_histograms(
    metric: Metric, logs: Histories, side: Side
) -> tuple[dict[str, int], dict[str, int]]:
    """The positions with a side to move that are won, and that are lost, by their distance."""
    winners = side, opponent(side)
    own, other = (logs[winner].passes if winner in logs else [] for winner in winners)
    win = {str(metric.distance(p.depth, won=True)): p.won for p in own if p.won}
    loss = {str(metric.distance(p.depth, won=False)): p.lost for p in other if p.lost}
    return win, loss


def _side_counts(
    metric: Metric, logs: Histories, side: Side, legal: int, placements: int
) -> dict[str, Any]:
    win, loss = side_histograms(metric, logs, side)
    draw = legal - sum(win.values()) - sum(loss.values())
    assert draw >= 0, "more positions were decided than are legal"
    return {"win": win, "loss": loss, "draw": draw, "illegal": placements - legal}
