"""The queue of builds as a function: histories that are drawn, and what each event does."""

import ast
import random
from collections import Counter
from dataclasses import replace

import pytest
from imports import ROOT
from queue_simulator import World

from kingpair.coordinator.machine.events import CancelRequested, Interrupted
from kingpair.coordinator.machine.queue import step
from kingpair.coordinator.machine.queue_events import (
    CancelAsked,
    DeleteAsked,
    LookForRoom,
    Note,
    Opened,
    QueueCommand,
    QueueEvent,
    QueueRestarted,
    Refuse,
    Rest,
    Rested,
    RetryAsked,
    RoomLookedFor,
    Settled,
    SubmitAsked,
    TakeTurn,
    Tell,
    TurnBegun,
    TurnDeferred,
    TurnEnded,
)
from kingpair.coordinator.machine.queue_state import Queue, Turn
from kingpair.coordinator.machine.records import Became, TablePublished, WavesPlanned
from kingpair.coordinator.machine.state import State
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.closure import tables_of


def drawn(seed: int, harm: int = 50) -> World:
    world = World(random.Random(seed), harm)
    world.run()
    return world


def test_histories_that_are_drawn_leave_no_build_behind() -> None:
    worlds = [drawn(seed) for seed in range(600)]
    states = Counter(build.state for world in worlds for build in world.queue.known())
    assert set(states) == {State.SUCCEEDED, State.CANCELLED, State.FAILED, State.INTERRUPTED}
    assert states[State.SUCCEEDED] > 600
    done = sum((world.done for world in worlds), Counter[str]())
    assert min(done.values()) > 50, done
    assert len(done) == 13, done


@pytest.mark.slow
def test_many_longer_histories_leave_no_build_behind() -> None:
    for seed in range(10_000, 11_500):
        drawn(seed, harm=200)


def test_one_seed_is_one_history() -> None:
    assert drawn(5).journal == drawn(5).journal


# ---- one event at a time ----

QUEEN = BuildSpec.parse({"materials": ["KQvK"], "metrics": ["dtc"]})
ROOK = BuildSpec.parse({"materials": ["KRvK"], "metrics": ["dtc"], "priority": 1})


def after(*events: QueueEvent) -> tuple[Queue, list[QueueCommand]]:
    queue, heard = Queue(), list[QueueCommand]()
    for event in events:
        queue, heard = step(queue, event)
    return queue, heard


def test_a_turn_is_given_to_the_most_urgent_build() -> None:
    queue, commands = after(SubmitAsked(QUEEN), SubmitAsked(ROOK), Opened())
    assert commands == [TakeTurn("b2")]
    assert [build.name for build in queue.waiting()] == ["b2", "b1"]


def test_no_two_turns_are_given_at_once() -> None:
    _, commands = after(Opened(), SubmitAsked(QUEEN), SubmitAsked(ROOK))
    assert not [c for c in commands if isinstance(c, TakeTurn)]


def test_a_build_that_is_cancelled_before_its_turn_has_begun_does_not_begin() -> None:
    queue, _ = after(Opened(), SubmitAsked(QUEEN), CancelAsked("b1"), TurnBegun())
    assert queue.turn == Turn("b1", has_begun=False)
    assert queue.builds["b1"].state is State.CANCELLED


def test_a_build_that_has_begun_is_told_that_it_is_cancelled() -> None:
    _, commands = after(Opened(), SubmitAsked(QUEEN), TurnBegun(), CancelAsked("b1", "me"))
    assert commands == [Tell(CancelRequested("cancelled by me"))]


def at_work(*more: QueueEvent) -> tuple[Queue, list[QueueCommand]]:
    """A queue whose first build runs, after more events."""
    running = Settled((Became(State.PLANNING, "its turn"), Became(State.RUNNING, "planned")))
    return after(Opened(), SubmitAsked(QUEEN), TurnBegun(), running, *more)


def test_a_build_gives_way_to_a_more_urgent_one_and_goes_on_after_it() -> None:
    queue, commands = at_work(SubmitAsked(ROOK))
    told = Interrupted("gives way to b2, which is more urgent")
    assert commands[-1] == Tell(told)
    assert step(queue, Rested())[1] == []  # it is told once
    given_way = Settled((Became(State.INTERRUPTED, told.reason),))
    queue, commands = at_work(SubmitAsked(ROOK), given_way, TurnEnded(told.reason))
    assert commands[-1] == TakeTurn("b2")
    assert queue.builds["b1"].state is State.QUEUED
    assert queue.builds["b1"].losses == 0
    ended = Settled((Became(State.SUCCEEDED, "1 table"),))
    for event in (TurnBegun(), ended, TurnEnded()):
        queue, commands = step(queue, event)
    assert commands == [TakeTurn("b1")]


