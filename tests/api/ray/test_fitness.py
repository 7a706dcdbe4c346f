"""Facts about which nodes may build together, and how those that may not are named."""

import subprocess
import sys
from pathlib import Path

import pytest
from full_disks import can_mount
from killable_build import environment

from kingpair.api.ray.fitness import Requirements, lack, other, requirements, said, unwritable

OURS = Requirements("1.0", "0123456789ab", "20.0", "digest", "", "")


def test_a_node_like_this_machine_is_fit(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    mark.touch()
    assert lack(requirements(str(tmp_path), str(mark))) == ""


def test_a_directory_that_a_node_does_not_share_is_said_with_what_to_do() -> None:
    assert lack(requirements("/shared", "/nowhere/mark")).startswith(
        "cannot write /shared; build to a"
    )


@pytest.mark.parametrize(
    ("version", "commit", "pyarrow", "said"),
    [
        ("1.0", "0123456789ab", "20.0", ""),
        ("1.0", "unknown", "20.0", ""),
        (
            "1.1",
            "0123456789ab",
            "20.0",
            "has kingpair 1.1, this machine 1.0; install the same version on every node",
        ),
        (
            "1.0",
            "0123456789ab-dirty",
            "20.0",
            "has kingpair of commit 0123456789ab-dirty, this machine of 0123456789ab; install the "
            "same build on every node",
        ),
        (
            "1.0",
            "0123456789ab",
            "19.0",
            "has pyarrow 19.0, this machine 20.0; install the same version on every node",
        ),
    ],
    ids=["ours", "who knows", "another version", "another commit", "another pyarrow"],
)
def test_another_program_is_said_with_what_to_do(
    version: str, commit: str, pyarrow: str, said: str
) -> None:
    assert other(version, commit, pyarrow, OURS) == said


def test_a_node_that_writes_other_bytes_is_not_fit() -> None:
    """As with other kernels, or with another zstd in the same version of pyarrow."""
    needed = requirements("", "")
    assert lack(needed) == ""
    assert lack(needed._replace(sample="")).startswith("writes other bytes for KQvK")


@pytest.mark.skipif(not can_mount(), reason="needs mounts of its own: run the tests as root")
def test_a_full_disk_is_named_with_its_path(tmp_path: Path) -> None:
    asked = "from kingpair.api.ray.fitness import unwritable; print(unwritable('/mnt'))"
    mounted = 'mount -t tmpfs -o size=64k tmpfs /mnt && exec "$@"'
    command = ["unshare", "-m", "sh", "-c", mounted, "sh", sys.executable, "-c", asked]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.strip() == "cannot write /mnt: No space left on device"


def test_the_file_of_a_trial_is_removed(tmp_path: Path) -> None:
    assert unwritable(str(tmp_path)) == ""
    assert list(tmp_path.iterdir()) == []


def test_every_lack_is_said_once_and_whose_it_is() -> None:
    alike = [(f"10.0.0.{i}", "has no kingpair; install it") for i in range(2, 8)]
    assert said(alike[:1]) == "node 10.0.0.2 has no kingpair; install it"
    assert said([*alike, ("10.0.0.9", "cannot write /shared")]) == (
        "node 10.0.0.2 has no kingpair; install it (the same of 10.0.0.3, 10.0.0.4 and 3 more); "
        "node 10.0.0.9 cannot write /shared"
    )
