"""The versions of everything that is running, to be quoted in reports of faults.

The version is kept in pyproject.toml only.
"""

import platform
from importlib.metadata import PackageNotFoundError, version

from kingpair.workers import _kernels
from kingpair.workers.commit import commit


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


def installed(package: str) -> str | None:
    """Returns the version of a package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
