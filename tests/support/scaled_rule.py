"""A material without pawns solved in memory for dtz, under a 50-move rule of some other length.

With few men nothing is spoilt by the real rule.  With a limit of some twenty plies it is.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kingpair.workers import _kernels
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import SIDES, Depth, Side
from kingpair.workers.passlog.log import LogFile, PassResult
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.analysis import Analysis
from kingpair.workers.solve.exits import exits_of
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore
from kingpair.workers.table.value import loss_in, win_in


def solved(name: str, limit: int, tables: Path, logs: Path) -> NDArray[np.int16]:
    """The values of all canonical slots, by side to move and row; `tables` has the smaller ones."""
    key = TableKey.named(name, Metric.DTZ)
    domain = domain_of(key.material)
    columns = np.zeros((2, domain.index.partitions, domain.slots), np.int16)
    with Threads(2) as threads:
        both = exits_of(key, TableStore(tables), threads, limit)
        for winner, exits in zip(SIDES, both, strict=True):
            log = PassLog(logs / f"{winner}.log", {"winner": winner})
            passes = key.metric.passes_per_move
            analysis = Analysis(domain, winner, exits, threads, log, passes_per_move=passes)
            analysis.prepare()
            _run(analysis, passes)
            for chunk in domain.index.chunks():
                _paint(columns, domain, winner, log, chunk)
            analysis.close()
            log.close()
    return columns.reshape(2, -1)


def _run(analysis: Analysis, patience: int) -> None:
    """All passes: until nothing is lost in `patience` of them, and no exit is deeper."""
    depth, won, lost, quiet = Depth(0), 0, analysis.lose_at_once().total, 0
    while True:
        quiet = 0 if lost else quiet + 1
        is_over = depth >= analysis.last_exit and quiet >= patience
        analysis.log.commit(PassResult(depth, won, lost, is_over)).result()
        if is_over:
            return
        depth = Depth(depth + 1)
        won, lost = analysis.win(depth).total, analysis.lose(depth).total


def _paint(columns: NDArray[np.int16], domain: Any, winner: Side, log: LogFile, chunk: Any) -> None:
    for found, streams in log.read_layers(chunk):
        distance = Metric.DTZ.distance(found.depth, found.won)
        value = win_in(distance) if found.won else loss_in(distance)
        side = winner if found.won else 1 - winner
        for pair, stream in zip(map(int, chunk), streams, strict=True):
            assert _kernels.paint(domain.kernel, stream, value, columns[side, pair])
