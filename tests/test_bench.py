"""Facts about the bench: what it prints, not how fast anything is."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from terminal import said, told

from api import bench_service
from api.bandwidth import Rate, best_of, copy_bandwidth
from api.bench import run
from api.bench_constants import (
    FIVE_MEN,
    FOUR_MEN,
    SIX_MEN,
    Watched,
    of_a_cluster,
    of_five_men,
    of_two_workers,
)
from api.bench_figures import Figure, peak_of, run_to_end
from api.bench_streams import some_fens
from coordinator.course import occupied, placed
from coordinator.model import Constants, smaller_slots
from coordinator.request import Committed, Painting, Published, Verified, Work
from workers.domain import domain_of
from workers.errors import CannotBuild
from workers.fen import parse_fen
from workers.material import Material
from workers.metric import Metric
from workers.passlog import Pass
from workers.position import material_of
from workers.subject import Subject


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


def test_what_is_done_before_each_run_is_not_timed() -> None:
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
def test_everything_measured_is_in_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    run(json=True, quick=True)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
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


def test_the_constants_are_found_in_passes_that_keep_to_them() -> None:
    wanted = Constants(partition=1e-5, near=3e-7)
    units, subject = 462 * 64**3 / 512, Subject(FIVE_MEN, Metric.DTC)
    passes = [
        Committed(subject, 0, Pass(depth, won, 0, False), 0, seconds)
        for depth, won in enumerate((0, 10, 1000, 100_000, 10_000_000))
        for share in [won / domain_of(FIVE_MEN).placements() * placed(5)]
        for seconds in [462 * wanted.partition + units * occupied(share) * wanted.near]
    ]
    rest = (Painting(subject), Published(subject, 1, 1.0, {}), Verified(subject, 1.0))
    found = of_five_men(Watched(FIVE_MEN, tuple(enumerate((*passes, *rest)))))
    assert (found.partition, found.near) == pytest.approx((wanted.partition, wanted.near))
    assert found.unit == wanted.unit


def test_what_two_workers_do_beyond_one_is_to_read_and_to_take_in() -> None:
    wanted = Constants(take=5e-9)
    passed = Pass(1, 1, 1, True)
    committed = Committed(Subject(SIX_MEN, Metric.DTC), 0, passed, 2, 1.0, exchanged=3_000_000_000)
    more = 3e9 * wanted.take + smaller_slots(SIX_MEN) * wanted.exit
    alone, together = Watched(SIX_MEN, (), 120.0), Watched(SIX_MEN, ((0, committed),), 120.0 + more)
    assert of_two_workers(alone, together, Constants()).take == pytest.approx(wanted.take)


def test_what_is_waited_in_a_pass_is_told_from_what_is_done() -> None:
    def seen(workers: int, waited: float) -> Watched:
        work = tuple(Work(0.1 * (w + 1), 0) for w in range(workers))
        seconds = max(w.seconds for w in work) + waited
        passes = [
            Committed(Subject(FOUR_MEN, Metric.DTC), 0, Pass(n, 1, 1, False), 2, seconds, work=work)
            for n in range(1, 5)
        ]
        return Watched(FOUR_MEN, tuple(enumerate(passes)))

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
