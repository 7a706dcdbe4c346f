"""From the pass logs to the columns of a table.

Depths are not kept while solving: a partition's columns are painted at the end, from what each
pass logged.  A layer W_n paints n where the winner is to move, a layer L_n paints -n - 1 where
the loser is; what no layer paints is a draw. Rows that hold no position then repeat the row
before them, which costs next to nothing once compressed.

Cost: a byte written per decided position and one per row that is none; the rest is compression.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from workers import _kernels
from workers.domain import Domain, popcount, slot_squares
from workers.fen import fen
from workers.geometry import DIAGONAL, PAIRS
from workers.history import History
from workers.material import STRONGER, WEAKER, Material
from workers.passlog import Found, Stream
from workers.position import EMPTY, Colour, Position
from workers.table import (
    BLOCK,
    COLUMNS,
    Counts,
    Identity,
    Packing,
    Values,
)
from workers.threads import Chunk, Threads, chunks_of
from workers.writing import Blocks, Part, encode, schema_of

Logs = Mapping[int, History]  # by winner
Longest = dict[str, dict[str, str]]  # by column and result: the FEN of the first such position


def value_of(found: Found) -> int:
    return found.depth if found.won else -found.depth - 1


def _paint(domain: Domain, stream: Stream, value: int, column: Values) -> None:
    sound = _kernels.paint(domain.kernel, stream, value, column)
    assert sound, "a stream whose checksum held does not unpack"


def mover_of(winner: int, won: bool) -> int:
    """Who is to move in a layer of a winner's analysis."""
    return winner if won else 1 - winner


def dtype_of(logs: Logs) -> np.dtype[Any]:
    """The smallest type that holds every value: a loss in n takes one more than a win in n."""
    deepest = max((p.depth + 1 for log in logs.values() for p in log.passes), default=0)
    return np.dtype(np.int8 if deepest <= np.iinfo(np.int8).max else np.int16)


@dataclass
class Painter:
    """Paints the parts of a table that hold some consecutive partitions, and counts their legal
    positions.
    """

    domain: Domain
    logs: Logs
    threads: Threads
    packing: Packing
    partitions: Chunk

    def __post_init__(self) -> None:
        self.dtype = dtype_of(self.logs)
        self._scratches = self.threads.scratches(self.domain)
        self._chunks = chunks_of(self.domain.axes, self.partitions)
        self._legal = np.zeros((2, len(PAIRS)), np.int64)
        # Partitions painted together: one, or as many small ones as a chunk has.
        self._together = 1 if self.domain.slots >= BLOCK else len(self._chunks[0])
        size = self._together * self.domain.slots
        self._canvases = self.threads.pool(lambda: np.zeros((2, size), self.dtype))

    def parts(self, identity: Identity) -> Iterator[Part]:
        """The parts in order.  Once they are consumed, `legal` is complete."""
        schema = schema_of(identity, self.dtype)
        return self.threads.stream(lambda chunk: self._part(chunk, schema), self._chunks)

    def legal(self) -> list[int]:
        """Legal positions among those painted, by side to move."""
        return [int(side.sum()) for side in self._legal]

    def _part(self, chunk: Chunk, schema: pa.Schema) -> Part:
        layers = [
            (mover_of(winner, found.won), value_of(found), streams)
            for winner, log in self.logs.items()
            for found, streams in log.layers(chunk)
        ]
        part = Part([], Blocks([], []))
        with self._canvases.lend() as canvas, self._scratches.lend() as scratch:
            for at in range(0, len(chunk), self._together):
                pairs = chunk[at : at + self._together]
                columns = canvas[:, : len(pairs) * self.domain.slots]
                columns[:] = 0
                for i, pair in enumerate(map(int, pairs)):
                    these = columns[:, i * self.domain.slots : (i + 1) * self.domain.slots]
                    for side, value, streams in layers:
                        if pair in streams:
                            _paint(self.domain, streams[pair], value, these[side])
                    for side in (STRONGER, WEAKER):
                        self._fill(these[side], pair, side, scratch)
                part.extend(encode(schema, columns[0], columns[1], self.packing))
        return part

    def _fill(self, column: Values, pair: int, side: int, scratch: _kernels.Scratch) -> None:
        counted = self.domain.counted(pair, side, scratch)
        self._legal[side, pair] = popcount(counted)
        _kernels.fill(column, counted[: self.domain.slots // 64])

    def longest(self) -> Longest:
        """The first of the longest of each kind among what was painted."""
        return {
            name: {
                result: fen
                for result, winner in (("win", side), ("loss", 1 - side))
                if (depth := deepest(self.logs, winner, result == "win")) is not None
                and (fen := self._first(winner, result == "win", depth, side)) is not None
            }
            for side, name in enumerate(COLUMNS)
        }

    def _first(self, winner: int, won: bool, depth: int, side: int) -> str | None:
        """The first position of a layer, in the order of the rows."""
        empty = self.domain.empty_stream
        for chunk in self._chunks:
            streams: dict[int, Stream] = {}
            for _, found in self.logs[winner].layers(chunk, depth, won):
                streams |= found
            for pair in sorted(p for p, stream in streams.items() if stream.size > empty):
                column = np.zeros(self.domain.slots, np.int8)
                _paint(self.domain, streams[pair], 1, column)
                canonical = self.domain.canonical_of(bool(DIAGONAL[pair]))
                bits = np.unpackbits(canonical.view(np.uint8), bitorder="little")
                slots = np.flatnonzero(column & bits[: column.size])
                if slots.size:
                    return fen_of(self.domain.material, pair, int(slots[0]), side)
        return None


# ---- what a table holds ----


def deepest(logs: Logs, winner: int, won: bool) -> int | None:
    """The depth of the last pass that found anything won, or lost."""
    passes = logs[winner].passes if winner in logs else []
    return max((p.depth for p in passes if (p.won if won else p.lost)), default=None)


def counts_of(domain: Domain, logs: Logs, legal: Sequence[int], first: Longest) -> Counts:
    """Distinct positions by side to move, result and moves, and the longest of each."""
    placements = domain.placements()
    counts: Counts = {}
    longest: dict[str, Any] = {}
    for side, name in enumerate(COLUMNS):
        counts[name] = _side_counts(logs, side, legal[side], placements)
        longest[name] = {
            result: {"moves": moves, "fen": first[name][result]}
            for result, winner in (("win", side), ("loss", 1 - side))
            if (moves := deepest(logs, winner, result == "win")) is not None
        }
    counts["longest"] = longest
    return counts


def _side_counts(logs: Logs, side: int, legal: int, placements: int) -> dict[str, Any]:
    own, other = (logs[winner].passes if winner in logs else [] for winner in (side, 1 - side))
    win = {str(p.depth): p.won for p in own if p.won}
    loss = {str(p.depth): p.lost for p in other if p.lost}
    draw = legal - sum(win.values()) - sum(loss.values())
    assert draw >= 0, "more positions were decided than are legal"
    return {"win": win, "loss": loss, "draw": draw, "illegal": placements - legal}


def fen_of(material: Material, pair: int, slot: int, side: int) -> str:
    """The position of a slot, the stronger side White, `side` (0 stronger) to move."""
    board = [EMPTY] * 64
    board[PAIRS[pair][0]], board[PAIRS[pair][1]] = "K", "k"
    squares = slot_squares(len(material.letters), slot)
    for letter, man_side, square in zip(material.letters, material.sides, squares, strict=True):
        board[square] = letter if man_side == STRONGER else letter.lower()
    return fen(Position("".join(board), Colour.WHITE if side == STRONGER else Colour.BLACK))
