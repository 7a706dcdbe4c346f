"""Facts about what is said before a build whose sets do not fit in memory."""

from pathlib import Path

import pytest

from kingpair.api.answers.estimates import json_of, text_of
from kingpair.api.answers.planning import estimated, planned, sets_lines
from kingpair.api.settings import Settings, Size
from kingpair.coordinator.journal.forecast import Pace
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric

KRBVKBN = Material.parse("KRBvKBN")
GIB = 1 << 30
WALKS = (
    "KRBvKBN takes 774.0 MiB: only the sets of a walk are held, both open sets lie on disk; a pass "
    "reads at most 2.7 GiB and writes 1.8 GiB, all of them 1315.6 GiB and 880.7 GiB, 39:18 of a "
    "disk that moves 1 GB/s"
)


def settings_with(tables: Path, memory: int) -> Settings:
    return Settings(tables=tables, threads=2, memory=Size(memory))


def lines_of(tables: Path, memory: int) -> list[str]:
    return list(sets_lines(BuildSpec((KRBVKBN,)), settings_with(tables, memory)))


def test_a_build_says_first_what_its_sets_on_disk_cost(tmp_path: Path) -> None:
    assert lines_of(tmp_path, GIB) == [WALKS]


def test_frontiers_from_the_log_move_no_sets(tmp_path: Path) -> None:
    (line,) = lines_of(tmp_path, 3 * GIB)
    assert line.endswith(": both open sets are held, and frontiers are read from the log")


@pytest.mark.parametrize("memory", [8 * GIB, GIB // 2])
def test_nothing_is_said_of_what_fits_or_cannot_fit(memory: int, tmp_path: Path) -> None:
    assert lines_of(tmp_path, memory) == []


def test_an_estimate_names_the_mode_that_fits(tmp_path: Path) -> None:
    found = estimated([[KRBVKBN]], Metric.DTC, settings_with(tmp_path, GIB), GIB)
    pace = Pace(1.0, 0.0)
    assert f"in 1.0 GiB {WALKS};" in list(text_of(found, pace, GIB))
    (material,) = json_of(found, pace)["materials"]
    needs = estimate(KRBVKBN, 2)
    assert material["sets"] == "walks"
    assert material["fitting_memory"] == needs.streamed < GIB < material["memory"]
    assert material["pass_read_bytes"] == 3 * needs.bitmap
    assert material["pass_written_bytes"] == 2 * needs.bitmap


def test_a_plan_has_the_bytes_that_an_estimate_has(tmp_path: Path) -> None:
    found = estimated([[KRBVKBN]], Metric.DTC, settings_with(tmp_path, GIB), GIB)
    (material,) = json_of(found, Pace(1.0, 0.0))["materials"]
    plan = planned(BuildSpec((KRBVKBN,)), tmp_path, 2, GIB)["materials"][-1]
    moved = "sets", "pass_read_bytes", "pass_written_bytes", "read_bytes", "written_bytes"
    assert [plan[name] for name in moved] == [material[name] for name in moved]
    assert plan["memory_bytes"] == material["fitting_memory"]
