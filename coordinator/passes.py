"""One domain, from its workers' creation to its table.

    begin -> CREATE -> next winner? -> PREPARE -> LOSE_AT_ONCE -> WIN -> LOSE -> WIN -> ...
                |                         ^                        |       |
                |                         |   all are durable      v       v     over, or too far
                |                         +------------------- SETTLE <----+     ahead of the log
                +-- all analysed -> PAINT -> PUBLISH -> VERIFY -> end

A stage is over when every worker has answered its call.  When a pass is complete each worker is
asked to seal its log entry; meanwhile the next pass goes on, up to `ahead` of them.  A pass is
committed when its own and all earlier entries are durable.  The last one found nothing lost, and
no exit is deeper.  What a step sent is what the next step is given: batches by reference, each to
its receiver.

Functions take a run and give the next one; what is to be done is appended to `out`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from coordinator.commands import (
    Clear,
    Lose,
    LoseAtOnce,
    Paint,
    PartWritten,
    PassCommitted,
    Prepare,
    Publish,
    Seal,
    TablePublished,
    TableVerified,
    Verify,
    Win,
)
from coordinator.domains import Pass, Policy
from coordinator.events import Answer, Computed, Prepared, Written
from coordinator.state import Run, Sealing, Stage, Table, Team
from coordinator.team import Out, ask, ask_all, disband, issue, team_of, without


def answered(run: Run, answer: Answer, policy: Policy, out: Out) -> Run:
    """Take the answer to a call that is waited for."""
    team, call = team_of(run), answer.call
    if call in team.seals:
        return _sealed(run, replace(team, seals=without(team.seals, call)), policy, out)
    task = team.calls[call]
    team = replace(team, calls=without(team.calls, call))
    if isinstance(answer, Prepared):
        last_exit = max(team.last_exit, answer.last_exit)
        team = replace(team, last_exit=last_exit, sent=team.sent + answer.sent)
    if isinstance(answer, Computed):
        team = _gathered(team, answer)
    if isinstance(task, Paint) and isinstance(answer, Written):
        return _painted(run, team, task, answer, out)
    if isinstance(task, Publish) and isinstance(answer, Written):
        return _published(run, team, answer, out)
    if team.calls:
        return replace(run, team=team)
    return _AFTER[team.stage](run, team, policy, out)


def go_on(run: Run, policy: Policy, out: Out) -> Run:
    """The next pass, or what comes after the last one; every pass so far is durable."""
    return _settled(run, team_of(run), policy, out)


# ---- passes ----


def _gathered(team: Team, answer: Computed) -> Team:
    worker = answer.call.worker
    expected = len(team.shares[worker].partitions)
    assert len(answer.counts) == expected, f"{answer.call}: {len(answer.counts)} counts"
    counts = {**team.counts, worker: answer.counts}
    spent = {**team.spent, worker: team.spent.get(worker, 0.0) + answer.seconds}
    return replace(team, counts=counts, spent=spent, sent=team.sent + answer.sent)


def _found(team: Team) -> tuple[int, ...]:
    """What the step found, by partition."""
    found = dict[int, int]()
    for worker, share in enumerate(team.shares):
        found.update(zip(share.partitions, team.counts[worker], strict=True))
    return tuple(map(found.__getitem__, range(team.partitions)))


def _created(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    if run.published is not None:
        return ask(run, team, Stage.VERIFY, [(0, Verify())], out)
    waiting = [winner for winner in run.domain.winners if not run.is_analysed(winner)]
    if not waiting:
        return _paint(run, team, out)
    winner, depth = waiting[0], len(run.passes.get(waiting[0], ())) - 1
    team = replace(team, winner=winner, depth=depth, last_exit=0, exchanged=0)
    task = Prepare(winner, run.log(winner))
    return ask(run, team, Stage.PREPARE, ((w, task) for w in range(len(team.shares))), out)


def _prepared(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    if team.depth >= 0:
        return _win(run, team, policy, out)
    team = replace(team, depth=0)
    return ask_all(run, team, Stage.LOSE_AT_ONCE, lambda _: LoseAtOnce(team.winner), out)


def _win(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    depth = team.depth + 1
    team = replace(team, depth=depth)
    return ask_all(run, team, Stage.WIN, lambda inbound: Win(team.winner, depth, inbound), out)


def _won(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    won = _found(team)
    # Up to the last exit something may be lost although nothing was won here.
    if not any(won) and team.depth > team.last_exit:
        return _complete(run, team, won, won, policy, out)
    team = replace(team, won=won)
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
    over = team.depth >= team.last_exit and not any(lost)
    seconds = max(team.spent.values())
    seal = Seal(team.winner, team.depth, sum(won), sum(lost), over, seconds)
    seals = issue(run, team, ((w, seal) for w in range(len(team.shares))), out)
    sealing = (*team.sealing, Sealing(team.depth, won, lost, team.exchanged, over, seconds))
    team = replace(
        team,
        issued=team.issued + len(seals),
        seals={**team.seals, **dict.fromkeys(seals, seal)},
        sealing=sealing,
        exchanged=0,
        spent={},
        stage=Stage.SETTLE,
    )
    return _settled(run, team, policy, out)


def _sealed(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    """A log entry is durable: commit what can be."""
    waiting = {seal.depth for seal in team.seals.values()}
    while team.sealing and team.sealing[0].depth not in waiting:
        run = _commit(run, team, team.sealing[0], out)
        team = replace(team, sealing=team.sealing[1:])
    if team.stage is Stage.SETTLE:
        return _settled(run, team, policy, out)
    return replace(run, team=team)


def _commit(run: Run, team: Team, pass_: Sealing, out: Out) -> Run:
    before = run.passes.get(team.winner, ())
    assert len(before) == pass_.depth, f"pass {pass_.depth} after {len(before)} passes"
    won, lost = sum(pass_.won), sum(pass_.lost)
    committed = Pass(pass_.depth, won, lost, team.incarnation, pass_.over)
    out.append(
        PassCommitted(
            run.domain.name,
            team.winner,
            pass_.depth,
            team.incarnation,
            pass_.won,
            pass_.lost,
            pass_.exchanged,
            pass_.over,
            pass_.seconds,
        )
    )
    return further(replace(run, passes={**run.passes, team.winner: (*before, committed)}))


def further(run: Run) -> Run:
    """Getting further than ever before makes up for the setbacks."""
    if run.committed <= run.furthest:
        return run
    return replace(run, furthest=run.committed, setbacks=0)


def _settled(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    """After a complete pass: on with the next, or wait for the log."""
    run = replace(run, team=team)
    if not team.sealing and team.growing:
        return run  # `step` gives it a larger team
    if run.is_analysed(team.winner):
        return _created(run, team, policy, out)
    over = team.sealing and team.sealing[-1].over
    if over or team.growing or len(team.sealing) >= policy.ahead:
        return run
    return _win(run, team, policy, out)


# ---- the table ----


def _paint(run: Run, team: Team, out: Out) -> Run:
    """Every worker begins with a part; `_painted` hands out the others."""
    tasks = list(zip(range(len(team.shares)), _unpainted(run, team), strict=False))
    if not tasks:
        parts = tuple(run.parts[part] for part in range(run.part_count))
        publish = Publish(parts, run.logs())
        return ask(run, team, Stage.PUBLISH, [(0, publish)], out)
    return ask(run, team, Stage.PAINT, tasks, out)


def _unpainted(run: Run, team: Team) -> Iterator[Paint]:
    """The parts that nobody has painted or is painting."""
    taken = {task.part for task in team.calls.values() if isinstance(task, Paint)}
    size, logs = run.domain.together, run.logs()
    for part in range(run.part_count):
        if part not in run.parts and part not in taken:
            yield Paint(part, part * size, min((part + 1) * size, run.layout.partitions), logs)


def _painted(run: Run, team: Team, task: Paint, answer: Written, out: Out) -> Run:
    """A part is durable: on to the next one, or to the table."""
    out.append(PartWritten(run.domain.name, task.part, run.part_count, answer.bytes))
    run = further(replace(run, parts={**run.parts, task.part: team.incarnation}))
    if (waiting := next(_unpainted(run, team), None)) is not None:
        calls = issue(run, team, [(answer.call.worker, waiting)], out)
        team = replace(team, calls={**team.calls, **calls}, issued=team.issued + 1)
    if team.calls:
        return replace(run, team=team)
    return _paint(run, team, out)


def _published(run: Run, team: Team, answer: Written, out: Out) -> Run:
    assert len(run.parts) == run.part_count, "a table lacks parts"
    table = Table(answer.bytes, answer.digest)
    out.append(TablePublished(run.domain.name, table.bytes, table.digest))
    run = replace(run, team=team, published=table)
    if run.domain.verify:
        return ask(run, team, Stage.VERIFY, [(0, Verify())], out)
    return _ended(run, out)


def _verified(run: Run, team: Team, policy: Policy, out: Out) -> Run:
    out.append(TableVerified(run.domain.name))
    return _ended(replace(run, team=team), out)


def _ended(run: Run, out: Out) -> Run:
    run, _ = disband(replace(run, table=run.published, published=None), out)
    out.append(Clear(run.domain.name))
    return run


_AFTER: Mapping[Stage, Callable[[Run, Team, Policy, Out], Run]] = {
    Stage.CREATE: _created,
    Stage.PREPARE: _prepared,
    Stage.LOSE_AT_ONCE: _lost,
    Stage.WIN: _won,
    Stage.LOSE: _lost,
    Stage.VERIFY: _verified,
}
