"""Joining the parts of all levels to a table (level_parts.py says how a part is made)."""

import os
from collections.abc import Iterable, Iterator, Sequence
from errno import EIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from kingpair.workers.sets.threads import Threads
from kingpair.workers.store.filesystem import Store
from kingpair.workers.table.build_folder import BuildFolder
from kingpair.workers.table.format import BLOCK, Compression
from kingpair.workers.table.key import TableIdentity
from kingpair.workers.table.level_counts import stated
from kingpair.workers.table.level_parts import LevelNote, Rows, read_note
from kingpair.workers.table.pass_times import write_pass_times
from kingpair.workers.table.value import Values
from kingpair.workers.table.writing import (
    EncodedBlocks,
    WrittenBlocks,
    cannot_write,
    encode,
    header_of,
    sealed_trailer,
    sync,
    table_schema,
    write_blocks,
)


def join_levels(
    store: Store,
    folders: Sequence[tuple[BuildFolder, Sequence[tuple[int, int]]]],
    joined: str,
    identity: TableIdentity,
    packing: Compression,
    threads: Threads,
) -> None:
    """Joins the parts of all levels, lowest first, to the table and gives it its name."""
    name = identity.key.file_name
    try:
        parts = [
            _WrittenPart.of(folder, folder.part_name(*part))
            for folder, parts in folders
            for part in parts
        ]
        notes = [part.note for part in parts]
        dtype = max((np.dtype(note.dtype) for note in notes), key=lambda dtype: dtype.itemsize)
        schema = table_schema(identity, dtype)
        header = header_of(schema)
        with open(store.local_path(joined), "wb") as file:
            file.write(header)
            blocks = _Joining(file, schema, dtype, packing, threads).join(parts)
            counts = stated(identity.key.material, (note.counts for note in notes))
            trailer = sealed_trailer(header, schema, identity, blocks, counts)
            file.write(trailer.data)
            sync(file)
        passes = [each for note in notes for each in note.passes]
        write_pass_times(store, identity.key, trailer.digest, passes)
        store.rename(joined, name)
    except OSError as error:
        raise cannot_write(f"{store}/{name}", error) from error


class _WrittenPart(NamedTuple):
    """A part that is read."""

    path: Path
    note: LevelNote

    @staticmethod
    def of(folder: BuildFolder, part: str) -> "_WrittenPart":
        note = read_note(folder.store.fetch(folder.note_name(part)))
        return _WrittenPart(folder.store.fetch(part), note)

    @property
    def batch_bytes(self) -> int:
        return self.note.blocks.bytes

    def edges(self) -> tuple[Rows, Rows]:
        """The rows before the batches, and those behind them."""
        dtype, counts = np.dtype(self.note.dtype), (self.note.head, self.note.tail)
        with open(self.path, "rb") as file:
            file.seek(self.batch_bytes)
            head, tail = (
                (np.fromfile(file, dtype, rows), np.fromfile(file, dtype, rows)) for rows in counts
            )
        return head, tail

    def data(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read(self.batch_bytes)

    def append_to(self, out: BinaryIO) -> None:
        """Writes its batches behind what a file has: the system copies them."""
        out.flush()
        with open(self.path, "rb") as file:
            at = 0
            while at < self.batch_bytes:
                sent = os.sendfile(out.fileno(), file.fileno(), at, self.batch_bytes - at)
                if not sent:
                    raise OSError(EIO, f"{self.path}: shorter than its note says")
                at += sent
        out.seek(0, os.SEEK_END)

    def rows(self, schema: pa.Schema) -> Iterator[Rows]:
        """The rows of its batches; `schema` is that of its own type."""
        stream = pa.BufferReader(schema.serialize().to_pybytes() + self.data())
        for batch in pa.ipc.open_stream(stream):
            yield batch.column(0).to_numpy(), batch.column(1).to_numpy()


class _Joining:
    """Writes the batches of a table from its parts."""

    def __init__(
        self,
        file: BinaryIO,
        schema: pa.Schema,
        dtype: np.dtype[Any],
        packing: Compression,
        threads: Threads,
    ) -> None:
        self._file, self._schema, self._dtype = file, schema, dtype
        self._packing, self._threads = packing, threads
        nothing: Values = np.zeros(0, dtype)
        self._left: Rows = nothing, nothing  # rows that wait for the next part
        self._blocks = WrittenBlocks.none()

    def join(self, parts: Iterable[_WrittenPart]) -> WrittenBlocks:
        for part in parts:
            head, tail = part.edges()
            self._add(head)
            if part.note.blocks.bodies:
                assert not len(self._left[0]), "rows before a batch that make none"
                self._copy(part)
            self._add(tail)
        if len(self._left[0]):
            self._encode([self._left])
        return self._blocks

    def _add(self, rows: Rows) -> None:
        """Adds rows behind those that wait; a whole batch is written."""
        white, black = (
            np.concatenate([old, new.astype(self._dtype)])
            for old, new in zip(self._left, rows, strict=True)
        )
        self._left = white, black
        if len(white) == self._packing.blocks * BLOCK:
            self._encode([self._left])
            self._left = white[:0], black[:0]

    def _copy(self, part: _WrittenPart) -> None:
        """Writes the batches of a part: as they are, or with the larger type of the table."""
        if np.dtype(part.note.dtype) == self._dtype:
            part.append_to(self._file)
            self._blocks.extend(part.note.blocks)
            return
        kind = pa.from_numpy_dtype(np.dtype(part.note.dtype))
        own = pa.schema([pa.field(f.name, kind, nullable=False) for f in self._schema])
        self._encode(
            (white.astype(self._dtype), black.astype(self._dtype))
            for white, black in part.rows(own)
        )

    def _encode(self, pieces: Iterable[Rows]) -> None:
        def job(rows: Rows) -> EncodedBlocks:
            return encode(self._schema, *rows, self._packing)

        self._blocks.extend(write_blocks(self._file, self._threads.stream(job, pieces)))
