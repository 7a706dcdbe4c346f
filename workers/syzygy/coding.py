"""Codes the values of a sub-table, as they are arranged.

Some values are free: FREE plus the greatest that they may be.  Between equal values they become
that value.  Of results the others are left to the pairing of values, which gives them what is
frequent; of distances they join the more frequent one of the values beside them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.syzygy import layout
from kingpair.workers.syzygy.arrangement import Arrangement
from kingpair.workers.syzygy.layout import Coding, FileKind, ResultMaps
from kingpair.workers.syzygy.source import Pause, no_pause

FREE = 0x8000
SYMBOLS, SAMPLE_SYMBOLS = 4095, 400
BLOCKS = {FileKind.RESULTS: (5, 6), FileKind.DISTANCES: (5, 10)}
"""The least and the greatest log2 of a block's bytes."""
BOTH_SIDES = 1 << 22
"""The most values of a sub-table of which more than one way of coding is tried."""
Values = NDArray[np.uint16]
CodedTable = tuple[int, list[int], Values, int, Values, NDArray[np.uint8]]
"""As the kernel returns it."""


class Coded(NamedTuple):
    """A sub-table as it is written."""

    arrangement: Arrangement
    coding: Coding
    maps: ResultMaps
    spans: bytes
    sizes: bytes
    blocks: bytes

    @property
    def length(self) -> int:
        return len(self.spans) + len(self.sizes) + len(self.blocks) + 3 * len(self.coding.symbols)


def estimate_size(values: Values, kind: FileKind) -> int:
    """How many bytes the coded values would take; free ones are chosen."""
    _choose_free(values, _fills_first(kind))
    return _kernels.syzygy_estimate(values, SAMPLE_SYMBOLS)


def _fills_first(kind: FileKind) -> bool:
    """Whether values of a kind mostly code shorter if all free ones are chosen before pairing."""
    return kind is FileKind.DISTANCES


def _choose_free(values: Values, every: bool) -> bool:
    """Chooses free values; all of them if no others differ.  Returns whether values differ."""
    return _kernels.syzygy_choose_free(values, every) or (
        not every and _kernels.syzygy_choose_free(values, True)
    )


def code(
    arrangement: Arrangement,
    values: Values,
    flags: int,
    maps: ResultMaps,
    kind: FileKind,
    room: _kernels.SyzygyPairingRoom,
    pause: Pause = no_pause,
) -> Coded:
    """Codes values; free ones are chosen.  Sub-tables are coded in one room, one by one."""
    another = values.copy() if len(values) <= BOTH_SIDES else None
    if not _choose_free(values, _fills_first(kind)):
        value = int(values[0]) if kind is FileKind.RESULTS else 0
        constant = Coding((flags & layout.BLACK_TO_MOVE) | layout.CONSTANT, value)
        return Coded(arrangement, constant, (), b"", b"", b"")
    ways = [values]
    if another is not None:
        _choose_free(another, not _fills_first(kind))
        ways.append(another)
    tables = [_kernels.syzygy_code(room, each, SYMBOLS, BLOCKS[kind], pause) for each in ways]
    coded = [_assembled(arrangement, len(values), flags, maps, table) for table in tables]
    return min(coded, key=lambda each: each.length)


def _assembled(
    arrangement: Arrangement, total: int, flags: int, maps: ResultMaps, table: CodedTable
) -> Coded:
    shortest, offsets, halves, log2, sizes, data = table
    spans, span_log2, padding = _spans(sizes, total)
    symbols = halves.reshape(-1, 2)
    coding = Coding(
        flags, 0, log2, span_log2, padding, len(sizes), shortest, tuple(offsets), symbols
    )
    padded = np.concatenate([sizes, np.full(padding, 0xFFFF, np.uint16)])
    return Coded(arrangement, coding, maps, spans, padded.astype("<u2").tobytes(), data.tobytes())


def _spans(sizes: NDArray[np.uint16], total: int) -> tuple[bytes, int, int]:
    """The table of spans, log2 of a span, and how many sizes are added so that its last middle is
    in a block.
    """
    mean = max(1, total // len(sizes))
    log2 = min(mean.bit_length() - 1 + 5, 20)
    middles = (np.arange(-(-total >> log2)) << log2) + (1 << log2 - 1)
    padding = max(0, -(-(int(middles[-1]) + 1 - total) // 65536))
    ends = np.cumsum([*(sizes.astype(np.int64) + 1), *[65536] * padding])
    blocks = np.searchsorted(ends, middles, side="right")
    inside = middles - np.concatenate([[0], ends])[blocks]
    table = np.zeros(len(middles), np.dtype([("block", "<u4"), ("value", "<u2")]))
    table["block"], table["value"] = blocks, inside
    return table.tobytes(), log2, padding
