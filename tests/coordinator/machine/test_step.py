"""The coordinator as a function: clusters that are harmed, and what each event does."""

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import imports
import pytest
from driven import WIDE, Driven, domain, nodes, of, plan
from simulator import Cluster, little_plan
from toys import slow_twin

from kingpair.coordinator.machine.commands import (
    Call,
    Clear,
    Create,
    Do,
    Lose,
    LoseAtOnce,
    Paint,
    Prepare,
    Publish,
    Release,
    Seal,
    SentFrontier,
    Verify,
    Win,
)
from kingpair.coordinator.machine.events import (
    CancelRequested,
    Computed,
    Damaged,
    Done,
    Failed,
    Fault,
    Interrupted,
    LeaseExpired,
    NodeLeft,
    NodesAwaited,
    PauseRequested,
    Planned,
    Prepared,
    Restarted,
    ResumeRequested,
    RetryRequested,
    WorkerLost,
    Written,
)
from kingpair.coordinator.machine.records import (
    Assigned,
    Became,
    LogUncopied,
    PartWritten,
    PassCommitted,
    Repeated,
    SetBack,
    TablePublished,
)
from kingpair.coordinator.machine.state import BuildJob, BuildTotals, State, progress
from kingpair.coordinator.machine.step import step
from kingpair.coordinator.plan.domains import CommittedPass, Logged, LoggedSpan
from kingpair.workers.number_types import Depth


def harmed(seed: int, harm: int = 150) -> Cluster:
    chance = random.Random(seed)
    cluster = Cluster(chance, little_plan(chance), harm)
    cluster.run()
    if cluster.build.state is State.SUCCEEDED:
        assert cluster.store.tables == slow_twin(cluster.plan), f"seed {seed}: other bytes"
    return cluster


# ---- clusters ----


def test_a_build_that_nothing_befalls_gives_the_tables_of_the_slow_twin() -> None:
    for seed in range(50):
        assert harmed(seed, harm=0).build.state is State.SUCCEEDED


def test_one_seed_is_one_history() -> None:
    assert harmed(7).events == harmed(7).events


def test_clusters_that_are_harmed_end_with_the_same_tables() -> None:
    clusters = [harmed(seed) for seed in range(200)]
    ends = Counter(cluster.build.state for cluster in clusters)
    assert set(ends) <= {State.SUCCEEDED, State.CANCELLED}
    assert ends[State.SUCCEEDED] > 180
    assert_every_harm_was_done(clusters)


@pytest.mark.slow
def test_a_thousand_clusters_that_are_harmed_end_with_the_same_tables() -> None:
    for seed in range(1000, 2000):
        harmed(seed)


def assert_every_harm_was_done(clusters: list[Cluster]) -> None:
    done = sum((cluster.done for cluster in clusters), Counter[str]())
    harms = {
        "worker dies",
        "worker hangs",
        "worker is declared dead",
        "works on after its release",
        "comes twice",
        "answer of long ago",
        "lease ends early",
        "node vanishes",
        "node joins",
        "store refuses",
        "entry is damaged",
        "frontier is lost",
        "the plan cannot be made",
        "the coordinator is begun anew",
        "user asks",
    }
    assert set(done) == harms
    assert min(done.values()) > 10, done


@pytest.mark.slow
def test_a_coordinator_begun_anew_after_any_event_ends_with_the_same_tables() -> None:
    whole = harmed(3, harm=0)
    for at in range(1, len(whole.events)):
        chance = random.Random(3)
        cluster = Cluster(chance, little_plan(chance), 0, begin_anew_at=at)
        cluster.run()
        assert cluster.done["the coordinator is begun anew"] == 1
        assert cluster.store.tables == whole.store.tables


# ---- one event at a time ----


def test_a_stale_answer_changes_nothing() -> None:
    driven = Driven(plan(WIDE), *nodes(2))
    stale = [driven.answer_to(*asked) for asked in driven.until(Win)]
    driven.tell(WorkerLost("D", 1, 0, "killed"))
    for event in (*stale, WorkerLost("D", 1, 1, "killed"), LeaseExpired(stale[0].call)):
        before = driven.build
        assert driven.tell(event) == []
        assert driven.build == before


