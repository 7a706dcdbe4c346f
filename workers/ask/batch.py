"""The values of many rows at once, and the captures en passant of many positions.

Rows are sorted by page, so that each page is looked up once, and numpy gathers the values.
"""

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.ask.addresses import AddressColumns
from kingpair.workers.ask.answer import Answer, Answers, answer_of, value_with_right
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.format import Table
from kingpair.workers.table.page_cache import PageCache, PageKey


def gather(
    cache: PageCache, table: Table, rows: NDArray[np.int64], sides: NDArray[np.uint8]
) -> NDArray[np.int16]:
    """The values of a table in some rows; `sides` says in which column."""
    pages = (rows // table.page_rows) * 2 + sides
    # numpy sorts numbers of 16 bits by their digits, which takes a seventh off a batch.
    few = 2 * -(-table.index.rows // table.page_rows) <= 1 << 16
    order = np.argsort(pages.astype(np.uint16) if few else pages, kind="stable")
    out = np.empty(len(rows), np.int16)
    starts = np.flatnonzero(np.diff(pages[order], prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True):
        chosen = order[start:stop]
        page, side = divmod(int(pages[chosen[0]]), 2)
        values = cache.get(PageKey(table, page, side))
        out[chosen] = values[rows[chosen] - page * table.page_rows]
    return out


def add_captures(
    columns: AddressColumns,
    answers: Answers,
    after: NDArray[np.int16],
    known: NDArray[np.bool_],
    metric: Metric,
) -> None:
    """Gives each position with a right to capture en passant the best of its row and captures.

    `after` has the values after these captures, and `known` says which of them a table has.
    """
    values = list(map(answer_of, after.tolist()))
    ends = np.cumsum(columns.captures, dtype=np.int64)
    for i in map(int, np.flatnonzero(columns.captures)):
        captures = slice(int(ends[i] - columns.captures[i]), int(ends[i]))
        best, answers.known[i] = Answer(0, 0), answers.known[i] and known[captures].all()
        if answers.known[i]:
            own = Answer(int(answers.wdl[i]), abs(int(answers.moves[i])))
            only_moves = bool(columns.only_moves[i])
            best = value_with_right(own, only_moves, tuple(values[captures]), metric)
        answers.wdl[i], answers.moves[i] = best.wdl, best.signed
