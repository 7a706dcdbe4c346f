"""A table's positions as Parquet, one row for each position and side to move.

    row       the row of the table
    fen       only if the caller asks for it
    to_move   white, black; White is the side that the material names first
    result    win, draw, loss, for the side to move
    moves     the number of moves of the winner; null for a draw

Sections come in the order of the table's rows, in each of them White to move before Black to move.
Several threads convert sections, and each is written at once, so six men take no more memory than
four.  The file gets its name only when it is complete.

Cost: without FENs some tens of nanoseconds for each row and thread, with them ten times as much.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from kingpair.workers.game.outcome import Outcome
from kingpair.workers.number_types import Side
from kingpair.workers.sets.threads import Threads
from kingpair.workers.store.atomic_file import atomic_file
from kingpair.workers.study.position_filter import PositionFilter
from kingpair.workers.table.fens import fens_at
from kingpair.workers.table.format import COLUMNS, Table
from kingpair.workers.table.scan import Section, scan
from kingpair.workers.table.value import DRAW, Values, signed_moves, wdl

ROW_GROUP = 1 << 20
OUTCOMES = (Outcome.LOSS, Outcome.DRAW, Outcome.WIN)
_NAMES = pa.dictionary(pa.int8(), pa.string())


def export(
    table: Table, threads: Threads, path: Path, selection: PositionFilter, with_fen: bool = False
) -> int:
    """Writes the selected positions to a Parquet file.  Returns the number of its rows."""
    schema = export_schema(table, with_fen)

    def convert(section: Section) -> list[pa.RecordBatch]:
        return [
            batch_of(table, section, side, selection, schema) for side in sorted(selection.sides)
        ]

    rows = 0
    with atomic_file(path) as file, _writer(file, schema) as writer:
        for group in row_groups(b for batches in scan(table, threads, convert) for b in batches):
            writer.write_table(pa.Table.from_batches(group, schema), row_group_size=ROW_GROUP)
            rows += sum(batch.num_rows for batch in group)
    return rows


def export_schema(table: Table, with_fen: bool) -> pa.Schema:
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
    table: Table, section: Section, side: Side, selection: PositionFilter, schema: pa.Schema
) -> pa.RecordBatch:
    """The selected positions of a section with one side to move."""
    chosen = selection.mask(section, side)
    slots, values = section.slots(chosen), section.values(side)[chosen]
    columns = {
        "row": pa.array(slots + section.run * table.index.slots),
        "to_move": _named(np.full(slots.size, side, np.int8), COLUMNS),
        "result": _named(wdl(values) + np.int8(1), OUTCOMES),
        "moves": _moves(values),
    }
    if "fen" in schema.names:
        columns["fen"] = fens_at(table.material, section.run, slots, side)
    return pa.record_batch([columns[name] for name in schema.names], schema=schema)


def _named(numbers: NDArray[np.int8], names: Iterable[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(list(map(str, names))))


def _moves(values: Values) -> pa.Array:
    return pa.array(np.abs(signed_moves(values)), mask=values == DRAW)


def row_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Groups batches into row groups of at most `ROW_GROUP` rows.  Readers skip whole groups."""
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