def test_the_silence_of_a_node_is_no_setback_and_its_broken_disk_is_one() -> None:
    for left, counted in (
        (NodeLeft("node0", "does not answer", is_counted=False), 0),
        (NodeLeft("node0", "cannot write /tables: No space left on device"), 1),
    ):
        driven = Driven(plan(WIDE), *nodes(2))
        driven.until(Win)
        (back,) = of(SetBack, driven.tell(left))
        assert back.reason == f"node node0 {left.reason}"
        assert driven.build.runs["D"].setbacks == counted
        assert "node0" not in driven.build.nodes


def test_an_answer_that_comes_twice_changes_nothing() -> None:
    driven = Driven(plan(WIDE), *nodes(2))
    answer = driven.answer_to(*driven.until(Win)[0])
    driven.tell(answer)
    before = driven.build
    assert driven.tell(answer) == []
    assert driven.build == before


def test_an_event_that_does_not_fit_the_state_changes_nothing() -> None:
    build = BuildJob("build")
    call = Call("D", 1, 0, 0)
    for event in (
        PauseRequested(),
        ResumeRequested(),
        RetryRequested(),
        Planned(1, plan(WIDE)),
        NodesAwaited(1),
        NodeLeft("node0"),
        Done(call),
        Failed(call, Fault.FINAL, ""),
        Damaged(call, 0, Depth(0), ""),
        Restarted(),
    ):
        assert step(build, event) == (build, [])


def test_a_step_is_given_what_the_last_one_sent_to_its_worker_alone() -> None:
    driven = Driven(plan(WIDE), *nodes(2))
    sent = SentFrontier(1, 0, "a reference", 512)
    for call, _ in driven.until(Win):
        driven.tell(Computed(call, (1, 1, 1, 1), (sent,) if call.worker == 1 else ()))
    inbound = {call.worker: task.inbound for call, task in driven.waiting(Lose)}
    assert inbound == {0: (sent,), 1: ()}
    driven.answer(Lose)
    committed = of(PassCommitted, driven.answer(Seal))
    assert [record.exchanged for record in committed] == [0, 512]
    assert [record.sent for record in committed] == [(), ((1, 0, 512),)]


def test_no_pass_is_committed_before_its_last_log_entry_is_durable() -> None:
    driven = Driven(plan(WIDE), *nodes(2))
    driven.until(Lose, depth=2)
    seals = driven.waiting(Seal)
    assert [(call.worker, task.depth) for call, task in seals] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    order = [seals[i] for i in (0, 2, 3, 1)]
    heard = [of(PassCommitted, driven.tell(Done(call))) for call, _ in order]
    assert [[record.depth for record in records] for records in heard] == [[], [], [], [0, 1]]


def test_a_log_that_no_other_machine_copies_is_recorded_once() -> None:
    driven = Driven(plan(WIDE), *nodes(2))
    driven.until(Lose, depth=2)
    reasons = ["", "cut off", "cut off", "full"]
    seals = zip(driven.waiting(Seal), reasons, strict=True)
    heard = [of(LogUncopied, driven.tell(Done(call, reason))) for (call, _), reason in seals]
    said = LogUncopied("the pass log of worker 1 of D: cut off")
    assert heard == [[], [said], [], []]


def test_passes_run_ahead_of_the_log_but_no_further_than_allowed() -> None:
    driven = Driven(plan(WIDE, ahead=3), *nodes(2))
    driven.until(Lose, depth=2)
    driven.answer(Lose)
    assert driven.waiting(Win) == []
    driven.tell(Done(driven.waiting(Seal)[0][0]))
    assert driven.waiting(Win) == []
    driven.tell(Done(driven.waiting(Seal)[0][0]))
    assert {task.depth for _, task in driven.waiting(Win)} == {3}


