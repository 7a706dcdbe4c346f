"""A build and an event give the next build and what is to be done.  Pure: no clock, no cluster,
no log, no chance.

    queued -> planning -> running -> succeeded
                 |        |  ^  |
                 |   paused--+  +-> cancelling -> cancelled   (from any state that has not ended)
                 |              +-> interrupted   the store, the workers or the nodes gave out
                 +------------------+-> failed    the same would come of it again
    cancelled, interrupted, failed -> planning    when a retry is asked for; all that was
                                                  committed counts

Workers.  A domain's workers are of one incarnation, and every call and answer names it.  If one
is lost, is late beyond its lease or loses a frontier, all of them are released and the domain
goes back to its last committed pass, with others of the next incarnation.  What the store refuses
is tried again.  Both have bounds, after which the build is interrupted and says why.

Recovery.  `Restarted` is the same as losing every worker and every node at once; so the state
after a crash is the fold of the journal's events and this one.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from coordinator.commands import Command, NodesPassedOver, Repeatable, WavesPlanned
from coordinator.domains import Domain, Logged, Plan
from coordinator.events import (
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
    PauseRequested,
    Planned,
    Prepared,
    Restarted,
    ResumeRequested,
    RetryRequested,
    Unplannable,
    WorkerLost,
    Written,
)
from coordinator.lifecycle import (
    became,
    disbanded,
    end,
    forgiven,
    make_plan,
    released,
    set_back,
    started,
    waiting_for,
    with_run,
)
from coordinator.passes import answered, go_on
from coordinator.schedule import deserves_more, lacking
from coordinator.state import PRESENT, Build, Run, Stage, State
from coordinator.team import Out, disband, repeat


def step(build: Build, event: Event) -> tuple[Build, list[Command]]:
    """What becomes of a build, and what is to be done."""
    out: Out = []
    return _HANDLERS[type(event)](build, event, out), out


def fold(name: str, events: Iterable[Event]) -> Build:
    """The state of a build after its events."""
    build = Build(name)
    for event in events:
        build, _ = step(build, event)
    return build


# ---- asked for ----


def _admitted(build: Build, event: Admitted, out: Out) -> Build:
    return make_plan(build, "its turn has come", out) if build.state is State.QUEUED else build


def _paused(build: Build, event: PauseRequested, out: Out) -> Build:
    if build.state is not State.RUNNING:
        return build
    build, _ = disbanded(build, out)
    return became(build, State.PAUSED, event.reason, out)


def _resumed(build: Build, event: ResumeRequested, out: Out) -> Build:
    if build.state is not State.PAUSED:
        return build
    return started(became(forgiven(build), State.RUNNING, event.reason, out), out)


def _retried(build: Build, event: RetryRequested, out: Out) -> Build:
    if build.state not in (State.FAILED, State.INTERRUPTED, State.CANCELLED):
        return build
    return make_plan(forgiven(build), event.reason, out)


def _cancelled(build: Build, event: CancelRequested, out: Out) -> Build:
    if build.state.has_ended or build.state is State.CANCELLING:
        return build
    build, releasing = disbanded(build, out)
    build = became(replace(build, releasing=releasing), State.CANCELLING, event.reason, out)
    return released(build, releasing, out)


def _interrupted(build: Build, event: Interrupted, out: Out) -> Build:
    if build.state is State.CANCELLING:
        return released(build, frozenset(), out)
    return build if build.state.has_ended else end(build, State.INTERRUPTED, event.reason, out)


# ---- the plan ----


def _planned(build: Build, event: Planned, out: Out) -> Build:
    if build.state is not State.PLANNING or event.attempt != build.planning:
        return build
    runs = _runs(event.plan, build.runs)
    build = replace(build, plan=event.plan, runs=runs)
    present = sum(run.table is not None for run in runs.values())
    reason = f"{len(runs) - present} tables to build, {present} are there"
    out.append(_waves(event.plan, runs))
    return started(became(build, State.RUNNING, reason, out), out)


def _waves(plan: Plan, runs: Mapping[str, Run]) -> WavesPlanned:
    waves = sorted({domain.wave for domain in plan.domains})
    named = (
        tuple(d.name for d in plan.domains if d.wave == wave and runs[d.name].table is None)
        for wave in waves
    )
    there = tuple(name for name, run in runs.items() if run.table is not None)
    logged = tuple(found for found in plan.logged if any(passes for _, passes in found.passes))
    return WavesPlanned(tuple(filter(None, named)), there, logged)


def _unplannable(build: Build, event: Unplannable, out: Out) -> Build:
    if build.state is not State.PLANNING or event.attempt != build.planning:
        return build
    state = State.FAILED if event.fault is Fault.FINAL else State.INTERRUPTED
    return end(build, state, event.reason, out)


def _runs(plan: Plan, before: Mapping[str, Run]) -> dict[str, Run]:
    logged = {found.domain: found for found in plan.logged}
    return {
        domain.name: _run(domain, plan, before.get(domain.name), logged.get(domain.name))
        for domain in plan.domains
    }


def _run(domain: Domain, plan: Plan, before: Run | None, logged: Logged | None) -> Run:
    """Go on from what an earlier plan's run committed, else from what the store has.  No
    incarnation is ever given out twice.
    """
    run = Run(domain, plan.layouts[domain.layout])
    is_there = domain.name in plan.present
    if logged is not None:
        passes, workers = dict(logged.passes), dict(logged.workers)
        run = replace(run, incarnation=logged.incarnation, passes=passes, workers=workers)
    if before is not None:
        is_same = (before.domain, before.layout) == (domain, run.layout)
        if is_same and (is_there or before.table is None):
            run = before
        if run.published is not None:  # its parts went into it
            run = replace(run, published=None, parts=run.parts if is_there else {})
        incarnation = max(run.incarnation, before.incarnation)
        run = replace(run, incarnation=incarnation)
    table = run.table or PRESENT if is_there else None
    return replace(run, table=table, furthest=run.committed)


# ---- the cluster ----


def _joined(build: Build, event: NodesJoined, out: Out) -> Build:
    new = {node.name: node for node in event.nodes if node.name not in build.nodes}
    return started(replace(build, nodes={**build.nodes, **new}), out) if new else build


def _unfit(build: Build, event: NodesUnfit, out: Out) -> Build:
    if not build.state.has_ended:
        out.append(NodesPassedOver(event.reason))
    return build


def _left(build: Build, event: NodeLeft, out: Out) -> Build:
    if event.name not in build.nodes:
        return build
    nodes = {name: node for name, node in build.nodes.items() if name != event.name}
    build = replace(build, nodes=nodes)
    hit = [
        name
        for name, run in build.runs.items()
        if run.team and any(share.node == event.name for share in run.team.shares)
    ]
    for name in hit:
        build = set_back(build, name, f"node {event.name} left", out)
    return started(build, out)


def _awaited(build: Build, event: NodesAwaited, out: Out) -> Build:
    if not build.awaiting or event.number != build.waits or build.state is not State.RUNNING:
        return build
    return end(build, State.INTERRUPTED, f"waited for nodes in vain: {lacking(build)}", out)


def _worker_lost(build: Build, event: WorkerLost, out: Out) -> Build:
    left = frozenset(
        call
        for call in build.releasing
        if (call.domain, call.incarnation, call.worker)
        == (event.domain, event.incarnation, event.worker)
    )
    run = build.runs.get(event.domain)
    if left or run is None or run.team is None or run.team.incarnation != event.incarnation:
        return released(build, build.releasing - left, out)
    reason = f"worker {event.worker} was lost: {event.reason}"
    return started(set_back(build, event.domain, reason, out), out)


def _expired(build: Build, event: LeaseExpired, out: Out) -> Build:
    if event.call in build.releasing:
        return released(build, build.releasing - {event.call}, out)
    run = waiting_for(build, event.call)
    if run is None or run.team is None:
        return build
    stage, depth = run.team.stage, run.team.depth
    reason = f"worker {event.call.worker} did not answer in time ({stage}, pass {depth})"
    return started(set_back(build, event.call.domain, reason, out), out)


def _restarted(build: Build, event: Restarted, out: Out) -> Build:
    build, _ = disbanded(build, out)
    build = replace(build, nodes={}, awaiting=False)
    if build.state is State.PLANNING:
        return make_plan(build, "the coordinator was restarted", out)
    if build.state is State.CANCELLING:
        return released(build, frozenset(), out)
    return started(build, out, "the coordinator was restarted and knows no node yet")


# ---- answers ----


def _answered(build: Build, event: Answer, out: Out) -> Build:
    if event.call in build.releasing:
        return released(build, build.releasing - {event.call}, out)
    run = waiting_for(build, event.call)
    if run is None or build.plan is None:
        return build
    run = answered(run, event, build.plan.policy, out)
    build = with_run(build, event.call.domain, run)
    if run.table is not None:
        return started(build, out)
    return _regrouped(build, run, out)


def _regrouped(build: Build, run: Run, out: Out) -> Build:
    """A team for which there are more nodes is replaced once all its passes are durable."""
    team = run.team
    if team is None or not team.growing or team.sealing or team.stage is not Stage.SETTLE:
        return build
    if deserves_more(build, run):
        run, _ = disband(run, out)
        return started(with_run(build, run.domain.name, run), out)
    assert build.plan is not None, "a team without a plan"
    run = go_on(replace(run, team=replace(team, growing=False)), build.plan.policy, out)
    return with_run(build, run.domain.name, run)


def _failed(build: Build, event: Failed, out: Out) -> Build:
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


def _damaged(build: Build, event: Damaged, out: Out) -> Build:
    """Only what reads back is committed: the passes from the damaged one on are done again."""
    run = waiting_for(build, event.call)
    if run is None:
        return build
    sound = tuple(p for p in run.passes.get(event.winner, ()) if p.depth <= event.depth)
    run = replace(run, passes={**run.passes, event.winner: sound})
    reason = f"the log is damaged after pass {event.depth}: {event.reason}"
    build = with_run(build, event.call.domain, run)
    return started(set_back(build, event.call.domain, reason, out), out)


_HANDLERS: Mapping[type[Event], Callable[[Build, Any, Out], Build]] = {
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
    Written: _answered,
    Failed: _failed,
    Damaged: _damaged,
}
