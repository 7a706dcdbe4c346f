"""Measures painting beside the passes, and encoding beside zstd alone.

Both are ratios of processor time inside one run, in turns, each the best of a few.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from kingpair.api.bench.figures import FIVE_MEN, METRIC, Figure, build_smaller
from kingpair.api.bench.steps import NoLog, Unlogged, solve
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.number_types import SIDES, Side
from kingpair.workers.passlog.history import History, LogRange
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.analysis import Analysis
from kingpair.workers.solve.exits import Exits, exits_of
from kingpair.workers.table.format import BLOCK, PLAIN, Table
from kingpair.workers.table.key import TableIdentity, TableKey
from kingpair.workers.table.painting import Painter
from kingpair.workers.table.table_store import TableStore
from kingpair.workers.table.value import Values
from kingpair.workers.table.writing import (
    EncodedBlocks,
    WrittenBlocks,
    encode,
    table_schema,
)

PAINTED = "KBBvKN"  # of five men the one with the most layers
REPEATS = 5


def of_tables(threads: int) -> Iterator[Figure]:
    with TemporaryDirectory(prefix="kingpair-bench-") as at:
        out = Path(at)
        for name in FIVE_MEN:
            build_smaller(out, name, threads)
        yield _painting(out, PAINTED, threads)
        for name in FIVE_MEN:
            yield _encoding(out, name, threads)


def _in_turns(first: Callable[[], float], second: Callable[[], float]) -> float:
    """The best of the first / the best of the second."""
    rounds = [(first(), second()) for _ in range(REPEATS)]
    return min(taken for taken, _ in rounds) / min(taken for _, taken in rounds)


def _work_of(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


# ---- painting ----


class Unencoded(Painter):
    """A painter that encodes no column."""

    def _encoded(self, columns: Values, schema: pa.Schema) -> EncodedBlocks:
        return EncodedBlocks([], WrittenBlocks.none())


def _painting(out: Path, name: str, threads: int) -> Figure:
    key, tables = TableKey(Material.parse(name), METRIC), TableStore(out)
    with closing(tables), Threads(threads) as pool:
        exits, identity = exits_of(key, tables, pool), TableIdentity(key, {})
        domain = domain_of(key.material)
        logs = [logged(out / f"{winner}.log", domain, winner, exits, pool) for winner in SIDES]
        histories = {
            winner: History([LogRange(log, 0, log.depth)])
            for winner, log in zip(SIDES, logs, strict=True)
        }
        partitions = np.arange(domain.index.partitions, dtype=np.int16)

        def paint() -> None:
            painter = Unencoded(domain, histories, pool, PLAIN, [partitions], METRIC)
            for blocks in painter.parts(identity):
                deque(blocks, maxlen=0)

        def passes() -> float:
            return sum(
                solve(Unlogged(domain, winner, exits[winner], pool, NoLog())) for winner in SIDES
            )

        ratio = _in_turns(lambda: _work_of(paint), passes)
        for log in logs:
            log.close()
    return Figure(f"{name}, painting beside its passes", ratio, "x", 0.35)


def logged(
    path: Path, domain: Domain, winner: Side, exits: Sequence[Exits], threads: Threads
) -> PassLog:
    """The log of an analysis that has ended, as a painter reads it."""
    own, together = domain.share.own.tolist(), domain.index.together
    log = PassLog(path, {"winner": winner, "partitions": own, "together": together})
    solve(Analysis(domain, winner, exits[winner], threads, log))
    return log


# ---- encoding ----


def _encoding(out: Path, name: str, threads: int) -> Figure:
    """Compares the columns of a table encoded as painters do with zstd over the same blocks."""
    material = Material.parse(name)
    spec = BuildSpec((material,), (METRIC,), verify=False)
    build(BuildRequest(spec, out, threads=threads), lambda event: None)
    tables = TableStore(out)
    with closing(tables):
        columns = _columns(tables.table(TableKey(material, METRIC)))
    ratio = _in_turns(
        lambda: _work_of(lambda: _encode(material, columns)),
        lambda: _work_of(lambda: _compress(columns)),
    )
    return Figure(f"{name}, encoding beside zstd alone", ratio, "x", 1.15)


def _columns(table: Table) -> list[Values]:
    columns: list[Values] = [np.empty(table.index.rows, table.dtype) for _ in SIDES]
    for side, column in zip(SIDES, columns, strict=True):
        table.copy_rows(0, column, side)
    return columns


def _encode(material: Material, columns: Sequence[Values]) -> None:
    """Encodes the columns a partition at a time."""
    schema = table_schema(TableIdentity(TableKey(material, METRIC), {}), columns[0].dtype)
    slots = domain_of(material).slots
    for at in range(0, len(columns[0]), slots):
        white, black = (column[at : at + slots] for column in columns)
        encode(schema, white, black, PLAIN)


def _compress(columns: Sequence[Values]) -> None:
    codec = pa.Codec("zstd", compression_level=PLAIN.level)
    for column in columns:
        for at in range(0, len(column), BLOCK):
            codec.compress(pa.py_buffer(column[at : at + BLOCK]))
