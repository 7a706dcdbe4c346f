"""Disks that are full: a limit on the size of a file, mounts of one's own."""

import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import killable_build
import pytest


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    """No file of this process grows beyond `size` bytes: the write that would is cut short."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@cache
def can_mount() -> bool:
    """Whether a child may have mounts of its own."""
    if shutil.which("unshare") is None:
        return False
    trial = ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(trial, capture_output=True).returncode == 0


needs_mounts = pytest.mark.skipif(
    not can_mount(), reason="no filesystems were mounted: run the tests as root"
)


def in_a_namespace(script: str, *arguments: str) -> str:
    """Runs a shell script that has mounts of its own and builds with `"$@"` after $1."""
    line = ["unshare", "-m", "sh", "-ec", script, "sh", *arguments]
    done = subprocess.run(
        line,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=killable_build.environment(),
    )
    assert done.stderr == ""
    return done.stdout
