"""Which domains run side by side, on how many workers, and how a domain is cut into shares."""

from collections import Counter
from dataclasses import replace

import pytest
from driven import WIDE, Driven, domain, nodes, of, plan

from kingpair.coordinator.execute.planning import needs_on
from kingpair.coordinator.execute.room import check_nodes
from kingpair.coordinator.machine.commands import AwaitNodes, Lose, Prepare, Seal, Win
from kingpair.coordinator.machine.events import (
    NodeLeft,
    NodesAwaited,
    NodesJoined,
    NodesUnfit,
)
from kingpair.coordinator.machine.placement import NodeFit, fit_on
from kingpair.coordinator.machine.records import Assigned, NodesLacking, NodesPassedOver
from kingpair.coordinator.machine.state import State
from kingpair.coordinator.plan.closure import domain_for, in_mode, layout
from kingpair.coordinator.plan.cut import cut, halo, links_cut
from kingpair.coordinator.plan.domains import DomainPlan, Layout, LoggedSpan, Node, Policy
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import SIDES, Partition
from kingpair.workers.solve.sets_mode import SetsMode
from kingpair.workers.table.key import TableKey


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


def teams(driven: Driven) -> dict[str, list[int]]:
    """How many partitions each worker was given, by domain."""
    return {r.domain: [count for _, count in r.shares] for r in of(Assigned, driven.heard)}


def test_each_of_as_many_domains_as_nodes_has_a_node_of_its_own() -> None:
    driven = Driven(plan(*(domain(name, size=8) for name in "ABCD")), *nodes(4))
    assert teams(driven) == {name: [8] for name in "ABCD"}
    assert {record.shares[0][0] for record in of(Assigned, driven.heard)} == {
        "node0", "node1", "node2", "node3",
    }  # fmt: skip


def test_few_domains_divide_the_nodes_by_their_size() -> None:
    driven = Driven(plan(domain("A", size=9), domain("B", size=3)), *nodes(4))
    assert {name: len(shares) for name, shares in teams(driven).items()} == {"A": 3, "B": 1}
    driven = Driven(plan(domain("A", size=8), domain("B", size=8)), *nodes(6))
    assert {name: len(shares) for name, shares in teams(driven).items()} == {"A": 3, "B": 3}


def test_domains_of_its_wave_that_wait_for_others_keep_one_from_taking_all_nodes() -> None:
    small = domain("S", wave=0)
    later = [domain(name, size=8, wave=1, needs=("S",)) for name in "BCD"]
    driven = Driven(plan(small, domain("A", size=8, wave=1), *later), *nodes(4))
    assert teams(driven) == {"S": [8], "A": [8]}


def test_domains_of_later_waves_keep_none_from_taking_all_nodes() -> None:
    later = domain("B", size=8, wave=1, needs=("A",))
    assert len(teams(Driven(plan(domain("A", size=8), later), *nodes(4)))["A"]) == 4


def test_memory_demands_several_nodes_however_many_domains_are_ready() -> None:
    wide = [domain(name, size=8, held=10) for name in "ABCD"]
    found = teams(Driven(plan(*wide), *nodes(4, memory=50)))
    assert {name: len(shares) for name, shares in found.items()} == {"A": 2, "B": 2}


def test_a_large_domain_takes_no_node_of_which_most_is_taken() -> None:
    small, large = domain("A", wave=0), domain("B", size=8, wave=1)
    assert list(teams(Driven(plan(small, large), *nodes(1, cores=2)))) == ["A", "B"]
    assert list(teams(Driven(plan(replace(small, threads=3), large), *nodes(1, cores=4)))) == ["A"]


def test_many_small_domains_have_some_of_the_cores_of_a_node_each() -> None:
    def cores(count: int, there: int) -> list[int]:
        small = [domain(f"S{i:02}", threads=16, held=1) for i in range(count)]
        driven = Driven(plan(*small), *nodes(there, cores=16, memory=1000))
        return [given for record in of(Assigned, driven.heard) for given, _ in record.given]

    assert cores(1, 1) == [16]
    assert cores(2, 1) == [8, 8]
    assert cores(40, 1) == [2] * 8
    assert cores(8, 2) == [4] * 8
    assert cores(3, 4) == [16] * 3


def test_shares_follow_the_cores_of_the_nodes() -> None:
    strong = Node("strong", 2, 100)
    driven = Driven(plan(domain(size=6)), *nodes(2, cores=1), strong)
    (assigned,) = of(Assigned, driven.heard)
    assert assigned.shares == (("strong", 4), ("node0", 2), ("node1", 2))
    assert assigned.proportions == (2, 1, 1)


def test_the_more_cores_a_node_has_the_fewer_nodes_pay() -> None:
    for cores, workers in ((1, 4), (2, 4), (4, 2), (8, 1)):
        driven = Driven(plan(domain(size=4)), *nodes(8, cores=cores))
        (assigned,) = of(Assigned, driven.heard)
        assert len(assigned.shares) == workers


