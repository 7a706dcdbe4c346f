"""The FENs of many positions at once: what `painting.fen_of` says of one, as an Arrow column.

Each rank has room for a digit before each of its squares, one after the last, and the stroke that
follows.  Filling in what is there and leaving out what stayed empty is the text.

Cost: some 160 bytes written and read again for each position, a few thousand positions at a time
so that they stay in the cache; about half a microsecond each.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workers.geometry import PAIRS
from workers.material import STRONGER, Material

AT_ONCE = 8192

_RANK = 8 + 8 + 1 + 1  # men, digits before them, a digit at the end, a stroke
_EIGHTH_RANK_FIRST = 56  # what changes the number of a square so
_DIGIT, _STROKE = ord("0"), ord("/")

Letters = NDArray[np.uint8]
Slots = NDArray[np.int64]


def fens_of(material: Material, pair: int, slots: Slots, side: int) -> pa.Array:
    """The FENs of the slots of a partition, `side` (0 stronger) to move."""
    offsets, texts = np.zeros(slots.size + 1, np.int32), []
    for at in range(0, slots.size, AT_ONCE):
        text = _spread(material, pair, slots[at : at + AT_ONCE], side)
        written = text != 0
        offsets[at + 1 : at + 1 + len(text)] = np.count_nonzero(written, axis=1)
        texts.append(text[written].tobytes())
    np.cumsum(offsets, out=offsets)
    return pa.StringArray.from_buffers(
        slots.size, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))
    )


def _spread(material: Material, pair: int, slots: Slots, side: int) -> Letters:
    """The texts one below the other, every letter in a place of its own, 0 where there is none."""
    rest = f" {'w' if side == STRONGER else 'b'} - - 0 1".encode()
    text = np.zeros((slots.size, 8 * _RANK + len(rest)), np.uint8)
    ranks = text[:, : 8 * _RANK].reshape(-1, 8, _RANK)
    _write_ranks(_boards(material, pair, slots), ranks)
    ranks[:, -1, -1] = 0  # the last rank has no stroke
    text[:, 8 * _RANK :] = np.frombuffer(rest, np.uint8)
    return text


def _boards(material: Material, pair: int, slots: Slots) -> Letters:
    """The letters of the men as [position, rank, file], rank 8 first; 0 where there is none."""
    boards = np.zeros((slots.size, 64), np.uint8)
    every = np.arange(slots.size)
    for king, square in zip("Kk", PAIRS[pair], strict=True):
        boards[:, square ^ _EIGHTH_RANK_FIRST] = ord(king)
    men = list(zip(material.letters, material.sides, strict=True))
    for man, (letter, of) in enumerate(men):
        squares = slots >> 6 * (len(men) - 1 - man) & 63
        letter = letter if of == STRONGER else letter.lower()
        boards[every, squares ^ _EIGHTH_RANK_FIRST] = ord(letter)
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
