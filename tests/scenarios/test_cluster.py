"""Facts about builds on a real Ray cluster: the bytes are the same after any death on the way."""

import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from building import BOTH_METRICS, built
from ray_clusters import (
    NAMESPACE,
    can_cluster,
    happened,
    lines_of,
    needs_cluster,
    on_loopback,
    tables_of,
    wanted,
)

from kingpair.coordinator.execute.recorder import JOURNAL
from kingpair.coordinator.journal.database import Journal
from kingpair.coordinator.machine.records import (
    Assigned,
    Record,
    TableVerified,
    WavesPlanned,
)
from kingpair.workers.game.metric import Metric

HARMS = (
    *(("kill", kind) for kind in ("Prepare", "LoseAtOnce", "Win", "Lose", "Seal")),
    ("all", "Paint"),
    ("all", "Publish"),
    ("all", "Verify"),
    ("two", "Win"),
    ("stop", "Win"),
    ("stop", "Lose"),
)


def clustered(
    home: Path,
    out: Path,
    workers: int,
    *harms: str,
    status: int = 0,
    domain: str = "KQvKR.dtc",
    **settings: str,
) -> dict[str, str]:
    """Returns what was noticed in each build, without Ray's own lines."""
    words = str(out), str(workers), domain, *harms
    lines = lines_of(home, "harmed_cluster.py", *words, status=status, settings=settings)
    built = [line.split() for line in lines if line.startswith("built ")]
    return {name: noticed for _, name, noticed, _ in built}


@needs_cluster
@pytest.mark.slow
def test_actors_make_the_same_bytes_as_threads(tables: Path, tmp_path: Path) -> None:
    assert clustered(tmp_path, tmp_path / "out", 2) == {"none": "nothing"}
    assert tables_of(tmp_path / "out" / "none") == wanted(tables)
    left = {path.name for path in (tmp_path / "out" / "none").iterdir()} - set(wanted(tables))
    ends = ("passes.json", "proof.json")
    notes = {name.replace("arrow", end) for name in wanted(tables) for end in ends}
    assert all(name.startswith(".kingpair.journal") for name in left - notes)


@needs_cluster
@pytest.mark.slow
def test_two_metrics_are_one_build_side_by_side(tables: Path, tmp_path: Path) -> None:
    built(tmp_path / "here", "KQvKR", metrics=BOTH_METRICS)
    out = tmp_path / "out"
    words = ("build", "KQvKR", "--out", str(out), "--cluster", "local", "--workers", "2")
    both = ("--metric", "dtc", "--metric", "dtm")
    done = on_loopback(tmp_path, sys.executable, "-m", "kingpair", *words, *both)
    assert done.returncode == 0, done.stderr[-3000:]
    assert tables_of(out) == tables_of(tmp_path / "here")
    with Journal(out / JOURNAL) as journal:
        (submitted,) = journal.builds()
        records = [entry.record for entry in journal.history(submitted.name)]
    assert sum(isinstance(record, WavesPlanned) for record in records) == 1
    begun = next(i for i, r in enumerate(records) if _is(r, Assigned, "KQvK.dtm"))
    ended = next(i for i, r in enumerate(records) if _is(r, TableVerified, "KQvK.dtc"))
    assert begun < ended


@needs_cluster
@pytest.mark.slow
def test_levels_to_zeroing_and_their_syzygy_files_have_the_same_bytes(tmp_path: Path) -> None:
    words = ("build", "KPvK", "--syzygy", "--threads", "2", "--out")
    cluster = "--cluster", "local", "--workers", "2"
    for name, more in (("here", ()), ("out", cluster)):
        command = sys.executable, "-m", "kingpair", *words, str(tmp_path / name), *more
        done = on_loopback(tmp_path, *command)
        assert done.returncode == 0, done.stderr[-3000:]
    assert tables_of(tmp_path / "out") == tables_of(tmp_path / "here")
    assert len(list((tmp_path / "out" / "syzygy").iterdir())) == 10
    assert _files_are_equal(tmp_path)


@needs_cluster
@pytest.mark.slow
def test_files_that_tables_lack_are_written_on_a_cluster(tmp_path: Path) -> None:
    here, out = tmp_path / "here", tmp_path / "out"
    words = "build", "KPvK", "--metric", "dtz", "--threads", "2", "--out"
    cluster = "--cluster", "local", "--workers", "2"
    for directory, more in ((here, ("--syzygy",)), (out, ()), (out, ("--syzygy", *cluster))):
        command = sys.executable, "-m", "kingpair", *words, str(directory), *more
        done = on_loopback(tmp_path, *command)
        assert done.returncode == 0, done.stderr[-3000:]
    assert "5 tables are there already, 5 without Syzygy files" in done.stdout
    assert "wrote the Syzygy files of 5 tables" in done.stdout
    assert _files_are_equal(tmp_path)


