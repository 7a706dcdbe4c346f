"""Facts about a build: the order of it, what it leaves alone, what it refuses in one line."""

import os
from pathlib import Path

import killable_build
import pytest
from building import (
    BOTH_METRICS,
    CLOSURE,
    built,
    copied,
    files,
    finished,
    planned,
    replace,
    settled,
    started,
)
from full_disks import files_end_at, in_a_namespace, needs_mounts

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.planning import plan_of, sorted_tables
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.execute.room import check_nodes
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import (
    Assigned,
    PaintingBegan,
    PartWritten,
    PassCommitted,
    TablePublished,
    TableVerified,
    WavesPlanned,
)
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.domains import Node, Policy
from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers.errors import CannotBuild, DamagedTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.xiangqi.material import XiangqiMaterial
from kingpair.workers.number_types import STRONGER, Depth
from kingpair.workers.passlog.log import PassResult
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore

KQVKR = Material.parse("KQvKR")


def refused(out: Path, *names: str, memory: int | None = None) -> str:
    """The one line that says why a build is refused."""
    with pytest.raises(CannotBuild) as found:
        built(out, *names, memory=memory)
    assert "\n" not in str(found.value)
    return str(found.value)


# What is built, and in what order


def test_smaller_tables_are_built_first(tmp_path: Path) -> None:
    events = built(tmp_path / "new" / "tables", "KRvKN", "KQvK")
    waves = [[domain.split(".")[0] for domain in wave] for wave in planned(events).waves]
    assert waves == [["KQvK", "KRvK", "KNvK"], ["KRvKN"]]
    assert started(events) == ["KQvK", "KRvK", "KNvK", "KRvKN"]
    names = {path.name for path in (tmp_path / "new" / "tables").iterdir()}
    ends = ("arrow", "passes.json", "proof.json")
    assert names == {f"{name}.dtc.{end}" for name in started(events) for end in ends}


def test_a_material_is_solved_painted_published_and_verified(tmp_path: Path) -> None:
    planned, *events = built(tmp_path, "KQvK")
    assert isinstance(planned, WavesPlanned)
    kinds = [type(event) for event in events]
    ends = [PaintingBegan, PartWritten, TablePublished, TableVerified]
    assert kinds == [Assigned, *[PassCommitted] * (len(events) - 5), *ends]
    passes = [event for event in events if isinstance(event, PassCommitted)]
    assert [each.depth for each in passes] == list(range(len(passes)))
    assert [each.over for each in passes] == [False] * (len(passes) - 1) + [True]


def test_the_record_of_a_table_has_its_digest_and_size(tmp_path: Path) -> None:
    published = built(tmp_path, "KRvK")[-2]
    assert isinstance(published, TablePublished)
    assert published.digest == Table(tmp_path / "KRvK.dtc.arrow").digest
    assert published.bytes == (tmp_path / "KRvK.dtc.arrow").stat().st_size


