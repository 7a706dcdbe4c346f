"""Facts about a build: the order of it, what it leaves alone, what it refuses in one line."""

import os
import subprocess
from pathlib import Path

import child
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
    started,
)
from disks import can_mount, files_end_at

from coordinator.build import build
from coordinator.closure import check_nodes, plan_of, subjects
from coordinator.domains import Node, Policy
from coordinator.plan import estimate
from coordinator.request import (
    Committed,
    Event,
    Painting,
    Planned,
    Published,
    Request,
    Started,
    Verified,
)
from workers.errors import CannotBuild, DamagedTable
from workers.material import STRONGER, Material
from workers.metric import Metric
from workers.passlog import Pass
from workers.subject import Subject
from workers.table import Table
from workers.workshop import Library, Tables

KQVKR = Material.parse("KQvKR")


def refused(out: Path, *names: str, memory: int | None = None) -> str:
    """The one line that says why a build is refused."""
    with pytest.raises(CannotBuild) as found:
        built(out, *names, memory=memory)
    assert "\n" not in str(found.value)
    return str(found.value)


def in_a_namespace(script: str, *arguments: str) -> str:
    """What a shell script prints that has mounts of its own, and builds with `"$@"` after $1."""
    line = ["unshare", "-m", "sh", "-ec", script, "sh", *arguments]
    done = subprocess.run(
        line,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=child.environment(),
    )
    assert done.stderr == ""
    return done.stdout


needs_mounts = pytest.mark.skipif(
    not can_mount(), reason="no filesystems were mounted: run the tests as root"
)


# What is built, and in what order


def test_smaller_tables_are_built_first(tmp_path: Path) -> None:
    events = built(tmp_path / "new" / "tables", "KRvKN", "KQvK")
    waves = [[str(subject.material) for subject in wave] for wave in planned(events).waves]
    assert waves == [["KQvK", "KRvK", "KNvK"], ["KRvKN"]]
    assert started(events) == ["KQvK", "KRvK", "KNvK", "KRvKN"]
    names = {path.name for path in (tmp_path / "new" / "tables").iterdir()}
    ends = ("arrow", "passes.json")
    assert names == {f"{name}.dtc.{end}" for name in started(events) for end in ends}


def test_a_material_is_solved_painted_published_and_verified(tmp_path: Path) -> None:
    planned, *events = built(tmp_path, "KQvK")
    assert isinstance(planned, Planned)
    kinds = [type(event) for event in events]
    ends = [Painting, Published, Verified]
    assert kinds == [Started, *[Committed] * (len(events) - 4), *ends]
    passes = [event.passed for event in events if isinstance(event, Committed)]
    assert [passed.depth for passed in passes] == list(range(len(passes)))
    decided = [event.decided for event in events if isinstance(event, Committed)]
    assert decided == [sum(p.won + p.lost for p in passes[: i + 1]) for i in range(len(passes))]


def test_what_is_published_is_what_was_announced(tmp_path: Path) -> None:
    published = built(tmp_path, "KRvK")[-2]
    assert isinstance(published, Published)
    assert published.counts == Table(tmp_path / "KRvK.dtc.arrow").counts
    assert published.bytes == (tmp_path / "KRvK.dtc.arrow").stat().st_size


