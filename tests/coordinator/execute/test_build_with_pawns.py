"""Facts about builds of materials with pawns: their closure, their bytes, and what resumes."""

from pathlib import Path

import pytest
from building import BOTH_METRICS

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.material import Material

KPVK = Material.parse("KPvK")


def built(out: Path, threads: int = 1) -> bytes:
    """Builds KPvK for both metrics; the bytes of its tables."""
    spec = BuildSpec((KPVK,), BOTH_METRICS)
    build(BuildRequest(spec, out, threads=threads), lambda row: None)
    return b"".join((out / f"KPvK.{metric}.arrow").read_bytes() for metric in BOTH_METRICS)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("pawns")
    built(found)
    return found


def test_promotions_lead_to_the_smaller_tables(directory: Path) -> None:
    tables = {path.name.split(".")[0] for path in directory.glob("*.dtc.arrow")}
    assert tables == {"KPvK", "KQvK", "KRvK", "KBvK", "KNvK"}
    assert not list(directory.glob(".*.build"))


def test_a_position_is_won_by_promoting(directory: Path) -> None:
    with open_tablebase(directory) as tablebase:
        assert tablebase.probe_dtc("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1") == 1
        assert tablebase.probe_wdl("8/8/8/8/8/2k5/2P5/2K5 w - - 0 1") == 0
        assert tablebase.probe_dtm("8/8/8/8/8/1k6/4P3/4K3 w - - 0 1") == 22


def test_bytes_do_not_depend_on_threads_nor_on_what_a_killed_build_left(
    directory: Path, tmp_path: Path
) -> None:
    left = tmp_path / ".KPvK.dtc.build"
    left.mkdir()
    (left / "part.0.1").write_bytes(b"half a table")
    again = built(tmp_path, threads=2)
    assert again == built(directory)
    assert not left.exists()


def test_six_men_with_pawns_are_refused_where_memory_does_not_hold_them(tmp_path: Path) -> None:
    spec = BuildSpec((Material.parse("KRPvKRP"),))
    with pytest.raises(CannotBuild, match=r"K..vKRP needs .* of memory, even slice by slice"):
        build(BuildRequest(spec, tmp_path, memory=1 << 30), lambda row: None)
