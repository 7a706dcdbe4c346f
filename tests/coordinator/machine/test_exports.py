"""The Syzygy files of tables that are there: a step of the build, behind the tables to be built."""

from dataclasses import replace

from driven import Driven, domain, nodes, of, plan

from kingpair.coordinator.machine.commands import Clear, Create, Do, Export, Paint, Task
from kingpair.coordinator.machine.events import (
    CancelRequested,
    PauseRequested,
    Planned,
    ResumeRequested,
    RetryRequested,
    WorkerLost,
)
from kingpair.coordinator.machine.records import (
    Assigned,
    ExportBegan,
    ExportDone,
    SetBack,
    WavesPlanned,
)
from kingpair.coordinator.machine.state import State
from kingpair.coordinator.plan.domains import BuildPlan

THERE = domain("A", winners=(), lacks_files=True)


def planned(*others: str) -> BuildPlan:
    """Table A is there without its files; the others rest on it and are to be built."""
    wanted = plan(THERE, *(domain(name, winners=(), needs=("A",), wave=1) for name in others))
    return replace(wanted, present=("A",))


def asked(driven: Driven) -> list[tuple[str, type[Task]]]:
    return [(do.call.domain, type(do.task)) for do in of(Do, driven.heard)]


def test_the_files_are_written_after_the_plan_is_told() -> None:
    driven = Driven(planned(), *nodes(1))
    assert [record.exports for record in of(WavesPlanned, driven.heard)] == [("A",)]
    assert not driven.state.has_ended
    driven.answer(Create)
    assert of(ExportBegan, driven.heard) == [ExportBegan("A")]
    driven.answer(Export)
    assert of(ExportDone, driven.heard) == [ExportDone("A")]
    assert driven.state is State.SUCCEEDED
    assert not of(Assigned, driven.heard)
    assert not of(Clear, driven.heard)


def test_tables_that_rest_on_it_do_not_wait_for_the_files() -> None:
    driven = Driven(planned("B"), *nodes(1, cores=1))
    assert asked(driven) == [("B", Create)]
    driven = Driven(planned("B"), *nodes(2))
    driven.answer(Create)
    assert {call.domain for call, _ in driven.waiting(Paint)} == {"B"}
    assert {call.domain for call, _ in driven.waiting(Export)} == {"A"}


def test_a_build_has_not_succeeded_while_files_are_missing() -> None:
    driven = Driven(planned("B"), *nodes(1, cores=1))
    driven.until(Export)
    assert driven.build.runs["B"].is_done
    assert not driven.state.has_ended
    driven.answer(Export)
    assert driven.state is State.SUCCEEDED


def test_files_are_written_again_from_the_start_by_another_worker() -> None:
    driven = Driven(planned(), *nodes(1))
    driven.until(Export)
    driven.tell(WorkerLost("A", 1, 0, "killed"))
    assert [record.domain for record in of(SetBack, driven.heard)] == ["A"]
    driven.until(Export)
    driven.answer(Export)
    assert driven.state is State.SUCCEEDED


def test_a_build_that_is_told_to_stop_stops_its_export() -> None:
    for event, state in (
        (CancelRequested("enough"), State.CANCELLING),
        (PauseRequested("enough"), State.PAUSED),
    ):
        driven = Driven(planned(), *nodes(1))
        driven.until(Export)
        driven.tell(event)
        assert driven.state is state
        assert driven.build.runs["A"].team is None
    driven.tell(ResumeRequested("go on"))
    driven.until(Export)


def test_a_new_plan_says_anew_which_files_are_missing() -> None:
    driven = Driven(planned(), *nodes(1))
    driven.until(Export)
    driven.answer(Export)
    driven.build = driven.build._replace(state=State.FAILED)
    driven.tell(RetryRequested("files are gone"))
    driven.tell(Planned(2, planned()))
    assert driven.until(Export)
