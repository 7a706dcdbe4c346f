"""Ray clusters for tests, each in a network namespace of its own.

Ray listens on all interfaces of a machine, so it is started only where there is none but loopback.
"""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import killable_build
import pytest
from building import CLOSURE

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
        env=killable_build.environment() | settings,
        timeout=LIMIT_SECONDS,
    )


def lines_of(home: Path, script: str, *words: str, status: int = 0, **around: Any) -> list[str]:
    """Runs a script of tests/support and returns the lines that it prints."""
    path = str(Path(__file__).with_name(script))
    done = on_loopback(home, sys.executable, path, *words, **around)
    assert done.returncode == status, done.stderr[-3000:]
    return done.stdout.splitlines()


def tables_of(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.glob("*.arrow")}


def wanted(tables: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (tables / f"{n}.dtc.arrow" for n in CLOSURE)}


def happened(home: Path, what: str) -> list[str]:
    """Returns what a build on several raylets reported."""
    (home / "out").mkdir()
    lines = lines_of(home, "raylet_builds.py", str(home / "out"), what)
    return [line.strip() for line in lines if line.startswith(("noticed", "failed"))]
