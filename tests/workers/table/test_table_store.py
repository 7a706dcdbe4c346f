"""Facts about the tables of a store: few of them stay open, and none changes while it is in use."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from building import replace

from kingpair.workers.errors import ForeignTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import STRONGER
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore

QUEEN, ROOK, BOTH = (
    TableKey(Material.parse(name), Metric.DTC) for name in ("KQvK", "KRvK", "KQvKR")
)


def test_only_the_tables_that_were_asked_for_last_stay_open(tables: Path) -> None:
    with closing(TableStore(tables, open_most=2)) as store:
        first = store.table(QUEEN)
        assert store.table(ROOK) is store.table(ROOK)
        assert store.table(QUEEN) is first
        store.table(BOTH)
        store.table(ROOK)
        assert store.table(QUEEN) is not first
        # The first table can still be read.
        assert (first.rows(0, 9, STRONGER) == store.table(QUEEN).rows(0, 9, STRONGER)).all()


def test_digests_are_known_of_tables_that_are_not_open(tables: Path, tmp_path: Path) -> None:
    for key in (QUEEN, ROOK):
        shutil.copy(tables / key.file_name, tmp_path)
    with closing(TableStore(tmp_path, open_most=1)) as store:
        before = store.smaller_digests(BOTH)
        for key in (QUEEN, ROOK):
            (tmp_path / key.file_name).unlink()
        assert store.smaller_digests(BOTH) == before


def test_a_table_that_was_replaced_while_in_use_is_refused(tables: Path, tmp_path: Path) -> None:
    for key in (QUEEN, ROOK):
        shutil.copy(tables / key.file_name, tmp_path)
    with closing(TableStore(tmp_path, open_most=1)) as store:
        path = store.table(QUEEN).path
        counts = store.table(QUEEN).counts
        store.table(ROOK)
        replace(path, counts | {"other": "counts"})
        with pytest.raises(ForeignTable, match="was replaced while it was in use"):
            store.table(QUEEN)
        store.forget(QUEEN)
        assert store.table(QUEEN).counts["other"] == "counts"


def test_threads_check_parts_of_one_open_table(tables: Path) -> None:
    with closing(TableStore(tables)) as store, ThreadPoolExecutor(4) as threads:
        table = store.table(BOTH)
        pieces = range(table.blocks + 1)
        assert [*threads.map(lambda part: table.check(pieces[part % 20 :: 20]), range(400))] == (
            [None] * 400
        )