def _files_are_equal(tmp_path: Path) -> bool:
    """Whether both directories have the same Syzygy files."""
    found = [
        {path.name: path.read_bytes() for path in (tmp_path / name / "syzygy").iterdir()}
        for name in ("here", "out")
    ]
    return found[0] == found[1] != {}


def _is(record: Record, kind: type[Assigned | TableVerified], domain: str) -> bool:
    return isinstance(record, kind) and record.domain == domain


@needs_cluster
@pytest.mark.slow
def test_workers_that_keep_sets_on_disk_die_and_do_not_change_the_bytes(
    tables: Path, tmp_path: Path
) -> None:
    out, harms = tmp_path / "out", ("kill", "Prepare", "kill", "Lose", "all", "Win", "all", "Paint")
    seen = clustered(tmp_path, out, 2, *harms, HELD="0")
    assert list(seen) == ["kill.Prepare", "kill.Lose", "all.Win", "all.Paint"]
    for name, noticed in seen.items():
        assert "death" in noticed, name
        assert tables_of(out / name) == wanted(tables), name
        with Journal(out / name / JOURNAL) as journal:
            (submitted,) = journal.builds()
            records = [entry.record for entry in journal.history(submitted.name)]
        teams = [r for r in records if isinstance(r, Assigned) and r.domain == "KQvKR.dtc"]
        assert {len(team.shares) for team in teams} == {2}


@needs_cluster
@pytest.mark.slow
def test_dead_and_paused_workers_do_not_change_the_bytes(tables: Path, tmp_path: Path) -> None:
    asked = [word for harm in HARMS for word in harm]
    seen = clustered(tmp_path, tmp_path / "out", 3, *asked)
    assert list(seen) == [f"{harm}.{kind}" for harm, kind in HARMS]
    for name, noticed in seen.items():
        assert noticed != "nothing", f"{name}: nobody was harmed"
        assert ("silence" in noticed) == name.startswith("stop")
        assert tables_of(tmp_path / "out" / name) == wanted(tables), name


@needs_cluster
@pytest.mark.slow
def test_levels_and_slices_have_workers_whose_deaths_do_not_change_the_bytes(
    tmp_path: Path,
) -> None:
    built(tmp_path / "here", "KPvK")
    out = tmp_path / "out"
    seen = clustered(tmp_path, out, 2, "kill", "Win", "two", "Lose", domain="KPvK.dtc.level4")
    assert list(seen) == ["kill.Win", "two.Lose"]
    # With as little memory as can be, a slice is a structure.
    seen |= clustered(tmp_path, out, 2, "kill", "Paint", domain="KPvK.dtc.level4.1-2", HELD="0")
    seen |= clustered(tmp_path, out, 2, "kill", "Verify", domain="KPvK.dtc")
    for name, noticed in seen.items():
        assert noticed == "death", name
        assert tables_of(out / name) == tables_of(tmp_path / "here"), name


@needs_cluster
@pytest.mark.slow
def test_chinese_chess_has_workers_whose_deaths_do_not_change_the_bytes(tmp_path: Path) -> None:
    built(tmp_path / "here", "xiangqi:KCPvKA", metrics=(Metric.DTM,))
    asked = "kill", "Win", "kill", "Paint"
    out = tmp_path / "out"
    assert list(clustered(tmp_path, out, 1, domain="xiangqi:KCPvKA.dtm")) == ["none"]
    seen = clustered(tmp_path, out, 2, *asked, domain="xiangqi:KCPvKA.dtm")
    assert list(seen) == ["kill.Win", "kill.Paint"]
    assert set(seen.values()) == {"death"}
    for name in ("none", *seen):
        assert tables_of(out / name) == tables_of(tmp_path / "here"), name


