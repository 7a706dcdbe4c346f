"""Facts about the nodes that a build asks for: one for each domain that waits for workers."""

from driven import Driven, domain, nodes, plan

from kingpair.coordinator.machine.commands import AwaitNodes, Create
from kingpair.coordinator.machine.demand import WantedNode, demand
from kingpair.coordinator.machine.events import CancelRequested, NodeLeft

SMALL = domain("A"), domain("B", threads=4)


def test_a_build_without_nodes_asks_for_one_for_each_domain_that_could_start() -> None:
    driven = Driven(plan(*SMALL, domain("C", needs=("A",))))
    assert any(isinstance(command, AwaitNodes) for command in driven.heard)
    assert demand(driven.build) == (WantedNode(1, 8), WantedNode(4, 8))


def test_a_domain_that_has_workers_asks_for_no_node() -> None:
    driven = Driven(plan(domain("A")), *nodes(1))
    driven.until(Create)
    assert demand(driven.build) == ()


def test_a_domain_that_fits_no_node_asks_for_several() -> None:
    driven = Driven(plan(domain("A", held=1000)), *nodes(1))
    wanted = demand(driven.build)
    assert len(wanted) > 1
    assert sum(node.memory for node in wanted) >= 8000


def test_a_build_that_is_spread_asks_for_as_many_nodes() -> None:
    driven = Driven(plan(domain("A"), spread=3))
    assert demand(driven.build) == (WantedNode(1, 3),) * 3


def test_a_build_that_has_ended_asks_for_nothing() -> None:
    driven = Driven(plan(domain("A")))
    driven.tell(CancelRequested())
    assert demand(driven.build) == ()


def test_a_domain_that_lost_its_node_asks_for_another() -> None:
    driven = Driven(plan(domain("A")), *nodes(1))
    driven.until(Create)
    driven.tell(NodeLeft("node0"))
    assert demand(driven.build) == (WantedNode(1, 8),)
