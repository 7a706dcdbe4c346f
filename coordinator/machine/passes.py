"""One domain, from its workers' creation to its table.

    begin -> CREATE -> next winner? -> PREPARE -> LOSE_AT_ONCE -> WIN -> LOSE -> WIN -> ...
                |                         ^                        |       |
                |                         |   all are durable      v       v     over, or too far
                |                         +------------------- SETTLE <----+     ahead of the log
                +-- all analysed -> larger team? -> PAINT -> PUBLISH -> VERIFY -> EXPORT -> end
                                      +--> end of a level: the domain of its table publishes

A table that is there and lacks its Syzygy files goes from CREATE to EXPORT.

A stage is over when every worker has answered its call.  When a pass is complete each worker is
asked to seal its log entry; meanwhile the next pass goes on, up to `ahead` of them.  A pass is
committed when its own and all earlier entries are durable.  The analysis is over when `patience`
passes in a row found nothing lost and no exit is deeper.  What a step sent is what the next step is
given: batches by reference, each to its receiver.

Functions take a run and give the next one; what is to be done is appended to `out`.
"""

from collections.abc import Callable, Mapping
from itertools import takewhile

from kingpair.coordinator.machine.commands import (
    Lose,
    LoseAtOnce,
    Paint,
    Prepare,
    Publish,
    Seal,
    Verify,
    Win,
)
from kingpair.coordinator.machine.events import Answer, Computed, Painted, Prepared, Proved, Written
from kingpair.coordinator.machine.painting import first_parts, next_parts
from kingpair.coordinator.machine.publishing import (
    export,
    exported,
    is_needless,
    prove,
    proved,
    published,
    verified,
)
from kingpair.coordinator.machine.records import (
    LevelSolved,
    PaintingBegan,
    PartWritten,
    PassCommitted,
)
from kingpair.coordinator.machine.state import Run, Sealing, Stage, Team
from kingpair.coordinator.machine.team import (
    Out,
    ask,
    ask_all,
    disband,
    issue,
    let_go,
    team_of,
    without,
)
from kingpair.coordinator.plan.domains import CommittedPass, Policy
from kingpair.workers.number_types import Depth
from kingpair.workers.sets.disk_use import NO_DISK_USE


def answered(run: Run, answer: Answer, policy: Policy, out: Out) -> Run:
    """Take the answer to a call that is waited for."""
    team, call = team_of(run), answer.call
    if call in team.seals:
        return _sealed(run, team._replace(seals=without(team.seals, call)), policy, out)
    task = team.calls[call]
    team = team._replace(calls=without(team.calls, call))
    if isinstance(answer, Prepared):
        last_exit = max(team.last_exit, answer.last_exit)
        team = team._replace(last_exit=last_exit, sent=team.sent + answer.sent)
    if isinstance(answer, Computed):
        team = _gathered(team, answer)
    if isinstance(task, Paint):
        return _painted(run, team, task, answer, out)
    if isinstance(task, Publish) and isinstance(answer, Written):
        return published(run, team, answer, out)
    if isinstance(task, Verify) and isinstance(answer, Proved):
        return proved(run, team, task, answer, out)
    if team.calls:
        return run._replace(team=team)
    return _AFTER[team.stage](run, team, policy, out)


def go_on(run: Run, policy: Policy, out: Out) -> Run:
    """The next pass, or what comes after the last one; every pass so far is durable."""
    team = team_of(run)
    if run.is_analysed(team.winner):
        return _created(run, team, policy, out)
    return _settled(run, team, policy, out)


# ---- passes ----


def _gathered(team: Team, answer: Computed) -> Team:
    worker = answer.call.worker
    expected = len(team.shares[worker].partitions)
    assert len(answer.counts) == expected, f"{answer.call}: {len(answer.counts)} counts"
    counts = {**team.counts, worker: answer.counts}
    seconds, _ = team.work.get(worker, (0.0, 0))
    work = {**team.work, worker: (seconds + answer.seconds, answer.memory)}
    disk, sent = team.disk.plus(answer.disk), team.sent + answer.sent
    return team._replace(counts=counts, work=work, disk=disk, sent=sent)


