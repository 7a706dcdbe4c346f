"""The layout of a Syzygy file: what stands where.

    magic       71 e8 23 5d for results (.rtbw), d7 66 0c a5 for distances (.rtbz)
    shape       one byte: men << 4 | 2 if there are four files (pawns) | 1 unless both sides have
                the same men
    orders      for each file: a byte with the place of the leading weight, a second one if both
                sides have pawns; a byte for each man.  The low half of each byte is for the first
                side, the high half for the second.  Padded to an even place
    sub-tables  for each file and side: a `Coding`
    maps        distances only, for each file: four lists of values
    spans       for each sub-table 6 bytes a span: u32 block, u16 value in it
    sizes       for each sub-table 2 bytes a block: values in it, less one
    blocks      for each sub-table, from a multiple of 64 on
    checksum    16 bytes, after padding to a multiple of 64

Numbers have their lowest byte first; codes in blocks begin with the top bit.  A file of results has
both sides to move, or White alone if both sides have the same men.  A file of distances has one,
which the flags of each sub-table name.

The bytes of a file may come from anywhere.  Every number is checked before it is used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FILES = 4
ALIGNMENT = 64
CHECKSUM = 16
LITERAL = 0xFFF
LENGTH_MAX = 32
FOUR_FILES, TWO_SIDES = 2, 1

# Flags of a sub-table.
BLACK_TO_MOVE, MAPPED, WIN_PLIES, LOSS_PLIES, WIDE_MAP, CONSTANT = 1, 2, 4, 8, 16, 128


class FileKind(Enum):
    """The two kinds of files, by the ending of the name."""

    RESULTS = ".rtbw"
    DISTANCES = ".rtbz"

    @property
    def magic(self) -> bytes:
        return bytes.fromhex("71e8235d" if self is FileKind.RESULTS else "d7660ca5")


class Malformed(ValueError):
    """Bytes that are not laid out so."""


class Coding(NamedTuple):
    """The header of a sub-table.

        flags, log2 of a block's bytes, log2 of a span's values, padding of the sizes, u32 blocks,
        longest and shortest code, u16 first symbol of each length from the shortest on,
        u16 symbols, 3 bytes a symbol: two halves of 12 bits; the second is fff if the first is a
        value; padded to an even place

    If all values are equal only the flags, with 128, and the value follow.
    """

    flags: int
    value: int = 0
    block_log2: int = 0
    span_log2: int = 0
    padding: int = 0
    blocks: int = 0
    shortest: int = 0
    offsets: tuple[int, ...] = ()
    symbols: NDArray[np.uint16] = np.empty((0, 2), np.uint16)

    @property
    def is_constant(self) -> bool:
        return bool(self.flags & CONSTANT)


class Place(NamedTuple):
    """A part of the file: its first byte and its bytes."""

    start: int
    size: int


class SubTableParts(NamedTuple):
    """The places of the parts of a sub-table in the file."""

    spans: Place
    sizes: Place
    blocks: Place


ResultMaps = tuple[tuple[int, ...], ...]
"""The values that stand for 0, 1, ...: of wins, losses, cursed wins and blessed losses."""


@dataclass
class Cursor:
    """Reads numbers one after the other; Malformed behind the end."""

    data: NDArray[np.uint8]
    at: int = 0

    def take(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise Malformed("it ends within its header")
        self.at += count
        return self.data[self.at - count : self.at].tobytes()

    def number(self, size: int = 1) -> int:
        return int.from_bytes(self.take(size), "little")

    def align(self, to: int = 2) -> None:
        self.at += -self.at % to


def shape_of(men: int, has_pawns: bool, is_symmetric: bool) -> int:
    """The byte that states the shape of a file."""
    return men << 4 | FOUR_FILES * has_pawns | TWO_SIDES * (not is_symmetric)


def read_coding(cursor: Cursor) -> Coding:
    flags = cursor.number()
    if flags & CONSTANT:
        return Coding(flags, value=cursor.number())
    block_log2, span_log2, padding = (cursor.number() for _ in range(3))
    blocks = cursor.number(4)
    longest, shortest = cursor.number(), cursor.number()
    if not 1 <= shortest <= longest <= LENGTH_MAX:
        raise Malformed(f"codes of {shortest} to {longest} bits")
    offsets = tuple(cursor.number(2) for _ in range(shortest, longest + 1))
    count = cursor.number(2)
    if not 0 < count <= LITERAL + 1:
        raise Malformed(f"{count} symbols")
    symbols = _read_symbols(cursor.take(3 * count))
    cursor.align()
    return Coding(flags, 0, block_log2, span_log2, padding, blocks, shortest, offsets, symbols)


def _read_symbols(text: bytes) -> NDArray[np.uint16]:
    low, middle, high = np.frombuffer(text, np.uint8).astype(np.uint16).reshape(-1, 3).T
    return np.stack([low | (middle & 15) << 8, middle >> 4 | high << 4], axis=1)


def coding_bytes(coding: Coding) -> bytes:
    """The header of a sub-table that begins at an even place."""
    if coding.is_constant:
        return bytes([coding.flags, coding.value])
    longest = coding.shortest + len(coding.offsets) - 1
    first = [coding.flags, coding.block_log2, coding.span_log2, coding.padding]
    text = bytes(first) + coding.blocks.to_bytes(4, "little") + bytes([longest, coding.shortest])
    text += np.array([*coding.offsets, len(coding.symbols)], "<u2").tobytes()
    left, right = coding.symbols.T.astype(np.uint16)
    text += (
        np.stack([left & 255, left >> 8 | (right & 15) << 4, right >> 4], 1).astype("u1").tobytes()
    )
    return text + bytes(len(text) % 2)


def read_maps(cursor: Cursor, flags: Sequence[int]) -> list[ResultMaps]:
    """The maps of each file, empty for files whose values stand for themselves."""
    found: list[ResultMaps] = []
    for each in flags:
        if not each & MAPPED:
            found.append(())
            continue
        width = 2 if each & WIDE_MAP else 1
        cursor.align(width)
        found.append(tuple(_read_list(cursor, width) for _ in range(4)))
    cursor.align()
    return found


def _read_list(cursor: Cursor, width: int) -> tuple[int, ...]:
    return tuple(cursor.number(width) for _ in range(cursor.number(width)))


def place_parts(start: int, codings: Sequence[Coding], sizes: Sequence[int]) -> list[SubTableParts]:
    """Returns the places of the parts of all sub-tables, from the end of the header on."""
    spans = [
        0 if c.is_constant else 6 * -(-n >> c.span_log2)
        for c, n in zip(codings, sizes, strict=True)
    ]
    counts = [0 if c.is_constant else 2 * (c.blocks + c.padding) for c in codings]
    blocks = [0 if c.is_constant else c.blocks << c.block_log2 for c in codings]
    parts: list[list[Place]] = []
    for group, to in ((spans, 1), (counts, 1), (blocks, ALIGNMENT)):
        placed = []
        for size in group:
            start += -start % to
            placed.append(Place(start, size))
            start += size
        parts.append(placed)
    return [SubTableParts(*each) for each in zip(*parts, strict=True)]
