"""Facts about a cluster of one's own: it is closed to others, and its processes end with it."""

import re
import sys
from pathlib import Path

import pytest
from ray_clusters import lines_of, needs_cluster, on_loopback, tables_of, wanted

from kingpair.coordinator.execute.recorder import JOURNAL
from kingpair.coordinator.journal.database import Journal
from kingpair.coordinator.machine.records import NodesLacking

REACHABLE = (
    "ip link add v0 type veth peer name v1; ip addr add 10.9.9.9/24 dev v0; ip link set v0 up; "
    "ip link set v1 up; ip route add default via 10.9.9.1"
)
"""Makes the machine one that can be reached from elsewhere."""
TRUSTING = {"RAY_AUTH_MODE": "disabled"}


@needs_cluster
@pytest.mark.slow
def test_a_cluster_of_ones_own_listens_on_loopback_alone(tmp_path: Path) -> None:
    """Although the machine can be reached from elsewhere."""
    assert guarded(tmp_path, "listening", REACHABLE) == "127.0.0.1"


@needs_cluster
@pytest.mark.slow
def test_a_cluster_of_ones_own_lets_no_stranger_in(tmp_path: Path) -> None:
    """Although Ray was told to trust every client."""
    said = guarded(tmp_path, "stranger")
    assert said.startswith("CannotBuild: cannot use the cluster 127.0.0.1:")
    assert "token" in said


@needs_cluster
@pytest.mark.slow
def test_a_service_builds_on_ray_by_default_and_without_it_if_it_must(
    tables: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    lines = lines_of(
        tmp_path, "service_on_ray.py", str(tmp_path / "out"), network=REACHABLE, settings=TRUSTING
    )
    said = dict(line.split(" ", 1) for line in lines)
    assert said["steps"] == said["lost"] == "loading; starting Ray; starting worker"
    assert said["listens"] == "127.0.0.1"
    assert said["built"] == said["restarted"] == "succeeded ready"
    assert said["again"] == "succeeded True"
    assert said["without"] == "succeeded"
    assert said["problem"].startswith("cluster Ray cannot be started, so builds run without it: ")
    assert tables_of(tmp_path / "out").items() >= wanted(tables).items()


@needs_cluster
@pytest.mark.slow
def test_no_worker_process_outlives_its_driver_or_its_node(tmp_path: Path) -> None:
    lines = [line.split() for line in lines_of(tmp_path, "orphans.py")]
    assert [what for what, _ in lines] == ["own", "driver", "raylet"]


def guarded(home: Path, what: str, network: str = ":") -> str:
    lines = lines_of(home, "cluster_access.py", what, network=network, settings=TRUSTING)
    return [line for line in lines if line][-1]


@needs_cluster
@pytest.mark.slow
def test_processes_are_kept_to_spare_and_their_nodes_and_a_call_without_end_is_given_up(
    tables: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    lines = lines_of(tmp_path, "spare_processes.py", str(tmp_path / "out"))
    said = dict(line.split(" ", 1) for line in lines if line)
    lost, workers, processes, free, is_spare, open_sets = said["killed"].split()
    assert (lost, free, is_spare, open_sets) == ("1", "2", "True", "1")
    assert int(processes) < int(workers)
    lost, _, _, free, is_spare, _ = said["both"].split()
    assert (lost, free, is_spare) == ("1", "2", "False")
    assert said["held"].split()[-1] == "False"
    assert not said["stranded"].startswith("0 ")
    assert said["taken"].startswith("waited for nodes in vain: no node has a core to spare")
    with Journal(tmp_path / "out" / "taken" / JOURNAL) as journal:
        (submitted,) = journal.builds()
        records = [entry.record for entry in journal.history(submitted.name)]
    lacking = next(r.reason for r in records if isinstance(r, NodesLacking))
    assert said["taken"] == f"waited for nodes in vain: {lacking}"
    for name in ("killed", "both", "held", "stranded"):
        assert tables_of(tmp_path / "out" / name) == wanted(tables)


@needs_cluster
@pytest.mark.slow
def test_the_bench_kills_a_worker_and_says_what_that_cost(tmp_path: Path) -> None:
    asked = "from kingpair.api.bench.cluster import recovery; from pathlib import Path; import sys"
    asked += "; print(*(f'{f.value} {f.unit}' for f in recovery(Path(sys.argv[1]), 'KQvKR', 1)))"
    done = on_loopback(tmp_path, sys.executable, "-c", asked, str(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    (line,) = done.stdout.splitlines()  # nothing of Ray's own
    noticed, made_up = re.findall(r"([.\d]+) s", line)
    assert 0 < float(noticed) < 10
    assert float(made_up) > 0
    assert not (tmp_path / "KQvKR.dtc.arrow").exists()
