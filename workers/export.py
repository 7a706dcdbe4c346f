"""A table's positions as Parquet, one row for each position and side to move.

    row       where the table has it: partition * 64^m + slot
    fen       if asked for
    to_move   white, black; White is the side that the material names first
    result    win, draw, loss, for the side to move
    moves     in how many moves of the winner; null for a draw

Sections come in the order of the table's rows, White to move before Black to move in each.  They
are converted by several threads and written as they come, so that six men take no more memory
than four.  The file has its name only once it is whole.

Cost: without FENs some tens of nanoseconds for each row and thread, with them ten times that.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from workers.fens import fens_of
from workers.outcome import Outcome
from workers.sections import Section, read
from workers.selection import Selection
from workers.table import COLUMNS, Table, Values
from workers.threads import Threads
from workers.whole import whole_file

ROW_GROUP = 1 << 20
OUTCOMES = (Outcome.LOSS, Outcome.DRAW, Outcome.WIN)
_NAMES = pa.dictionary(pa.int8(), pa.string())


def export(
    table: Table, threads: Threads, path: Path, selection: Selection, with_fen: bool = False
) -> int:
    """Write what is selected to a Parquet file; how many rows it has."""
    schema = schema_of(table, with_fen)

    def convert(section: Section) -> list[pa.RecordBatch]:
        return [
            batch_of(table, section, side, selection, schema) for side in sorted(selection.sides)
        ]

    rows = 0
    with whole_file(path) as file, _writer(file, schema) as writer:
        for group in row_groups(b for batches in read(table, threads, convert) for b in batches):
            writer.write_table(pa.Table.from_batches(group, schema), row_group_size=ROW_GROUP)
            rows += sum(batch.num_rows for batch in group)
    return rows


def schema_of(table: Table, with_fen: bool) -> pa.Schema:
    fields = [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("to_move", _NAMES, nullable=False),
        pa.field("result", _NAMES, nullable=False),
        pa.field("moves", pa.int16()),
    ]
    if with_fen:
        fields.insert(1, pa.field("fen", pa.string(), nullable=False))
    known = {"material": str(table.material), "metric": table.metric, "digest": table.digest}
    return pa.schema(fields, {f"kingpair.{key}": value for key, value in known.items()})


def _writer(file: BinaryIO, schema: pa.Schema) -> parquet.ParquetWriter:
    return parquet.ParquetWriter(
        file,
        schema,
        compression="zstd",
        use_dictionary=["to_move", "result", "moves"],
        column_encoding={"row": "DELTA_BINARY_PACKED"},
    )


# ---- rows ----


def batch_of(
    table: Table, section: Section, side: int, selection: Selection, schema: pa.Schema
) -> pa.RecordBatch:
    """What is selected of a section, with one side to move."""
    chosen = selection.of(section, side)
    slots, values = section.slots(chosen), section.values(side)[chosen]
    columns = {
        "row": pa.array(slots + section.pair * 64 ** len(table.material.letters)),
        "to_move": _named(np.full(slots.size, side, np.int8), COLUMNS),
        "result": _named(np.sign(values).astype(np.int8) + np.int8(1), OUTCOMES),
        "moves": _moves(values),
    }
    if "fen" in schema.names:
        columns["fen"] = fens_of(table.material, section.pair, slots, side)
    return pa.record_batch([columns[name] for name in schema.names], schema=schema)


def _named(numbers: NDArray[np.int8], names: Iterable[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(list(map(str, names))))


def _moves(values: Values) -> pa.Array:
    wide = values.astype(np.int16)
    return pa.array(np.where(wide > 0, wide, -wide - 1), mask=wide == 0)


def row_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """The batches in runs of about as many rows as a row group has: readers skip by these."""
    group: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if rows + batch.num_rows > ROW_GROUP:
            yield group
            group, rows = [], 0
        if batch.num_rows:
            group.append(batch)
            rows += batch.num_rows
    if group:
        yield group
