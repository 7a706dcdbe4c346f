"""The workers of a domain and the calls that are out to them.

    begin -> ask | ask_all | issue -> answers -> ... -> disband

A call is waited for from the moment it is issued until its answer, or until the team is disbanded;
what is not waited for is stale.  `ask` begins a stage, which is over when none of its calls is
left; `issue` hands out calls beside it.

Functions take a run and give the next one; what is to be done is appended to `out`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from kingpair.coordinator.machine.commands import (
    Call,
    Command,
    Create,
    Do,
    Release,
    Seal,
    SentFrontier,
    Task,
)
from kingpair.coordinator.machine.records import Assigned, Repeated
from kingpair.coordinator.machine.state import Run, Stage, Team
from kingpair.coordinator.plan.cut import links_cut
from kingpair.coordinator.plan.domains import SolvedLevel, WorkerPlacement

Out = list[Command]
AnyTask = TypeVar("AnyTask", bound=Task)


def begin(
    run: Run, shares: tuple[WorkerPlacement, ...], below: tuple[SolvedLevel, ...], out: Out
) -> Run:
    """Gives a domain workers of a new incarnation, which read the levels below it."""
    assert run.team is None, f"{run.domain.name} has workers already"
    incarnation = run.incarnation + 1
    owners = _owners(run, shares)
    numbers = {**run.workers, incarnation: len(shares)}
    severed = links_cut(run.layout, owners)
    placed = tuple((share.node, len(share.partitions)) for share in shares)
    given = tuple((share.cores, share.memory) for share in shares)
    proportions = tuple(share.proportion for share in shares)
    if not run.domain.lacks_files:  # of an export its beginning is recorded
        out.append(Assigned(run.domain.name, incarnation, placed, severed, given, proportions))
    team = Team(incarnation, shares, owners)
    run = run._replace(incarnation=incarnation, workers=numbers, team=team)
    mode, exports = run.domain.mode, run.domain.lacks_files
    tasks = [
        Create(share.node, share.cores, share.memory, owners, below, mode, exports)
        for share in shares
    ]
    return ask(run, team, Stage.CREATE, enumerate(tasks), out)


def disband(run: Run, out: Out) -> tuple[Run, frozenset[Call]]:
    """End a team; what it has not committed is lost.  The calls say who is being released."""
    if run.team is None:
        return run, frozenset()
    team = run.team
    calls = [_call(run, team, worker, team.issued + worker) for worker in team.present]
    out.extend(Do(call, Release()) for call in calls)
    return run._replace(team=None), frozenset(calls)


def let_go(run: Run, team: Team, workers: Iterable[int], out: Out) -> Team:
    """Release workers that have nothing left to do; the others go on."""
    idle = frozenset(workers)
    issued = issue(run, team, ((worker, Release()) for worker in sorted(idle)), out)
    return team._replace(released=team.released | idle, issued=team.issued + len(issued))


def repeat(run: Run, call: Call, reason: str, out: Out) -> Run:
    """Make a call once more."""
    team = team_of(run)
    again = replace(call, attempt=call.attempt + 1)
    task = {**team.calls, **team.seals}[call]
    name = type(task).__name__.lower()
    out += [Repeated(call.domain, call.worker, name, again.attempt, reason), Do(again, task)]
    if isinstance(task, Seal):
        seals = {again if c == call else c: t for c, t in team.seals.items()}
        return run._replace(team=team._replace(seals=seals))
    calls = {again if c == call else c: t for c, t in team.calls.items()}
    return run._replace(team=team._replace(calls=calls))


def _owners(run: Run, shares: Sequence[WorkerPlacement]) -> tuple[int, ...]:
    owner = {p: worker for worker, share in enumerate(shares) for p in share.partitions}
    assert len(owner) == sum(len(share.partitions) for share in shares), (
        "a partition is dealt twice"
    )
    return tuple(owner[p] for p in range(run.layout.partitions))


def team_of(run: Run) -> Team:
    assert run.team is not None, f"{run.domain.name} has no workers"
    return run.team


def _call(run: Run, team: Team, worker: int, number: int) -> Call:
    return Call(run.domain.name, team.incarnation, worker, number)


def issue(run: Run, team: Team, tasks: Iterable[tuple[int, Task]], out: Out) -> dict[Call, Task]:
    calls = {_call(run, team, w, team.issued + i): task for i, (w, task) in enumerate(tasks)}
    out.extend(Do(call, task) for call, task in calls.items())
    return calls


def ask(run: Run, team: Team, stage: Stage, tasks: Iterable[tuple[int, Task]], out: Out) -> Run:
    """Begin a stage: its calls, and nothing found yet."""
    calls = issue(run, team, tasks, out)
    assert calls, f"{stage}: a stage without a call would never end"
    assert not team.calls, f"{stage}: the stage before has not ended"
    issued = team.issued + len(calls)
    team = team._replace(stage=stage, calls=calls, issued=issued, counts={}, sent=())
    return run._replace(team=team)


def ask_all(
    run: Run, team: Team, stage: Stage, task: Callable[[tuple[SentFrontier, ...]], Task], out: Out
) -> Run:
    """Begin a step: each worker is given what the last step sent it."""
    inbound: list[list[SentFrontier]] = [[] for _ in team.shares]
    for batch in sorted(team.sent, key=lambda batch: batch.sender):
        inbound[batch.receiver].append(batch)
    tasks = ((worker, task(tuple(batches))) for worker, batches in enumerate(inbound))
    exchanged = Counter(team.exchanged)
    for batch in team.sent:
        exchanged[batch.sender, batch.receiver] += batch.bytes
    return ask(run, team._replace(exchanged=exchanged), stage, tasks, out)


def without(mapping: Mapping[Call, AnyTask], call: Call) -> dict[Call, AnyTask]:
    rest = dict(mapping)
    del rest[call]
    return rest