def test_a_present_table_is_not_built_again(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    events = built(tmp_path, "KQvKR")
    assert events == [WavesPlanned((), ("KQvK.dtc", "KRvK.dtc", "KQvKR.dtc"), ())]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_only_what_is_missing_is_built(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    assert started(built(tmp_path, "KQvKR")) == ["KQvKR"]
    assert files(tmp_path) == finished(tables)


def test_a_table_is_built_again_after_a_smaller_one_is_built(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvKR", "KRvK")
    assert started(built(tmp_path, "KQvKR")) == ["KQvK", "KQvKR"]
    assert files(tmp_path) == finished(tables)


def test_a_table_is_built_again_after_a_smaller_one_was_replaced(
    tables: Path, tmp_path: Path
) -> None:
    copied(tables, tmp_path)
    digest = replace(tmp_path / "KQvK.dtc.arrow", {"other": "counts"})
    assert started(built(tmp_path, "KQvKR")) == ["KQvKR"]
    assert Table(tmp_path / "KQvKR.dtc.arrow").smaller["KQvK"] == digest
    assert started(built(tmp_path, "KQvKR")) == []


@pytest.mark.slow
def test_a_replaced_table_is_felt_two_waves_up(tmp_path: Path) -> None:
    built(tmp_path, "KNNNvK")
    replace(tmp_path / "KNvK.dtc.arrow", {"other": "counts"})
    assert started(built(tmp_path, "KNNNvK")) == ["KNNvK", "KNNNvK"]
    smaller = Table(tmp_path / "KNNNvK.dtc.arrow").smaller
    assert smaller == {"KNNvK": Table(tmp_path / "KNNvK.dtc.arrow").digest}
    assert started(built(tmp_path, "KNNNvK")) == []


# Several metrics


def test_a_build_for_two_metrics_has_one_plan_and_leaves_both_tables(
    tables: Path, tmp_path: Path
) -> None:
    events = built(tmp_path / "both", "KQvKR", metrics=BOTH_METRICS)
    kinds = [type(event) for event in events]
    assert (kinds[0], kinds.count(WavesPlanned)) == (WavesPlanned, 1)
    wave = ["KQvK.dtc", "KQvK.dtm", "KRvK.dtc", "KRvK.dtm"]
    assert [list(wave) for wave in planned(events).waves] == [wave, ["KQvKR.dtc", "KQvKR.dtm"]]
    assert [e.domain for e in events if isinstance(e, TableVerified)] == [
        *wave,
        "KQvKR.dtc",
        "KQvKR.dtm",
    ]
    built(tmp_path / "mate", "KQvKR", metrics=(Metric.DTM,))
    assert files(tmp_path / "both") == files(tmp_path / "mate") | finished(tables)


def test_of_two_metrics_only_what_is_missing_is_built(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    events = built(tmp_path, "KRvK", metrics=BOTH_METRICS)
    assert list(planned(events).present) == ["KRvK.dtc"]
    assert [e.domain for e in events if isinstance(e, Assigned)] == ["KRvK.dtm"]


def test_memory_for_one_of_two_metrics_alone_is_refused_before_anything_is_made(
    tmp_path: Path,
) -> None:
    material = XiangqiMaterial.parse("xiangqi:KRNvKAAB")
    to_convert, to_mate = (estimate(material, 1, metric).streamed for metric in BOTH_METRICS)
    assert to_convert < to_mate
    request = BuildRequest(
        BuildSpec((material,), BOTH_METRICS), tmp_path / "out", memory=to_mate - 1
    )
    with pytest.raises(CannotBuild, match="xiangqi:KRNvKAAB needs"):
        build(request, lambda row: None)
    assert list(tmp_path.iterdir()) == []


def test_nodes_that_hold_one_of_two_metrics_alone_are_refused(tmp_path: Path) -> None:
    material = Material.parse("KRBvKBN")
    node = Node("a", 1, estimate(material, 1, Metric.DTM).memory - 1)
    for metrics in ((Metric.DTC,), BOTH_METRICS):
        request = BuildRequest(BuildSpec((material,), metrics), tmp_path)
        tables = TableStore(tmp_path)
        plan = plan_of(request, tables, sorted_tables(request.spec, tables), Policy(), cores=1)
        if len(metrics) > 1:
            with pytest.raises(CannotBuild, match=r"KRBvKBN\.dtm needs"):
                check_nodes(plan, [node])
        else:
            check_nodes(plan, [node])


def test_as_many_nodes_paint_a_table_as_solve_it(tmp_path: Path) -> None:
    def parts(
        name: str, nodes: int, spread: int | None = None, cores: int = 2, memory: int = 64 << 30
    ) -> int:
        request = BuildRequest(BuildSpec((Material.parse(name),), spread=spread), tmp_path)
        tables = TableStore(tmp_path)
        found = sorted_tables(request.spec, tables)
        there = [Node(f"node{number}", cores, memory) for number in range(nodes)]
        plan = plan_of(request, tables, found, Policy(), cores=1, nodes=there)
        (domain,) = (each for each in plan.domains if each.name == f"{name}.dtc")
        return -(-462 // domain.together)

    assert parts("KRBvKBN", 1) == parts("KRBvKR", 16) == 1
    assert parts("KRBvKBN", 16) >= 15
    assert parts("KRBvKBN", 16, cores=32) == 1
    assert parts("KRBvKBN", 16, cores=32, memory=4 << 30) > 1
    assert parts("KRBvKR", 16, spread=4) >= 4


@needs_mounts
def test_room_for_one_of_two_metrics_alone_is_refused_before_anything_is_made(
    tmp_path: Path,
) -> None:
    script = 'out=$1; shift; mount -t tmpfs -o size=320k tmpfs "$out"; "$@" || :; ls -A "$out"'
    one = in_a_namespace(script, str(tmp_path), *killable_build.command(tmp_path, ["KQvKR"]))
    assert one.startswith("WavesPlanned\n")
    command = killable_build.command(tmp_path, ["KQvKR"], metrics="dtc,dtm")
    both = in_a_namespace(script, str(tmp_path), *command)
    assert both.startswith(f"CannotBuild: {tmp_path} has 320.0 KiB free, the build takes about")
    assert both.count("\n") == 1


# --force


def test_force_builds_what_is_named_and_nothing_below(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path)
    assert started(built(tmp_path, "KQvKR", force=True)) == ["KQvKR"]
    assert files(tmp_path) == finished(tables)


def test_force_keeps_the_old_table_until_the_new_one_is_there(tables: Path, tmp_path: Path) -> None:
    path = copied(tables, tmp_path) / "KQvKR.dtc.arrow"
    old, seen = path.stat().st_ino, []
    # A name for the old file, so that its number is not given to the new one.
    os.link(path, tmp_path / "old")

    def look(row: Row) -> None:
        if settled([row]):
            published = isinstance(row.record, TablePublished | TableVerified)
            seen.append((published, path.stat().st_ino == old))

    build(BuildRequest(BuildSpec((KQVKR,), force=True), tmp_path), look)
    assert {published for published, _ in seen} == {False, True}
    assert all(published != is_old for published, is_old in seen)


def test_force_mends_a_damaged_table(tables: Path, tmp_path: Path) -> None:
    path = copied(tables, tmp_path) / "KQvK.dtc.arrow"
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(
        DamagedTable, match=r"KQvK\.dtc\.arrow.*kingpair build --force KQvK --tables .*\)"
    ):
        built(tmp_path, "KQvKR")
    assert path.stat().st_size == 5000
    built(tmp_path, "KQvK", force=True)
    assert files(tmp_path) == finished(tables)


def test_a_damaged_block_below_is_named_and_not_built_upon(tables: Path, tmp_path: Path) -> None:
    path = copied(tables, tmp_path, "KQvK", "KRvK") / "KQvK.dtc.arrow"
    data = bytearray(path.read_bytes())
    for at in (len(data) // 3, len(data) * 3 // 4):  # of either column
        data[at] ^= 255
    path.write_bytes(data)
    with pytest.raises(DamagedTable, match=r"KQvK\.dtc\.arrow: block 0 of column"):
        built(tmp_path, "KQvKR")
    assert not (tmp_path / "KQvKR.dtc.arrow").exists()


# Refusals


def test_a_second_build_in_one_directory_is_refused(tables: Path, tmp_path: Path) -> None:
    lines: list[str] = []

    def intrude(row: Row) -> None:
        if isinstance(row.record, PaintingBegan):
            lines.append(refused(tmp_path, "KRvK"))

    build(BuildRequest(BuildSpec((Material.parse("KQvK"),)), tmp_path), intrude)
    assert lines == [
        f"another build is writing to {tmp_path}; wait for it or choose another --tables"
    ]
    assert files(tmp_path) == finished(tables, "KQvK")


def test_a_memory_cap_that_is_too_small_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    line = refused(tmp_path / "new" / "tables", "KQvKR", memory=1 << 20)
    assert "KQvKR needs" in line or "KQvK needs" in line
    assert "1.0 MiB is the cap given by --memory" in line
    assert list(tmp_path.iterdir()) == []


def test_a_memory_cap_leaves_what_was_there(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvK")
    refused(tmp_path, "KQvKR", memory=1 << 20)
    assert files(tmp_path) == finished(tables, "KQvK")
    assert started(built(tmp_path, "KQvK", memory=1 << 20)) == []


@pytest.mark.parametrize("out", ["a file", "a file/below"])
def test_a_directory_that_cannot_be_is_refused(tmp_path: Path, out: str) -> None:
    (tmp_path / "a file").write_text("not a directory")
    assert f"cannot make {tmp_path / out}" in refused(tmp_path / out, "KQvK")
    assert files(tmp_path) == {"a file": b"not a directory"}


@pytest.mark.parametrize("room", [0, 100, 5000, 600000])
def test_a_full_disk_is_refused_in_one_line_and_gone_on_from(
    tables: Path, tmp_path: Path, room: int
) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    with files_end_at(room):
        line = refused(tmp_path, "KQvKR")
    assert f"cannot write {tmp_path}" in line or "cannot write the pass log" in line
    # The logs are kept, the tables that were there too, and no half of a table.
    left = {name: data for name, data in files(tmp_path).items() if ".build/" not in name}
    assert left == finished(tables, "KQvK", "KRvK")
    built(tmp_path, "KQvKR")
    assert files(tmp_path) == finished(tables)


@needs_mounts
def test_a_directory_that_is_not_writable_is_refused(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvK")
    script = 'out=$1; shift; mount --bind "$out" "$out"; mount -o remount,bind,ro "$out"; "$@" || :'
    said = in_a_namespace(script, str(tmp_path), *killable_build.command(tmp_path, ["KQvKR"]))
    assert said == f"CannotBuild: {tmp_path} is not writable; choose another --tables\n"
    assert files(tmp_path) == finished(tables, "KQvK")


@needs_mounts
def test_a_filesystem_without_room_is_refused_at_once(tmp_path: Path) -> None:
    script = 'out=$1; shift; mount -t tmpfs -o size=64k tmpfs "$out"; "$@" || :; ls -A "$out"'
    said = in_a_namespace(script, str(tmp_path), *killable_build.command(tmp_path, ["KQvKR"]))
    assert said.startswith(f"CannotBuild: {tmp_path} has 64.0 KiB free, the build takes about")
    assert said.count("\n") == 1


@needs_mounts
def test_a_filesystem_that_fills_up_can_be_given_room(tables: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    script = f"""
        out=$1; shift; mount -t tmpfs -o size=700k tmpfs "$out"
        "$@" || ls -A "$out"; mount -o remount,size=8m "$out"
        "$@" >/dev/null; cp -R "$out/." {kept}
    """
    (tmp_path / "out").mkdir()
    said = in_a_namespace(
        script, str(tmp_path / "out"), *killable_build.command(tmp_path / "out", CLOSURE)
    )
    (refusal,) = [line for line in said.splitlines() if line.startswith("UnusableDisk")]
    assert "No space left on device" in refusal
    assert {"KQvK.dtc.arrow", "KRvK.dtc.arrow"} <= set(said.splitlines())
    assert not any(line.endswith(".partial") for line in said.splitlines())
    assert files(kept) == finished(tables)


def test_a_table_that_contradicts_itself_does_not_stay(tmp_path: Path) -> None:
    # A log that says that nothing is won, as a fault in the kernels might have left it.
    workshop = TableStore(tmp_path).build_folder(TableKey.parse("KQvK.dtc"))
    workshop.create()
    identity = workshop.log_identity(STRONGER, {})
    whole = {"workers": 1, "partitions": list(range(462)), "together": 462}
    log = workshop.new_log(workshop.log_name(STRONGER, incarnation=1, worker=0), identity | whole)
    log.commit(PassResult(Depth(0), 0, 0, True))
    log.close()
    with pytest.raises(DamagedTable, match=r"KQvK\.dtc\.arrow: row \d+ of column .* is 0 \(draw\)"):
        built(tmp_path, "KQvK")
    assert not (tmp_path / "KQvK.dtc.arrow").exists()


def test_a_build_verifies_what_it_has_made_unless_told_not_to(tmp_path: Path) -> None:
    rows: list[Row] = []
    build(BuildRequest(BuildSpec((KQVKR,)), tmp_path), rows.append)
    records = settled(rows)
    verified = [each.domain for each in records if isinstance(each, TableVerified)]
    assert [domain.split(".")[0] for domain in verified] == started(records)
    rows.clear()
    build(BuildRequest(BuildSpec((KQVKR,), force=True, verify=False), tmp_path), rows.append)
    assert not [row for row in rows if isinstance(row.record, TableVerified)]
