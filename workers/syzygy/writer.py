"""Writes Syzygy files: the values of our tables, arranged and coded.

A file of results has both sides to move, one of distances the side, with pawns for each file, that
codes shorter.  All choices depend on the values alone: the bytes are the same whatever the threads.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.syzygy import layout
from kingpair.workers.syzygy.arrangement import SAMPLES, Arrangement, arrangements, best
from kingpair.workers.syzygy.coding import BOTH_SIDES, Coded, Values, code, estimate_size
from kingpair.workers.syzygy.layout import FileKind, ResultMaps
from kingpair.workers.syzygy.numbering import Men, numbering
from kingpair.workers.syzygy.source import (
    Destinations,
    Pause,
    ResultColumns,
    destinations,
    no_pause,
    positions,
)

CHUNK = 2048
ANY_DISTANCE = 0xFFFF
RESULT_SHIFT = 14
PLIES = (1 << RESULT_SHIFT) - 1
PIECE = 1 << 20
KEPT_SAMPLES = 1024
"""First samples of distances that are kept, 64 KiB each."""


class NumberedPositions(NamedTuple):
    """The positions of a sub-table in some order."""

    size: int
    reader: _kernels.SyzygyPositions


@dataclass(frozen=True)
class SyzygyWriter:
    """Writes the files of one material.  `pause` is called some times a second, and may raise."""

    material: Material
    columns: ResultColumns
    pool: Executor
    pause: Pause = no_pause
    sources: dict[tuple[Arrangement, int], NumberedPositions] = field(default_factory=dict)
    tables: dict[Men, Destinations] = field(default_factory=dict)
    samples: dict[tuple[Arrangement, int, int], Values] = field(default_factory=dict)
    rooms: dict[int, Values] = field(default_factory=dict)
    pairing: _kernels.SyzygyPairingRoom = field(default_factory=_kernels.SyzygyPairingRoom)

    @property
    def is_symmetric(self) -> bool:
        return self.material.stronger == self.material.weaker

    @property
    def _files(self) -> range:
        return range(layout.FILES if self.material.has_pawns else 1)

    @property
    def _sides(self) -> range:
        return range(1 if self.is_symmetric else 2)

    def file(self, kind: FileKind) -> bytes:
        """The bytes of a file.  For distances the material's table must count plies."""
        return self._results() if kind is FileKind.RESULTS else self._distances()

    def _results(self) -> bytes:
        coded = [[self._coded_results(f, side) for side in self._sides] for f in self._files]
        return self._assembled(FileKind.RESULTS, coded)

    def _distances(self) -> bytes:
        coded = [[self._coded_distances(f)] for f in self._files]
        return self._assembled(FileKind.DISTANCES, coded)

    # ---- one sub-table ----

    def _coded_results(self, file: int, side: int) -> Coded:
        def estimate(each: Arrangement, chunks: int) -> int:
            values = self._sample(each, file, side, chunks, FileKind.RESULTS)
            return estimate_size(values, FileKind.RESULTS)

        chosen = best(list(arrangements(self.material)), estimate, self.pool)
        values = self._read(chosen, file, side, FileKind.RESULTS)
        return code(chosen, values, 0, (), FileKind.RESULTS, self.pairing, self.pause)

    def _coded_distances(self, file: int) -> Coded:
        """The side that codes shorter: of large tables by samples, else when both are coded."""
        found = [self._sampled_distances(file, side) for side in self._sides]
        sides = sorted(self._sides, key=lambda side: found[side][1])
        if self._size(file) > BOTH_SIDES:
            sides = sides[:1]
        coded = [self._whole_distances(file, side, found[side][0]) for side in sides]
        return min(coded, key=lambda each: each.length)

    def _size(self, file: int) -> int:
        men, order = next(arrangements(self.material))
        return numbering(men, order, file).size

    def _sampled_distances(self, file: int, side: int) -> tuple[Arrangement, int]:
        """The arrangement that codes a sample shortest, and how many bytes that takes."""

        def estimate(each: Arrangement, chunks: int) -> int:
            values = self._sample(each, file, side, chunks, FileKind.DISTANCES)
            DistanceScheme.of(values).store(values)
            return estimate_size(values, FileKind.DISTANCES)

        chosen = best(list(arrangements(self.material)), estimate, self.pool)
        return chosen, estimate(chosen, SAMPLES[-1])

    def _whole_distances(self, file: int, side: int, chosen: Arrangement) -> Coded:
        values = self._read(chosen, file, side, FileKind.DISTANCES)
        scheme = DistanceScheme.of(values)
        flags = scheme.flags | (layout.BLACK_TO_MOVE if side else 0)
        scheme.store(values)
        return code(
            chosen, values, flags, scheme.maps, FileKind.DISTANCES, self.pairing, self.pause
        )

    def _read(self, arrangement: Arrangement, file: int, side: int, kind: FileKind) -> Values:
        """All values in this order: results, or plies.  The next read overwrites them: sub-tables
        share one room, which spares the system from clearing fresh memory for each.
        """
        size, source = self._source(arrangement, file)
        if size not in self.rooms:
            self.rooms.clear()
            self.rooms[size] = np.empty(size, np.uint16)
        values = self.rooms[size]

        parts = -(-size // PIECE)

        def fill(part: int) -> None:
            self.pause()
            source.read_part(side, part, parts, *_room(values, kind))

        list(self.pool.map(fill, range(parts)))
        return values

    def _sample(
        self, arrangement: Arrangement, file: int, side: int, chunks: int, kind: FileKind
    ) -> Values:
        """The values of so many chunks, or all if they are few.  The first samples of results are
        read with those of distances, which takes hardly longer.
        """
        self.pause()
        is_first = chunks == SAMPLES[0]
        if is_first and kind is FileKind.DISTANCES and (arrangement, file, side) in self.samples:
            return self.samples.pop((arrangement, file, side))
        size, source = self._source(arrangement, file)
        if chunks * CHUNK >= size:
            firsts, count = [0], size
        else:
            firsts, count = [i * size // chunks for i in range(chunks)], CHUNK
        values, others = np.empty((2, len(firsts) * count), np.uint16)
        keeps = is_first and kind is FileKind.RESULTS and len(self.samples) < KEPT_SAMPLES
        for i, first in enumerate(firsts):
            part = slice(i * count, (i + 1) * count)
            room = (values[part], others[part]) if keeps else _room(values[part], kind)
            source.read(side, first, *room)
        if keeps:
            self.samples[arrangement, file, side] = others
        return values

    def _source(self, arrangement: Arrangement, file: int) -> NumberedPositions:
        """How many values a sub-table has in this order, and their reader."""
        found = self.sources.get((arrangement, file))
        if found is None:
            men, order = arrangement
            numbers = numbering(men, order, file)
            tables = self._destinations(men)
            found = NumberedPositions(numbers.size, positions(tables, men, numbers))
            self.sources[arrangement, file] = found
        return found

    def _destinations(self, men: Men) -> Destinations:
        if men not in self.tables:
            self.tables[men] = destinations(men, self.columns)
        return self.tables[men]

    # ---- the file ----

    def _assembled(self, kind: FileKind, coded: Sequence[Sequence[Coded]]) -> bytes:
        shape = layout.shape_of(self.material.men, self.material.has_pawns, self.is_symmetric)
        text = bytearray(kind.magic + bytes([shape]))
        for tables in coded:
            text += self._men_bytes([table.arrangement for table in tables])
        _align(text, 2)
        every = [table for tables in coded for table in tables]
        for table in every:
            text += layout.coding_bytes(table.coding)
        if kind is FileKind.DISTANCES:
            for table in every:
                _add_maps(text, table)
            _align(text, 2)
        for part in ("spans", "sizes"):
            for table in every:
                text += getattr(table, part)
        for table in every:
            _align(text, layout.ALIGNMENT)
            text += table.blocks
        _align(text, layout.ALIGNMENT)
        return bytes(text) + _kernels.syzygy_checksum(np.frombuffer(text, np.uint8))

    def _men_bytes(self, sides: Sequence[Arrangement]) -> bytes:
        """The orders and the men: the first side in the low half of each byte."""
        count = 2 if all(self.material.pawns) else 1
        columns = [[*order[:count], *men] for men, order in sides]
        first, second = columns if len(columns) == 2 else (columns[0], [0] * len(columns[0]))
        return bytes(low | high << 4 for low, high in zip(first, second, strict=True))


class DistanceScheme(NamedTuple):
    """The form of distances: flags, and the values of the symbols of each result."""

    flags: int
    maps: ResultMaps

    @staticmethod
    def of(distances: Values) -> "DistanceScheme":
        counts = _kernels.syzygy_counts(distances)[:ANY_DISTANCE]
        found = np.flatnonzero(counts)
        return DistanceScheme(*_mapped(found, counts[found]))

    def store(self, distances: Values) -> None:
        """Puts in the place of distances their symbols, or the freedom to choose any."""
        table = np.full(1 << 16, ANY_DISTANCE, np.uint16)
        for result, values in enumerate(self.maps):
            for symbol, value in enumerate(values):
                for plies in _plies_of(self.flags, result, value):
                    table[result << RESULT_SHIFT | plies] = symbol
        table[ANY_DISTANCE] = ANY_DISTANCE
        _kernels.syzygy_replace(distances, table)


_EXACT = (layout.WIN_PLIES, layout.LOSS_PLIES, 0, 0)


def _mapped(found: NDArray[np.intp], counts: NDArray[np.uint64]) -> tuple[int, ResultMaps]:
    flags = layout.MAPPED
    for result in (0, 1):
        if (result << RESULT_SHIFT | 100) in found:
            flags |= _EXACT[result]
    by_result: list[dict[int, int]] = [{} for _ in _EXACT]
    for value, count in zip(found.tolist(), counts.tolist(), strict=True):
        result = value >> RESULT_SHIFT
        stored = _stored_value(flags, result, value & PLIES)
        by_result[result][stored] = by_result[result].get(stored, 0) + count
    maps = tuple(tuple(sorted(each, key=lambda v: (-each[v], v))) for each in by_result)
    if max((value for values in maps for value in values), default=0) > 255:
        flags |= layout.WIDE_MAP
    return flags, maps


def _stored_value(flags: int, result: int, plies: int) -> int:
    """The value that stands for some plies; a mate counts as 1."""
    beyond = max(plies - 1, 0)
    return beyond if flags & _EXACT[result] else beyond // 2


def _plies_of(flags: int, result: int, value: int) -> range:
    """The plies for which a value stands."""
    apart = 1 if flags & _EXACT[result] else 2
    last = apart * (value + 1)
    return range(last - apart + 1 if value else 0, last + 1)


def _room(values: Values, kind: FileKind) -> tuple[Values, Values]:
    """Room for results and for distances, of which one kind is read."""
    nothing = np.empty(0, np.uint16)
    return (values, nothing) if kind is FileKind.RESULTS else (nothing, values)


def _add_maps(text: bytearray, table: Coded) -> None:
    if not table.coding.flags & layout.MAPPED or table.coding.is_constant:
        return
    width = 2 if table.coding.flags & layout.WIDE_MAP else 1
    _align(text, width)
    for values in table.maps:
        text += b"".join(v.to_bytes(width, "little") for v in (len(values), *values))


def _align(text: bytearray, to: int) -> None:
    text += bytes(-len(text) % to)
