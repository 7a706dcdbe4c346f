"""Facts about the partitions of a material by the worker that owns them."""

from kingpair.api.answers.owners import owners_told
from kingpair.coordinator.journal.domain_record import DomainRecord
from kingpair.coordinator.plan.closure import layout
from kingpair.workers.table.key import TableKey


def shared_by(*shares: int) -> DomainRecord:
    domain = DomainRecord.of(TableKey.parse("KQvKR.dtc"))
    domain.shares = tuple((f"node{n}", count) for n, count in enumerate(shares))
    return domain


def test_each_worker_owns_as_many_partitions_as_its_share_says() -> None:
    told = owners_told(shared_by(231, 231))
    assert [told["owners"].count(worker) for worker in (0, 1)] == [231, 231]
    assert [share["node"] for share in told["shares"]] == ["node0", "node1"]


def test_a_border_has_the_partitions_whose_neighbours_another_worker_owns() -> None:
    told = owners_told(shared_by(231, 231))
    for border in told["borders"]:
        for partition in border["partitions"]:
            assert told["owners"][partition] == border["sender"]
            others = {told["owners"][q] for q in layout().neighbours[partition]}
            assert border["receiver"] in others
    assert {(b["sender"], b["receiver"]) for b in told["borders"]} == {(0, 1), (1, 0)}


def test_a_material_cut_in_unequal_proportions_is_told_as_it_was_cut() -> None:
    domain = shared_by(308, 77, 77)
    domain.proportions = (4, 1, 1)
    told = owners_told(domain)
    assert [told["owners"].count(worker) for worker in (0, 1, 2)] == [308, 77, 77]


def test_nothing_is_told_before_workers_have_the_material() -> None:
    assert owners_told(shared_by())["owners"] == []


def test_the_bytes_of_the_last_pass_are_told_for_each_sender_and_receiver() -> None:
    domain = shared_by(231, 231)
    domain.sent = ((1, 0, 512),)
    told = owners_told(domain)
    assert {(b["sender"], b["receiver"]): b["bytes"] for b in told["borders"]} == {
        (0, 1): 0,
        (1, 0): 512,
    }
