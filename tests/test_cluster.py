"""Facts about builds on a real Ray cluster: the same bytes, whoever died on the way.

Ray listens on all interfaces of a machine, so it is started only where there is none but loopback:
in a network namespace of its own.
"""

import importlib.util
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import child
import pytest
from building import BOTH_METRICS, CLOSURE, built

from api.hiring import hiring
from coordinator.book import JOURNAL
from coordinator.commands import Assigned, NodesLacking, Record, TableVerified, WavesPlanned
from coordinator.journal import Journal
from workers.errors import CannotBuild

HARMS = (
    *(("kill", kind) for kind in ("Prepare", "LoseAtOnce", "Win", "Lose", "Seal")),
    ("all", "Paint"),
    ("all", "Publish"),
    ("all", "Verify"),
    ("two", "Win"),
    ("stop", "Win"),
    ("stop", "Lose"),
)
LIMIT_SECONDS = 400
NAMESPACE = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")


@cache
def can_cluster() -> bool:
    """Whether Ray is installed, and a child may have a network of its own."""
    if importlib.util.find_spec("ray") is None or shutil.which("unshare") is None:
        return False
    trial = [*NAMESPACE, "ip", "link", "set", "lo", "up"]
    return subprocess.run(trial, capture_output=True).returncode == 0


needs_cluster = pytest.mark.skipif(
    not can_cluster(),
    reason="no cluster was started, which needs a network of its own: run the tests as root, with "
    "Ray (pip install ray), unshare and ip (apt-get install util-linux iproute2)",
)


def on_loopback(
    home: Path, *command: str, network: str = ":", settings: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a network namespace that has loopback, and nothing else unless it is made;
    the cluster's token is nowhere but where kingpair puts it.  Nothing outlives the command.
    """
    settings = {"HOME": str(home)} | dict(settings or {})
    script = f'ip link set lo up; {network}; "$@"; exit $?'
    return subprocess.run(
        [*NAMESPACE, "sh", "-c", script, "sh", *command],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=child.environment() | settings,
        timeout=LIMIT_SECONDS,
    )


def lines_of(home: Path, script: str, *words: str, status: int = 0, **around: Any) -> list[str]:
    """What one of the scripts beside this file prints."""
    path = str(Path(__file__).with_name(script))
    done = on_loopback(home, sys.executable, path, *words, **around)
    assert done.returncode == status, done.stderr[-3000:]
    return done.stdout.splitlines()


@needs_cluster
@pytest.mark.slow
def test_a_cluster_of_ones_own_listens_on_loopback_alone(tmp_path: Path) -> None:
    """Although the machine can be reached from elsewhere."""
    network = "ip link add v0 type veth peer name v1; ip addr add 10.9.9.9/24 dev v0"
    network += "; ip link set v0 up; ip link set v1 up; ip route add default via 10.9.9.1"
    assert guarded(tmp_path, "listening", network) == "127.0.0.1"


@needs_cluster
@pytest.mark.slow
def test_a_cluster_of_ones_own_lets_no_stranger_in(tmp_path: Path) -> None:
    """Although Ray was told to trust everybody."""
    said = guarded(tmp_path, "stranger")
    assert said.startswith("CannotBuild: cannot use the cluster 127.0.0.1:")
    assert "token" in said


def guarded(home: Path, what: str, network: str = ":") -> str:
    trusting = {"RAY_AUTH_MODE": "disabled"}
    lines = lines_of(home, "guarded.py", what, network=network, settings=trusting)
    return [line for line in lines if line][-1]


def clustered(home: Path, out: Path, workers: int, *harms: str, status: int = 0) -> dict[str, str]:
    """What was noticed in each build; the lines of Ray's own are passed over."""
    lines = lines_of(home, "clustered.py", str(out), str(workers), *harms, status=status)
    built = [line.split() for line in lines if line.startswith("built ")]
    return {name: noticed for _, name, noticed, _ in built}


def tables_of(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.glob("*.arrow")}


def wanted(tables: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (tables / f"{n}.dtc.arrow" for n in CLOSURE)}


@needs_cluster
@pytest.mark.slow
def test_actors_make_the_same_bytes_as_threads(tables: Path, tmp_path: Path) -> None:
    assert clustered(tmp_path, tmp_path / "out", 2) == {"none": "nothing"}
    assert tables_of(tmp_path / "out" / "none") == wanted(tables)
    left = {path.name for path in (tmp_path / "out" / "none").iterdir()} - set(wanted(tables))
    notes = {name.replace("arrow", "passes.json") for name in wanted(tables)}
    assert all(name.startswith(".kingpair.journal") for name in left - notes)


@needs_cluster
@pytest.mark.slow
def test_two_metrics_are_one_build_side_by_side(tables: Path, tmp_path: Path) -> None:
    built(tmp_path / "here", "KQvKR", metrics=BOTH_METRICS)
    out = tmp_path / "out"
    words = ("build", "KQvKR", "--out", str(out), "--cluster", "local", "--workers", "2")
    both = ("--metric", "dtc", "--metric", "dtm")
    done = on_loopback(tmp_path, sys.executable, "-m", "api.cli", *words, *both)
    assert done.returncode == 0, done.stderr[-3000:]
    assert tables_of(out) == tables_of(tmp_path / "here")
    with Journal(out / JOURNAL) as journal:
        (submitted,) = journal.builds()
        records = [entry.record for entry in journal.history(submitted.name)]
    assert sum(isinstance(record, WavesPlanned) for record in records) == 1
    begun = next(i for i, r in enumerate(records) if _is(r, Assigned, "KQvK.dtm"))
    ended = next(i for i, r in enumerate(records) if _is(r, TableVerified, "KQvK.dtc"))
    assert begun < ended


def _is(record: Record, kind: type[Assigned | TableVerified], domain: str) -> bool:
    return isinstance(record, kind) and record.domain == domain


@needs_cluster
@pytest.mark.slow
def test_whoever_dies_or_is_paused_the_bytes_are_the_same(tables: Path, tmp_path: Path) -> None:
    asked = [word for harm in HARMS for word in harm]
    seen = clustered(tmp_path, tmp_path / "out", 3, *asked)
    assert list(seen) == [f"{harm}.{kind}" for harm, kind in HARMS]
    for name, noticed in seen.items():
        assert noticed != "nothing", f"{name}: nobody was harmed"
        assert ("silence" in noticed) == name.startswith("stop")
        assert tables_of(tmp_path / "out" / name) == wanted(tables), name


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
    [("raylet", {"NodeLeft"}), ("join", {"NodesJoined", "on-2"}), ("log", {"Damaged"})],
)
def test_whatever_befalls_nodes_and_logs_the_bytes_are_the_same(
    tables: Path, tmp_path: Path, what: str, noticed: set[str]
) -> None:
    (said,) = happened(tmp_path, what)
    assert noticed <= set(said.split())
    assert tables_of(tmp_path / "out") == wanted(tables)


