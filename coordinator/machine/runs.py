"""The runs of a plan: a domain goes on from an earlier plan's run, or from what the store has."""

from collections.abc import Mapping

from kingpair.coordinator.machine.state import PRESENT, Run
from kingpair.coordinator.plan.domains import BuildPlan, DomainPlan, Logged


def runs_of(plan: BuildPlan, before: Mapping[str, Run]) -> dict[str, Run]:
    """The runs of a plan, given those of the plan before it."""
    logged = {found.domain: found for found in plan.logged}
    gone = {name for name, run in before.items() if run.table and name not in plan.present}
    # The parts of a table's levels went when it was published.
    before = {
        name: Run(run.domain, run.layout, run.incarnation) if run.domain.table in gone else run
        for name, run in before.items()
    }
    return {
        domain.name: _run(domain, plan, before.get(domain.name), logged.get(domain.name))
        for domain in plan.domains
    }


def _run(domain: DomainPlan, plan: BuildPlan, before: Run | None, logged: Logged | None) -> Run:
    """Go on from what an earlier plan's run committed, else from what the store has.  No
    incarnation is ever given out twice.
    """
    run = Run(domain, plan.layouts[domain.layout])
    is_there = (domain.table or domain.name) in plan.present
    if logged is not None:
        passes, workers = dict(logged.passes), dict(logged.workers)
        run = run._replace(incarnation=logged.incarnation, passes=passes, workers=workers)
        run = run._replace(parts=dict(logged.parts), solved=bool(logged.parts))
    if before is not None:
        is_same = (before.domain, before.layout) == (domain, run.layout)
        if is_same and (is_there or before.table is None):
            run = before
        if run.published is not None:  # its parts went into it
            run = run._replace(published=None, parts=run.parts if is_there else {})
        incarnation = max(run.incarnation, before.incarnation)
        run = run._replace(incarnation=incarnation, exported=False)  # the plan has looked for files
    if domain.table:
        return run._replace(solved=is_there or run.solved, furthest=run.committed)
    table = run.table or PRESENT if is_there else None
    return run._replace(table=table, furthest=run.committed)
