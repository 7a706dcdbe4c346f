"""A Syzygy file, opened and checked, whose values are read on demand.

The file is mapped.  Its header is checked when it is opened, its blocks when they are read: a file
that is truncated, altered or of another material is refused with one line, and no byte outside of
it is read.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.errors import BadMaterial, DamagedTable, ForeignTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.syzygy import layout
from kingpair.workers.syzygy.layout import (
    Coding,
    Cursor,
    FileKind,
    Malformed,
    ResultMaps,
    SubTableParts,
)
from kingpair.workers.syzygy.numbering import Men, Order, leading_pawns, men_of, numbering

MEN_MAX = 7


class SubTable(NamedTuple):
    """The values of one side to move, with pawns those of one file of the leading pawn."""

    men: Men
    order: Order
    numbering: _kernels.SyzygyNumbering
    coding: Coding
    values: _kernels.SyzygyValues | None
    maps: ResultMaps

    @property
    def size(self) -> int:
        return self.numbering.size

    def value(self, place: int) -> int:
        return self.coding.value if self.values is None else self.values.value(place)

    def read(self, first: int, count: int) -> NDArray[np.uint16]:
        """The values from a place on."""
        out = np.full(count, self.coding.value, np.uint16)
        if self.values is not None:
            self.values.values(first, out)
        return out


def file_name(material: Material, kind: FileKind) -> str:
    return f"{material}{kind.value}"


def material_of_file(path: Path) -> Material | None:
    """The material that a Syzygy file is named for; None if it is named for none."""
    try:
        material = Material.parse(path.stem, MEN_MAX)
    except BadMaterial:
        return None
    return material if material.name == path.stem else None


class SyzygyFile:
    """The sub-tables of a file, `[file][side]`; without pawns there is one file."""

    def __init__(self, path: Path) -> None:
        material = material_of_file(path)
        assert material is not None, path
        self.path, self.material, self.kind = path, material, FileKind(path.suffix)
        self.inode = path.stat().st_ino
        self.data = self._mapped()
        try:
            self.tables = self._open()
        except (Malformed, _kernels.DamagedCode) as error:
            raise self.damaged(str(error)) from error

    def _mapped(self) -> NDArray[np.uint8]:
        try:
            data: NDArray[np.uint8] = np.memmap(self.path, np.uint8, "r")
        except ValueError as error:  # an empty file cannot be mapped
            raise self.damaged("it is empty") from error
        if data[:4].tobytes() != self.kind.magic:
            raise ForeignTable(f"{self.path}: not a Syzygy file of this kind; remove it")
        if len(data) % layout.ALIGNMENT != layout.CHECKSUM:
            raise self.damaged(f"{len(data)} bytes are no whole file")
        return data

    def damaged(self, reason: str) -> DamagedTable:
        return DamagedTable(f"{self.path}: damaged Syzygy file, {reason}; fetch it again")

    def was_replaced(self, path: Path | None) -> bool:
        """Whether the file was replaced or removed."""
        try:
            return path != self.path or path.stat().st_ino != self.inode
        except OSError:
            return True

    @property
    def is_symmetric(self) -> bool:
        return self.material.stronger == self.material.weaker

    def _open(self) -> list[list[SubTable]]:
        cursor = Cursor(self.data[: -layout.CHECKSUM], 4)
        files, sides = self._shape(cursor.number())
        arranged = [self._read_men(cursor, file, sides) for file in range(files)]
        cursor.align()
        codings = [layout.read_coding(cursor) for _ in range(files * sides)]
        maps: list[ResultMaps] = [()] * files
        if self.kind is FileKind.DISTANCES:
            maps = layout.read_maps(cursor, [coding.flags for coding in codings])
        numberings = [each for of_file in arranged for each in of_file]
        sizes = [each[2].size for each in numberings]
        self._check_shapes(codings, sizes)
        places = layout.place_parts(cursor.at, codings, sizes)
        found = [
            SubTable(*men, coding, self._values(coding, at), maps[i // sides])
            for i, (men, coding, at) in enumerate(zip(numberings, codings, places, strict=True))
        ]
        return [found[i : i + sides] for i in range(0, len(found), sides)]

    def _shape(self, byte: int) -> tuple[int, int]:
        """The numbers of files and of sides."""
        expected = layout.shape_of(self.material.men, self.material.has_pawns, self.is_symmetric)
        if byte != expected:
            raise ForeignTable(f"{self.path}: holds other men than its name says; rename it")
        has_sides = self.kind is FileKind.RESULTS and not self.is_symmetric
        return layout.FILES if self.material.has_pawns else 1, 1 + has_sides

    def _read_men(
        self, cursor: Cursor, file: int, sides: int
    ) -> list[tuple[Men, Order, _kernels.SyzygyNumbering]]:
        orders = cursor.take(2 if all(self.material.pawns) else 1)
        men = cursor.take(self.material.men)
        found = []
        for side in range(sides):
            ours = tuple(man >> 4 * side & 15 for man in men)
            if tuple(sorted(ours)) != men_of(self.material):
                raise ForeignTable(f"{self.path}: holds other men than its name says; rename it")
            if self.material.has_pawns and ours[0] != leading_pawns(self.material):
                raise Malformed("its leading pawns are of the wrong side")
            order = Order(*(place >> 4 * side & 15 for place in orders))
            try:
                found.append((ours, order, numbering(ours, order, file)))
            except ValueError as error:
                raise Malformed(str(error)) from error
        return found

    def _check_shapes(self, codings: Sequence[Coding], sizes: Sequence[int]) -> None:
        """Refuses parts that cannot be those of so many values."""
        for coding, size in zip(codings, sizes, strict=True):
            if coding.is_constant:
                continue
            if coding.block_log2 > 31 or not 0 < coding.span_log2 < 48:
                raise Malformed("impossible sizes of blocks or spans")
            spans = -(-size >> coding.span_log2)
            if max(6 * spans, coding.blocks << coding.block_log2) > len(self.data):
                raise Malformed("it is shorter than its tables")

    def _values(self, coding: Coding, at: SubTableParts) -> _kernels.SyzygyValues | None:
        if coding.is_constant:
            return None
        if at.blocks.start + at.blocks.size > len(self.data) - layout.CHECKSUM:
            raise Malformed("it is shorter than its tables")
        decoder = _kernels.SyzygyDecoder(coding.shortest, list(coding.offsets), coding.symbols)
        logs = (coding.block_log2, coding.span_log2)
        return _kernels.SyzygyValues(self.data, decoder, at.spans, at.sizes, at.blocks, logs)

    def value(self, table: SubTable, place: int) -> int:
        """A value; DamagedTable if its block cannot be read."""
        try:
            return table.value(place)
        except _kernels.DamagedCode as error:
            raise self.damaged(str(error)) from error

    def read(self, table: SubTable, first: int, count: int) -> NDArray[np.uint16]:
        """The values from a place on; DamagedTable if a block cannot be read."""
        try:
            return table.read(first, count)
        except _kernels.DamagedCode as error:
            raise self.damaged(str(error)) from error


def files_in(directory: Path) -> dict[str, Path]:
    """The Syzygy files of a directory by name."""
    endings = tuple(kind.value for kind in FileKind)
    with os.scandir(directory) as entries:
        names = sorted(
            each.name for each in entries if each.name.endswith(endings) and each.is_file()
        )
    paths = (directory / name for name in names)
    return {path.name: path for path in paths if material_of_file(path) is not None}
