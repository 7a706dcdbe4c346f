"""Facts about predictions: what must hold whatever the machines are, and what the documents say."""

from itertools import pairwise

import pytest
from model_page import DOCUMENT, SHOWN, refreshed
from terminal import kingpair, said, told

from kingpair.coordinator.execute.executor import lease
from kingpair.coordinator.machine.rehearsal import ClosureForecast, predict_all
from kingpair.coordinator.plan.cluster import Cluster, Constants
from kingpair.coordinator.plan.estimate import estimate, waves
from kingpair.coordinator.plan.model import Prediction, predict
from kingpair.coordinator.plan.pass_statistics import (
    DEEPEST,
    occupied,
    pass_shares,
    placed,
    stream_bytes,
)
from kingpair.coordinator.plan.sharing import Sharing, paint_shares, proof_copies
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.solve.sets_mode import SetsMode

NODES = (1, 2, 4, 8, 16, 32, 64, 128, 231, 462)
BY_MEN = ("KQvK", "KQvKR", "KRBvKR", "KRBvKBN", "KRBNvKQN", "KQBNvKRBN")
USUAL = Constants()


def cluster(nodes: int = 1, cores: int = 8, memory: int = 1 << 50) -> Cluster:
    return Cluster(nodes, cores, memory, network=1.25e9, store=1e9)


def predicted(
    name: str, on: Cluster, metric: Metric = Metric.DTC, constants: Constants = USUAL
) -> Prediction:
    return predict(Material.parse(name, 8), metric, on, constants)


def closed(name: str, on: Cluster) -> ClosureForecast:
    return predict_all(waves([Material.parse(name, 8)]), Metric.DTC, on, Constants())


@pytest.mark.parametrize("name", BY_MEN)
def test_more_nodes_never_need_more_memory_each(name: str) -> None:
    needed = [predicted(name, cluster(nodes)).memory for nodes in NODES]
    assert needed == sorted(needed, reverse=True)


@pytest.mark.parametrize("name", BY_MEN)
def test_nothing_is_exchanged_by_a_worker_alone(name: str) -> None:
    assert predicted(name, cluster(1)).exchanged == 0


def test_more_workers_exchange_more() -> None:
    exchanged = [predicted("KRBNvKQN", cluster(nodes, 1)).exchanged for nodes in NODES]
    assert exchanged == sorted(set(exchanged))


@pytest.mark.parametrize("metric", Metric)
def test_a_man_more_is_64_times_the_slots(metric: Metric) -> None:
    alone = cluster(1)
    for less, more in pairwise(BY_MEN[1:]):
        small, large = (predicted(name, alone, metric) for name in (less, more))
        assert large.table == pytest.approx(64 * small.table, rel=0.1)
        assert large.seconds > small.seconds
        slots = [estimate(p.material, 1, metric).slots for p in (small, large)]
        assert slots[1] == 64 * slots[0]


def test_small_materials_are_left_to_one_worker_however_many_there_are() -> None:
    assert [predicted(name, cluster(462, 1)).workers for name in BY_MEN] == [
        1, 1, 1, 15, 462, 462,
    ]  # fmt: skip


def test_less_memory_on_a_node_means_more_workers_until_they_no_longer_fit() -> None:
    roomy, tight, hopeless = (
        predicted("KRBvKBN", cluster(24, memory=memory)) for memory in (1 << 40, 5 << 29, 1 << 30)
    )
    assert roomy.workers < tight.workers <= hopeless.workers == 24
    assert roomy.fits
    assert tight.fits
    assert not hopeless.fits


def test_cores_without_partitions_only_help_to_take_in_what_others_found() -> None:
    """Of seven men a worker in 462 has one partition: nothing else for a second core to do."""

    def solving(cores: int, constants: Constants) -> float:
        material, on = Material.parse("KRBNvKQN", 8), cluster(462, cores)
        found = predict(material, Metric.DTC, on, constants, workers=462)
        return sum(each.seconds for each in found.passes)

    for_nothing = Constants(take=0)
    assert solving(1, for_nothing) == solving(32, for_nothing)
    assert solving(1, USUAL) > solving(32, USUAL)


def test_a_faster_store_and_network_never_cost_time() -> None:
    slow = predicted("KRBNvKQN", cluster(16))
    fast = predicted("KRBNvKQN", cluster(16)._replace(network=1e10, store=1e10))
    assert fast.seconds < slow.seconds
    assert fast.exchanged == slow.exchanged