def test_a_present_table_is_not_built_again(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    events = built(tmp_path, "KQvKR")
    there = tuple(Subject(Material.parse(name), Metric.DTC) for name in ("KQvK", "KRvK", "KQvKR"))
    assert events == [Planned((), there)]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_only_what_is_missing_is_built(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    assert started(built(tmp_path, "KQvKR")) == ["KQvKR"]
    assert files(tmp_path) == finished(tables)


def test_what_rests_on_a_table_that_is_built_is_built_again(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvKR", "KRvK")
    assert started(built(tmp_path, "KQvKR")) == ["KQvK", "KQvKR"]
    assert files(tmp_path) == finished(tables)


def test_what_rests_on_a_table_that_was_replaced_is_built_again(
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
    assert (kinds[0], kinds.count(Planned)) == (Planned, 1)
    wave = ["KQvK.dtc", "KQvK.dtm", "KRvK.dtc", "KRvK.dtm"]
    assert [list(map(str, w)) for w in planned(events).waves] == [wave, ["KQvKR.dtc", "KQvKR.dtm"]]
    assert [str(e.subject) for e in events if isinstance(e, Verified)] == [
        *wave,
        "KQvKR.dtc",
        "KQvKR.dtm",
    ]
    built(tmp_path / "mate", "KQvKR", metrics=(Metric.DTM,))
    assert files(tmp_path / "both") == files(tmp_path / "mate") | finished(tables)


def test_of_two_metrics_only_what_is_missing_is_built(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    events = built(tmp_path, "KRvK", metrics=BOTH_METRICS)
    assert list(map(str, planned(events).present)) == ["KRvK.dtc"]
    assert [str(e.subject) for e in events if isinstance(e, Started)] == ["KRvK.dtm"]


def test_memory_for_one_of_two_metrics_alone_is_refused_before_anything_is_made(
    tmp_path: Path,
) -> None:
    material = Material.parse("KBBvKN")
    to_convert, to_mate = (estimate(material, 2, metric).memory for metric in BOTH_METRICS)
    assert to_convert < to_mate
    with pytest.raises(CannotBuild, match="KBBvKN needs"):
        built(tmp_path / "out", "KBBvKN", memory=to_mate - 1, metrics=BOTH_METRICS)
    assert list(tmp_path.iterdir()) == []


def test_nodes_that_hold_one_of_two_metrics_alone_are_refused(tmp_path: Path) -> None:
    material = Material.parse("KRBvKBN")
    node = Node("a", 1, estimate(material, 1, Metric.DTM).memory - 1)
    for metrics in ((Metric.DTC,), BOTH_METRICS):
        request, library = Request((material,), tmp_path, metrics), Library(tmp_path)
        todo = subjects(request)
        plan = plan_of(request, library, todo, (), Policy(), lambda domain: 0, 1)
        if len(metrics) > 1:
            with pytest.raises(CannotBuild, match=r"KRBvKBN\.dtm needs"):
                check_nodes(plan, [node])
        else:
            check_nodes(plan, [node])


@needs_mounts
def test_room_for_one_of_two_metrics_alone_is_refused_before_anything_is_made(
    tmp_path: Path,
) -> None:
    script = 'out=$1; shift; mount -t tmpfs -o size=320k tmpfs "$out"; "$@" || :; ls -A "$out"'
    one = in_a_namespace(script, str(tmp_path), *child.command(tmp_path, ["KQvKR"]))
    assert one.startswith("Planned\n")
    command = child.command(tmp_path, ["KQvKR"], metrics="dtc,dtm")
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

    def look(event: Event) -> None:
        seen.append((isinstance(event, Published | Verified), path.stat().st_ino == old))

    build(Request((KQVKR,), tmp_path, force=True), look)
    assert {published for published, _ in seen} == {False, True}
    assert all(published != is_old for published, is_old in seen)


def test_force_mends_a_damaged_table(tables: Path, tmp_path: Path) -> None:
    path = copied(tables, tmp_path) / "KQvK.dtc.arrow"
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(DamagedTable, match=r"KQvK\.dtc\.arrow.*kingpair build --force KQvK\)"):
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

    def intrude(event: Event) -> None:
        if isinstance(event, Painting):
            lines.append(refused(tmp_path, "KRvK"))

    build(Request((Material.parse("KQvK"),), tmp_path), intrude)
    assert lines == [f"another build is writing to {tmp_path}; wait for it or choose another --out"]
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
    said = in_a_namespace(script, str(tmp_path), *child.command(tmp_path, ["KQvKR"]))
    assert said == f"CannotBuild: {tmp_path} is not writable; choose another --out\n"
    assert files(tmp_path) == finished(tables, "KQvK")


@needs_mounts
def test_a_filesystem_without_room_is_refused_at_once(tmp_path: Path) -> None:
    script = 'out=$1; shift; mount -t tmpfs -o size=64k tmpfs "$out"; "$@" || :; ls -A "$out"'
    said = in_a_namespace(script, str(tmp_path), *child.command(tmp_path, ["KQvKR"]))
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
    said = in_a_namespace(script, str(tmp_path / "out"), *child.command(tmp_path / "out", CLOSURE))
    (refusal,) = [line for line in said.splitlines() if line.startswith("CannotBuild")]
    assert "No space left on device" in refusal
    assert {"KQvK.dtc.arrow", "KRvK.dtc.arrow"} <= set(said.splitlines())
    assert not any(line.endswith(".partial") for line in said.splitlines())
    assert files(kept) == finished(tables)


def test_a_table_that_contradicts_itself_does_not_stay(tmp_path: Path) -> None:
    # A log that says that nothing is won, as a fault in the kernels might have left it.
    workshop = Tables(tmp_path, "dtc").workshop(Material.parse("KQvK"))
    workshop.begin()
    identity = workshop.identity(STRONGER, {})
    whole = {"workers": 1, "partitions": list(range(462)), "together": 462}
    log = workshop.new_log(workshop.log(STRONGER, incarnation=1, worker=0), identity | whole)
    log.commit(Pass(0, 0, 0, True))
    log.close()
    with pytest.raises(DamagedTable, match=r"KQvK\.dtc\.arrow: row \d+ of column .* is 0 \(draw\)"):
        built(tmp_path, "KQvK")
    assert not (tmp_path / "KQvK.dtc.arrow").exists()


def test_a_build_verifies_what_it_has_made_unless_told_not_to(tmp_path: Path) -> None:
    events: list[Event] = []
    build(Request((KQVKR,), tmp_path), events.append)
    verified = [str(event.subject.material) for event in events if isinstance(event, Verified)]
    assert verified == started(events)
    events.clear()
    build(Request((KQVKR,), tmp_path, force=True, verify=False), events.append)
    assert not [event for event in events if isinstance(event, Verified)]
