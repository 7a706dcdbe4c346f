"""The parts of a table: workers write one each, and one worker makes the table of them.

    part    = consecutive blocks as they stand in the table; part 0 begins with the table's header
    note    = JSON in the build folder: the facts about a part that the trailer of the table needs

A large table of several parts keeps them.  Each is written where it stays (parts_file.py), and the
worker that publishes the table reads the notes alone and writes the manifest.

Other tables are joined, and grow out of part 0: the joining worker appends the other parts and the
trailer to it and renames it.  So a table of one part is written once.  Before the rename, appended
bytes can be cut off again, so joining can be repeated; after it, part 0 is gone and the table has
its name.

The worker drops the pages of each appended piece from the system's cache, so that the next piece
finds free pages at once.  Without this, the search for free pages took most of the time.

If part 0 is of an earlier incarnation, the worker appends to a copy of it, cut to the size in its
note.  A worker that was replaced while it joined may still run, and must not write into the table.
"""

import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from kingpair.workers.errors import DamagedLog
from kingpair.workers.sets.domain import Domain
from kingpair.workers.store.filesystem import Store
from kingpair.workers.table.build_folder import BuildFolder
from kingpair.workers.table.key import TableIdentity
from kingpair.workers.table.painting import (
    Histories,
    LongestFens,
    Painter,
    smallest_table_dtype,
    table_counts,
)
from kingpair.workers.table.parts_file import ListedPart, manifest_line
from kingpair.workers.table.pass_times import pass_times, write_pass_times
from kingpair.workers.table.seal import digest_of
from kingpair.workers.table.writing import (
    EncodedBlocks,
    SealedTrailer,
    WrittenBlocks,
    cannot_write,
    header_of,
    sealed_trailer,
    sync,
    table_schema,
    write_blocks,
)


class PartNote(NamedTuple):
    """The facts about a part: the name of its file if that stays, its bytes and blocks, its legal
    positions by side to move, and its first longest positions.
    """

    kept: str | None
    bytes: int
    blocks: WrittenBlocks
    legal: list[int]
    longest: LongestFens


def write_parts(
    folder: BuildFolder,
    names: Mapping[int, str],
    painter: Painter,
    identity: TableIdentity,
    are_kept: bool = False,
) -> list[int]:
    """Paints parts, writes each with its note and keeps both; `names` are by their numbers.
    Returns the size of each part.  A part that is all of the table is never kept as a part.
    """
    kept = None
    if are_kept and len(painter.partitions[0]) < painter.domain.index.partitions:
        folder.store.make_folder(kept := identity.key.parts_folder)
    painted = enumerate(painter.parts(identity))
    return [
        _PartWriter(folder, name, number, kept).write(painter, place, blocks, identity)
        for (number, name), (place, blocks) in zip(names.items(), painted, strict=True)
    ]


class _PartWriter(NamedTuple):
    """Writes a part and its note; `parts_folder` is that of the parts if it stays one."""

    folder: BuildFolder
    name: str
    number: int
    parts_folder: str | None

    @property
    def store(self) -> Store:
        return self.folder.store

    def write(
        self,
        painter: Painter,
        place: int,
        painted: Iterable[EncodedBlocks],
        identity: TableIdentity,
    ) -> int:
        """Writes the part at a place among those painted; the first of the table has a header."""
        header = header_of(table_schema(identity, painter.dtype)) if self.number == 0 else b""
        try:
            with open(self.store.local_path(self.name), "wb") as file:
                file.write(header)
                blocks = write_blocks(file, painted)
                sync(file)
                size = file.tell()
            kept = self._publish(header, blocks)
            facts = painter.legal(place), painter.longest(place)
            self._write_note(PartNote(kept, size, blocks.noted(), *facts))
        except DamagedLog:
            raise
        except OSError as error:
            raise cannot_write(f"{self.store}/{self.name}", error) from error
        return size

    def _publish(self, header: bytes, blocks: WrittenBlocks) -> str | None:
        """Publishes the part; returns its name among the parts of the table if it stays one."""
        if self.parts_folder is None:
            self.store.publish(self.name)
            return None
        contents = digest_of("".join([digest_of(header), *blocks.batch_digests]).encode())
        kept = f"{self.parts_folder}/{self.number:03}.{contents}"
        if self.folder.local_logs is not None:
            self.folder.local_logs.keep(
                self.folder.near_name(kept), self.store.local_path(self.name)
            )
        self.store.rename(self.name, kept)
        return kept

    def _write_note(self, note: PartNote) -> None:
        with open(self.store.local_path(_note_of(self.name)), "wb") as file:
            file.write(json.dumps(note).encode())
            sync(file)
        self.store.publish(_note_of(self.name))


