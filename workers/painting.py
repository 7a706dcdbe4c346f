"""From the pass logs to the columns of a table.

Depths are not kept while solving: a partition's columns are painted at the end, from what each
pass logged.  A layer W_n paints n where the winner is to move, a layer L_n paints -n - 1 where
the loser is; what no layer paints is a draw. Rows that hold no position then repeat the row
before them, which costs next to nothing once compressed.

Cost: a byte written per decided position and one per row that is none; the rest is compression.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from workers import _kernels
from workers.domain import Domain, popcount, slot_squares
from workers.fen import fen
from workers.geometry import DIAGONAL, PAIRS
from workers.material import STRONGER, WEAKER, Material
from workers.passlog import Found, Pass, PassLog, Stream
from workers.position import EMPTY, Colour, Position
from workers.table import (
    BLOCK,
    COLUMNS,
    Counts,
    Identity,
    Packing,
    Part,
    Values,
    encode,
    schema_of,
)
from workers.threads import Chunk, Threads, chunks_of

Logs = dict[int, PassLog]  # by winner


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
    """Paints the parts of a table, and counts what they hold."""

    domain: Domain
    logs: Logs
    threads: Threads
    packing: Packing

    def __post_init__(self) -> None:
        self.dtype = dtype_of(self.logs)
        self._scratches = self.threads.scratches(self.domain)
        self._legal = np.zeros((2, len(PAIRS)), np.int64)
        # Partitions painted together: one, or as many small ones as a chunk has.
        self._together = 1 if self.domain.slots >= BLOCK else len(chunks_of(self.domain.axes)[0])
        size = self._together * self.domain.slots
        self._canvases = self.threads.pool(lambda: np.zeros((2, size), self.dtype))

    def parts(self, identity: Identity) -> Iterator[Part]:
        """The parts in order.  Once they are consumed, `counts` is complete."""
        schema = schema_of(identity, self.dtype)
        return self.threads.stream(
            lambda chunk: self._part(chunk, schema), chunks_of(self.domain.axes)
        )

    def _part(self, chunk: Chunk, schema: pa.Schema) -> Part:
        layers = [
            (mover_of(winner, found.won), value_of(found), streams)
            for winner, log in self.logs.items()
            for found, streams in log.streams(chunk)
        ]
        part = Part([], [], [])
        with self._canvases.lend() as canvas, self._scratches.lend() as scratch:
            for at in range(0, len(chunk), self._together):
                columns = canvas[:, : len(chunk[at : at + self._together]) * self.domain.slots]
                columns[:] = 0
                for i, pair in enumerate(map(int, chunk[at : at + self._together])):
                    these = columns[:, i * self.domain.slots : (i + 1) * self.domain.slots]
                    for side, value, streams in layers:
                        _paint(self.domain, streams[at + i], value, these[side])
                    for side in (STRONGER, WEAKER):
                        self._fill(these[side], pair, side, scratch)
                part.extend(encode(schema, columns[0], columns[1], self.packing))
        return part

    def _fill(self, column: Values, pair: int, side: int, scratch: _kernels.Scratch) -> None:
        counted = self.domain.counted(pair, side, scratch)
        self._legal[side, pair] = popcount(counted)
        _kernels.fill(column, counted[: self.domain.slots // 64])

    def counts(self) -> Counts:
        """What the table holds: distinct positions by side to move, result and moves, and the
        longest of each.
        """
        placements = self.domain.placements()
        counts: Counts = {
            name: self._side_counts(side, placements) for side, name in enumerate(COLUMNS)
        }
        counts["longest"] = {name: self._longest(side) for side, name in enumerate(COLUMNS)}
        return counts

    def _passes(self, winner: int) -> Sequence[Pass]:
        return self.logs[winner].passes if winner in self.logs else ()

    def _side_counts(self, side: int, placements: int) -> dict[str, Any]:
        win = {str(p.depth): p.won for p in self._passes(side) if p.won}
        loss = {str(p.depth): p.lost for p in self._passes(1 - side) if p.lost}
        legal = int(self._legal[side].sum())
        draw = legal - sum(win.values()) - sum(loss.values())
        assert draw >= 0, "more positions were decided than are legal"
        return {"win": win, "loss": loss, "draw": draw, "illegal": placements - legal}

    def _longest(self, side: int) -> dict[str, Any]:
        found = {}
        for result, winner in (("win", side), ("loss", 1 - side)):
            won = result == "win"
            depths = [p.depth for p in self._passes(winner) if (p.won if won else p.lost)]
            if depths:
                moves = max(depths)
                found[result] = {"moves": moves, "fen": self._first(winner, won, moves, side)}
        return found

    def _first(self, winner: int, won: bool, depth: int, side: int) -> str:
        """The first position, in the order of the rows, of a layer that is known to have one."""
        column = np.zeros(self.domain.slots, np.int8)
        for chunk in chunks_of(self.domain.axes):
            for found, streams in self.logs[winner].streams(chunk):
                if (found.won, found.depth) != (won, depth):
                    continue
                for pair, stream in zip(map(int, chunk), streams, strict=True):
                    column[:] = 0
                    _paint(self.domain, stream, 1, column)
                    canonical = self.domain.canonical_of(bool(DIAGONAL[pair]))
                    bits = np.unpackbits(canonical.view(np.uint8), bitorder="little")
                    slots = np.flatnonzero(column & bits[: column.size])
                    if slots.size:
                        return fen_of(self.domain.material, pair, int(slots[0]), side)
        raise AssertionError("a layer that was counted is not in the log")


def fen_of(material: Material, pair: int, slot: int, side: int) -> str:
    """The position of a slot, the stronger side White, `side` (0 stronger) to move."""
    board = [EMPTY] * 64
    board[PAIRS[pair][0]], board[PAIRS[pair][1]] = "K", "k"
    squares = slot_squares(len(material.letters), slot)
    for letter, man_side, square in zip(material.letters, material.sides, squares, strict=True):
        board[square] = letter if man_side == STRONGER else letter.lower()
    return fen(Position("".join(board), Colour.WHITE if side == STRONGER else Colour.BLACK))
