"""What can be done to a build as a whole, whatever the event that asks for it.

A build is always in one state, with a reason.  Whatever ends or halts it disbands every team: what
a team has not committed is lost, nothing else is.  A domain that is set back too often without
getting anywhere ends the build.  Whenever workers, nodes or tables may have changed, `started`
looks for what can begin.
"""

from dataclasses import replace

from coordinator.commands import AwaitNodes, Became, Call, MakePlan, NodesLacking, SetBack
from coordinator.schedule import deserves_more, lacking, placements
from coordinator.state import Build, Run, State
from coordinator.team import Out, begin, disband


def became(build: Build, state: State, reason: str, out: Out) -> Build:
    out.append(Became(state, reason))
    return replace(build, state=state, reason=reason, awaiting=False)


def end(build: Build, state: State, reason: str, out: Out) -> Build:
    build, _ = disbanded(build, out)
    return became(replace(build, releasing=frozenset()), state, reason, out)


def with_run(build: Build, name: str, run: Run) -> Build:
    return replace(build, runs={**build.runs, name: run})


def waiting_for(build: Build, call: Call) -> Run | None:
    """The run that waits for this very call; none if it is stale."""
    run = build.runs.get(call.domain)
    if run is None or run.team is None:
        return None
    return run if call in run.team.calls or call in run.team.seals else None


def forgiven(build: Build) -> Build:
    """Someone who asks for another try wants all of the tries."""
    return replace(build, runs={n: replace(run, setbacks=0) for n, run in build.runs.items()})


def disbanded(build: Build, out: Out) -> tuple[Build, frozenset[Call]]:
    releasing: frozenset[Call] = frozenset()
    runs = dict(build.runs)
    for name, run in build.runs.items():
        runs[name], calls = disband(run, out)
        releasing |= calls
    return replace(build, runs=runs), releasing


def released(build: Build, left: frozenset[Call], out: Out) -> Build:
    build = replace(build, releasing=left)
    if build.state is State.CANCELLING and not left:
        return became(build, State.CANCELLED, build.reason, out)
    return build


def set_back(build: Build, name: str, reason: str, out: Out) -> Build:
    """Go back to the last committed pass, without workers; or give up."""
    if build.runs[name].team is None:
        return build  # what was hit before has ended the build
    run, _ = disband(build.runs[name], out)
    run = replace(run, setbacks=run.setbacks + 1)
    out.append(SetBack(name, run.incarnation, reason))
    build = with_run(build, name, run)
    assert build.plan is not None, "workers without a plan"
    if run.setbacks > build.plan.policy.setbacks:
        said = f"{name}: {run.setbacks} setbacks without progress, the last: {reason}"
        return end(build, State.INTERRUPTED, said, out)
    return build


def started(build: Build, out: Out, lack: str = "") -> Build:
    """Start what can start; notice when all is done, or when nothing can be, for lack of what is
    said if that is known.
    """
    if build.state is not State.RUNNING:
        return build
    for name, shares in placements(build):
        build = with_run(build, name, begin(build.runs[name], shares, out))
    if all(run.table is not None for run in build.runs.values()):
        return end(build, State.SUCCEEDED, f"{len(build.runs)} tables", out)
    if any(run.team is not None for run in build.runs.values()):
        return replace(_grown(build), awaiting=False)
    if build.awaiting:
        return build
    build = replace(build, waits=build.waits + 1, awaiting=True)
    out += [NodesLacking(lack or lacking(build)), AwaitNodes(build.waits)]
    return build


def _grown(build: Build) -> Build:
    """Mark the teams that are to be replaced by larger ones after their pass."""
    for name, run in build.runs.items():
        if run.team is not None and deserves_more(build, run):
            build = with_run(build, name, replace(run, team=replace(run.team, growing=True)))
    return build


def make_plan(build: Build, reason: str, out: Out) -> Build:
    build = became(replace(build, planning=build.planning + 1), State.PLANNING, reason, out)
    out.append(MakePlan(build.planning))
    return build
