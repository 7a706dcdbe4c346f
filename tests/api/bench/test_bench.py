"""Facts about the bench: what it prints, not how fast anything is."""

import json
import sys
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from terminal import said, told

from kingpair.api.bench import reach
from kingpair.api.bench import service as bench_service
from kingpair.api.bench.bandwidth import Rate, best_of, copy_bandwidth
from kingpair.api.bench.constants import (
    FIVE_MEN,
    FOUR_MEN,
    SIX_MEN,
    RecordedBuild,
    of_a_cluster,
    of_five_men,
    of_two_workers,
)
from kingpair.api.bench.figures import Figure, peak_of, run_to_end
from kingpair.api.bench.report import measured as measured_here
from kingpair.api.bench.streams import some_fens
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import (
    Assigned,
    PaintingBegan,
    PassCommitted,
    Record,
    TablePublished,
    TableVerified,
    WavesPlanned,
)
from kingpair.coordinator.plan.cluster import Constants
from kingpair.coordinator.plan.domain_work import smaller_slots
from kingpair.coordinator.plan.pass_statistics import occupied, placed
from kingpair.coordinator.plan.sharing import Sharing
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.position import material_of
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import Depth
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.table.key import TableKey


def test_a_time_must_not_exceed_its_target() -> None:
    assert Figure("build", 1.0, "s", 1.0).met
    assert not Figure("build", 1.1, "s", 1.0).met


def test_a_rate_must_not_fall_below_its_target() -> None:
    assert Figure("batch", 1.1, "M/s", 1.0, is_rate=True).met
    assert not Figure("batch", 0.9, "M/s", 1.0, is_rate=True).met


def test_the_bandwidth_is_bytes_by_time() -> None:
    assert Rate("win", "dense", 1, touched=300, seconds=0.5).bandwidth == 600


@pytest.mark.slow
def test_the_speed_of_copying_is_measured() -> None:
    assert copy_bandwidth(1, repeats=1) > 0


def test_preparations_of_each_run_are_not_timed() -> None:
    done: list[str] = []
    best_of(2, lambda: done.append("run"), lambda: done.append("before"))
    assert done == ["before", "run", "before", "run"]


def test_the_memory_of_a_process_is_its_own() -> None:
    held = b"1" * (200 << 20)
    small = peak_of([sys.executable, "-c", ""])
    assert small < len(held)
    assert peak_of([sys.executable, "-c", "b'1' * (200 << 20)"]) > len(held)


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(CannotBuild, match="no room"):
        run_to_end([sys.executable, "-c", "raise SystemExit('no room')"])


def test_positions_to_read_are_legal_and_the_same_every_time() -> None:
    material = Material.parse("KQvKR")
    fens = some_fens(material, 200)
    assert fens == some_fens(material, 200)
    assert {material_of(parse_fen(fen))[0] for fen in fens} == {material}


@pytest.mark.slow
def test_everything_measured_is_in_one_object() -> None:
    found: dict[str, Any] = json.loads(json.dumps(measured_here(quick=True, full=False)))
    measured = {(rate["kernel"], rate["state"]) for rate in found["kernels"]}
    assert {("win", "dense"), ("win", "sparse"), ("lose", "sparse"), ("pack", "dense")} <= measured
    assert all(rate["share_of_copy"] > 0 for rate in found["kernels"])
    assert {"name", "value", "unit", "target", "target_is", "met"} == set(found["figures"][0])
    assert len(found["signature"]["value"]) == 64


@pytest.mark.slow
def test_the_model_reads_the_constants_that_are_measured(tmp_path: Path) -> None:
    (tmp_path / "here.json").write_text(said("bench", "--constants", "--json"))
    here = told("model", "KBBvKN", "--nodes", "1", "--constants", tmp_path / "here.json")
    assert here[0]["seconds"] != told("model", "KBBvKN", "--nodes", "1")[0]["seconds"]


