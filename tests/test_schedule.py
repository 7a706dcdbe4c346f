"""Which domains run side by side, on how many workers, and how a domain is cut into shares."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from driven import WIDE, Driven, domain, nodes, of, plan

from coordinator.closure import check_nodes, described
from coordinator.commands import (
    Assigned,
    AwaitNodes,
    Lose,
    NodesLacking,
    NodesPassedOver,
    Prepare,
    Seal,
    Win,
)
from coordinator.cut import cut, halo, links_cut
from coordinator.domains import Domain, Layout, Node, Stretch
from coordinator.events import (
    NodeLeft,
    NodesAwaited,
    NodesJoined,
    NodesUnfit,
)
from coordinator.request import Request
from coordinator.schedule import Room, room_for
from coordinator.state import State
from workers.errors import CannotBuild
from workers.geometry import PAIRS
from workers.geometry import steps as king_steps
from workers.subject import Subject


def test_small_domains_share_a_node_side_by_side() -> None:
    driven = Driven(plan(domain("A"), domain("B"), domain("C")), *nodes(1, cores=2))
    assert [record.domain for record in of(Assigned, driven.heard)] == ["A", "B"]


def test_a_domain_waits_for_the_tables_it_reads() -> None:
    rests = domain("B", needs=("A",), wave=1)
    driven = Driven(plan(domain("A"), rests), *nodes(2))
    assert [record.domain for record in of(Assigned, driven.heard)] == ["A"]
    present = replace(plan(domain("A"), rests), present=("A",))
    assert [r.domain for r in of(Assigned, Driven(present, *nodes(2)).heard)] == ["B"]


def test_a_large_domain_takes_whole_nodes_and_a_share_of_each() -> None:
    driven = Driven(plan(domain(size=3)), *nodes(4))
    (assigned,) = of(Assigned, driven.heard)
    assert [node for node, _ in assigned.shares] == ["node0", "node1", "node2"]
    assert sorted(count for _, count in assigned.shares) == [2, 3, 3]


def test_a_domain_takes_more_nodes_than_it_deserves_if_its_memory_asks_for_them() -> None:
    driven = Driven(plan(domain(held=10)), *nodes(3, memory=50))
    (assigned,) = of(Assigned, driven.heard)
    assert len(assigned.shares) == 2


def test_a_node_that_joins_is_used_from_the_next_pass_on() -> None:
    driven = Driven(plan(WIDE), *nodes(1))
    driven.until(Win, depth=1)
    driven.answer(Seal)
    driven.tell(NodesJoined((Node("late", 2, 100),)))
    assert len(of(Assigned, driven.heard)) == 1
    driven.answer(Win)
    driven.answer(Lose)
    assert len(of(Assigned, driven.heard)) == 1
    (larger,) = of(Assigned, driven.answer(Seal))
    assert sorted(larger.shares) == [("late", 4), ("node0", 4)]
    assert {task for _, task in driven.until(Prepare)} == {Prepare(0, (Stretch(0, 1, 1, 1),))}


def test_a_node_that_leaves_is_replaced() -> None:
    driven = Driven(plan(WIDE), *nodes(3))
    (again,) = of(Assigned, driven.tell(NodeLeft("node0")))
    assert [node for node, _ in again.shares] == ["node1", "node2"]


def test_nodes_that_cannot_be_used_are_said_and_nothing_else_changes() -> None:
    driven = Driven(plan(domain()), *nodes(2))
    before = driven.build
    assert driven.tell(NodesUnfit("node2 has no kingpair")) == [
        NodesPassedOver("node2 has no kingpair")
    ]
    assert driven.build == before


def test_what_fits_no_node_is_waited_for_and_then_named_with_the_numbers() -> None:
    driven = Driven(plan(domain(held=1000)), *nodes(2))
    (wait,) = of(AwaitNodes, driven.heard)
    (lacking,) = of(NodesLacking, driven.heard)
    assert lacking.reason == (
        "D needs 3.9 KiB of memory on each of 2 nodes, one has 100 bytes: 3.8 KiB too little"
    )
    assert driven.tell(NodesJoined((Node("small", 2, 100),))) == []  # the wait is not begun anew
    assert driven.tell(NodesAwaited(wait.number - 1)) == []
    driven.tell(NodesAwaited(wait.number))
    assert driven.state is State.INTERRUPTED
    needs = "D needs 2.9 KiB of memory on each of 3 nodes, one has 100 bytes: 2.8 KiB too little"
    assert driven.build.reason == f"waited for nodes in vain: {needs}"


# ---- the cut ----


def king_pairs() -> Layout:
    around = [
        {step.pair for side in (0, 1) for step in king_steps(pair, side)} - {pair}
        for pair in range(len(PAIRS))
    ]
    return Layout((1,) * len(PAIRS), tuple(tuple(sorted(pairs)) for pairs in around))


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 7, 16])
def test_shares_of_the_king_pairs_are_equal_and_few_moves_cross_them(workers: int) -> None:
    layout = king_pairs()
    owners = cut(layout, workers)
    sizes = Counter(owners).values()
    assert len(sizes) == workers
    assert max(sizes) - min(sizes) <= 1 + workers // 2
    dealt = tuple(p * workers // len(PAIRS) for p in range(len(PAIRS)))
    assert links_cut(layout, owners) <= links_cut(layout, dealt)
    share = [p for p, owner in enumerate(owners) if owner == 0]
    assert not halo(layout, share) & set(share)


# ---- what nodes can take ----


def room(wanted: Domain, *there: Node) -> Room:
    return room_for(wanted, plan(wanted).layouts[0], plan(wanted).policy, there)


def test_a_domain_that_fits_is_short_of_nothing() -> None:
    found = room(domain(base=10), *nodes(3, memory=18))
    assert (found.workers, found.needed, found.there, found.short) == (1, 18, 18, 0)


def test_what_does_not_fit_on_one_node_fits_on_several_with_their_copies() -> None:
    """Of a ring of eight, halves hold four partitions and copies of two."""
    found = room(domain(base=10), *nodes(2, memory=17))
    assert (found.workers, found.needed, found.short) == (2, 16, 0)


def test_how_far_nodes_fall_short_is_told_for_as_many_as_there_are() -> None:
    found = room(domain(base=10 << 30), *nodes(2, memory=8 << 30))
    assert (found.workers, found.there) == (2, 8 << 30)
    assert found.short == (2 << 30) + 6
    assert found.reason == (
        "D needs 10.0 GiB of memory on each of 2 nodes, one has 8.0 GiB: 2.0 GiB too little"
    )


def test_the_smallest_of_unequal_nodes_decides() -> None:
    small = Node("small", 2, 12)
    found = room(domain(base=10, size=3), *nodes(2, memory=20), small)
    assert (found.workers, found.there) == (2, 20)
    found = room(domain(base=14), small, Node("smaller", 2, 11))
    assert (found.there, found.short) == (11, found.needed - 11)


def test_a_plan_that_nodes_cannot_hold_is_refused_before_anything_is_built() -> None:
    wanted = plan(domain("A"), domain("B", base=100, needs=("A",), wave=1))
    check_nodes(wanted, nodes(1, memory=200))
    check_nodes(wanted, ())
    with pytest.raises(CannotBuild, match=r"^B needs 108 bytes .* 8 bytes too little; use more"):
        check_nodes(wanted, nodes(1, memory=100))
    check_nodes(replace(wanted, present=("B",)), nodes(1, memory=100))


def test_the_threads_of_a_worker_are_counted_in_what_it_needs() -> None:
    request, subject = Request((), Path()), Subject.parse("KRBvKBN.dtc")
    few, many = (described(request, subject, cores).base for cores in (1, 64))
    assert few < many
