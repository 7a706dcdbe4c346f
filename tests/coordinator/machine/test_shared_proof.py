"""The proof of a table by several workers, and workers that have nothing left to do."""

from dataclasses import replace

from driven import Driven, domain, nodes, of, plan

from kingpair.coordinator.machine.commands import Conclude, Do, Paint, Release, Verify
from kingpair.coordinator.machine.events import NodeLeft, WorkerLost
from kingpair.coordinator.machine.records import Assigned, SetBack, TableVerified
from kingpair.coordinator.machine.state import State

PROVED = domain(size=2, winners=(), together=2, verify=True, proof=6)
"""An analysed domain, which two workers paint in four parts and prove in six."""


def released(driven: Driven) -> list[int]:
    return [do.call.worker for do in of(Do, driven.heard) if isinstance(do.task, Release)]


def test_each_worker_proves_the_next_part_and_one_concludes_from_all() -> None:
    driven = Driven(plan(PROVED), *nodes(2))
    asked = driven.until(Verify)
    assert [(call.worker, task) for call, task in asked] == [(0, Verify(0, 6)), (1, Verify(1, 6))]
    for part in range(2, 6):
        (call, task), *_ = driven.waiting(Verify)
        driven.tell(driven.answer_to(call, task))
        assert (call.worker, Verify(part, 6)) in [
            (call.worker, task) for call, task in driven.waiting(Verify)
        ]
    driven.answer(Verify)
    ((concluded, conclude),) = driven.waiting(Conclude)
    assert concluded.worker == 0
    assert conclude.findings == ("0", "1", "2", "3", "4", "5")
    driven.answer(Conclude)
    assert of(TableVerified, driven.heard) == [TableVerified("D")]
    assert driven.state is State.SUCCEEDED


def test_one_worker_proves_a_table_as_a_whole() -> None:
    for wanted, there in ((PROVED, 1), (replace(PROVED, proof=1), 2)):
        driven = Driven(plan(wanted), *nodes(there))
        assert [task for _, task in driven.until(Verify)] == [Verify()]


def test_a_worker_for_which_no_part_is_left_is_released_and_its_node_taken() -> None:
    driven = Driven(plan(PROVED, domain("E", size=9, wave=1, needs=("S",)), domain("S", wave=1)),
                    *nodes(2))  # fmt: skip
    driven.until(Verify)
    while len(driven.waiting(Verify)) == 2:
        driven.tell(driven.answer_to(*driven.waiting(Verify)[-1]))
    assert released(driven) == [1]
    assert of(Assigned, driven.heard)[-1].domain == "S"
    before = driven.build
    driven.tell(WorkerLost("D", 1, 1, "killed when it had gone"))
    assert driven.build == before


def test_painters_without_a_part_are_released_if_nothing_is_to_be_proved() -> None:
    driven = Driven(plan(replace(PROVED, verify=False)), *nodes(2))
    driven.until(Paint)
    while len(driven.waiting(Paint)) == 2:
        driven.tell(driven.answer_to(*driven.waiting(Paint)[-1]))
    assert released(driven) == [1]
    driven.tell(NodeLeft("node1"))
    assert of(SetBack, driven.heard) == []


def test_a_worker_that_is_lost_in_the_proof_begins_the_proof_again() -> None:
    driven = Driven(plan(PROVED), *nodes(3))
    driven.until(Verify)
    driven.answer(Verify)
    driven.tell(WorkerLost("D", 1, 1, "killed"))
    again = driven.until(Verify)
    assert [task.part for _, task in again] == [0, 1]
    assert {call.incarnation for call, _ in again} == {2}
