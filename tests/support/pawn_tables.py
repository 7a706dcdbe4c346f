"""Tables of materials with pawns, and their levels as workers leave them."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from shared_tables import copied_closure, unproved

from kingpair.coordinator.plan.domains import LoggedSpan
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import FIXED
from kingpair.workers.index.slices import division
from kingpair.workers.level import LevelWorker, LowerSlice, TableJoiner
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
    """A slice that is analysed: its worker, its folder and its passes."""

    solved: LowerSlice
    worker: LevelWorker
    folder: BuildFolder
    logs: Histories

    @property
    def domain(self) -> Domain:
        return self.worker.domain


def analysed(
    store: TableStore, key: TableKey, threads: Threads, most: int | None = None
) -> Iterator[LoggedLevel]:
    """Analyses the slices of a material, lowest first, by one worker each; the smaller tables are
    there.  A slice has at most so many structures, or is a level.
    """
    solved: list[LowerSlice] = []
    divided = division(*key.material.pawns, most)
    for slice_, below in zip(divided.slices, divided.below, strict=True):
        lower = [solved[each] for each in below]
        worker = LevelWorker(key, slice_, lower, ALONE, 0, 1, store, threads)
        logs = tuple((winner, (_passes(worker, winner),)) for winner in SIDES)
        found = LowerSlice(slice_, logs, ((0, 1),))
        folder = store.build_folder(key, slice_)
        histories = PassLogs(folder, store.smaller_digests(key), len(FIXED)).histories(logs)
        yield LoggedLevel(found, worker, folder, histories)
        solved.append(found)


def written_in_slices(directory: Path, key: TableKey, most: int) -> bytes:
    """Writes a table whose smaller tables are there, slice by slice, and returns its bytes."""
    store, threads = TableStore(directory), Threads(1)
    written = []
    for found in analysed(store, key, threads, most):
        found.worker.paint([(0, range(found.domain.index.structures))], found.solved.logs)
        written.append(found.solved)
    TableJoiner(key, written, 1, store, threads).publish((), ())
    return (directory / key.file_name).read_bytes()


def _passes(worker: LevelWorker, winner: Side) -> LoggedSpan:
    """All passes of a winner, each made durable."""
    last, _ = worker.prepare(winner, ())
    lost, depth, is_over = worker.lose_at_once().total, Depth(0), False
    worker.seal(PassResult(depth, 0, lost, is_over), 0.0).result()
    patience = worker.key.metric.passes_per_move
    while not is_over:
        depth = Depth(depth + 1)
        won, lost = worker.win(depth, ()).total, worker.lose(depth, ()).total
        patience = worker.key.metric.passes_per_move if lost else patience - 1
        is_over = depth >= last and patience <= 0
        worker.seal(PassResult(depth, won, lost, is_over), 0.0).result()
    return LoggedSpan(0, depth, 1, 1)
