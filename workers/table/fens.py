"""The FENs of a table's slots: of one slot, and of many slots as an Arrow column.

For a column, each position gets a row of bytes of fixed length.  Each rank has a byte for each of
its squares, a byte for a digit before each square and after the last, and a byte for the stroke
that follows.  The code fills in the men, digits and strokes; the bytes that are not zero are the
text.

Cost: about half a microsecond a position, for some 160 bytes that are written and read again.  A
few thousand positions are converted at a time, so that they stay in the processor's cache.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.position import EMPTY, Colour
from kingpair.workers.game.rules import fen, rules_of
from kingpair.workers.index.material_index import table_index
from kingpair.workers.index.table_index import Slots
from kingpair.workers.number_types import STRONGER, WEAKER, Row, Side, Slot

AT_ONCE = 8192
BOARD_SQUARES = 64  # of the boards that are written many at a time

_RANK = 8 + 8 + 1 + 1  # men, digits before them, a last digit, a stroke
_EIGHTH_RANK_FIRST = 56  # xor with it mirrors a square's rank
_DIGIT, _STROKE = ord("0"), ord("/")

Letters = NDArray[np.uint8]


def fen_at(material: Material, run: int, slot: Slot, side: Side) -> str:
    """The FEN of a slot that counts from the beginning of a run; without pawns of a partition."""
    return fen_of_row(material, Row(run * table_index(material).slots + slot), side)


def fen_of_row(material: Material, row: Row, side: Side) -> str:
    """The FEN of a row.  The stronger side is White, and `side` (0 stronger) is to move."""
    board = [EMPTY] * material.game.board_squares
    squares = table_index(material).squares(np.array([row]))[:, 0].tolist()
    men = zip("Kk" + material.letters, (STRONGER, WEAKER, *material.sides), squares, strict=True)
    for letter, man_side, square in men:
        board[square] = letter.upper() if man_side == STRONGER else letter.lower()
    turn = Colour.WHITE if side == STRONGER else Colour.BLACK
    return fen(rules_of(material.game.name).place("".join(board), turn))


def fens_at(material: Material, run: int, slots: Slots, side: Side) -> pa.Array:
    """The FENs of some slots of a partition, with `side` (0 stronger) to move."""
    if material.game.board_squares != BOARD_SQUARES:
        return pa.array([fen_at(material, run, slot, side) for slot in slots.tolist()], pa.string())
    offsets, texts = np.zeros(slots.size + 1, np.int32), []
    for at in range(0, slots.size, AT_ONCE):
        text = _spread(material, run, slots[at : at + AT_ONCE], side)
        written = text != 0
        offsets[at + 1 : at + 1 + len(text)] = np.count_nonzero(written, axis=1)
        texts.append(text[written].tobytes())
    np.cumsum(offsets, out=offsets)
    return pa.StringArray.from_buffers(
        slots.size, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))
    )


def _spread(material: Material, run: int, slots: Slots, side: Side) -> Letters:
    """One row of bytes for each position; unused bytes are 0."""
    rest = f" {'w' if side == STRONGER else 'b'} - - 0 1".encode()
    text = np.zeros((slots.size, 8 * _RANK + len(rest)), np.uint8)
    ranks = text[:, : 8 * _RANK].reshape(-1, 8, _RANK)
    _write_ranks(_boards(material, run, slots), ranks)
    ranks[:, -1, -1] = 0  # the last rank has no stroke
    text[:, 8 * _RANK :] = np.frombuffer(rest, np.uint8)
    return text


def _boards(material: Material, run: int, slots: Slots) -> Letters:
    """The letters of the men as [position, rank, file], rank 8 first; 0 on empty squares."""
    boards = np.zeros((slots.size, 64), np.uint8)
    every = np.arange(slots.size)
    index = table_index(material)
    men = zip("Kk" + material.letters, (STRONGER, WEAKER, *material.sides), strict=True)
    squares = index.squares(run * index.slots + slots)
    for (letter, of), standing in zip(men, squares, strict=True):
        letter = letter.upper() if of == STRONGER else letter.lower()
        boards[every, standing ^ _EIGHTH_RANK_FIRST] = ord(letter)
    return boards.reshape(-1, 8, 8)


def _write_ranks(boards: Letters, ranks: Letters) -> None:
    gap = np.zeros(boards.shape[:2], np.uint8)
    for file in range(8):
        men = boards[:, :, file]
        ranks[:, :, 2 * file] = (gap + _DIGIT) * ((men != 0) & (gap != 0))
        ranks[:, :, 2 * file + 1] = men
        gap = (gap + 1) * (men == 0)
    ranks[:, :, -2] = (gap + _DIGIT) * (gap != 0)
    ranks[:, :, -1] = _STROKE
