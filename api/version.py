"""What is running: the versions that a report of a fault should name.

The version stands in pyproject.toml alone.  The commit is what git says of a checkout; elsewhere it
is the one that was built, which CMake has put beside this file.
"""

import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from workers import _kernels

HERE = Path(__file__).parent
UNKNOWN = "unknown"


def versions() -> str:
    found, levels = components(), ", ".join(_kernels.levels())
    return (
        f"kingpair {found['kingpair']} (commit {found['commit']})\n"
        f"kernels  {found['kernels']} (this machine has {levels})\n"
        f"Ray      {found['ray']}\n"
        f"Python   {found['python']}\n"
        f"pyarrow  {found['pyarrow']}"
    )


def components() -> dict[str, str]:
    return {
        "kingpair": installed("kingpair") or "from its sources, not installed",
        "commit": commit(),
        "kernels": _kernels.level(),
        "ray": installed("ray") or "not installed",
        "python": platform.python_version(),
        "pyarrow": installed("pyarrow") or "not installed",
    }


@cache
def commit(here: Path = HERE) -> str:
    if (here.parent / ".git").exists():
        command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        try:
            done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return UNKNOWN
        return done.stdout.strip()
    kept = here / "commit.txt"
    return kept.read_text(encoding="ascii").strip() if kept.is_file() else UNKNOWN


def installed(package: str) -> str | None:
    """Its version; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