@needs_cluster
@pytest.mark.slow
def test_processes_are_kept_to_spare_and_their_nodes_and_a_call_without_end_is_given_up(
    tables: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    lines = lines_of(tmp_path, "spares.py", str(tmp_path / "out"))
    said = dict(line.split(" ", 1) for line in lines if line)
    lost, workers, processes, free, is_spare, estates = said["killed"].split()
    assert (lost, free, is_spare, estates) == ("1", "2", "True", "1")
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
    asked = "from api.bench_cluster import recovery; from pathlib import Path; import sys"
    asked += "; print(*(f'{f.value} {f.unit}' for f in recovery(Path(sys.argv[1]), 'KQvKR', 1)))"
    done = on_loopback(tmp_path, sys.executable, "-c", asked, str(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    (line,) = done.stdout.splitlines()  # nothing of Ray's own
    noticed, made_up = re.findall(r"([.\d]+) s", line)
    assert 0 < float(noticed) < 10
    assert float(made_up) > 0
    assert not (tmp_path / "KQvKR.dtc.arrow").exists()


@needs_cluster
@pytest.mark.slow
def test_a_full_store_is_a_failure_that_a_rerun_goes_on_from(tables: Path, tmp_path: Path) -> None:
    failed, noticed = happened(tmp_path, "room")
    assert failed.startswith("failed ")
    assert "full" in failed or "No space left" in failed
    assert noticed == "noticed"
    assert tables_of(tmp_path / "kept") == wanted(tables)


@needs_cluster
@pytest.mark.slow
def test_a_build_of_the_service_goes_on_when_the_head_is_there_again(
    tables: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    lines = lines_of(tmp_path, "heads.py", str(tmp_path / "out"))
    said = dict(line.split(" ", 1) for line in lines)
    assert said["cluster"].startswith("no cluster at 127.0.0.1:6379: ")
    assert said["state"] == "queued"
    assert said["idle"] == "['ready', 'degraded', 'ready']"
    assert tables_of(tmp_path / "out") == wanted(tables)


def happened(home: Path, what: str) -> list[str]:
    """What was told of a build on several raylets."""
    (home / "out").mkdir()
    lines = lines_of(home, "raylets.py", str(home / "out"), what)
    return [line.strip() for line in lines if line.startswith(("noticed", "failed"))]


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
    printed = lines_of(tmp_path, "hosts.py", str(tmp_path), settings=settings)
    lines = [line.split() for line in printed]
    (noticed,) = [set(line[1:]) for line in lines if line[:1] == ["built"]]
    assert noticed & {"NodeLeft", "WorkerLost"}
    assert ["back", *(f"10.77.0.{number}" for number in (1, 2, 3))] in lines
    for name in ("cut", "back"):
        assert tables_of(tmp_path / name) == wanted(tables)


# ---- what hinders: one cluster for all of these ----


@pytest.fixture(scope="module")
def hindered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Where the builds were, and what came of each."""
    home = tmp_path_factory.mktemp("hindered")
    lines = [line.partition(" ") for line in lines_of(home, "hindered.py", str(home))]
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
        ("nowhere", r"5 kingpair: cannot write to s3://lab/out: .*choose another --out"),
        ("taken", r"waited for nodes in vain: no node has a core to spare; end what else runs"),
        ("late", r"built; node 127\.0\.0\.1 has no kingpair; install kingpair\[cluster\]"),
        ("stranger", r"node 127\.0\.0\.1 has no kingpair; install kingpair\[cluster\]"),
        ("other", r"node 127\.0\.0\.1 has kingpair 99\.0, .*; install the same version"),
    ],
)
def test_what_a_cluster_lacks_is_said_in_one_line(
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
    assert "the object store of a node is full" in said["crowded"]
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
    with pytest.raises(CannotBuild, match=said) as refused, hiring(address, 1, None):
        pass
    assert "\n" not in str(refused.value)


EXAMINED = """
short=$(mktemp -d)  # the names of sockets have little room
trap 'rm -r "$short"' EXIT
ray start --head --port 6379 --node-ip-address 127.0.0.1 --include-dashboard=false --num-cpus 1 \
    --object-store-memory 100000000 --temp-dir "$short" --disable-usage-stats >/dev/null 2>&1
python -m api.cli doctor --cluster 127.0.0.1:6379 --tables "$1"
python -c "import ray; ray.__version__ = '1.0'; from api.cli import main; main()" \
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