def make_table(
    store: Store,
    parts: Sequence[str],
    draft: str,
    domain: Domain,
    logs: Histories,
    identity: TableIdentity,
) -> None:
    """Makes the table of its parts and gives it its name; `draft` is this incarnation's part 0."""
    name = identity.key.file_name
    try:
        notes = [_read_note(store.fetch(_note_of(part))) for part in parts]
        header = header_of(table_schema(identity, smallest_table_dtype(logs)))
        trailer = _trailer(header, domain, logs, identity, notes)
        kept = [ListedPart(note.kept, note.bytes) for note in notes if note.kept is not None]
        if kept:
            assert len(kept) == len(notes), "parts in two places"
            _write_manifest(store.local_path(draft), kept, trailer)
        elif store.has(name) and not store.has(draft) and not store.has(parts[0]):
            return  # it was joined before
        else:
            _join(store, parts, draft, notes[0].bytes, trailer)
        write_pass_times(store, identity.key, trailer.digest, pass_times(logs))
        store.rename(draft, name)
    except OSError as error:
        raise cannot_write(f"{store}/{name}", error) from error


def _write_manifest(path: Path, parts: Sequence[ListedPart], trailer: SealedTrailer) -> None:
    with open(path, "wb") as file:
        file.write(manifest_line(parts))
        file.write(trailer.data)
        sync(file)


def _join(
    store: Store, parts: Sequence[str], draft: str, size: int, trailer: SealedTrailer
) -> None:
    """Appends the other parts to the first one, which has so many bytes, and then the trailer."""
    if parts[0] != draft:
        shutil.copyfile(store.fetch(parts[0]), store.local_path(draft))
    path = store.fetch_draft(draft) if parts[0] == draft else store.local_path(draft)
    with open(path, "r+b") as file:
        file.truncate(size)
        file.seek(size)
        for part in parts[1:]:
            _append(file, store.fetch(part))
        file.write(trailer.data)
        sync(file)


def _append(file: BinaryIO, part: Path) -> None:
    at = 0
    with open(part, "rb", buffering=0) as source:
        while piece := source.read(1 << 20):
            file.write(piece)
            at += len(piece)
            if hasattr(os, "posix_fadvise"):
                # From the beginning: the system drops large units of its cache as a whole.
                os.posix_fadvise(source.fileno(), 0, at, os.POSIX_FADV_DONTNEED)


def _trailer(
    header: bytes,
    domain: Domain,
    logs: Histories,
    identity: TableIdentity,
    notes: Sequence[PartNote],
) -> SealedTrailer:
    blocks, longest = WrittenBlocks.none(), _merged(notes)
    for note in notes:
        blocks.extend(note.blocks)
    legal = np.sum([note.legal for note in notes], axis=0)
    counts = table_counts(domain, identity.key.metric, logs, [int(n) for n in legal], longest)
    return sealed_trailer(
        header, table_schema(identity, smallest_table_dtype(logs)), identity, blocks, counts
    )


def _merged(notes: Sequence[PartNote]) -> LongestFens:
    """The first longest positions of all parts."""
    merged: LongestFens = {}
    for note in reversed(notes):
        for column, found in note.longest.items():
            merged.setdefault(column, {}).update(found)
    return merged


def _note_of(name: str) -> str:
    return f"{name}.json"


def _read_note(path: Path) -> PartNote:
    kept, size, blocks, *rest = json.loads(path.read_bytes())
    return PartNote(kept, size, WrittenBlocks(*blocks), *rest)
