"""Which domains run side by side, on how many workers, and how a domain is cut into shares."""

from collections import Counter
from dataclasses import replace

import pytest
from driven import WIDE, Driven, domain, nodes, of, plan

from coordinator.commands import (
    Assigned,
    AwaitNodes,
    Lose,
    Prepare,
    Seal,
    Win,
)
from coordinator.cut import cut, halo, links_cut
from coordinator.domains import Layout, Node, Stretch
from coordinator.events import (
    NodeLeft,
    NodesAwaited,
    NodesJoined,
)
from coordinator.state import State
from workers.geometry import PAIRS
from workers.geometry import steps as king_steps


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


def test_what_fits_no_node_is_waited_for_and_then_named_with_the_numbers() -> None:
    driven = Driven(plan(domain(held=1000)), *nodes(2))
    (wait,) = of(AwaitNodes, driven.heard)
    assert wait.lacking == "D needs 4,002 bytes a worker on 2 nodes, the largest node has 100"
    assert driven.tell(NodesJoined((Node("small", 2, 100),))) == []  # the wait is not begun anew
    assert driven.tell(NodesAwaited(wait.number - 1)) == []
    driven.tell(NodesAwaited(wait.number))
    assert driven.state is State.INTERRUPTED
    needs = "D needs 3,002 bytes a worker on 3 nodes, the largest node has 100"
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
