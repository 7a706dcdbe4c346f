"""Tables of materials with pawns, and their levels as workers leave them."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from shared_tables import copied_closure, unproved

from kingpair.coordinator.plan.domains import LoggedSpan
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.structures import structures
from kingpair.workers.level import LevelWorker, LowerLevel
from kingpair.workers.number_types import SIDES, Depth, Side
from kingpair.workers.passlog.log import PassResult
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.build_folder import BuildFolder
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.painting import Histories
from kingpair.workers.table.pass_logs import PassLogs
from kingpair.workers.table.table_store import TableStore

ALONE = (0,) * 64  # one worker owns the king pairs of all squares of the stronger king


def write_closure(directory: Path, name: str, metric: Metric = Metric.DTC) -> Path:
    """Writes the tables of a material and of all that it rests on, without proving them.

    They are built once in a run of the tests, and copied from there.
    """
    out = copied_closure(unproved([name], metric), directory, name, metric=metric)
    return out / TableKey(Material.parse(name), metric).file_name


class LoggedLevel(NamedTuple):
    """A level that is analysed: its domain, its folder and its passes."""

    solved: LowerLevel
    domain: Domain
    folder: BuildFolder
    logs: Histories


def analysed(store: TableStore, key: TableKey, threads: Threads) -> Iterator[LoggedLevel]:
    """Analyses the levels of a material, lowest first, by one worker each; the smaller tables are
    there.
    """
    below: list[LowerLevel] = []
    for level in range(len(structures(*key.material.pawns).levels)):
        worker = LevelWorker(key, level, below[-2:], ALONE, 0, 1, store, threads)
        logs = tuple((winner, (_passes(worker, winner),)) for winner in SIDES)
        solved = LowerLevel(level, logs, ((0, 1),))
        folder = store.build_folder(key, level)
        histories = PassLogs(folder, store.smaller_digests(key)).histories(logs)
        yield LoggedLevel(solved, worker.domain, folder, histories)
        below.append(solved)


def _passes(worker: LevelWorker, winner: Side) -> LoggedSpan:
    """All passes of a winner, each made durable."""
    last, _ = worker.prepare(winner, ())
    lost, depth, is_over = worker.lose_at_once().total, Depth(0), False
    worker.seal(PassResult(depth, 0, lost, is_over), 0.0).result()
    while not is_over:
        depth = Depth(depth + 1)
        won, lost = worker.win(depth, ()).total, worker.lose(depth, ()).total
        is_over = depth >= last and not lost
        worker.seal(PassResult(depth, won, lost, is_over), 0.0).result()
    return LoggedSpan(0, depth, 1, 1)
