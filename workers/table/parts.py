"""The parts of a table: workers write one each, and one worker joins them.

    part    = consecutive blocks as they stand in the table; part 0 begins with the table's header
    note    = JSON beside a part: the facts about it that the trailer of the table needs

The table grows out of part 0: the joining worker appends the other parts and the trailer to it and
renames it.  So a table of one part is written once.  Before the rename, appended bytes can be cut
off again, so joining can be repeated; after it, part 0 is gone and the table has its name.

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
from kingpair.workers.table.key import TableIdentity
from kingpair.workers.table.painting import (
    Histories,
    LongestFens,
    Painter,
    smallest_table_dtype,
    table_counts,
)
from kingpair.workers.table.pass_times import pass_times, write_pass_times
from kingpair.workers.table.writing import (
    EncodedBlocks,
    SealedTrailer,
    WrittenBatch,
    WrittenBlocks,
    cannot_write,
    header_of,
    sealed_trailer,
    sync,
    table_schema,
    write_blocks,
)


class PartNote(NamedTuple):
    """The facts about a part: its bytes, its batches and block digests, its legal positions by side
    to move, and its first longest positions.
    """

    bytes: int
    batches: list[WrittenBatch]
    digests: list[str]
    legal: list[int]
    longest: LongestFens


def write_parts(
    store: Store, names: Mapping[int, str], painter: Painter, identity: TableIdentity
) -> list[int]:
    """Paints parts, writes each with its note and keeps both; `names` are by their numbers.
    Returns the size of each part.
    """
    painted = enumerate(painter.parts(identity))
    return [
        _write_part(store, name, painter, place, blocks, identity if number == 0 else None)
        for (number, name), (place, blocks) in zip(names.items(), painted, strict=True)
    ]


def _write_part(
    store: Store,
    name: str,
    painter: Painter,
    place: int,
    painted: Iterable[EncodedBlocks],
    header: TableIdentity | None,
) -> int:
    """Writes the part at a place among those painted; the first of the table has a header."""
    path = store.local_path(name)
    try:
        with open(path, "wb") as file:
            if header is not None:
                file.write(header_of(table_schema(header, painter.dtype)))
            blocks = write_blocks(file, painted)
            sync(file)
            note = PartNote(file.tell(), *blocks, painter.legal(place), painter.longest(place))
        with open(store.local_path(_note_of(name)), "wb") as file:
            file.write(json.dumps(note).encode())
            sync(file)
        store.publish(name)
        store.publish(_note_of(name))
    except DamagedLog:
        raise
    except OSError as error:
        raise cannot_write(f"{store}/{name}", error) from error
    return note.bytes


def join(
    store: Store,
    parts: Sequence[str],
    joined: str,
    domain: Domain,
    logs: Histories,
    identity: TableIdentity,
) -> None:
    """Joins the parts to the table and gives it its name; `joined` is this incarnation's part 0."""
    name = identity.key.file_name
    try:
        if store.has(name) and not store.has(joined) and not store.has(parts[0]):
            return
        notes = [_read_note(store.fetch(_note_of(part))) for part in parts]
        if parts[0] != joined:
            shutil.copyfile(store.fetch(parts[0]), store.local_path(joined))
        draft = store.fetch_draft(joined) if parts[0] == joined else store.local_path(joined)
        with open(draft, "r+b") as file:
            file.truncate(notes[0].bytes)
            file.seek(notes[0].bytes)
            for part in parts[1:]:
                _append(file, store.fetch(part))
            file.seek(0)
            header = file.read(notes[0].bytes - sum(b.metadata + b.body for b in notes[0].batches))
            file.seek(0, os.SEEK_END)
            trailer = _trailer(header, domain, logs, identity, notes)
            file.write(trailer.data)
            sync(file)
        write_pass_times(store, identity.key, trailer.digest, pass_times(logs))
        store.rename(joined, name)
    except OSError as error:
        raise cannot_write(f"{store}/{name}", error) from error


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
    blocks, longest = WrittenBlocks([], []), _merged(notes)
    for note in notes:
        blocks.extend(WrittenBlocks(note.batches, note.digests))
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
    size, batches, *rest = json.loads(path.read_bytes())
    return PartNote(size, [WrittenBatch(*batch) for batch in batches], *rest)
