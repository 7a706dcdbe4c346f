"""From a task to what a worker does, and from what it does to an answer.

The same for every shell: on a thread of this process or in an actor on another machine, a worker
is asked by a task and answers with an event.  Frontiers go beside the answer, one parcel for each
receiver: the event says only that there is one, and by which token it is called for.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from resource import RUSAGE_SELF, getrusage

from coordinator.commands import (
    Batch,
    Call,
    Create,
    Lose,
    LoseAtOnce,
    Paint,
    Prepare,
    Publish,
    Release,
    Seal,
    Task,
    Verify,
    Win,
)
from coordinator.crew import Site
from coordinator.events import Answer, Computed, Damaged, Done, Failed, Fault, Prepared, Written
from workers.analysis import Findings, Parcel
from workers.errors import CannotBuild, DamagedLog, DamagedTable, KingpairError
from workers.estate import Heirlooms
from workers.passlog import Pass
from workers.subject import Subject
from workers.threads import Threads
from workers.worker import Worker
from workers.workshop import Library

Parcels = dict[int, Parcel]  # by receiver
Reply = tuple[Answer, Parcels]


def created(
    site: Site,
    library: Library,
    call: Call,
    task: Create,
    threads: int,
    heirlooms: Heirlooms | None = None,
) -> Worker:
    subject = Subject.parse(call.domain)
    return Worker(
        subject.material,
        task.owners,
        call.worker,
        call.incarnation,
        library.of(subject.metric),
        Threads(threads),
        site.compact,
        heirlooms,
    )


def done(worker: Worker, call: Call, task: Task, inbound: Sequence[Parcel]) -> Reply:
    """Do a task, and answer it; a seal is waited for."""
    try:
        return _done(worker, call, task, inbound)
    except KingpairError:
        raise
    except OSError as error:
        raise worker.cannot_write(error) from error


def _done(worker: Worker, call: Call, task: Task, inbound: Sequence[Parcel]) -> Reply:
    match task:
        case Prepare(winner, log):
            last_exit, parcels = worker.prepare(winner, log)
            return Prepared(call, last_exit, _sent(call, parcels)), parcels
        case LoseAtOnce():
            return _computed(call, worker.lose_at_once)
        case Win(_, depth):
            return _computed(call, partial(worker.win, depth, inbound))
        case Lose(_, depth):
            return _computed(call, partial(worker.lose, depth, inbound))
        case Seal():
            worker.seal(sealed(task), task.seconds).result()
            return Done(call), {}
        case Paint(part, first, stop, logs):
            return Written(call, worker.paint(part, range(first, stop), logs)), {}
        case Publish(parts, logs):
            return Written(call, *worker.publish(parts, logs)), {}
        case Verify():
            worker.verify()
            return Done(call), {}
        case Create() | Release():
            raise AssertionError(f"{task} is the shell's")


def sealed(task: Seal) -> Pass:
    return Pass(task.depth, task.won, task.lost, task.over)


def _computed(call: Call, step: Callable[[], Findings]) -> Reply:
    start = time.monotonic()
    found = step()
    seconds = time.monotonic() - start
    memory = getrusage(RUSAGE_SELF).ru_maxrss << 10
    sent = _sent(call, found.parcels)
    return Computed(call, tuple(found.counts), sent, seconds, memory), found.parcels


def _sent(call: Call, parcels: Parcels) -> tuple[Batch, ...]:
    return tuple(
        Batch(call.worker, receiver, token(call, receiver), parcel.streams.size)
        for receiver, parcel in parcels.items()
    )


def token(call: Call, receiver: int) -> str:
    """What a parcel is called for by."""
    return f"{call.domain}.{call.incarnation}.{call.number}.{call.worker}.{receiver}"


def failed(call: Call, task: Task, error: BaseException) -> Failed | Damaged:
    """What a failure is to the coordinator."""
    reason = " ".join(str(error).split()) or type(error).__name__
    match error:
        case DamagedLog():
            return Damaged(call, error.winner, error.depth, reason)
        case DamagedTable() | AssertionError():
            return Failed(call, Fault.FINAL, reason)
        case CannotBuild() if not isinstance(task, Seal):
            return Failed(call, Fault.STORE, reason)
        case KingpairError() if not isinstance(error, CannotBuild):
            return Failed(call, Fault.FINAL, reason)
        case _:  # memory, or a log that lost what it was to write: others may do better
            return Failed(call, Fault.WORKER, reason)