def test_a_build_gives_way_to_none_that_is_as_urgent() -> None:
    other = BuildSpec.parse({"materials": ["KBvK"], "metrics": ["dtc"]})
    _, commands = at_work(SubmitAsked(other))
    assert not [command for command in commands if isinstance(command, Tell)]


LONG = BuildSpec.parse({"materials": ["KRBvKBN"], "metrics": ["dtc"]})


def long_at_work(*more: QueueEvent) -> tuple[Queue, list[QueueCommand]]:
    """A queue whose first build, a long one, runs, after more events."""
    running = Settled((Became(State.PLANNING, "its turn"), Became(State.RUNNING, "planned")))
    return after(Opened(), SubmitAsked(LONG), TurnBegun(), running, *more)


def test_a_long_build_gives_way_to_a_short_one_and_goes_on_before_another_long_one() -> None:
    told = Interrupted("gives way to b3, which is shorter")
    events: list[QueueEvent] = [SubmitAsked(replace(LONG, compact=True)), SubmitAsked(QUEEN)]
    assert long_at_work(*events)[1][-1] == Tell(told)
    events += [Settled((Became(State.INTERRUPTED, told.reason),)), TurnEnded(told.reason)]
    queue, commands = long_at_work(*events)
    assert commands[-1] == TakeTurn("b3")
    assert queue.builds["b1"].reason == "waits for a shorter build, then goes on"
    ended = Settled((Became(State.SUCCEEDED, "1 table"),))
    for event in (TurnBegun(), ended, TurnEnded()):
        queue, commands = step(queue, event)
    assert commands == [TakeTurn("b1")]


def test_a_long_build_that_has_built_most_of_its_tables_gives_way_to_none_as_urgent() -> None:
    tables = [str(key) for wave in tables_of(LONG) for key in wave]
    built = Settled((WavesPlanned((tuple(tables),), tuple(tables[:-1]), ()),))
    published = Settled((TablePublished(tables[-1], 1, ""),))
    _, commands = long_at_work(built, SubmitAsked(QUEEN))
    assert [c for c in commands if isinstance(c, Tell)]
    _, commands = long_at_work(built, published, SubmitAsked(QUEEN))
    assert not [c for c in commands if isinstance(c, Tell)]


def test_a_process_that_dies_while_a_build_gives_way_loses_none_of_them() -> None:
    given_way = Settled((Became(State.INTERRUPTED, "gives way to b2, which is more urgent"),))
    queue, _ = at_work(SubmitAsked(ROOK), given_way, QueueRestarted("its builder ended meanwhile"))
    assert [build.name for build in queue.waiting()] == ["b2", "b1"]


def test_a_deferred_turn_is_followed_by_a_rest() -> None:
    queue, commands = after(Opened(), SubmitAsked(QUEEN), TurnDeferred("no cluster"))
    assert commands == [Rest(), Note("b1", (Became(State.QUEUED, "no cluster"),))]
    assert step(queue, Rested())[1] == [TakeTurn("b1")]


def test_a_build_that_a_full_disk_stopped_is_paused_until_there_is_room() -> None:
    events = Opened(), SubmitAsked(QUEEN), TurnBegun(), TurnEnded("no space", "the disk is full")
    queue, commands = after(*events)
    states = [r.state for c in commands if isinstance(c, Note) for r in c.records]  # type: ignore[union-attr]
    assert states == [State.FAILED, State.PAUSED]
    assert commands[-1] == LookForRoom()
    queue, commands = step(queue, RoomLookedFor(has_room=False))
    assert commands == [LookForRoom()]
    _, commands = step(queue, RoomLookedFor(has_room=True))
    assert commands[-1] == TakeTurn("b1")


def test_a_refused_request_changes_nothing() -> None:
    queue, _ = after(SubmitAsked(QUEEN, "key"))
    for event, kind in (
        (SubmitAsked(ROOK, "key"), "key-reused"),
        (DeleteAsked("b1"), "conflict"),
        (CancelAsked("b2"), "not-found"),
        (RetryAsked("b2"), "not-found"),
    ):
        same, (refusal,) = step(queue, event)
        assert isinstance(refusal, Refuse)
        assert refusal.kind == kind
        assert same == queue


def test_a_state_is_settled_in_one_place() -> None:
    """Code that makes a Became decides on a state; only `step` may."""
    makers = {
        path.name
        for path in (ROOT / "coordinator").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Became"
    }
    assert makers == {"lifecycle.py"}
