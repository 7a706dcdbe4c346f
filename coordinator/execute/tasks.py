"""Performs a task with a worker, and returns the event that answers it.

All executors use this: the one with threads of this process, and the one with actors on other
machines.  The frontiers that a worker sends are returned beside the event, one for each receiver.
The event has a token for each of them, by which the executor finds it later.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from errno import ENOMEM
from functools import partial
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.machine.commands import (
    Call,
    Conclude,
    Create,
    Export,
    Lose,
    LoseAtOnce,
    Paint,
    Prepare,
    Publish,
    Repeatable,
    Seal,
    SentFrontier,
    Task,
    Verify,
    Win,
)
from kingpair.coordinator.machine.events import (
    Answer,
    Computed,
    Damaged,
    Done,
    Failed,
    Fault,
    Painted,
    Prepared,
    Proved,
    Written,
)
from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers.errors import (
    CannotBuild,
    DamagedLog,
    DamagedTable,
    KingpairError,
    UnusableDisk,
)
from kingpair.workers.exporter import Exporter
from kingpair.workers.index.material_index import index_of
from kingpair.workers.level import LevelWorker, LowerSlice, TableJoiner
from kingpair.workers.passlog.log import PassResult
from kingpair.workers.sets.memory import named_scratch_errors
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.frontiers import PackedFrontier, StepResult
from kingpair.workers.solve.open_sets import TakeoverPool
from kingpair.workers.solve.sets_mode import SetsMode
from kingpair.workers.table.key import DomainKey
from kingpair.workers.table.table_store import TableStore
from kingpair.workers.worker import Worker

AnyWorker = Worker | TableJoiner | Exporter
PackedFrontiers = dict[int, PackedFrontier]  # by receiver
Reply = tuple[Answer, PackedFrontiers]


def created(
    site: Site,
    tables: TableStore,
    call: Call,
    task: Create,
    threads: int,
    takeover_pool: TakeoverPool | None = None,
) -> AnyWorker:
    key, slice_ = DomainKey.parse(call.domain)
    shared = tables, Threads(threads), site.compact
    if slice_ is not None:
        below = _lower_slices(task)
        return LevelWorker(key, slice_, below, task.owners, call.worker, call.incarnation, *shared)
    if task.exports:
        return Exporter(key, 0, call.incarnation, *shared)
    if key.material.has_pawns:
        return TableJoiner(key, _lower_slices(task), call.incarnation, *shared)
    scratch = None if site.scratch is None else Path(site.scratch)
    if scratch is not None and task.mode is not SetsMode.ALL:
        with named_scratch_errors(scratch):  # on a node that never had any
            scratch.mkdir(parents=True, exist_ok=True)
    return Worker(
        key,
        task.owners,
        call.worker,
        call.incarnation,
        *shared,
        takeover_pool if index_of(key.material).set_bytes >= site.least_shared else None,
        task.mode,
        scratch,
        estimate(key.material, 1, key.metric).table >= site.parts_from,
    )


def _lower_slices(task: Create) -> list[LowerSlice]:
    return [
        LowerSlice(slice_, each.logs, each.parts)
        for each in task.below
        if (slice_ := DomainKey.parse(each.name).slice) is not None
    ]


def done(worker: AnyWorker, call: Call, task: Task, inbound: Sequence[PackedFrontier]) -> Reply:
    """Does a task and returns its answer; waits until a seal is durable."""
    with _named_disk_errors(worker):
        match task:
            case Export():
                worker.export()
                return Done(call), {}
            case Verify(_, 1):
                worker.verify()
                return Done(call), {}
            case Verify(part, parts):
                return Proved(call, worker.prove_part(part, parts)), {}
            case Conclude(findings):
                worker.conclude(findings)
                return Done(call), {}
        assert not isinstance(worker, Exporter), f"{task}: nothing but files is asked of it"
        if isinstance(task, Publish):
            return Written(call, *worker.publish(task.parts, task.logs)), {}
        assert isinstance(worker, Worker), f"{task}: levels have passes, not the table of them"
        match task:
            case Prepare(winner, log):
                last_exit, frontiers = worker.prepare(winner, log)
                return Prepared(call, last_exit, _sent(call, frontiers)), frontiers
            case LoseAtOnce():
                return _computed(call, worker.lose_at_once)
            case Win(_, depth):
                return _computed(call, partial(worker.win, depth, inbound))
            case Lose(_, depth):
                return _computed(call, partial(worker.lose, depth, inbound))
            case Seal():
                return Done(call, seal(worker, task).result()), {}
            case Paint(some, logs):
                numbered = [(part.number, range(part.first, part.stop)) for part in some]
                return Painted(call, tuple(worker.paint(numbered, logs))), {}
    raise AssertionError(f"{task} is the shell's")


@contextmanager
def _named_disk_errors(worker: AnyWorker) -> Iterator[None]:
    """Turns an error of the disk into one that says what could not be written."""
    try:
        yield
    except KingpairError:
        raise
    except OSError as error:
        raise worker.cannot_go_on(error) from error


def seal(worker: AnyWorker, task: Seal) -> "Future[str]":
    """Begins to make a pass durable.  The result says why there is no copy, if one should be."""
    assert isinstance(worker, Worker), "only a worker with passes seals them"
    done = PassResult(task.depth, task.won, task.lost, task.over)
    return worker.seal(done, task.seconds)


def _computed(call: Call, step: Callable[[], StepResult]) -> Reply:
    start = time.monotonic()
    found = step()
    seconds = time.monotonic() - start
    memory = getrusage(RUSAGE_SELF).ru_maxrss << 10
    sent = _sent(call, found.frontiers)
    counts = tuple(found.counts)
    return Computed(call, counts, sent, seconds, memory, found.disk), found.frontiers


def _sent(call: Call, frontiers: PackedFrontiers) -> tuple[SentFrontier, ...]:
    return tuple(
        SentFrontier(call.worker, receiver, token(call, receiver), frontier.streams.size)
        for receiver, frontier in frontiers.items()
    )


def token(call: Call, receiver: int) -> str:
    """Returns the token by which a frontier is fetched."""
    return f"{call.domain}.{call.incarnation}.{call.number}.{call.worker}.{receiver}"


def _errno(error: BaseException) -> int | None:
    return getattr(error, "errno", None)


def failed(call: Call, task: Task, error: BaseException) -> Failed | Damaged:
    """Turns an exception of a task into the event that the coordinator is told."""
    reason = " ".join(str(error).split()) or type(error).__name__
    is_of_disk = isinstance(error, UnusableDisk | OSError) and _errno(error) != ENOMEM
    match error:
        case DamagedLog():
            return Damaged(call, error.winner, error.depth, reason, error.is_below)
        case DamagedTable() | AssertionError():
            return Failed(call, Fault.FINAL, reason)
        case CannotBuild() if isinstance(task, Repeatable) and not isinstance(task, Seal):
            return Failed(call, Fault.STORE, reason, is_of_disk)
        case KingpairError() if not isinstance(error, CannotBuild):
            return Failed(call, Fault.FINAL, reason)
        case _:  # memory, or a log that lost what it was to write: others may do better
            return Failed(call, Fault.WORKER, reason, is_of_disk)
