"""Reads the dense code of tables with pawns as workers/table/dense.py describes it, one position at
a time, with the attacks of python-chess.  It shares no code with the codec but the table's index.
"""

import json
import math
from base64 import b64decode
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import chess
import numpy as np
import pyarrow as pa

from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.material_index import table_index
from kingpair.workers.number_types import SIDES, Side
from kingpair.workers.table.key import TableKey

CODED_ROWS = 4096
CODES_OF_GROUP, GROUPS_OF_BATCH = 16, 64


def curve(x: int) -> int:
    return min(max(round(4096 / (1 + math.exp(-x / 256))), 1), 4095)


CURVE = [curve(x) for x in range(-2048, 2048)]


def _stretch() -> list[int]:
    found, x = [], -2047
    for chance in range(4096):
        while x < 2047 and CURVE[x + 2048] < chance:
            x += 1
        found.append(x)
    return found


STRETCH = _stretch()


class RangeDecoder:
    """The bits of a code."""

    def __init__(self, code: bytes) -> None:
        self._bytes = iter(code)
        self._low, self._high = 0, 2**32 - 1
        self._number = 0
        for _ in range(4):
            self._number = self._number << 8 | next(self._bytes, 0)

    def bit(self, chance: int) -> int:
        middle = self._low + ((self._high - self._low) * chance >> 12)
        bit = int(self._number <= middle)
        if bit:
            self._high = middle
        else:
            self._low = middle + 1
        while self._low >> 24 == self._high >> 24:
            self._low = self._low << 8 & 0xFFFFFFFF
            self._high = (self._high << 8 | 255) & 0xFFFFFFFF
            self._number = (self._number << 8 | next(self._bytes, 0)) & 0xFFFFFFFF
        return bit


class Placed(NamedTuple):
    """A position before its value: its cell, its class, and what its pawns and kings say."""

    cell: tuple[int, int]
    position_class: int
    distances: int
    stage: int