@pytest.mark.parametrize("cores", [1, 32])
@pytest.mark.parametrize("metric", Metric)
@pytest.mark.parametrize("name", BY_MEN)
def test_a_lease_is_ten_times_what_any_call_should_take(
    name: str, metric: Metric, cores: int
) -> None:
    for nodes in (1, 16, 128, 462):
        found = predicted(name, cluster(nodes, cores, memory=1 << 46), metric)
        passes = (each.seconds for each in found.passes)
        longest = max(found.opening, found.painting, found.proof, *passes)
        assert lease(found.memory) > 10 * longest, f"{nodes} nodes"


@pytest.mark.parametrize("nodes", [1, 2, 15, 462])
def test_shares_hold_all_partitions(nodes: int) -> None:
    share = Sharing.of(nodes)
    assert share.own * nodes >= 462
    assert sum(own for own, _ in share.each) == 462
    assert max(own for own, _ in share.each) == share.own
    held, all_held = max(around for _, around in share.each), sum(map(sum, share.each)) - 462
    for most, all_of_them in share.read:
        assert most <= held
        assert all_of_them <= min(all_held, nodes * most)
        assert (all_of_them == 0) == (nodes == 1)


@pytest.mark.parametrize("metric", Metric)
@pytest.mark.parametrize("men", range(3, 9))
@pytest.mark.parametrize("passes", [1, 4, 30, 517])
def test_a_course_finds_what_is_decided_and_no_more(men: int, metric: Metric, passes: int) -> None:
    found = pass_shares(men, metric, 0, passes)
    assert len(found) == passes + 1
    assert found[0].won == 0
    assert sum(p.lost for p in found) == pytest.approx(0.5 * placed(men))
    assert all(p.lost > 0 for p in found)


def test_deeper_is_known_of_more_men() -> None:
    for deepest in DEEPEST.values():
        assert list(deepest.values()) == sorted(set(deepest.values()))


def test_a_denser_layer_fills_more_units_with_fewer_bytes_each() -> None:
    densities = [10**-e for e in (9, 7, 5, 4, 3, 2, 1, 0.5, 0)]
    filled, sizes = map(occupied, densities), list(map(stream_bytes, densities))
    assert list(filled) == sorted(set(map(occupied, densities)))
    assert sizes == sorted(sizes, reverse=True)
    assert occupied(1.0) == 1.0


def test_a_closure_takes_as_long_as_its_longest_wave_allows() -> None:
    on_one, on_many = closed("KRBvKBN", cluster(1)), closed("KRBvKBN", cluster(64))
    one_by_one = sum(d.seconds for d in on_one.domains)
    assert 0.9 * one_by_one < on_one.seconds <= one_by_one
    assert max(d.seconds for d in on_many.domains) < on_many.seconds < on_one.seconds
    assert on_one.disk == on_many.disk


# ---- the command ----


def test_a_machine_that_is_too_small_for_seven_men_keeps_sets_on_disk() -> None:
    large, small = (
        predicted("KRBNvKQN", Cluster(1, 4, memory << 30, 3e9, 2e9)) for memory in (400, 32)
    )
    assert (large.mode, small.mode) == (SetsMode.ALL, SetsMode.WALKS)
    assert large.fits
    assert small.fits
    moved = 5 * estimate(small.material, 4).bitmap / 2e9
    each = zip(small.passes, large.passes, strict=True)
    longer = [on_disk.seconds - held.seconds for on_disk, held in each]
    assert moved < min(longer) < 1.1 * moved  # what a pass found is read again, too
    assert max(longer) < 1.7 * moved


def test_small_nodes_that_share_seven_men_move_their_own_sets_and_copies() -> None:
    one, two, many = (
        predicted("KRBNvKQN", Cluster(nodes, 4, 32 << 30, 1.25e9, 2e9, disk=1e9))
        for nodes in (1, 2, 16)
    )
    assert {found.mode for found in (one, two, many)} == {SetsMode.WALKS}
    assert [found.workers for found in (one, two, many)] == [1, 2, 16]
    assert one.memory == two.memory == many.memory <= 32 << 30
    slowest = [found.passes[0].seconds for found in (one, two, many)]
    assert slowest[0] / 2 < slowest[1] < slowest[0] / 1.4
    assert slowest[0] / 16 < slowest[2] < slowest[0] / 5


@pytest.mark.slow
def test_the_document_shows_what_the_command_prints() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert len(SHOWN.findall(text)) == text.count("```sh\nkingpair model ") > 0
    assert refreshed(text) == text


