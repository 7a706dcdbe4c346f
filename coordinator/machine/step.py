"""A build and an event give the next build and what is to be done.  Pure: no clock, no cluster,
no log, no chance.

    queued -> planning -> running -> succeeded
                 |           |
                 |           +-> paused         no worker is held; resumed, it runs again
                 |           +-> cancelling -> cancelled   (from any state that has not ended)
                 |           +-> interrupted    the store, the workers or the nodes gave out
                 +-----------+-> failed         the same would come of it again
    interrupted, failed -> paused               until what they lack, such as room, is there
    cancelled, interrupted, failed -> planning  when a retry is asked for; all that was
                                                committed counts
    paused, cancelled, interrupted, failed -> queued    to wait for a turn; see queue.py

Workers.  A domain's workers are of one incarnation, and every call and answer names it.  If one
is lost, is late beyond its lease or loses a frontier, all of them are released and the domain
goes back to its last committed pass, with others of the next incarnation.  What the store refuses
is tried again.  Both have bounds, after which the build is interrupted and says why.

Recovery.  `Restarted` is the same as losing every worker and every node at once; so the state
after a crash is the fold of the journal's events and this one.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kingpair.coordinator.machine.commands import Command, Repeatable
from kingpair.coordinator.machine.events import (
    Admitted,
    Answer,
    CancelRequested,
    Computed,
    Damaged,
    Done,
    Event,
    Failed,
    Fault,
    Interrupted,
    LeaseExpired,
    NodeLeft,
    NodesAwaited,
    NodesJoined,
    NodesUnfit,
    Painted,
    PauseRequested,
    Planned,
    Prepared,
    Proved,
    Queued,
    Restarted,
    ResumeRequested,
    RetryRequested,
    Unplannable,
    WorkerLost,
    Written,
)
from kingpair.coordinator.machine.lifecycle import (
    became,
    cleared,
    disbanded,
    end,
    forgiven,
    make_plan,
    plan_told,
    released,
    set_back,
    started,
    told_of_copies,
    unsolved,
    waiting_for,
    with_run,
)
from kingpair.coordinator.machine.passes import answered, go_on
from kingpair.coordinator.machine.records import NodesPassedOver, TableVerified, WavesPlanned
from kingpair.coordinator.machine.runs import runs_of
from kingpair.coordinator.machine.schedule import deserves_more, lacking
from kingpair.coordinator.machine.state import BuildJob, Run, State
from kingpair.coordinator.machine.team import Out, disband, repeat
from kingpair.coordinator.plan.domains import BuildPlan

_IDLE = {State.QUEUED, State.PAUSED, State.CANCELLED, State.INTERRUPTED, State.FAILED}


def step(build: BuildJob, event: Event) -> tuple[BuildJob, list[Command]]:
    """Returns the build after an event, and the commands to perform."""
    out: Out = []
    return _HANDLERS[type(event)](build, event, out), out


def fold(name: str, events: Iterable[Event]) -> BuildJob:
    """The state of a build after its events."""
    build = BuildJob(name)
    for event in events:
        build, _ = step(build, event)
    return build


# ---- asked for ----


def _admitted(build: BuildJob, event: Admitted, out: Out) -> BuildJob:
    return make_plan(build, "its turn has come", out) if build.state is State.QUEUED else build


def _queued(build: BuildJob, event: Queued, out: Out) -> BuildJob:
    """Puts a build that does not run into the queue, or says why it still waits there."""
    if build.state not in _IDLE or (build.state, build.reason) == (State.QUEUED, event.reason):
        return build
    return became(forgiven(build), State.QUEUED, event.reason, out)


def _paused(build: BuildJob, event: PauseRequested, out: Out) -> BuildJob:
    if build.state not in (State.RUNNING, State.INTERRUPTED, State.FAILED):
        return build
    build, _ = disbanded(build, out)
    return became(build, State.PAUSED, event.reason, out)


def _resumed(build: BuildJob, event: ResumeRequested, out: Out) -> BuildJob:
    if build.state is not State.PAUSED:
        return build
    if build.plan is None:
        return make_plan(build, event.reason, out)
    return started(became(forgiven(build), State.RUNNING, event.reason, out), out)


def _retried(build: BuildJob, event: RetryRequested, out: Out) -> BuildJob:
    if build.state not in (State.FAILED, State.INTERRUPTED, State.CANCELLED):
        return build
    return make_plan(forgiven(build), event.reason, out)


def _cancelled(build: BuildJob, event: CancelRequested, out: Out) -> BuildJob:
    if build.state.has_ended or build.state is State.CANCELLING:
        return build
    if build.state in (State.QUEUED, State.PAUSED):
        return became(build, State.CANCELLED, event.reason, out)  # nothing of it runs
    build, releasing = disbanded(build, out)
    build = became(build._replace(releasing=releasing), State.CANCELLING, event.reason, out)
    return released(build, releasing, out)


def _interrupted(build: BuildJob, event: Interrupted, out: Out) -> BuildJob:
    if build.state is State.CANCELLING:
        return released(build, frozenset(), out)
    if build.state.has_ended:
        return build
    return end(build, State.FAILED if event.is_final else State.INTERRUPTED, event.reason, out)


# ---- the plan ----


def _planned(build: BuildJob, event: Planned, out: Out) -> BuildJob:
    if build.state is not State.PLANNING or event.attempt != build.planning:
        return build
    runs = runs_of(event.plan, build.runs)
    build = build._replace(plan=event.plan, runs=runs)
    tables = [run for run in runs.values() if not run.domain.table]
    present = sum(run.table is not None for run in tables)
    out.append(_waves(event.plan, runs))
    out.extend(TableVerified(domain, seconds) for domain, seconds in event.plan.verified)
    return started(became(build, State.RUNNING, plan_told(len(tables), present), out), out)


def _waves(plan: BuildPlan, runs: Mapping[str, Run]) -> WavesPlanned:
    named = (
        tuple(d.name for d in plan.domains if d.wave == wave and runs[d.name].is_wanted)
        for wave in sorted({domain.wave for domain in plan.domains})
    )
    there = tuple(name for name, run in runs.items() if run.table is not None)
    logged = tuple(found for found in plan.logged if any(passes for _, passes in found.passes))
    exports = tuple(name for name, run in runs.items() if run.is_ready and not run.is_done)
    return WavesPlanned(tuple(filter(None, named)), there, logged, exports)


def _unplannable(build: BuildJob, event: Unplannable, out: Out) -> BuildJob:
    if build.state is not State.PLANNING or event.attempt != build.planning:
        return build
    state = State.FAILED if event.fault is Fault.FINAL else State.INTERRUPTED
    return end(build, state, event.reason, out)


# ---- the cluster ----


def _joined(build: BuildJob, event: NodesJoined, out: Out) -> BuildJob:
    new = {node.name: node for node in event.nodes if node.name not in build.nodes}
    return started(build._replace(nodes={**build.nodes, **new}), out) if new else build


def _unfit(build: BuildJob, event: NodesUnfit, out: Out) -> BuildJob:
    if not build.state.has_ended:
        out.append(NodesPassedOver(event.reason))
    return build


def _left(build: BuildJob, event: NodeLeft, out: Out) -> BuildJob:
    if event.name not in build.nodes:
        return build
    build = build._replace(nodes={n: node for n, node in build.nodes.items() if n != event.name})
    hit = [
        name
        for name, run in build.runs.items()
        if run.team and any(share.node == event.name for share in run.team.held)
    ]
    reason = f"node {event.name} {event.reason}"
    for name in hit:
        build = set_back(build, name, reason, out, event.is_counted)
    return started(build, out)


def _awaited(build: BuildJob, event: NodesAwaited, out: Out) -> BuildJob:
    if not build.awaiting or event.number != build.waits or build.state is not State.RUNNING:
        return build
    return end(build, State.INTERRUPTED, f"waited for nodes in vain: {lacking(build)}", out)


def _worker_lost(build: BuildJob, event: WorkerLost, out: Out) -> BuildJob:
    left = frozenset(
        call
        for call in build.releasing
        if (call.domain, call.incarnation, call.worker)
        == (event.domain, event.incarnation, event.worker)
    )
    run = build.runs.get(event.domain)
    team = run.team if run is not None else None
    if left or team is None or not team.has(event.incarnation, event.worker):
        return released(build, build.releasing - left, out)
    reason = f"worker {event.worker} was lost: {event.reason}"
    return started(set_back(build, event.domain, reason, out), out)


def _expired(build: BuildJob, event: LeaseExpired, out: Out) -> BuildJob:
    if event.call in build.releasing:
        return released(build, build.releasing - {event.call}, out)
    run = waiting_for(build, event.call)
    if run is None or run.team is None:
        return build
    stage, depth = run.team.stage, run.team.depth
    reason = f"worker {event.call.worker} did not answer in time ({stage}, pass {depth})"
    return started(set_back(build, event.call.domain, reason, out), out)


def _restarted(build: BuildJob, event: Restarted, out: Out) -> BuildJob:
    build, _ = disbanded(build, out)
    build = build._replace(nodes={}, awaiting=False)
    if build.state is State.PLANNING:
        return make_plan(build, "the coordinator was restarted", out)
    if build.state is State.CANCELLING:
        return released(build, frozenset(), out)
    return started(build, out, "the coordinator was restarted and knows no node yet")


# ---- answers ----


def _answered(build: BuildJob, event: Answer, out: Out) -> BuildJob:
    if event.call in build.releasing:
        return released(build, build.releasing - {event.call}, out)
    run = waiting_for(build, event.call)
    if run is None or build.plan is None:
        return build
    before, run = run.team, answered(run, event, build.plan.policy, out)
    build = with_run(told_of_copies(build, event, out), event.call.domain, run)
    if run.is_done:
        cleared(build, run, out)
        return started(build, out)
    if run.team and before and run.team.released != before.released:
        return started(build, out)  # others on the nodes that have come free
    return _regrouped(build, run, out)


def _regrouped(build: BuildJob, run: Run, out: Out) -> BuildJob:
    """A team for which there are more nodes is replaced once all its passes are durable."""
    team = run.team
    if team is None or not run.may_regroup:
        return build
    if deserves_more(build, run):
        run, _ = disband(run, out)
        return started(with_run(build, run.domain.name, run), out)
    assert build.plan is not None, "a team without a plan"
    run = go_on(run._replace(team=team._replace(growing=False)), build.plan.policy, out)
    return with_run(build, run.domain.name, run)


def _failed(build: BuildJob, event: Failed, out: Out) -> BuildJob:
    call = event.call
    if call in build.releasing:
        return released(build, build.releasing - {call}, out)
    run = waiting_for(build, call)
    if run is None or run.team is None or build.plan is None:
        return build
    task = {**run.team.calls, **run.team.seals}[call]
    said = f"{call.domain}: {type(task).__name__.lower()} by worker {call.worker}: {event.reason}"
    if event.fault is Fault.FINAL:
        return end(build, State.FAILED, said, out)
    if event.fault is Fault.WORKER or not isinstance(task, Repeatable):
        return started(set_back(build, call.domain, said, out), out)
    if call.attempt >= build.plan.policy.attempts:
        return end(build, State.INTERRUPTED, f"{said}; tried {call.attempt} times", out)
    return with_run(build, call.domain, repeat(run, call, event.reason, out))


def _damaged(build: BuildJob, event: Damaged, out: Out) -> BuildJob:
    """Takes back the passes from the damaged one on, which are then repeated."""
    run = waiting_for(build, event.call)
    if run is None:
        return build
    reason = f"the log is damaged after pass {event.depth}: {event.reason}"
    if event.is_below:
        build = unsolved(build, event.call.domain)
        return started(set_back(build, event.call.domain, reason, out), out)
    sound = tuple(p for p in run.passes.get(event.winner, ()) if p.depth <= event.depth)
    run = run._replace(passes={**run.passes, event.winner: sound})
    build = with_run(build, event.call.domain, run)
    return started(set_back(build, event.call.domain, reason, out), out)


_HANDLERS: Mapping[type[Event], Callable[[BuildJob, Any, Out], BuildJob]] = {
    Queued: _queued,
    Admitted: _admitted,
    PauseRequested: _paused,
    ResumeRequested: _resumed,
    CancelRequested: _cancelled,
    RetryRequested: _retried,
    Interrupted: _interrupted,
    Planned: _planned,
    Unplannable: _unplannable,
    NodesJoined: _joined,
    NodesUnfit: _unfit,
    NodeLeft: _left,
    NodesAwaited: _awaited,
    WorkerLost: _worker_lost,
    LeaseExpired: _expired,
    Restarted: _restarted,
    Done: _answered,
    Prepared: _answered,
    Computed: _answered,
    Painted: _answered,
    Written: _answered,
    Proved: _answered,
    Failed: _failed,
    Damaged: _damaged,
}