class PlainDenseReader:
    """The codes of a column with pawns."""

    def __init__(self, material: Material, side: Side, model: bytes) -> None:
        self._material, self._side, self._index = material, side, table_index(material)
        self._classes = 1 << 2 * len(material.letters) + 1
        self._results = 2 * 81 * (self._classes + 128 + 384)
        self._weights = np.frombuffer(model[-2 * (81 * 2 * 3 + 48 * 4) :], "<i2").astype(int)
        self._model = np.frombuffer(model, np.int8)[: -2 * self._weights.size]
        self._axes = ["K", "k", *(letter for letter, _ in material.pieces)]
        self._chances: dict[int, int] = {}

    def values(self, number: int, code: bytes) -> dict[int, int]:
        """The values of a code by row, of rows that hold a position."""
        self._chances = {}
        self._decoder = RangeDecoder(code)
        first = number * CODED_ROWS
        rows = np.arange(first, min(first + CODED_ROWS, self._index.rows))
        cells: dict[tuple[int, int], tuple[int, int | None]] = {}
        found: dict[int, int] = {}
        before = 0
        for row, men in zip(rows.tolist(), self._index.squares(rows).T.tolist(), strict=True):
            placed = self._placed(row, men)
            if isinstance(placed, Placed):
                before = found[row] = self._value(placed, cells)
                cells[placed.cell] = before, placed.position_class
            else:
                cells[placed] = before, None
        return found

    # ---- positions ----

    def _placed(self, row: int, squares: list[int]) -> Placed | tuple[int, int]:
        """Returns the cell of a row, and what its position says before its value if it has one."""
        kings, men = squares[:2], squares[2:]
        named = list(zip(self._material.letters, self._material.sides, men, strict=True))
        pieces = [each for each in named if each[0] != "P"]
        stronger = [each for each in named if each[0] == "P" and each[1] == 0]
        pawns = stronger + [each for each in named if each[0] == "P" and each[1] == 1]
        axes = kings + [square for _, _, square in pieces]
        cell = axes[-2], axes[-1]
        board = chess.Board(None)
        for letter, side, square in [("K", 0, kings[0]), ("K", 1, kings[1]), *named]:
            board.set_piece_at(
                square, chess.Piece.from_symbol(letter if side == 0 else letter.lower())
            )
        like = any(a[:2] == b[:2] and a[2] >= b[2] for a, b in pairwise(pieces))
        structure = row // self._index.structure_rows
        assert self._index.structures is not None
        halved = self._index.structures.symmetric[structure] and kings[0] & 7 > 3
        other_king = kings[1 - self._side]
        if len({*squares}) < len(squares) or like or halved or self._attacked(board, other_king):
            return cell
        position_class = int(bool(self._attacked(board, kings[self._side])))
        for i, (_, side, square) in enumerate(pieces + pawns):
            own, others = chess.WHITE if side == 0 else chess.BLACK, bool(side)
            guarded = bool(board.attackers(own, square))
            by = board.attackers(others, square)
            taken = bool(by & ~board.kings) or (bool(by) and not guarded)
            position_class |= (taken | guarded << 1) << 1 + 2 * i
        return Placed(cell, position_class, *self._pawns_say(pawns, kings))

    @staticmethod
    def _attacked(board: chess.Board, square: int) -> bool:
        color = board.color_at(square)
        return bool(board.attackers(not color, square))

    @staticmethod
    def _pawns_say(pawns: Sequence[tuple[str, Side, int]], kings: list[int]) -> tuple[int, int]:
        steps = [
            (6 - (square >> 3)) if side == 0 else (square >> 3) - 1 for _, side, square in pawns
        ]
        leader = pawns[steps.index(min(steps))][2]
        foremost = [
            min([n for n, pawn in zip(steps, pawns, strict=True) if pawn[1] == side], default=6)
            for side in (0, 1)
        ]
        d, e = (chess.square_distance(king, leader) for king in kings)
        return (d * 8 + e) * 6 + min(steps), 7 * foremost[0] + foremost[1]

    def _earlier(self, axis: int, square: int) -> list[int]:
        """Both earlier squares of a man, or none."""
        file, rank = square & 7, square >> 3
        if self._axes[axis] == "B":
            diagonals = [(-1, -1), (1, -1)]
            straight = [(-2, 0), (0, -2)]
            for steps in (diagonals, straight):
                to = [
                    square + df + 8 * dr if 0 <= file + df < 8 and rank + dr >= 0 else None
                    for df, dr in steps
                ]
                known = [each for each in to if each is not None]
                if known:
                    return [known[0] if each is None else each for each in to]
            return []
        left, down = square - 1 if file else None, square - 8 if rank else None
        known = [each for each in (left, down) if each is not None]
        return [known[0], known[-1]] if known else []

    # ---- values ----

    def _value(self, placed: Placed, cells: dict[tuple[int, int], tuple[int, int | None]]) -> int:
        row, lane = placed.cell
        left = [(row, square) for square in self._earlier(-1, lane)]
        above = [(square, lane) for square in self._earlier(-2, row)]
        none: list[tuple[int, int] | None] = [None, None]
        places = [*(left or none), *(above or none)]
        seen = [None if place is None else cells.get(place, (0, None)) for place in places]
        exist = [each[0] for each in seen if each is not None]
        near = [(exist or [0])[0] if each is None else each[0] for each in seen]
        agreement = sum(
            1 << i
            for i, each in enumerate(seen)
            if each is not None and each[1] == placed.position_class
        )
        pattern = 0
        for value in near:
            pattern = 3 * pattern + _result(value)
        contexts = [
            placed.position_class,
            self._classes + agreement * 8 + placed.position_class % 8,
            self._classes + 128 + placed.distances,
        ]
        chances = [2 * (81 * each + pattern) for each in contexts]
        if not self._bit(chances, 0, 3 * 2 * pattern):
            return 0
        result = 2 if self._bit(chances, 1, 3 * (2 * pattern + 1)) else 1
        return self._moves(placed, near, agreement, result)

    def _moves(self, placed: Placed, near: list[int], agreement: int, result: int) -> int:
        numbers = sorted(_number(value) for value in near if _result(value) == result)
        reference, spread, shape = int(result == 1), 0, 0
        if numbers:
            middle = numbers[len(numbers) // 2 - 1 : len(numbers) // 2 + 1]
            middle = middle if len(numbers) % 2 == 0 else [numbers[len(numbers) // 2]]
            reference = -(-sum(middle) // len(middle))
            spread = min(numbers[-1] - numbers[0], 7)
            skew = 2 * (numbers[-1] - reference) - (numbers[-1] - numbers[0])
            shape = len(numbers) + (10 if skew > 0 else 0 if skew < 0 else 5)
        loss, relation = int(result == 2), 0
        for value in near:
            larger = min(max(_number(value) - reference, -1), 2) + 1
            relation = 5 * relation + (larger if _result(value) == result else 4)
        low = placed.position_class % 8
        contexts = [
            ((spread * 15 + shape) * 16 + agreement) * 2 + loss,
            3840 + (min(reference, 31) * 2 + loss) * 8 + low,
            4352 + relation * 2 + loss,
            5602 + (placed.stage * 16 + min(reference, 15)) * 2 + loss,
        ]
        chances = [self._results + 48 * each for each in contexts]
        number = reference + self._difference(chances, reference - int(result == 1))
        return number if result == 1 else -number - 1

    def _difference(self, chances: list[int], room: int) -> int:
        def bit(node: int) -> int:
            return self._bit(chances, node, 81 * 2 * 3 + 4 * node)

        if not bit(0):
            return 0
        smaller = room > 0 and bit(1)
        most, by = min(room, 1023) if smaller else 1023, 1
        while by < most and bit((1 if smaller else 23) + min(by, 22)):
            by += 1
        return -by if smaller else by

    def _bit(self, chances: list[int], which: int, weight: int) -> int:
        numbers = [self._number_of(each + which) for each in chances]
        weights = self._weights[weight : weight + len(chances)].tolist()
        x = sum(w * STRETCH[n >> 4] for w, n in zip(weights, numbers, strict=True)) // 4096
        bit = self._decoder.bit(CURVE[min(max(x, -2047), 2047) + 2048])
        for place, number in zip(chances, numbers, strict=True):
            self._chances[place + which] = number + (((65535 if bit else 0) - number) >> 2)
        return bit

    def _number_of(self, place: int) -> int:
        start = CURVE[min(max(16 * int(self._model[place]), -2047), 2047) + 2048] * 16
        return self._chances.get(place, start)


def _result(value: int) -> int:
    return 0 if value == 0 else 1 if value > 0 else 2


def _number(value: int) -> int:
    return value if value >= 0 else -value - 1


def code_of(group: bytes, codes: int, place: int) -> bytes:
    """One of so many codes of a group."""
    at, lengths = 2, []
    for _ in range(codes):
        length = shift = 0
        while True:
            length |= (group[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if group[at - 1] < 128:
                break
        lengths.append(length)
    begin = at + sum(lengths[:place])
    return group[begin : begin + lengths[place]]


def read_plainly(path: Path, number: int) -> dict[int, int]:
    """The values of a code of a table by row, of rows that hold a position."""
    file, key = pa.ipc.open_file(path), TableKey.of_file(path.name)
    assert key is not None
    stated = json.loads(file.schema.metadata[b"kingpair.dense"])
    assert stated["version"] == 2
    model = pa.Codec("zstd").decompress(b64decode(stated["model"]), stated["bytes"], asbytes=True)
    group, place = divmod(number, CODES_OF_GROUP)
    batch, at = divmod(group, GROUPS_OF_BATCH)
    rows = table_index(key.material).rows - group * CODES_OF_GROUP * CODED_ROWS
    codes = min(CODES_OF_GROUP, -(-rows // CODED_ROWS))
    code = code_of(file.get_batch(batch).column(0)[at].as_py(), codes, place)
    side = SIDES[("white", "black").index(file.schema.names[0])]
    return PlainDenseReader(key.material, side, model).values(number, code)