def test_a_domain_is_solved_by_no_more_workers_than_have_a_partition_for_each_core() -> None:
    for cores, workers in ((1, 8), (2, 4), (3, 3), (4, 2), (8, 1)):
        driven = Driven(plan(domain(size=80)), *nodes(8, cores=cores))
        (assigned,) = of(Assigned, driven.heard)
        assert len(assigned.shares) == workers


def test_a_node_with_many_cores_and_little_memory_has_what_its_memory_holds() -> None:
    found = domain(size=2, held=10)
    driven = Driven(plan(found), Node("large", 1, 100), Node("small", 3, 35))
    (assigned,) = of(Assigned, driven.heard)
    assert dict(assigned.shares) == {"large": 5, "small": 3}
    for (_, memory), there in zip(assigned.given, (35, 100), strict=True):
        assert memory <= there


def test_teams_that_may_grow_divide_the_nodes_that_come_free() -> None:
    wide = [domain(name, size=8) for name in "AB"]
    driven = Driven(plan(*wide), *nodes(2))
    driven.until(Win, depth=1)
    driven.answer(Seal)
    driven.tell(NodesJoined(tuple(Node(f"late{i}", 2, 100) for i in range(2))))
    for _ in range(2):
        driven.answer(Win)
        driven.answer(Lose)
        driven.answer(Seal)
    larger = [r for r in of(Assigned, driven.heard) if r.incarnation == 2]
    assert {r.domain: len(r.shares) for r in larger} == {"A": 2, "B": 2}


def test_a_small_domain_is_spread_over_as_many_nodes_as_were_asked_for() -> None:
    for spread, there, workers in ((2, 4, 2), (3, 2, 2), (99, 9, 8)):
        driven = Driven(plan(domain(size=1), grain=64, spread=spread), *nodes(there))
        (assigned,) = of(Assigned, driven.heard)
        assert len(assigned.shares) == workers


@pytest.mark.parametrize(
    ("memory", "mode"),
    [(4.5, SetsMode.ALL), (3.3, SetsMode.TWO), (1.4, SetsMode.ONE), (1, SetsMode.WALKS)],
)
def test_nodes_too_small_for_all_sets_of_their_shares_keep_some_on_disk(
    memory: float, mode: SetsMode
) -> None:
    key = TableKey(Material.parse("KRBvKBN"), Metric.DTC)
    there = nodes(3, cores=1, memory=int(memory * (1 << 30)))
    needs = needs_on(there, key, Policy())
    assert needs.mode is mode
    found = in_mode(domain_for(key, 1), needs, key.metric)
    fit = fit_on(found, layout(found.layout), Policy(), there)
    assert (fit.workers, fit.short) == (3, 0)
    largest = needs_on(there, key, Policy(), held=0)
    assert largest.mode is SetsMode.WALKS


def test_a_domain_that_one_worker_alone_has_memory_for_is_not_spread() -> None:
    driven = Driven(plan(domain(mode=SetsMode.WALKS, alone=True), spread=2), *nodes(2))
    (assigned,) = of(Assigned, driven.heard)
    assert len(assigned.shares) == 1


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
    assert {task for _, task in driven.until(Prepare)} == {Prepare(0, (LoggedSpan(0, 1, 1, 1),))}


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


def test_a_domain_that_fits_no_node_waits_for_nodes_and_then_fails_with_the_numbers() -> None:
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
        {step.pair for side in SIDES for step in TURNED.steps(Partition(pair), side)} - {pair}
        for pair in range(len(TURNED))
    ]
    return Layout((1,) * len(TURNED), tuple(tuple(sorted(pairs)) for pairs in around))


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 7, 16])
def test_shares_of_the_king_pairs_are_equal_and_few_moves_cross_them(workers: int) -> None:
    layout = king_pairs()
    owners = cut(layout, (1,) * workers)
    sizes = Counter(owners).values()
    assert len(sizes) == workers
    assert max(sizes) - min(sizes) <= 1 + workers // 2
    dealt = tuple(p * workers // len(TURNED) for p in range(len(TURNED)))
    assert links_cut(layout, owners) <= links_cut(layout, dealt)
    share = [p for p, owner in enumerate(owners) if owner == 0]
    assert not halo(layout, share) & set(share)


# ---- what nodes can take ----


def room(wanted: DomainPlan, *there: Node) -> NodeFit:
    return fit_on(wanted, plan(wanted).layouts[0], plan(wanted).policy, there)


def test_a_domain_that_fits_is_short_of_nothing() -> None:
    found = room(domain(base=10), *nodes(3, memory=18))
    assert (found.workers, found.needed, found.there, found.short) == (1, 18, 18, 0)


def test_a_domain_too_large_for_one_node_fits_on_several_with_their_copies() -> None:
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
    found = room(domain(base=10, size=3), *nodes(2, memory=20), Node("small", 2, 13))
    assert (found.workers, found.there) == (3, 13)
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
    key = TableKey.parse("KRBvKBN.dtc")
    few, many = (domain_for(key, cores).base for cores in (1, 64))
    assert few < many
