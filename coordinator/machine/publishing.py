"""The last stages of a table: it gets its name, is proved, and its Syzygy files are written.

    PUBLISH -> VERIFY -> EXPORT -> end

A build need not have the proof, nor the files.  A table that is there and lacks its files begins
with EXPORT.  Several workers prove a table in parts: each is
given the next part as soon as it has answered, and is released when none is left.  Worker 0 then
concludes from the findings of all parts.  As in `passes`, functions take a run and give the next
one.
"""

from collections.abc import Iterator

from kingpair.coordinator.machine.commands import Clear, Conclude, Export, Verify
from kingpair.coordinator.machine.events import Proved, Written
from kingpair.coordinator.machine.records import (
    ExportBegan,
    ExportDone,
    TablePublished,
    TableVerified,
)
from kingpair.coordinator.machine.state import PublishedTable, Run, Stage, Team
from kingpair.coordinator.machine.team import Out, ask, disband, issue, let_go
from kingpair.coordinator.plan.domains import Policy, proof_part_count

FIRST = 0  # the worker that publishes a table and concludes its proof


def published(run: Run, team: Team, answer: Written, out: Out) -> Run:
    assert len(run.parts) == run.part_count, "a table lacks parts"
    table = PublishedTable(answer.bytes, answer.digest)
    out.append(TablePublished(run.domain.name, table.bytes, table.digest))
    run = run._replace(team=team, published=table)
    return prove(run, team, out)


def is_needless(run: Run, team: Team, worker: int) -> bool:
    """Whether nothing is left to do for a worker that has no part to paint."""
    return worker != FIRST and (not run.domain.verify or _parts(run, team) == 1)


# ---- the proof ----


def prove(run: Run, team: Team, out: Out) -> Run:
    if not run.domain.verify:
        return _export_if_asked(run, team, out)
    parts = _parts(run, team)
    team = team._replace(findings={})
    tasks = list(zip(team.present, _unproved(team, parts), strict=False))
    team = let_go(run, team, team.present[len(tasks) :], out)
    return ask(run, team, Stage.VERIFY, tasks, out)


def _parts(run: Run, team: Team) -> int:
    return proof_part_count(run.domain.proof, len(team.present))


def _unproved(team: Team, parts: int) -> Iterator[Verify]:
    """Yields the parts that no worker has proved or is proving."""
    taken = {task.part for task in team.calls.values() if isinstance(task, Verify)}
    for part in range(parts):
        if part not in team.findings and part not in taken:
            yield Verify(part, parts)


def proved(run: Run, team: Team, task: Verify, answer: Proved, out: Out) -> Run:
    """A part is proved: on to the next one, or to the conclusion."""
    worker = answer.call.worker
    team = team._replace(findings={**team.findings, task.part: answer.findings})
    if (waiting := next(_unproved(team, task.parts), None)) is not None:
        calls = issue(run, team, [(worker, waiting)], out)
        team = team._replace(calls={**team.calls, **calls}, issued=team.issued + 1)
    elif worker != FIRST:
        team = let_go(run, team, [worker], out)
    if team.calls:
        return run._replace(team=team)
    findings = tuple(team.findings[part] for part in range(task.parts))
    return ask(run, team, Stage.VERIFY, [(FIRST, Conclude(findings))], out)


def verified(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    out.append(TableVerified(run.domain.name))
    return _export_if_asked(run, team, out)


# ---- the end ----


def _export_if_asked(run: Run, team: Team, out: Out) -> Run:
    if run.domain.syzygy:
        return export(run, team, out)
    return _ended(run._replace(team=team), out)


def export(run: Run, team: Team, out: Out) -> Run:
    out.append(ExportBegan(run.domain.name))
    return ask(run, team, Stage.EXPORT, [(FIRST, Export())], out)


def exported(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    out.append(ExportDone(run.domain.name))
    if run.table is None:
        return _ended(run._replace(team=team), out)
    run, _ = disband(run._replace(team=team, exported=True), out)
    return run


def _ended(run: Run, out: Out) -> Run:
    run, _ = disband(run._replace(table=run.published, published=None), out)
    out.append(Clear(run.domain.name))
    return run
