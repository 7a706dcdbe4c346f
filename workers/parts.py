"""A table that is written in parts, by as many workers as there are, and then joined.

    part          = consecutive blocks as they stand in the table; part 0 begins with its head
    note of it    = JSON: what the end of the table needs to know of the part

The table grows out of part 0: the others are appended to it, then the end, and then it is given
its name.  So a table of one part is written once.  Until it has its name what is appended can be
cut off again, so joining can be repeated; when the part is gone the table has its name.

A piece of a part that was appended need not stay in memory as it stands there: the next one finds
its pages free.  To look for others took most of the time.

A part 0 of a former incarnation is copied first, as far as its note says: whoever was given up
while it joined may come back to life, and must not write into what others publish.
"""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from workers.domain import Domain
from workers.errors import DamagedLog
from workers.painting import Logs, Longest, Painter, counts_of, dtype_of
from workers.passtimes import write_times
from workers.store import Store
from workers.table import Identity
from workers.writing import (
    Batch,
    Blocks,
    End,
    cannot_write,
    end_of,
    head_of,
    schema_of,
    sync,
    write_blocks,
)


class Note(NamedTuple):
    """What is known of a part: its bytes, its blocks, its legal positions by side to move, the
    first of the longest in it.
    """

    bytes: int
    batches: list[Batch]
    digests: list[str]
    legal: list[int]
    longest: Longest


def write_part(
    store: Store, name: str, painter: Painter, identity: Identity, is_first: bool
) -> int:
    """Paint a part and have it kept; its size."""
    path = store.here(name)
    try:
        with open(path, "wb") as file:
            if is_first:
                file.write(head_of(schema_of(identity, painter.dtype)))
            blocks = write_blocks(file, painter.parts(identity))
            sync(file)
            note = Note(file.tell(), *blocks, painter.legal(), painter.longest())
        with open(store.here(_note_of(name)), "wb") as file:
            file.write(json.dumps(note).encode())
            sync(file)
        store.keep(name)
        store.keep(_note_of(name))
    except DamagedLog:
        raise
    except OSError as error:
        raise cannot_write(f"{store}/{name}", error) from error
    return note.bytes


def join(
    store: Store,
    name: str,
    parts: Sequence[str],
    joined: str,
    domain: Domain,
    logs: Logs,
    identity: Identity,
) -> None:
    """Make the table of its parts and give it its name; `joined` is this incarnation's part 0."""
    try:
        if store.has(name) and not store.has(joined) and not store.has(parts[0]):
            return
        notes = [_read(store.fetch(_note_of(part))) for part in parts]
        if parts[0] != joined:
            shutil.copyfile(store.fetch(parts[0]), store.here(joined))
        draft = store.draft(joined) if parts[0] == joined else store.here(joined)
        with open(draft, "r+b") as file:
            file.truncate(notes[0].bytes)
            file.seek(notes[0].bytes)
            for part in parts[1:]:
                _append(file, store.fetch(part))
            file.seek(0)
            head = file.read(notes[0].bytes - sum(b.metadata + b.body for b in notes[0].batches))
            file.seek(0, os.SEEK_END)
            end = _end(head, domain, logs, identity, notes)
            file.write(end.data)
            sync(file)
        write_times(store, name, end.digest, logs)
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
                # From the beginning: what the system holds in one piece it drops in one piece.
                os.posix_fadvise(source.fileno(), 0, at, os.POSIX_FADV_DONTNEED)


def _end(head: bytes, domain: Domain, logs: Logs, identity: Identity, notes: Sequence[Note]) -> End:
    blocks, longest = Blocks([], []), _merged(notes)
    for note in notes:
        blocks.extend(Blocks(note.batches, note.digests))
    legal = np.sum([note.legal for note in notes], axis=0)
    counts = counts_of(domain, logs, [int(n) for n in legal], longest)
    return end_of(head, schema_of(identity, dtype_of(logs)), identity, blocks, counts)


def _merged(notes: Sequence[Note]) -> Longest:
    """The first of the longest in all parts."""
    merged: Longest = {}
    for note in reversed(notes):
        for column, found in note.longest.items():
            merged.setdefault(column, {}).update(found)
    return merged


def _note_of(name: str) -> str:
    return f"{name}.json"


def _read(path: Path) -> Note:
    size, batches, *rest = json.loads(path.read_bytes())
    return Note(size, [Batch(*batch) for batch in batches], *rest)
