"""Facts about the columns that a proof holds: how long each of them stays in memory."""

import weakref

import numpy as np
import pytest
from shared_tables import unproved

from kingpair.workers.number_types import STRONGER
from kingpair.workers.prove import column_chunks
from kingpair.workers.prove.column_chunks import (
    WHOLE,
    ColumnChunks,
    ColumnName,
    ColumnSource,
    as_they_are,
)
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import Table


def no_parts(place: int, part: int) -> range:
    raise AssertionError("a column is read in parts")


def test_a_chunk_stays_until_its_last_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_chunks, "CHUNK_ROWS", 1)  # a structure each
    order, held = [0, 1, 0, 2, 3], []
    with Threads(1) as threads:
        source = ColumnSource(Table(unproved(["KPvK"]) / "KPvK.dtc.arrow"), as_they_are)
        chunks = ColumnChunks([source], np.dtype(np.int8), threads, no_parts)
        needs: list[set[ColumnName]] = [{(0, STRONGER, structure, WHOLE)} for structure in order]
        chunks.expect(needs)
        for names in needs:
            held.append(weakref.ref(chunks.holding(names)[1][0]))
            alive = {n for n, each in zip(order, held, strict=False) if each() is not None}
            # Room is made when the next chunk is read.
            assert alive == [{0}, {0, 1}, {0, 1}, {2}, {3}][len(held) - 1]
    assert held[0] is held[2]