def test_json_says_what_each_material_takes() -> None:
    command = ("model", "KRBvKBN", "--nodes", "1,15", "--cores", "2", "--passes", "98")
    alone, together = told(*command)
    assert alone["exchanged"] == 0 < together["exchanged"]
    last = together["materials"][-1]
    assert (last["material"], last["workers"], last["metric"]) == ("KRBvKBN", 15, "dtc")
    assert len(last["passes"]) == 99 + 76
    assert sum(p["exchanged"] for p in last["passes"]) == pytest.approx(last["exchanged"])


def test_the_time_of_each_part_is_told_beside_that_of_one_node() -> None:
    text = said("model", "KRBvKBN", "--nodes", "1,2", "--cores", "1", "--by-part")
    head, one, two = text.splitlines()
    assert head.split() == [
        "material", "nodes", "used", "opening", "passes", "painting", "joining", "proof", "time",
    ]  # fmt: skip
    assert one.count("100%") == 6
    assert two.split()[2] == "2"


def test_all_materials_of_so_many_men_are_told_beside_perfect_sharing() -> None:
    head, row = said("model", "--men", "5", "--nodes", "4").splitlines()
    assert head.split("  ")[-1] == "store alone"
    assert row.split()[:2] == ["84", "4"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("KQRBNvKRBN",), "9 men; at most 8"),
        (("KQvKR", "--nodes", "463"), "numbers from 1 to 462"),
        (("KQvKR", "--network", "fast"), "such as 10Gbit or 500MB/s"),
        (("KQvKR", "--constants", "/nowhere"), "print some with kingpair bench --constants"),
    ],
)
def test_a_senseless_cluster_is_refused_in_one_line(
    arguments: tuple[str, ...], expected: str
) -> None:
    done = kingpair("model", *arguments)
    assert done.exit_code in (2, 5)
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("workers", [1, 2, 16])
def test_logs_on_the_disks_of_nodes_spare_the_store(workers: int) -> None:
    there, six = cluster(16), Material.parse("KRBvKBN")
    apart = there._replace(disk=1e12)
    shared, own = (
        predict(six, Metric.DTC, each, USUAL, workers=workers) for each in (there, apart)
    )
    stored = [{part.name: part.stored for part in found.parts} for found in (shared, own)]
    assert stored[0]["passes"] > 0 == stored[1]["passes"]
    assert stored[1]["painting"] <= stored[0]["painting"]
    assert own.seconds <= shared.seconds


def test_a_slow_disk_for_logs_is_waited_for_and_holds_copies_of_what_several_log() -> None:
    six, there = Material.parse("KRBvKBN"), cluster(2)._replace(disk=1e6)
    alone, both = (predict(six, Metric.DTC, there, USUAL, workers=count) for count in (1, 2))
    assert both.part("passes") == pytest.approx(alone.part("passes"))


@pytest.mark.parametrize(("workers", "size", "together"), [(2, 56, 4), (16, 7, 1), (462, 1, 1)])
def test_painters_read_every_partition_of_the_log(workers: int, size: int, together: int) -> None:
    shares = paint_shares(workers, workers, size, together, at_once=2)
    assert shares.own + shares.others >= 462
    assert shares.turns * workers * size * 2 >= 462
    assert (shares.others == 0) == (workers == 462)


@pytest.mark.parametrize(("provers", "most"), [(1, 462), (2, 348), (20, 58), (462, 58)])
def test_a_prover_copies_each_partition_once(provers: int, most: int) -> None:
    assert proof_copies(1, provers) == most


def test_parts_on_the_disks_of_nodes_spare_the_store_in_the_proof() -> None:
    there = cluster(64, 32)
    shared, own = (predicted("KRBNvKQN", there._replace(disk=disk)) for disk in (0.0, 1e12))
    stored = [{part.name: part.stored for part in found.parts} for found in (shared, own)]
    assert stored[1]["proof"] < stored[0]["proof"] / 3
    assert stored[1]["joining"] == stored[0]["joining"]


def test_more_workers_make_the_table_of_seven_men_than_go_through_its_passes() -> None:
    """A worker has a partition for each of its cores in a pass; more would only be waited for."""
    on = [cluster(nodes, 32)._replace(disk=disk) for nodes, disk in ((16, 1e9), (64, 1e9), (64, 0))]
    found = [predicted("KRBNvKQN", each) for each in on]
    assert [(each.workers, each.painters) for each in found] == [(15, 15), (15, 58), (15, 15)]
    assert found[1].solving == found[0].solving
