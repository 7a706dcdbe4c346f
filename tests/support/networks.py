"""Network namespaces: run a script of the tests in one that has loopback alone."""

import os
import shutil
import subprocess
import sys
from types import ModuleType

import pytest


def in_network(setup: str, script: ModuleType, *words: object) -> str:
    """Runs a script in a network namespace and returns its output; skips the test without
    namespaces.
    """
    if shutil.which("unshare") is None or shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("no network of its own was made: run the tests as root, with iproute2")
    line = f'ip link set lo up && {setup} && exec "$@"'
    command = [sys.executable, str(script.__file__), *map(str, words)]
    done = subprocess.run(
        ["unshare", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", line, "sh", *command],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
