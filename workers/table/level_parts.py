"""The parts of a table with pawns: workers write some structures of a level each, as soon as it is
solved, and one worker joins the parts of all levels.

    part    = batches | edges
    batches = the record batches of the table that lie in the part as a whole
    edges   = the rows before them, white then black, and the rows behind them
    note    = JSON beside a part: what the other parts and the trailer of the table need

A batch of the table has a fixed number of rows, and a structure does not: where two parts meet, the
worker that joins them encodes the batch between them from their edges.  If some level has a value
that is too large for one byte, it encodes the batches of the others again.  So the bytes of a table
do not depend on how it was divided.

A part whose note is there is whole: the note is written after it.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow as pa

from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.build_folder import BuildFolder
from kingpair.workers.table.format import BLOCK, Compression
from kingpair.workers.table.key import TableIdentity
from kingpair.workers.table.level_counts import (
    PartCounts,
    counts_of,
    smallest_level_dtype,
)
from kingpair.workers.table.level_painting import LevelPainter, PaintedLevel
from kingpair.workers.table.painting import Histories
from kingpair.workers.table.pass_times import PassTime, pass_times
from kingpair.workers.table.value import Values
from kingpair.workers.table.writing import (
    EncodedBlocks,
    WrittenBlocks,
    cannot_write,
    encode,
    sync,
    table_schema,
    write_blocks,
)

_ENCODED_BATCHES = 8  # by one thread at a time
Rows = tuple[Values, Values]  # of the columns white and black


class LevelNote(NamedTuple):
    """The facts about a part of a level."""

    smaller: dict[str, str]  # the digests of the tables that it rests on
    structures: tuple[int, int]  # of the level, of which the part holds the first to the second
    among: int  # structures of the level
    dtype: str
    head: int  # rows before the batches
    tail: int  # rows behind them
    blocks: WrittenBlocks
    counts: PartCounts
    passes: list[PassTime]  # of the level, in its first part alone


def write_level_part(
    folder: BuildFolder,
    part: str,
    domain: Domain,
    logs: Histories,
    chosen: range,
    identity: TableIdentity,
    packing: Compression,
    threads: Threads,
) -> int:
    """Paints some structures of a level, given by their places in it, and writes them with their
    note.  Returns the size of the part.
    """
    metric, store = identity.key.metric, folder.store
    dtype = smallest_level_dtype(metric, logs)
    columns, legal = LevelPainter(domain, metric, logs, chosen, dtype, threads).paint()
    first, batch = _first_row(domain, chosen), packing.blocks * BLOCK
    head = min(len(columns[0]), -first % batch)
    tail = (len(columns[0]) - head) % batch
    schema, note_name = table_schema(identity, dtype), folder.note_name(part)
    counts = counts_of(domain, metric, logs, PaintedLevel(columns, legal), first, chosen.start == 0)
    try:
        with open(store.local_path(part), "wb") as file:
            blocks = _write_part(file, columns, head, tail, schema, packing, threads)
            size = file.tell()
        span, among = (chosen.start, chosen.stop), domain.index.structures
        smaller = dict(identity.smaller)
        passes = pass_times(logs, folder.level) if chosen.start == 0 else []
        note = LevelNote(
            smaller, span, among, str(dtype), head, tail, blocks.noted(), counts, passes
        )
        with open(store.local_path(note_name), "wb") as file:
            file.write(json.dumps(note).encode())
            sync(file)
        store.publish(part)
        store.publish(note_name)
    except OSError as error:
        raise cannot_write(f"{store}/{part}", error) from error
    return size


def _first_row(domain: Domain, chosen: range) -> int:
    """The first row of some structures of a level in the table."""
    assert domain.placings is not None, "a domain without pawns is no level"
    a_structure = domain.index.partitions * 64**domain.index.axes
    first: int = domain.placings.numbers[chosen.start].item() * a_structure
    return first


def _write_part(
    file: BinaryIO,
    columns: Rows,
    head: int,
    tail: int,
    schema: pa.Schema,
    packing: Compression,
    threads: Threads,
) -> WrittenBlocks:
    end = len(columns[0]) - tail
    blocks = write_blocks(file, _encoded(schema, _cut(columns, head, end), packing, threads))
    for edge in (_cut(columns, 0, head), _cut(columns, end, end + tail)):
        for column in edge:
            file.write(column.tobytes())
    sync(file)
    return blocks


def written_parts(folder: BuildFolder, smaller: dict[str, str]) -> tuple[tuple[int, int], ...]:
    """The number and incarnation of parts in a folder that make a level whole, if there are any."""
    by_number: dict[int, dict[int, LevelNote]] = {}
    for number, incarnation in folder.noted_parts():
        part = folder.part_name(number, incarnation)
        try:
            note = read_note(folder.store.fetch(folder.note_name(part)))
        except (OSError, ValueError, TypeError):
            continue  # as a process that died left it
        if note.smaller == smaller and folder.store.has(part):
            by_number.setdefault(number, {})[incarnation] = note
    return _whole(by_number, 0, 0) or ()


def _whole(
    by_number: dict[int, dict[int, LevelNote]], number: int, first: int
) -> tuple[tuple[int, int], ...] | None:
    """Parts from a number on that hold the structures of the level from `first` on, all of them."""
    for incarnation, note in by_number.get(number, {}).items():
        if note.structures[0] == first:
            stop = note.structures[1]
            rest = () if stop == note.among else _whole(by_number, number + 1, stop)
            if rest is not None:
                return ((number, incarnation), *rest)
    return None


def read_note(path: Path) -> LevelNote:
    (smaller, (first, stop), among, dtype, head, tail, blocks, counts, passes) = json.loads(
        path.read_bytes()
    )
    return LevelNote(
        smaller,
        (first, stop),
        among,
        dtype,
        head,
        tail,
        WrittenBlocks(*blocks),
        PartCounts(*counts),
        [PassTime(*each) for each in passes],
    )


def _encoded(
    schema: pa.Schema, columns: Rows, packing: Compression, threads: Threads
) -> Iterable[EncodedBlocks]:
    """Whole batches, several at a time."""
    rows, step = len(columns[0]), _ENCODED_BATCHES * packing.blocks * BLOCK
    pieces = (_cut(columns, at, min(at + step, rows)) for at in range(0, rows, step))
    return threads.stream(lambda piece: encode(schema, *piece, packing), pieces)


def _cut(columns: Rows, first: int, stop: int) -> Rows:
    return columns[0][first:stop], columns[1][first:stop]