def watched(
    material: Material, passes: Sequence[PassCommitted], seconds: Sequence[float]
) -> RecordedBuild:
    """A build with these passes, each of which took so long."""
    domain, times = str(TableKey(material, Metric.DTC)), [0.0, *accumulate(seconds)]
    begin: list[Record] = [
        WavesPlanned(((domain,),), (), ()),
        Assigned(domain, 1, (("node0", 462),), 0),
    ]
    ends: list[Record] = [
        PaintingBegan(domain),
        TablePublished(domain, 1, ""),
        TableVerified(domain),
    ]
    records: list[tuple[float, Record]] = [(0.0, each) for each in begin]
    records += zip(times[1:], passes, strict=True)
    records += [(times[-1] + after, each) for after, each in enumerate(ends)]
    rows = [Row(i, "build", 0, at, record) for i, (at, record) in enumerate(records, 1)]
    return RecordedBuild(material, tuple(rows))


def committed(
    material: Material, depth: int, won: int, exchanged: int = 0, seconds: float = 0.0
) -> PassCommitted:
    domain = str(TableKey(material, Metric.DTC))
    return PassCommitted(domain, 0, Depth(depth), 1, (won,), (0,), exchanged, False, seconds)


def test_the_constants_are_found_in_passes_that_keep_to_them() -> None:
    wanted, units = Constants(partition=1e-5, near=3e-7), 462 * 64**3 / 512
    found_by = (0, 10, 1000, 100_000, 10_000_000)
    shares = [won / domain_of(FIVE_MEN).placements() * placed(5) for won in found_by]
    seconds = [462 * wanted.partition + units * occupied(s) * wanted.near for s in shares]
    passes = [committed(FIVE_MEN, depth, won) for depth, won in enumerate(found_by)]
    found = of_five_men(watched(FIVE_MEN, passes, seconds))
    assert (found.partition, found.near) == pytest.approx((wanted.partition, wanted.near))
    assert found.unit == wanted.unit


def test_the_work_of_two_workers_beyond_one_is_reading_and_taking_in() -> None:
    wanted = Constants(take=5e-9)
    passes = [committed(SIX_MEN, 1, 1, exchanged=3_000_000_000)]
    again = sum(own + around for own, around in Sharing.of(2).each) / len(TURNED) - 1
    more = 3e9 * wanted.take + again * smaller_slots(SIX_MEN) * wanted.exit
    alone = RecordedBuild(SIX_MEN, (), 120.0)
    together = watched(SIX_MEN, passes, [1.0])._replace(work=120.0 + more)
    assert of_two_workers(alone, together, Constants()).take == pytest.approx(wanted.take)


def test_waiting_in_a_pass_is_measured_apart_from_work() -> None:
    def seen(workers: int, waited: float) -> RecordedBuild:
        steps = 0.1 * workers
        passes = [committed(FOUR_MEN, n, 1, seconds=steps) for n in range(1, 5)]
        return watched(FOUR_MEN, passes, [steps + waited] * 4)

    found = of_a_cluster(seen(1, 0.006), seen(2, 0.010), Constants())
    assert (found.step, found.worker) == pytest.approx((0.001, 0.002))


@pytest.mark.slow
def test_fifty_watchers_leave_nothing_open() -> None:
    found = {
        figure.name: figure for figure in bench_service.figures(0.05, probed="KQvKR", again="KRvKR")
    }
    assert found["50 watchers: files left open"].met
    assert found["50 watchers: threads left"].met
    assert found["50 watchers: memory grown by"].met
    assert found["probes over HTTP, warm, one process"].value > 0
    assert found["a pass, from commit to reader, worst"].value > 0


@pytest.mark.slow
def test_a_service_is_measured_beside_its_warm_probes(tables: Path) -> None:
    found = {figure.name: figure for figure in reach.figures(tables)}
    assert min(figure.value for figure in found.values()) > 0
    assert found["mainlines of the longest win / warm probes"].met
    assert found["positions of a batch / warm probes"].met
    assert found["the page, everything over the wire"].met
