"""Changes of a build as a whole, which several events share.

A build is always in one state, with a reason.  To end or to halt it disbands every team: what a
team has not committed is lost, nothing else is.  A domain that is set back too often without
getting anywhere ends the build.  Whenever workers, nodes or tables may have changed, `started`
looks for what can begin.
"""

from kingpair.coordinator.machine.commands import AwaitNodes, Call, ClearLogs, MakePlan
from kingpair.coordinator.machine.events import Answer, Done
from kingpair.coordinator.machine.records import Became, LogUncopied, NodesLacking, SetBack
from kingpair.coordinator.machine.schedule import deserves_more, lacking, placements
from kingpair.coordinator.machine.state import BuildJob, Run, State, progress
from kingpair.coordinator.machine.team import Out, begin, disband
from kingpair.coordinator.plan.domains import SolvedLevel


def became(build: BuildJob, state: State, reason: str, out: Out) -> BuildJob:
    out.append(Became(state, reason))
    return build._replace(state=state, reason=reason, awaiting=False)


def tables_told(number: int) -> str:
    """`1 table`, `2 tables`."""
    return f"{number} {'table' if number == 1 else 'tables'}"


def plan_told(tables: int, present: int) -> str:
    there = f", {present} there already" if present else ""
    return f"{tables_told(tables - present)} to build{there}"


def end(build: BuildJob, state: State, reason: str, out: Out) -> BuildJob:
    build, _ = disbanded(build, out)
    return became(build._replace(releasing=frozenset()), state, reason, out)


def with_run(build: BuildJob, name: str, run: Run) -> BuildJob:
    return build._replace(runs={**build.runs, name: run})


def waiting_for(build: BuildJob, call: Call) -> Run | None:
    """The run that waits for this very call; none if it is stale."""
    run = build.runs.get(call.domain)
    if run is None or run.team is None:
        return None
    return run if call in run.team.calls or call in run.team.seals else None


def forgiven(build: BuildJob) -> BuildJob:
    """Clears the counts of setbacks: a retry begins with none."""
    return build._replace(runs={n: run._replace(setbacks=0) for n, run in build.runs.items()})


def disbanded(build: BuildJob, out: Out) -> tuple[BuildJob, frozenset[Call]]:
    releasing: frozenset[Call] = frozenset()
    runs = dict(build.runs)
    for name, run in build.runs.items():
        runs[name], calls = disband(run, out)
        releasing |= calls
    return build._replace(runs=runs), releasing


def released(build: BuildJob, left: frozenset[Call], out: Out) -> BuildJob:
    build = build._replace(releasing=left)
    if build.state is State.CANCELLING and not left:
        return became(build, State.CANCELLED, build.reason, out)
    return build


def set_back(
    build: BuildJob, name: str, reason: str, out: Out, is_counted: bool = True
) -> BuildJob:
    """Go back to the last committed pass, without workers; or give up, if setbacks that count have
    become too many.
    """
    if build.runs[name].team is None:
        return build  # what was hit before has ended the build
    run, _ = disband(build.runs[name], out)
    run = run._replace(setbacks=run.setbacks + is_counted)
    out.append(SetBack(name, run.incarnation, reason))
    build = with_run(build, name, run)
    assert build.plan is not None, "workers without a plan"
    if run.setbacks > build.plan.policy.setbacks:
        said = f"{name}: {run.setbacks} setbacks without progress, the last: {reason}"
        return end(build, State.INTERRUPTED, said, out)
    return build


def started(build: BuildJob, out: Out, lack: str = "") -> BuildJob:
    """Starts the domains that can start.  Ends the build if all are done, or notes why none can
    start; `lack` is the reason if the caller knows it.
    """
    if build.state is not State.RUNNING:
        return build
    for name, shares in placements(build):
        run = build.runs[name]
        build = with_run(build, name, begin(run, shares, _below(build, run), out))
    if all(run.is_done for run in build.runs.values()):
        return end(build, State.SUCCEEDED, tables_told(progress(build).domains), out)
    if any(run.team is not None for run in build.runs.values()):
        return _grown(build)._replace(awaiting=False)
    if build.awaiting:
        return build
    build = build._replace(waits=build.waits + 1, awaiting=True)
    out += [NodesLacking(lack or lacking(build)), AwaitNodes(build.waits)]
    return build


def _below(build: BuildJob, run: Run) -> tuple[SolvedLevel, ...]:
    """The levels that a domain rests on, as its workers find them."""
    levels = ((name, build.runs[name]) for name in run.domain.rests_on)
    return tuple(
        SolvedLevel(name, level.logs(), tuple(sorted(level.parts.items())))
        for name, level in levels
    )


def told_of_copies(build: BuildJob, event: Answer, out: Out) -> BuildJob:
    """Records the first log of a build that is on one machine alone, though there are others."""
    if build.is_uncopied or not isinstance(event, Done) or not event.uncopied:
        return build
    worker = f"worker {event.call.worker} of {event.call.domain}"
    out.append(LogUncopied(f"the pass log of {worker}: {event.uncopied}"))
    return build._replace(is_uncopied=True)


def cleared(build: BuildJob, run: Run, out: Out) -> None:
    """Clears the logs of the levels that a level has read, if no other will read them."""
    for name in run.domain.rests_on if run.solved else ():
        readers = [r for r in build.runs.values() if r.domain.table and name in r.domain.rests_on]
        if all(reader.solved for reader in readers):
            out.append(ClearLogs(name))


def unsolved(build: BuildJob, name: str) -> BuildJob:
    """Begins all levels below one again: a log that it reads is damaged, and theirs are cleared."""
    runs, waiting = dict(build.runs), list(build.runs[name].domain.rests_on)
    while waiting:
        lower = waiting.pop()
        if runs[lower].solved:
            runs[lower] = runs[lower]._replace(passes={}, parts={}, solved=False)
            waiting += runs[lower].domain.rests_on
    return build._replace(runs=runs)


def _grown(build: BuildJob) -> BuildJob:
    """Mark the teams that are to be replaced by larger ones after their pass."""
    for name, run in build.runs.items():
        if run.team is not None and deserves_more(build, run):
            build = with_run(build, name, run._replace(team=run.team._replace(growing=True)))
    return build


def make_plan(build: BuildJob, reason: str, out: Out) -> BuildJob:
    build = became(build._replace(planning=build.planning + 1), State.PLANNING, reason, out)
    out.append(MakePlan(build.planning))
    return build