def test_a_lost_worker_takes_its_domain_back_to_the_last_committed_pass() -> None:
    driven = Driven(plan(WIDE), *nodes(2))
    driven.until(Win, depth=1)
    driven.answer(Seal)
    driven.until(Lose, depth=2)
    heard = driven.tell(WorkerLost("D", 1, 1, "killed"))
    assert [type(c).__name__ for c in heard] == [
        "Do", "Do", "SetBack", "Assigned", "Do", "Do",
    ]  # fmt: skip
    assert [c.task for c in of(Do, heard)[:2]] == [Release(), Release()]
    assert all(c.call.incarnation == 2 for c in of(Do, heard)[2:])
    prepare = {task for _, task in driven.until(Prepare)}
    assert prepare == {Prepare(0, (LoggedSpan(0, 0, 1, 2),))}
    driven.answer(Prepare)
    assert {task.depth for _, task in driven.waiting(Win)} == {1}


def test_a_worker_that_does_not_answer_in_time_is_named_with_what_it_was_doing() -> None:
    driven = Driven(plan(WIDE), *nodes(2))
    call = driven.until(Win, depth=1)[1][0]
    (set_back,) = of(SetBack, driven.tell(LeaseExpired(call)))
    assert set_back.reason == "worker 1 did not answer in time (win, pass 1)"


def test_setbacks_without_progress_interrupt_the_build_and_a_retry_goes_on() -> None:
    driven = Driven(plan(WIDE, setbacks=2), *nodes(2))
    for incarnation in (1, 2, 3):
        assert driven.state is State.RUNNING
        driven.tell(WorkerLost("D", incarnation, 0, "killed"))
    assert driven.state is State.INTERRUPTED
    assert "3 setbacks" in driven.build.reason
    driven.tell(RetryRequested())
    driven.tell(Planned(2, plan(WIDE, setbacks=2)))
    assert {call.incarnation for call, _ in driven.waiting(Create)} == {4}


def test_a_task_that_the_store_refuses_is_repeated_a_few_times() -> None:
    driven = Driven(plan(WIDE, attempts=3), *nodes(2))
    driven.until(Win, depth=1)
    for attempt in (2, 3):
        call, seal = driven.waiting(Seal)[-1]
        heard = driven.tell(Failed(call, Fault.STORE, "no space"))
        assert of(Repeated, heard)[0].attempt == attempt
        assert of(Do, heard) == [Do(replace(call, attempt=attempt), seal)]
    driven.tell(Failed(driven.waiting(Seal)[-1][0], Fault.STORE, "no space"))
    assert driven.state is State.INTERRUPTED
    assert driven.build.reason == "D: seal by worker 1: no space; tried 3 times"


def test_a_step_is_never_done_again_by_the_same_worker() -> None:
    driven = Driven(plan(WIDE), *nodes(2))
    call = driven.until(Win)[0][0]
    heard = driven.tell(Failed(call, Fault.STORE, "a frontier is gone"))
    assert of(SetBack, heard)
    assert {call.incarnation for call, _ in driven.waiting(Create)} == {2}


def test_a_final_fault_fails_the_build() -> None:
    driven = Driven(plan(WIDE), *nodes(2))
    call = driven.waiting(Create)[0][0]
    heard = driven.tell(Failed(call, Fault.FINAL, "KRvK.dtc.arrow is damaged"))
    assert of(Became, heard) == [
        Became(State.FAILED, "D: create by worker 0: KRvK.dtc.arrow is damaged")
    ]
    assert len(of(Do, heard)) == 2


def test_a_damaged_log_entry_takes_back_the_passes_from_it_on() -> None:
    driven = Driven(plan(WIDE), *nodes(2))
    driven.until(Win, depth=4)
    driven.answer(Seal)
    driven.tell(WorkerLost("D", 1, 0, "killed"))
    call = driven.until(Prepare)[0][0]
    driven.tell(Damaged(call, 0, Depth(1), "a checksum"))
    assert progress(driven.build).passes == 2
    assert {task for _, task in driven.until(Prepare)} == {Prepare(0, (LoggedSpan(0, 1, 1, 2),))}


