"""Steps of builds that no thread runs, and of one that has to give way.  Pure, as the queue is."""

from collections.abc import Iterable
from dataclasses import replace

from kingpair.coordinator.machine.events import Event, Interrupted, Queued
from kingpair.coordinator.machine.queue_events import Note, QueueCommand, Tell
from kingpair.coordinator.machine.queue_state import GIVES_WAY, Queue, QueuedBuild, recorded
from kingpair.coordinator.machine.records import Record
from kingpair.coordinator.machine.state import BuildJob, State
from kingpair.coordinator.machine.step import step as step_of_build
from kingpair.coordinator.plan.turn_order import is_shorter

LOSSES = 3  # processes that one build may cost
Out = list[QueueCommand]


def tell(queue: Queue, name: str, events: Iterable[Event], out: Out) -> Queue:
    """Tells a build that no thread runs its events; notes what that settles."""
    found = queue.builds[name]
    build = BuildJob(name, found.state, found.reason)
    records: list[Record] = []
    for event in events:
        build, commands = step_of_build(build, event)
        records += [command for command in commands if isinstance(command, Record)]
    if records:
        out.append(Note(name, tuple(records)))
    return recorded(queue, name, records)


def giving_way(queue: Queue, first: QueuedBuild, out: Out) -> Queue:
    """Interrupts the build at its turn if the first that waits is more urgent, or as urgent and
    much shorter.
    """
    turn = queue.turn
    if turn is None or not turn.has_begun or turn.is_over:
        return queue
    build = queue.builds[turn.name]
    is_at_work = build.state in (State.PLANNING, State.RUNNING)
    if not is_at_work or not (why := _why_first(queue, first, build)):
        return queue
    out.append(Tell(Interrupted(f"{GIVES_WAY}{first.name}, which is {why}")))
    return replace(queue, turn=replace(turn, is_over=True))


def _why_first(queue: Queue, first: QueuedBuild, build: QueuedBuild) -> str:
    """Why a build should go before the one at its turn; empty if it should not."""
    if build.spec.priority != first.spec.priority:
        return "more urgent" if build.spec.priority < first.spec.priority else ""
    is_first = is_shorter(first, build.work_left) and queue.may_be_overtaken(build)
    return "shorter" if is_first else ""


def given_way(queue: Queue, name: str, out: Out) -> Queue:
    what = "shorter" if queue.builds[name].reason.endswith("shorter") else "more urgent"
    return tell(queue, name, [Queued(f"waits for a {what} build, then goes on")], out)


def requeued(queue: Queue, name: str, reason: str, out: Out) -> Queue:
    if queue.builds[name].losses >= LOSSES:
        return queue
    return tell(queue, name, [Queued(reason)], out)
