"""Facts about builds on a cluster that lacks something: each lack is named in one line."""

import re
import sys
from pathlib import Path

import pytest
from ray_clusters import happened, lines_of, needs_cluster, on_loopback, tables_of, wanted

from kingpair.api.executors import Machines, connected_executors
from kingpair.workers.errors import CannotBuild


@needs_cluster
@pytest.mark.slow
def test_a_full_store_is_a_failure_that_a_rerun_goes_on_from(tables: Path, tmp_path: Path) -> None:
    failed, noticed = happened(tmp_path, "room")
    assert failed.startswith("failed ")
    assert "full" in failed or "No space left" in failed
    assert set(noticed.split()).isdisjoint({"NodeLeft", "NodesJoined", "WorkerLost", "Damaged"})
    assert tables_of(tmp_path / "kept") == wanted(tables)


@needs_cluster
@pytest.mark.slow
def test_a_build_of_the_service_goes_on_when_the_head_is_there_again(
    tables: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    lines = lines_of(tmp_path, "lost_head.py", str(tmp_path / "out"))
    said = dict(line.split(" ", 1) for line in lines)
    assert said["cluster"].startswith("no cluster at 127.0.0.1:6379: ")
    assert said["state"] == "queued"
    assert said["idle"] == "['ready', 'degraded', 'ready']"
    assert tables_of(tmp_path / "out") == wanted(tables)


# ---- what hinders: one cluster for all of these ----


@pytest.fixture(scope="module")
def hindered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Where the builds were, and what came of each."""
    home = tmp_path_factory.mktemp("blocked_builds")
    lines = [line.partition(" ") for line in lines_of(home, "blocked_builds.py", str(home))]
    return home, {name: said for name, _, said in lines if name in HINDRANCES}


HINDRANCES = (
    "held",
    "nowhere",
    "taken",
    "crowded",
    "closed",
    "moody",
    "mended",
    "late",
    "stranger",
    "other",
)


@needs_cluster
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("held", r"5 kingpair: another build is writing to s3://lab/held \(elsewhere, process 1"),
        ("nowhere", r"5 kingpair: cannot write to s3://lab/out: .*choose another --tables"),
        ("taken", r"waited for nodes in vain: no node has a core to spare; end what else runs"),
        ("late", r"built; node 127\.0\.0\.1 has no kingpair; install kingpair on every node"),
        ("stranger", r"node 127\.0\.0\.1 has no kingpair; install kingpair on every node"),
        ("other", r"node 127\.0\.0\.1 has kingpair 99\.0, .*; install the same version"),
    ],
)
def test_a_lack_of_a_cluster_is_reported_in_one_line(
    hindered: tuple[Path, dict[str, str]], name: str, said: str
) -> None:
    assert re.match(said, hindered[1][name])


@needs_cluster
@pytest.mark.slow
def test_an_exchange_without_room_goes_on_when_there_is(
    hindered: tuple[Path, dict[str, str]], tables: Path
) -> None:
    home, said = hindered
    assert said["crowded"].startswith("built; ")
    # Ray ends a process that cannot store what it returns, and most often tells why.
    full, lost = "the object store of a node is full", "was killed, ran out of memory or crashed"
    assert full in said["crowded"] or lost in said["crowded"]
    assert tables_of(home / "crowded") == wanted(tables)


@needs_cluster
@pytest.mark.slow
def test_a_store_that_is_closed_or_fails_at_random_loses_nothing(
    hindered: tuple[Path, dict[str, str]], tables: Path
) -> None:
    home, said = hindered
    assert said["closed"].startswith("KQvKR.dtc: paint by worker ")
    assert "ACCESS_DENIED" in said["closed"]
    assert said["mended"] == "built"
    assert tables_of(home / "out.kept") == wanted(tables)
    assert tables_of(home / "moody.kept") == {
        name: data for name, data in wanted(tables).items() if name.startswith("KQvK.")
    }


# ---- refusals ----


@needs_cluster
@pytest.mark.parametrize(
    ("address", "said"),
    [("127.0.0.1:1", "no cluster at 127.0.0.1:1"), ("nonsense", "no cluster at nonsense")],
)
def test_a_wrong_address_is_refused_in_one_line(address: str, said: str) -> None:
    with (
        pytest.raises(CannotBuild, match=said) as refused,
        connected_executors(Machines(address, 1, None)),
    ):
        pass
    assert "\n" not in str(refused.value)


EXAMINED = """
short=$(mktemp -d)  # the names of sockets have little room
trap 'rm -r "$short"' EXIT
ray start --head --port 6379 --node-ip-address 127.0.0.1 --include-dashboard=false --num-cpus 1 \
    --object-store-memory 100000000 --temp-dir "$short" --disable-usage-stats >/dev/null 2>&1
python -m kingpair.api.cli.main doctor --cluster 127.0.0.1:6379 --tables "$1"
python -c "import ray; ray.__version__ = '1.0'; from kingpair.api.cli.main import main; main()" \
    doctor --cluster 127.0.0.1:6379 --tables "$1"
"""


@needs_cluster
@pytest.mark.slow
def test_the_nodes_of_a_cluster_are_examined_and_mixed_versions_said(tmp_path: Path) -> None:
    script = f"PATH={Path(sys.executable).parent}:$PATH; {EXAMINED}"
    done = on_loopback(tmp_path, "bash", "-c", script, "bash", str(tmp_path))
    assert done.returncode == 1
    alike, mixed = done.stdout.split("all is well\n")
    assert "ok  node 127.0.0.1" in alike
    assert "ok  Ray's ports     Ray listens on loopback alone" in alike
    assert "do  cluster" in mixed
    assert "Version mismatch" in mixed
    assert "the same versions of Ray and Python" in mixed