@needs_cluster
@pytest.mark.slow
def test_chinese_chess_goes_on_after_its_coordinator_was_killed(tmp_path: Path) -> None:
    built(tmp_path / "here", "xiangqi:KCPvKA", metrics=(Metric.DTM,))
    out, domain = tmp_path / "out", "xiangqi:KCPvKA.dtm"
    killed = 128 + signal.SIGKILL
    assert clustered(tmp_path, out, 2, "end", "Lose", status=killed, domain=domain) == {}
    assert clustered(tmp_path, out, 1, domain=domain) == {"none": "nothing"}
    assert tables_of(out / "none") == tables_of(tmp_path / "here")


@needs_cluster
@pytest.mark.slow
@pytest.mark.parametrize("task", ["Lose", "Verify"])
def test_a_coordinator_that_is_killed_goes_on_with_its_build(
    tables: Path, tmp_path: Path, task: str
) -> None:
    out = tmp_path / "out"
    assert clustered(tmp_path, out, 2, "end", task, status=128 + signal.SIGKILL) == {}
    assert clustered(tmp_path, out, 3) == {"none": "nothing"}
    assert tables_of(out / "none") == wanted(tables)
    with Journal(out / "none" / JOURNAL) as journal:
        (submitted,) = journal.builds()
        records = [entry.record for entry in journal.history(submitted.name)]
    given_out = [
        r.incarnation for r in records if isinstance(r, Assigned) and r.domain == "KQvKR.dtc"
    ]
    assert given_out == sorted(set(given_out))


@needs_cluster
@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "noticed"),
    [
        ("raylet", {"NodeLeft"}),
        ("join", {"NodesJoined", "on-2"}),
        ("log", {"Damaged"}),
        ("unequal", {"KQvK.dtc=462", "KQvKR.dtc=308+77+77", "Proved"}),
    ],
)
def test_lost_nodes_and_damaged_logs_do_not_change_the_bytes(
    tables: Path, tmp_path: Path, what: str, noticed: set[str]
) -> None:
    (said,) = happened(tmp_path, what)
    assert noticed <= set(said.split())
    assert tables_of(tmp_path / "out") == wanted(tables)


# ---- hosts ----

BRIDGED = "ip link add b0 type bridge && ip netns add h0 && ip link add v0 type veth peer name v1"


@cache
def can_join_hosts() -> bool:
    """Whether a child may also make hosts of network namespaces, and a bridge between them."""
    trial = [*NAMESPACE, "sh", "-c", f"mount -t tmpfs tmpfs /run && {BRIDGED}"]
    return can_cluster() and subprocess.run(trial, capture_output=True).returncode == 0


@pytest.mark.skipif(
    not can_join_hosts(),
    reason="no hosts were joined and cut off: run the tests as root where Ray can be started, on a "
    "kernel with bridges and veth",
)
@pytest.mark.slow
def test_a_host_that_is_cut_off_in_the_middle_of_a_pass_is_done_without(
    tables: Path, tmp_path: Path
) -> None:
    """And used again once it is back."""
    for name in ("cut", "back"):
        (tmp_path / name).mkdir()
    settings = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a" * 64}
    printed = lines_of(tmp_path, "cut_off_host.py", str(tmp_path), settings=settings)
    lines = [line.split() for line in printed]
    (noticed,) = [set(line[1:]) for line in lines if line[:1] == ["built"]]
    assert noticed & {"NodeLeft", "WorkerLost"}
    assert ["back", *(f"10.77.0.{number}" for number in (1, 2, 3))] in lines
    for name in ("cut", "back"):
        assert tables_of(tmp_path / name) == wanted(tables)


@pytest.mark.skipif(not can_join_hosts(), reason="no hosts were joined, as above")
@pytest.mark.slow
def test_a_machine_that_is_lost_with_its_pass_logs_costs_no_committed_pass(
    tables: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    settings = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a" * 64}
    places = str(out), str(tmp_path / "logs")
    printed = lines_of(tmp_path, "local_logs.py", *places, settings=settings)
    lost, done, pawn, end = (line.split() for line in printed if line)
    every = [f"stronger.1.{worker}.log" for worker in range(3)]
    assert lost[2:] == [",".join(every), "-"]
    assert len(lost[1].split(",")) == 2  # its own, and a copy
    assert done[:2] == ["built", "-"]
    assert "Damaged" not in done
    assert tables_of(out) == wanted(tables)
    last = {f"level5.stronger.1.{worker}.log" for worker in range(2)}
    assert all(last <= set(host.split(",")) for host in pawn[1:3])
    assert pawn[3] == "-"
    assert end == ["end", "-"]
    here = tmp_path / "here"
    built(here, "KPvK")
    assert tables_of(out / "pawn") == tables_of(here)
