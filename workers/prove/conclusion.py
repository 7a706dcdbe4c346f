"""The conclusion of a verification: its verdict, from the recounts of both sides to move."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from kingpair.workers.number_types import SIDES, Row, Side
from kingpair.workers.prove.recount import SideRecount
from kingpair.workers.prove.verdict import Verdict, WrongValue, wrong_counts
from kingpair.workers.table.fens import fen_of_row
from kingpair.workers.table.format import COLUMNS, Counts, Table
from kingpair.workers.table.value import moves_of

FirstRow = Callable[[Side, int], Row]
"""Returns the first row that holds a position with a side to move and a value."""


def conclude(
    table: Table, sides: Sequence[SideRecount], first_row: FirstRow, start: float
) -> Verdict:
    """The verdict on a table; `start` is when its verification began, by the monotonic clock."""
    fault = _wrong(table, sides)
    counted = _counts(table, sides, first_row)
    stronger, weaker = sides
    return Verdict(
        table.material,
        table.metric,
        rows=len(COLUMNS) * table.index.rows,
        white=stronger.legal,
        black=weaker.legal,
        contradictions=sum(side.wrong for side in sides),
        fault=fault or next(wrong_counts(table.counts, counted), None),
        seconds=time.monotonic() - start,
    )


def _wrong(table: Table, sides: Sequence[SideRecount]) -> WrongValue | None:
    earliest = [(*s.earliest[:2], i, s.earliest[2]) for i, s in enumerate(sides) if s.earliest]
    if not earliest:
        return None
    _, row, side, found = min(earliest)
    fen = fen_of_row(table.material, Row(row), SIDES[side])
    return WrongValue(fen, COLUMNS[side], found.value, found.expected, row)


def _counts(table: Table, sides: Sequence[SideRecount], first_row: FirstRow) -> Counts:
    """The counts that follow from the table's values."""
    counts: Counts = {name: side.counts() for name, side in zip(COLUMNS, sides, strict=True)}
    counts["longest"] = {
        name: _longest(table, side, recount.by_value(), first_row)
        for side, name, recount in zip(SIDES, COLUMNS, sides, strict=True)
    }
    return counts


def _longest(
    table: Table, side: Side, found: dict[int, int], first_row: FirstRow
) -> dict[str, Any]:
    ends = {"win": max(0, *found, 0), "loss": min(0, *found, 0)}
    return {
        result: {
            "moves": moves_of(value),
            "fen": fen_of_row(table.material, first_row(side, value), side),
        }
        for result, value in ends.items()
        if value
    }
