"""Facts about analyses without a log and painters without an encoder, which the bench compares with
whole ones.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from kingpair.api.bench.steps import Unlogged, solve
from kingpair.api.bench.table_figures import Unencoded, logged
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import SIDES, STRONGER
from kingpair.workers.passlog.history import History, LogRange
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.exits import Exits, exits_of
from kingpair.workers.table.format import PLAIN
from kingpair.workers.table.key import TableIdentity, TableKey
from kingpair.workers.table.painting import Painter
from kingpair.workers.table.table_store import TableStore

KEY = TableKey(Material.parse("KQvKR"), Metric.DTC)
DOMAIN = domain_of(KEY.material)


@pytest.fixture
def pool() -> Iterator[Threads]:
    with Threads(2) as threads:
        yield threads


@pytest.fixture
def exits(tables: Path, pool: Threads) -> Iterator[tuple[Exits, Exits]]:
    store = TableStore(tables)
    with closing(store):
        yield exits_of(KEY, store, pool)


def test_an_analysis_without_its_log_finds_the_same_and_logs_no_layer(
    tmp_path: Path, pool: Threads, exits: tuple[Exits, Exits]
) -> None:
    with closing(logged(tmp_path / "whole.log", DOMAIN, STRONGER, exits, pool)) as whole:
        passes, first = whole.passes, int(DOMAIN.share.own[0])
        assert whole.layer_chunks(first)
    with closing(PassLog(tmp_path / "bare.log", {"winner": STRONGER})) as bare:
        solve(Unlogged(DOMAIN, STRONGER, exits[STRONGER], pool, bare))
        assert bare.passes == passes
        assert not bare.layer_chunks(first)


def test_a_painter_without_an_encoder_counts_the_same_positions_and_writes_nothing(
    tmp_path: Path, pool: Threads, exits: tuple[Exits, Exits]
) -> None:
    logs = [logged(tmp_path / f"{side}.log", DOMAIN, side, exits, pool) for side in SIDES]
    histories = {
        side: History([LogRange(log, 0, log.depth)]) for side, log in zip(SIDES, logs, strict=True)
    }
    partitions = np.arange(DOMAIN.index.partitions, dtype=np.int16)
    painters = [
        kind(DOMAIN, histories, pool, PLAIN, [partitions], KEY.metric)
        for kind in (Painter, Unencoded)
    ]
    whole, bare = (
        [block for part in painter.parts(TableIdentity(KEY, {})) for block in part]
        for painter in painters
    )
    assert all(block.data for block in whole)
    assert not any(block.data for block in bare)
    assert painters[0].legal(0) == painters[1].legal(0)
    for log in logs:
        log.close()
