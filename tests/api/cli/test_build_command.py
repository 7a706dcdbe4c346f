"""Facts about `kingpair build` and `kingpair estimate`: what they print, build and refuse."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from building import BOTH_METRICS, contents
from terminal import kingpair, said, told

from kingpair.api.cli import watch as watching
from kingpair.api.cli.failures import ExitCode
from kingpair.coordinator.journal.rows import Listener, Row
from kingpair.coordinator.machine.records import PassCommitted
from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers import _kernels
from kingpair.workers.game.xiangqi.material import XiangqiMaterial


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "tables"


def test_a_build_logs_a_line_for_each_material(out: Path) -> None:
    lines = said("build", "krkq", "--out", out).splitlines()
    assert [line.split()[:1] for line in lines if line.startswith(" ")] == [
        ["KQvK"],
        ["KRvK"],
        ["KQvKR"],
    ]
    assert [line for line in lines if line.startswith("wave")] == [
        "wave 1 of 2: 2 materials of 3 men",
        "wave 2 of 2: 1 material of 4 men",
    ]
    assert lines[-1].startswith(f"wrote 3 tables to {out}: ")


def test_tables_that_exist_are_not_built_again(out: Path) -> None:
    said("build", "KRvK", "--out", out)
    before = contents(out)
    assert said("build", "KRvK", "--out", out).startswith("nothing to build: the table is in")
    assert said("build", "KRvKN", "--out", out).startswith("1 table is there already\nwave 1 of 2")
    assert contents(out).items() >= before.items()


def test_men_stands_for_all_materials_of_up_to_so_many(out: Path) -> None:
    said("build", "--men", "3", "--out", out, "--threads", "1", "--level", "v2")
    assert [path.name.split(".")[0] for path in sorted(out.glob("*.arrow"))] == [
        "KBvK",
        "KNvK",
        "KPvK",
        "KQvK",
        "KRvK",
    ]


def test_pawnless_leaves_out_the_materials_with_pawns(out: Path) -> None:
    said("build", "--men", "3", "--pawnless", "--out", out, "--threads", "1")
    assert not (out / "KPvK.dtc.arrow").exists()
    assert len(list(out.glob("*.arrow"))) == 4


def test_five_men_are_145_materials_and_84_without_pawns() -> None:
    every, pawnless = (
        told("estimate", "--men", "5", *more)["materials"] for more in ((), ("--pawnless",))
    )
    assert (len(every), len(pawnless)) == (145, 84)
    assert [each["material"] for each in every if "P" not in each["material"]] == [
        each["material"] for each in pawnless
    ]


def test_six_men_with_pawns_are_estimated_among_nodes() -> None:
    lines = said("estimate", "KPPvKPP").splitlines()
    assert lines[-5].startswith("KPPvKPP: ")
    assert lines[-5].endswith("level after level.")
    assert lines[-4] == "KPPvKPP alone, on nodes like this machine:"
    assert [line.split()[0] for line in lines[-3:]] == ["1", "4", "16"]
    estimated = told("estimate", "KRPvKRP")
    found, nodes = estimated["materials"][-1], estimated["nodes"]["KRPvKRP"]
    assert [each["nodes"] for each in nodes] == [1, 4, 16]
    times, memories = ([each[name] for each in nodes] for name in ("seconds", "memory"))
    assert times == sorted(times, reverse=True)
    assert memories == sorted(memories, reverse=True)
    assert (found["material"], found["structures"], found["levels"]) == ("KRPvKRP", 1128, 11)
    assert found["slots"] == 1128 * 3612 * 64**2


def test_a_wave_with_pawns_says_so(out: Path) -> None:
    lines = said("build", "KPvK", "--out", out).splitlines()
    assert [line for line in lines if line.startswith("wave")] == [
        "wave 1 of 2: 4 materials of 3 men",
        "wave 2 of 2: 1 material of 3 men, 1 pawn",
    ]


def test_a_build_tells_programs_all_that_happens(out: Path) -> None:
    lines = said("build", "KRvK", "--out", out, "--json").splitlines()
    events = [json.loads(line) for line in lines]
    assert events[0] == {"event": "planned", "waves": [["KRvK"]], "present": []}
    assert events[1] == {"event": "started", "material": "KRvK"}
    passes = [event for event in events if event["event"] == "committed"]
    assert [event["depth"] for event in passes] == list(range(len(passes)))
    assert passes[-1]["decided"] == sum(event["won"] + event["lost"] for event in passes)
    last = [event["event"] for event in events[-3:]]
    assert last == ["painting", "published", "verified"]
    assert events[-2]["longest"]["white"]["win"]["moves"] == 16


def test_a_build_of_both_metrics_says_which(tables: Path, out: Path) -> None:
    both = "--metric", "dtc", "--metric", "dtm"
    lines = said("build", "KRvK", "--out", out, *both, "--json").splitlines()
    found = [(event["metric"], event["event"]) for event in map(json.loads, lines)]
    for kind in ("planned", "published"):
        assert [m for m, event in found if event == kind] == ["dtc", "dtm"]
    text = said("build", "KRvK", "--out", out, *both, "--force").splitlines()
    assert text[:2] == ["dtc: moves to mate or conversion", "dtm: moves to mate"]
    assert text[2] == "wave 1 of 1: 2 tables of 3 men"
    assert [line.split()[0] for line in text[3:5]] == ["KRvK.dtc", "KRvK.dtm"]
    assert text[5].startswith("wrote 2 tables to ")


def test_memory_that_the_second_of_two_metrics_lacks_is_refused_before_the_first_begins(
    out: Path,
) -> None:
    material = XiangqiMaterial.parse("xiangqi:KRNvKAAB")
    to_convert, to_mate = (estimate(material, 1, metric).streamed for metric in BOTH_METRICS)
    assert to_convert < to_mate
    cap = ("--memory", f"{(to_convert + to_mate) // 2 >> 20}MiB", "--threads", "1")
    both = "--metric", "dtc", "--metric", "dtm"
    refused = kingpair("build", "xiangqi:KRNvKAAB", "--out", out, *cap, *both)
    assert refused.exit_code == ExitCode.CANNOT
    assert "xiangqi:KRNvKAAB needs" in refused.stderr
    assert not list(out.glob("*.arrow"))


def test_an_interrupted_build_says_what_is_kept_and_goes_on(
    tables: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(watching, "watching", interrupting)
        result = kingpair("build", "KQvKR", "--out", out)
    assert result.exit_code == ExitCode.INTERRUPTED
    assert result.stderr.startswith("kingpair: interrupted: committed passes are kept in")
    assert (out / ".KQvKR.dtc.build").is_dir()
    assert "2 tables are there already" in said("build", "KQvKR", "--out", out)
    for path in out.glob("*.arrow"):
        assert path.read_bytes() == (tables / path.name).read_bytes()


@contextmanager
def interrupting(*_: object) -> Iterator[Listener]:
    def listen(row: Row) -> None:
        record = row.record
        if isinstance(record, PassCommitted) and (record.domain, record.depth) == ("KQvKR.dtc", 9):
            raise KeyboardInterrupt

    yield listen


def test_a_level_can_be_chosen_by_option_or_setting(out: Path) -> None:
    before, listing = _kernels.level(), ("tables", "--tables", out)
    try:
        said("build", "KNvK", "--out", out, "--level", "v2")
        assert _kernels.level() == "v2"
        assert kingpair(*listing, KINGPAIR_LEVEL=before).exit_code == 0
        assert _kernels.level() == before
        assert kingpair("--level", "v2", *listing, KINGPAIR_LEVEL="v9").exit_code == 0
        assert kingpair(*listing, KINGPAIR_LEVEL="v9").exit_code == ExitCode.BAD_INPUT
    finally:
        _kernels.use_level(before)


# Estimate


def test_an_estimate_lists_the_closure() -> None:
    estimate = told("estimate", "KQvKR")
    assert [e["material"] for e in estimate["materials"]] == ["KQvK", "KRvK", "KQvKR"]
    largest = estimate["materials"][-1]
    assert (largest["slots"], largest["bitmap"]) == (462 * 64**2, 462 * 64**2 // 8)
    assert estimate["total"]["memory"] == largest["memory"]
    assert said("estimate", "KQvKR").splitlines()[3].split()[:3] == ["KQvKR", "4", "1,892,352"]


def test_an_estimate_gives_no_time_for_tables_that_are_there(tables: Path) -> None:
    found = told("estimate", "KQvKR", "KQvKQ", "--tables", tables)["materials"]
    assert [e["material"] for e in found if not e["exists"]] == ["KQvKQ"]
    assert [e["material"] for e in found if e["seconds"] != [0, 0]] == ["KQvKQ"]
    lines = said("estimate", "KQvKR", "KQvKQ", "--tables", tables).splitlines()
    assert [line.endswith("is there") for line in lines[1:5]] == [True, True, False, True]
