"""Facts about what a process may use: the narrowest limit of all that bind it."""

import mmap
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import killable_build
import pytest

from kingpair.workers import limits

GIB = 1 << 30


def machine(root: Path, cgroup: str, files: dict[str, str]) -> Path:
    """A machine with 8 GiB left, whose kernel says this of the process's control groups."""
    told = {"proc/meminfo": f"MemTotal: 99 kB\nMemAvailable: {8 << 20} kB\n"}
    told |= {"proc/self/cgroup": cgroup, "proc/self/statm": "1 1 1 1 0 1 0\n"} | files
    for name, text in told.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="ascii")
    return root


def test_without_limits_it_is_what_the_machine_has_left(tmp_path: Path) -> None:
    machine(tmp_path, "0::/user.slice\n", {"sys/fs/cgroup/user.slice/memory.max": "max\n"})
    assert limits.free_memory(tmp_path) == (8 * GIB, "the machine has left")
    assert limits.usable_cores(tmp_path) == len(os.sched_getaffinity(0))


def test_a_group_above_limits_too(tmp_path: Path) -> None:
    at = "sys/fs/cgroup/lab.slice"
    files = {
        f"{at}/memory.max": f"{2 * GIB}\n",
        f"{at}/memory.current": f"{GIB}\n",
        f"{at}/memory.stat": f"anon 5\ninactive_file {GIB // 2}\n",
        f"{at}/kingpair.service/memory.max": "max\n",
        f"{at}/cpu.max": "50000 100000\n",
    }
    machine(tmp_path, "0::/lab.slice/kingpair.service\n", files)
    room = limits.free_memory(tmp_path)
    assert (room.bytes, room.says) == (3 * GIB // 2, f"the control group {tmp_path / at} has left")
    assert limits.usable_cores(tmp_path) == 1


def test_groups_of_the_first_version_limit_as_well(tmp_path: Path) -> None:
    files = {
        "sys/fs/cgroup/memory/job/memory.limit_in_bytes": f"{GIB}\n",
        "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "0\n",
        "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
    }
    machine(tmp_path, "4:memory:/job\n3:cpu,cpuacct:/job\n0::/\n", files)
    assert limits.free_memory(tmp_path).bytes == GIB
    assert limits.usable_cores(tmp_path) == len(os.sched_getaffinity(0))


def test_in_a_container_the_mount_begins_at_the_group(tmp_path: Path) -> None:
    files = {"sys/fs/cgroup/memory.max": f"{GIB}\n", "sys/fs/cgroup/memory.current": "0\n"}
    machine(tmp_path, "0::/docker/0123\n", files)
    assert limits.free_memory(tmp_path).bytes == GIB


def test_a_used_up_limit_leaves_no_memory(tmp_path: Path) -> None:
    files = {"sys/fs/cgroup/memory.max": "5\n", "sys/fs/cgroup/memory.current": "9\n"}
    assert limits.free_memory(machine(tmp_path, "0::/\n", files)).bytes == 0


# The real thing

OWN = next(
    (line.split(":")[2] for line in Path("/proc/self/cgroup").read_text().splitlines()
     if line.split(":")[1] == "memory"),
    None,
)  # fmt: skip


def build(*before: str, out: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "kingpair", "build", "KRBvKBN", "--out", str(out)]
    return subprocess.run(
        [*before, *command], capture_output=True, text=True, env=killable_build.environment()
    )


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group of our own, of either version, with half a GiB of memory."""
    top = Path("/sys/fs/cgroup")
    at = (top / "memory" / OWN.lstrip("/") if OWN is not None else top) / f"kingpair-{os.getpid()}"
    try:
        at.mkdir()
        (at / ("memory.max" if OWN is None else "memory.limit_in_bytes")).write_text(str(GIB // 2))
    except OSError:
        pytest.skip("no build was limited by a control group: run the tests as root")
    yield at
    at.rmdir()


def test_a_control_group_below_what_a_build_needs_is_said(group: Path, tmp_path: Path) -> None:
    join = f'echo $$ >{group}/cgroup.procs; exec "$@"'
    done = build("sh", "-c", join, "sh", out=tmp_path / "out")
    assert (done.returncode, done.stderr.count("\n")) == (5, 1)
    assert f"of memory, the control group {group} has left" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_ulimit_below_what_a_build_needs_is_said(tmp_path: Path) -> None:
    prlimit = shutil.which("prlimit")
    if prlimit is None:
        pytest.skip("no build was limited by ulimit: apt-get install util-linux")
    done = build(prlimit, f"--as={GIB}", out=tmp_path / "out")
    assert (done.returncode, done.stderr.count("\n")) == (5, 1)
    assert "of memory, ulimit -v has left" in done.stderr


def test_private_memory_grows_by_the_pages_written() -> None:
    before = limits.private_memory()
    with mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as own:
        own.write(bytes([1]) * len(own))
        assert len(own) <= limits.private_memory() - before < 3 * len(own)