def test_a_log_that_is_damaged_again_and_again_interrupts_the_build() -> None:
    driven = Driven(plan(WIDE, setbacks=3), *nodes(2))
    for _ in range(2):
        driven.until(Win, depth=3)
        driven.answer(Seal)
        driven.tell(WorkerLost("D", driven.build.runs["D"].incarnation, 0, "killed"))
        driven.tell(Damaged(driven.until(Prepare)[0][0], 0, Depth(0), "a checksum"))
    assert driven.state is State.INTERRUPTED


def test_a_table_that_is_gone_when_a_build_is_tried_again_is_built_again() -> None:
    both = plan(domain("A", winners=()), domain("B", needs=("A",)))
    driven = Driven(both, *nodes(1))
    driven.until(Win)
    driven.tell(Interrupted("stopped"))
    assert progress(driven.build).tables == 1
    driven.tell(RetryRequested())
    driven.tell(Planned(2, both))
    assert progress(driven.build) == BuildTotals(
        0, 2, 0, 0, 0
    )  # its parts and logs are cleared too
    ((call, _),) = driven.waiting(Create)
    assert (call.domain, call.incarnation) == ("A", 2)


@pytest.mark.parametrize(
    ("present", "said"),
    [((), "2 tables to build"), (("A",), "1 table to build, 1 there already")],
)
def test_a_build_says_how_many_tables_it_will_write(present: tuple[str, ...], said: str) -> None:
    two = replace(plan(domain("A"), domain("B", needs=("A",))), present=present)
    assert Driven(two, *nodes(1)).build.reason == said


def test_a_build_resumes_after_the_passes_that_earlier_builds_logged() -> None:
    passes = (
        CommittedPass(Depth(0), 0, 5, 3),
        CommittedPass(Depth(1), 6, 4, 3),
        CommittedPass(Depth(2), 2, 1, 4),
    )
    logged = Logged("D", 7, ((0, passes),), ((3, 1), (4, 2)))
    driven = Driven(replace(plan(WIDE), logged=(logged,)), *nodes(2))
    prepare = Prepare(0, (LoggedSpan(0, 1, 3, 1), LoggedSpan(2, 2, 4, 2)))
    assert {(call.incarnation, task) for call, task in driven.until(Prepare)} == {(8, prepare)}
    assert progress(driven.build).decided == 18


def test_a_cancelled_build_waits_until_its_workers_have_ended() -> None:
    driven = Driven(plan(WIDE), *nodes(2))
    driven.until(Win)
    releases = of(Do, driven.tell(CancelRequested()))
    states = [driven.state]
    for answer in (Done(releases[0].call), LeaseExpired(releases[1].call)):
        driven.tell(answer)
        states.append(driven.state)
    assert states == [State.CANCELLING, State.CANCELLING, State.CANCELLED]


def test_a_paused_build_holds_no_worker_and_resumes_from_its_last_pass() -> None:
    driven = Driven(plan(WIDE), *nodes(2))
    driven.until(Win, depth=1)
    driven.answer(Seal)
    heard = driven.tell(PauseRequested())
    assert [do.task for do in of(Do, heard)] == [Release(), Release()]
    assert driven.build.runs["D"].team is None
    driven.tell(ResumeRequested())
    assert {task for _, task in driven.until(Prepare)} == {Prepare(0, (LoggedSpan(0, 0, 1, 2),))}


def test_no_two_workers_paint_one_part() -> None:
    driven = Driven(plan(domain(size=2, winners=(), together=1)), *nodes(2))
    driven.answer(Create)
    while paints := driven.waiting(Paint):
        parts = [part.number for _, task in paints for part in task.parts]
        assert len(set(parts)) == len(parts)
        driven.tell(driven.answer_to(*paints[0]))
    assert of(PartWritten, driven.heard)[-1].part == 7
    assert len(of(PartWritten, driven.heard)) == 8


def test_a_worker_paints_its_own_partitions_first_and_as_many_parts_as_it_has_cores() -> None:
    solved = domain(size=2, winners=(), together=1, threads=8)
    driven = Driven(plan(solved), *nodes(2, cores=3))
    driven.answer(Create)
    team = driven.build.runs["D"].team
    assert team is not None
    for call, task in driven.waiting(Paint):
        assert [part.number for part in task.parts] == list(team.shares[call.worker].partitions[:3])