def _found(team: Team) -> tuple[int, ...]:
    """Returns what the step found, by partition."""
    found = dict[int, int]()
    for worker, share in enumerate(team.shares):
        found.update(zip(share.partitions, team.counts[worker], strict=True))
    return tuple(map(found.__getitem__, range(team.partitions)))


def _created(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    if run.table is not None:
        return export(run, team, out)
    if run.published is not None:
        return prove(run, team, out)
    waiting = [winner for winner in run.domain.winners if not run.is_analysed(winner)]
    if not waiting:
        return _paint(run, team, out)
    winner, depth = waiting[0], Depth(len(run.passes.get(waiting[0], ())) - 1)
    quiet = _quiet(run.passes.get(winner, ()))
    team = team._replace(winner=winner, depth=depth, quiet=quiet, last_exit=0, exchanged={})
    task = Prepare(winner, run.log(winner))
    return ask(run, team, Stage.PREPARE, ((w, task) for w in range(len(team.shares))), out)


def _quiet(passes: tuple[CommittedPass, ...]) -> int:
    """The last passes that found nothing lost."""
    return len(list(takewhile(lambda done: not done.lost, reversed(passes))))


def _prepared(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    if team.depth >= 0:
        return _win(run, team, policy, out)
    team = team._replace(depth=Depth(0))
    return ask_all(run, team, Stage.LOSE_AT_ONCE, lambda _: LoseAtOnce(team.winner), out)


def _win(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    depth = Depth(team.depth + 1)
    team = team._replace(depth=depth)
    return ask_all(run, team, Stage.WIN, lambda inbound: Win(team.winner, depth, inbound), out)


def _won(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    won = _found(team)
    # Up to the last exit something may be lost although nothing was won here.
    is_last = team.quiet + 1 >= run.domain.patience
    if not any(won) and team.depth > team.last_exit and is_last:
        return _complete(run, team, won, won, policy, out)
    team = team._replace(won=won)
    return ask_all(
        run, team, Stage.LOSE, lambda inbound: Lose(team.winner, team.depth, inbound), out
    )


def _lost(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    won = team.won if team.depth else (0,) * team.partitions
    return _complete(run, team, won, _found(team), policy, out)


def _complete(
    run: Run,
    team: Team,
    won: tuple[int, ...],
    lost: tuple[int, ...],
    policy: Policy,
    out: Out,
) -> Run:
    """A pass is found: seal it, and go on with the next if that is wise."""
    quiet = 0 if any(lost) else team.quiet + 1
    over = team.depth >= team.last_exit and quiet >= run.domain.patience
    work = tuple(team.work[worker] for worker in sorted(team.work))
    seconds = max(seconds for seconds, _ in work)
    seal = Seal(team.winner, team.depth, sum(won), sum(lost), over, seconds)
    seals = issue(run, team, ((w, seal) for w in range(len(team.shares))), out)
    exchanged = tuple((*pair, count) for pair, count in sorted(team.exchanged.items()) if count)
    found = Sealing(team.depth, won, lost, exchanged, over, seconds, work, team.disk)
    team = team._replace(
        issued=team.issued + len(seals),
        seals={**team.seals, **dict.fromkeys(seals, seal)},
        sealing=(*team.sealing, found),
        quiet=quiet,
        exchanged={},
        work={},
        disk=NO_DISK_USE,
        stage=Stage.SETTLE,
    )
    return _settled(run, team, policy, out)


def _sealed(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    """A log entry is durable: commit what can be."""
    waiting = {seal.depth for seal in team.seals.values()}
    while team.sealing and team.sealing[0].depth not in waiting:
        run = _commit(run, team, team.sealing[0], out)
        team = team._replace(sealing=team.sealing[1:])
    if team.stage is Stage.SETTLE:
        return _settled(run, team, policy, out)
    return run._replace(team=team)


def _commit(run: Run, team: Team, pass_: Sealing, out: Out) -> Run:
    before = run.passes.get(team.winner, ())
    assert len(before) == pass_.depth, f"pass {pass_.depth} after {len(before)} passes"
    won, lost = sum(pass_.won), sum(pass_.lost)
    committed = CommittedPass(pass_.depth, won, lost, team.incarnation, pass_.over)
    exchanged = sum(count for _, _, count in pass_.exchanged)
    found = pass_.won, pass_.lost, exchanged, pass_.over
    took = pass_.seconds, pass_.work, pass_.exchanged, pass_.disk
    domain, winner, by = run.domain.name, team.winner, team.incarnation
    out.append(PassCommitted(domain, winner, pass_.depth, by, *found, *took))
    return further(run._replace(passes={**run.passes, team.winner: (*before, committed)}))


def further(run: Run) -> Run:
    """Getting further than ever before makes up for the setbacks."""
    if run.committed <= run.furthest:
        return run
    return run._replace(furthest=run.committed, setbacks=0)


def _settled(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    """After a complete pass: on with the next, or wait for the log."""
    run = run._replace(team=team)
    if run.may_regroup:
        return run  # `step` gives it a larger team, or goes on with this one
    if run.is_analysed(team.winner):
        return _created(run, team, policy, out)
    over = team.sealing and team.sealing[-1].over
    if over or team.growing or len(team.sealing) >= policy.ahead:
        return run
    return _win(run, team, policy, out)


# ---- the table ----


def _paint(run: Run, team: Team, out: Out) -> Run:
    """Every worker begins with a part near it; `_painted` hands out the others."""
    tasks = first_parts(run, team)
    if not tasks and run.domain.table:
        return _solved(run._replace(team=team), out)
    if not tasks:
        parts = tuple(run.parts[part] for part in range(run.part_count))
        publish = Publish(parts, run.logs())
        return ask(run, team, Stage.PUBLISH, [(0, publish)], out)
    out.append(PaintingBegan(run.domain.name))
    idle = [worker for worker in team.present[len(tasks) :] if is_needless(run, team, worker)]
    return ask(run, let_go(run, team, idle, out), Stage.PAINT, tasks, out)


def _painted(run: Run, team: Team, task: Paint, answer: Answer, out: Out) -> Run:
    """Parts are durable: on to the next ones, or to the table."""
    sizes = answer.sizes if isinstance(answer, Painted) else ()  # a former journal's: paint again
    for part, size in zip(task.parts, sizes, strict=False):
        out.append(PartWritten(run.domain.name, part.number, run.part_count, size))
        run = further(run._replace(parts={**run.parts, part.number: team.incarnation}))
    worker = answer.call.worker
    if (paint := next_parts(run, team, worker)) is not None:
        calls = issue(run, team, [(worker, paint)], out)
        team = team._replace(calls={**team.calls, **calls}, issued=team.issued + 1)
    elif team.calls and is_needless(run, team, worker):
        team = let_go(run, team, [worker], out)
    if team.calls:
        return run._replace(team=team)
    return _paint(run, team, out)


def _solved(run: Run, out: Out) -> Run:
    out.append(LevelSolved(run.domain.name))
    run, _ = disband(run, out)
    return run._replace(solved=True)


_AFTER: Mapping[Stage, Callable[[Run, Team, Policy, Out], Run]] = {
    Stage.CREATE: _created,
    Stage.PREPARE: _prepared,
    Stage.LOSE_AT_ONCE: _lost,
    Stage.WIN: _won,
    Stage.LOSE: _lost,
    Stage.VERIFY: verified,
    Stage.EXPORT: exported,
}
