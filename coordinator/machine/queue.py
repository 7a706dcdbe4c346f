"""The queue of builds, and the build whose turn it is.  Pure: no clock, no disk, no thread.

    submitted -> queued -> its turn, by priority, size and age -> has ended
                  ^  ^                   |                           |
                  |  +-- cannot begin ---+                           |
                  |  +-- gives way ------+                           |
                  +---- there is room again -- paused <- disk full --+

A state of a build changes in `kingpair.coordinator.machine.step` alone.  During its turn the build
is told its events by the thread that runs it, and the queue is told what that settled (Settled).
Between turns the queue tells it: that it is queued, cancelled, paused or interrupted.  So the queue
is a fold of the records in the journal, and begins anew from them.

A build gives way to one of a higher priority, and to a much shorter one of the same priority
(turn_order.py): it is interrupted, and goes on from its last committed pass when that one has
ended.  What had not ended when the process of a queue was lost, or told to stop, goes back into the
queue; but a build that has cost several processes without committing anything is left alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from kingpair.coordinator.machine.between_turns import given_way, giving_way, requeued, tell
from kingpair.coordinator.machine.events import (
    Admitted,
    CancelRequested,
    Event,
    Interrupted,
    PauseRequested,
    Planned,
    Queued,
)
from kingpair.coordinator.machine.queue_events import (
    CancelAsked,
    CloseAsked,
    ClusterLost,
    DeleteAsked,
    Enter,
    JournalRegained,
    LookForRoom,
    Note,
    Opened,
    QueueCommand,
    QueueEvent,
    QueueRestarted,
    Refuse,
    Rest,
    Rested,
    RetryAsked,
    RoomLookedFor,
    Settled,
    SubmitAsked,
    Submitted,
    TakeTurn,
    Tell,
    TurnBegun,
    TurnDeferred,
    TurnEnded,
)
from kingpair.coordinator.machine.queue_state import Queue, QueuedBuild, Turn, entered, recorded
from kingpair.coordinator.machine.records import Deleted
from kingpair.coordinator.machine.state import State

Out = list[QueueCommand]


def step(queue: Queue, event: QueueEvent) -> tuple[Queue, list[QueueCommand]]:
    """Returns the queue after an event, and the commands to perform."""
    out: Out = []
    queue = _HANDLERS[type(event)](queue, event, out)
    return _further(queue, out), out


def find(queue: Queue, event: SubmitAsked) -> QueuedBuild | None:
    """The build that was submitted under this key, or one like it that has not ended."""
    for build in queue.builds.values():
        if event.key is not None and build.key == event.key:
            return build
    alike = (b for b in queue.known() if b.is_ours and not b.state.has_ended)
    return next((b for b in alike if b.spec.is_like(event.spec)), None)


def _further(queue: Queue, out: Out) -> Queue:
    """Gives out the next turn, if there is one to give; looks for room, if builds are paused."""
    if not queue.is_open:
        return queue
    if not queue.is_looking and any(build.state is State.PAUSED for build in queue.known()):
        out.append(LookForRoom())
        queue = replace(queue, is_looking=True)
    waiting = queue.waiting()
    if queue.turn is None and not queue.is_resting and waiting:
        out.append(TakeTurn(waiting[0].name))
        return replace(queue, turn=Turn(waiting[0].name))
    return giving_way(queue, waiting[0], out) if waiting else queue


def _by(who: str) -> str:
    return f" by {who}" if who else ""


# ---- asked for ----


def _submitted(queue: Queue, event: SubmitAsked, out: Out) -> Queue:
    if (build := find(queue, event)) is not None:
        if build.spec.is_like(event.spec):
            out.append(Submitted(build.name, is_new=False))
        else:
            out.append(Refuse("key-reused", "this Idempotency-Key was sent with another build"))
        return queue
    if len(queue.waiting()) >= queue.limit:
        out.append(Refuse("too-many", f"{queue.limit} builds are queued; wait for some"))
        return queue
    name = f"b{1 + sum(build.is_ours for build in queue.builds.values())}"
    key = event.key or name
    out.append(Enter(name, key, event.spec))
    queue = entered(queue, name, key, event.spec)
    events: list[Event] = [Queued(f"asked for{_by(event.spec.by)}")]
    if event.plan is not None:
        events += [Admitted(), Planned(1, event.plan)]
    queue = tell(queue, name, events, out)
    out.append(Submitted(name, is_new=True))
    return queue


def _cancelled(queue: Queue, event: CancelAsked, out: Out) -> Queue:
    build = _known(queue, event.name, out)
    if build is None or build.state in (State.CANCELLING, State.CANCELLED):
        return queue
    if build.state.has_ended:
        reason = f"{build.name} has {build.state}; nothing is left to cancel"
        out.append(Refuse("conflict", reason))
        return queue
    request = CancelRequested(f"cancelled{_by(event.by)}")
    if queue.turn is not None and queue.turn.name == build.name and queue.turn.has_begun:
        out.append(Tell(request))
        return queue
    return tell(queue, build.name, [request], out)


def _retried(queue: Queue, event: RetryAsked, out: Out) -> Queue:
    build = _known(queue, event.name, out)
    if build is None or not build.state.has_ended:
        return queue
    if build.state is State.SUCCEEDED:
        out.append(Refuse("conflict", f"{build.name} has succeeded; nothing is left to do"))
        return queue
    return tell(queue, build.name, [Queued(f"asked for again{_by(event.by)}")], out)


def _deleted(queue: Queue, event: DeleteAsked, out: Out) -> Queue:
    build = _known(queue, event.name, out)
    if build is None:
        return queue
    if not build.state.has_ended:
        out.append(Refuse("conflict", f"{build.name} is {build.state}; cancel it first"))
        return queue
    record = Deleted(f"deleted{_by(event.by)}")
    out.append(Note(build.name, (record,)))
    return recorded(queue, build.name, [record])


def _known(queue: Queue, name: str, out: Out) -> QueuedBuild | None:
    build = queue.builds.get(name)
    if build is None or build.is_deleted:
        out.append(Refuse("not-found", f"no build {name!r}"))
        return None
    return build


# ---- turns ----


def _opened(queue: Queue, event: Opened, out: Out) -> Queue:
    return replace(queue, is_open=True)


def _begun(queue: Queue, event: TurnBegun, out: Out) -> Queue:
    """Nothing if the build was cancelled before its turn could begin."""
    turn = queue.turn
    if turn is None or queue.builds[turn.name].state is not State.QUEUED:
        return queue
    return replace(queue, turn=replace(turn, has_begun=True))


def _settled(queue: Queue, event: Settled, out: Out) -> Queue:
    assert queue.turn is not None, "only the build whose turn it is settles anything"
    return recorded(queue, queue.turn.name, event.records)


def _deferred(queue: Queue, event: TurnDeferred, out: Out) -> Queue:
    if queue.turn is None:
        return queue
    name = queue.turn.name
    queue = replace(queue, turn=None, is_resting=True)
    out.append(Rest())
    if queue.builds[name].state is not State.QUEUED:
        return queue
    return tell(queue, name, [Queued(event.reason)], out)


def _ended(queue: Queue, event: TurnEnded, out: Out) -> Queue:
    """A build that a full disk stopped is paused; one that lost its cluster waits for it."""
    if queue.turn is None:
        return queue
    name = queue.turn.name
    queue = replace(queue, turn=None)
    if not queue.is_open:
        return queue  # the next process goes on with it
    if event.failure:
        queue = tell(queue, name, [Interrupted(event.failure, is_final=True)], out)
    build = queue.builds[name]
    if event.lacks and build.state in (State.INTERRUPTED, State.FAILED):
        return tell(queue, name, [PauseRequested(event.lacks)], out)
    if build.has_given_way:
        return given_way(queue, name, out)
    if event.on_cluster and build.state is State.INTERRUPTED:
        return requeued(queue, name, "goes on as soon as the cluster can", out)
    return queue


def _rested(queue: Queue, event: Rested, out: Out) -> Queue:
    return replace(queue, is_resting=False)


def _looked(queue: Queue, event: RoomLookedFor, out: Out) -> Queue:
    queue = replace(queue, is_looking=False)
    if event.has_room:
        for build in queue.known():
            if build.state is State.PAUSED:
                queue = tell(queue, build.name, [Queued("there is room on the disk again")], out)
    return queue


# ---- the process ----


def _closed(queue: Queue, event: CloseAsked, out: Out) -> Queue:
    if queue.turn is not None:
        out.append(Tell(Interrupted("the service was stopped")))
    return replace(queue, is_open=False)


def _cluster_lost(queue: Queue, event: ClusterLost, out: Out) -> Queue:
    turn = queue.turn
    queue = replace(queue, turn=None, is_open=False)
    if turn is None or queue.builds[turn.name].state not in (State.PLANNING, State.RUNNING):
        return queue
    queue = tell(queue, turn.name, [Interrupted(event.reason)], out)
    return requeued(queue, turn.name, "goes on as soon as the cluster can", out)


def _restarted(queue: Queue, event: QueueRestarted, out: Out) -> Queue:
    queue = replace(queue, turn=None, is_resting=False, is_looking=False)
    for build in queue.known():
        if build.state in (State.PLANNING, State.RUNNING, State.CANCELLING):
            queue = tell(queue, build.name, [Interrupted(event.reason)], out)
            if build.is_ours and queue.builds[build.name].state is State.INTERRUPTED:
                queue = requeued(queue, build.name, "goes on from what is committed", out)
        elif build.is_ours and build.has_given_way:
            queue = given_way(queue, build.name, out)
    return queue


def _regained(queue: Queue, event: JournalRegained, out: Out) -> Queue:
    """The disk was too full to note even that the build is paused."""
    if queue.builds[event.name].state in (State.INTERRUPTED, State.FAILED):
        return tell(queue, event.name, [Queued("there is room on the disk again")], out)
    return queue


_HANDLERS: Mapping[type[QueueEvent], Callable[[Queue, Any, Out], Queue]] = {
    SubmitAsked: _submitted,
    CancelAsked: _cancelled,
    RetryAsked: _retried,
    DeleteAsked: _deleted,
    Opened: _opened,
    TurnBegun: _begun,
    Settled: _settled,
    TurnDeferred: _deferred,
    TurnEnded: _ended,
    Rested: _rested,
    RoomLookedFor: _looked,
    CloseAsked: _closed,
    ClusterLost: _cluster_lost,
    QueueRestarted: _restarted,
    JournalRegained: _regained,
}