def test_parts_that_a_former_program_painted_one_by_one_are_painted_again() -> None:
    """Its journal does not say which parts those of a call are."""
    driven = until_painting(together=3)
    ((call, first),) = driven.waiting(Paint)
    driven.tell(Written(call, 1))
    ((_, again),) = driven.waiting(Paint)
    assert again == first
    assert of(PartWritten, driven.heard) == []


def without_a_win(driven: Driven) -> None:
    """Tell a build that the next pass found nothing."""
    for kind in (Win, Lose):
        for call, _ in driven.waiting(kind):
            team = driven.build.runs[call.domain].team
            assert team is not None
            found = (0,) * len(team.shares[call.worker].partitions)
            driven.tell(Computed(call, found, ()))
    driven.answer(Seal)


def test_a_solved_domain_gets_a_larger_team_for_its_table() -> None:
    """Four workers have a partition for each core; its size deserves six."""
    driven = Driven(plan(domain(size=8, together=1), has_disks=True), *nodes(6))
    driven.until(Win)
    without_a_win(driven)
    assert [len(each.shares) for each in of(Assigned, driven.heard)] == [4, 6]
    assert {call.incarnation for call, _ in driven.until(Paint)} == {2}
    assert of(SetBack, driven.heard) == []


def until_painting(**changes: Any) -> Driven:
    driven = Driven(plan(domain(**changes)), *nodes(1))
    driven.until(Win)
    without_a_win(driven)
    return driven


def test_passes_go_on_until_no_exit_is_deeper() -> None:
    driven = Driven(plan(domain()), *nodes(1))
    driven.answer(Create)
    ((call, _),) = driven.waiting(Prepare)
    driven.tell(Prepared(call, 3, ()))
    driven.answer(LoseAtOnce)
    for depth in (1, 2, 3):
        assert [task.depth for _, task in driven.waiting(Win)] == [depth]
        without_a_win(driven)
    assert driven.waiting(Paint)
    committed = of(PassCommitted, driven.heard)
    assert [record.over for record in committed] == [False, False, False, True]


def test_a_table_is_published_after_all_its_parts_and_then_its_logs_are_cleared() -> None:
    driven = until_painting(together=3)
    painted = []
    while paints := driven.waiting(Paint):
        painted += [(part.first, part.stop) for _, task in paints for part in task.parts]
        driven.answer(Paint)
    assert painted == [(0, 3), (3, 6), (6, 8)]
    heard = driven.answer(Publish)
    assert [type(c).__name__ for c in heard] == ["TablePublished", "Do", "Clear", "Became"]
    assert driven.state is State.SUCCEEDED


def test_a_published_table_is_verified_before_its_logs_are_cleared() -> None:
    driven = until_painting(verify=True)
    while driven.waiting(Paint):
        driven.answer(Paint)
    assert not of(Clear, driven.answer(Publish))
    ((call, _),) = driven.waiting(Verify)
    driven.tell(WorkerLost("D", call.incarnation, 0, "killed"))
    assert not driven.waiting(Publish)
    driven.answer(Create)
    heard = driven.answer(Verify)
    assert [type(c).__name__ for c in heard] == ["TableVerified", "Do", "Clear", "Became"]
    assert len(of(TablePublished, driven.heard)) == 1


# ---- purity ----


def test_plans_and_steps_have_no_clock_no_disk_and_no_chance() -> None:
    """Imports are followed to their end."""
    allowed = {
        "bisect", "collections", "contextlib", "dataclasses", "enum", "functools", "hashlib",
        "itertools", "json", "math", "numpy", "sys", "typing",
    }  # fmt: skip
    graph = imports.graph()
    rooms = "kingpair.coordinator.plan.", "kingpair.coordinator.machine."
    pure = [name for name in graph if name.startswith(rooms)]
    assert {"kingpair.coordinator.plan.closure", "kingpair.coordinator.machine.queue"} <= set(pure)
    for name in pure:
        outside = {each for each in imports.upstream(name, graph) if "kingpair" not in each}
        assert outside <= allowed, name
