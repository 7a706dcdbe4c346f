"""What is running: the versions that a report of a fault should name."""

import platform
from importlib.metadata import PackageNotFoundError, version

from workers import _kernels


def versions() -> str:
    found, levels = components(), ", ".join(_kernels.levels())
    return (
        f"kingpair {found['kingpair']}\n"
        f"kernels  {found['kernels']} (this machine has {levels})\n"
        f"Python   {found['python']}\n"
        f"pyarrow  {found['pyarrow']}"
    )


def components() -> dict[str, str]:
    return {
        "kingpair": _installed("kingpair"),
        "kernels": _kernels.level(),
        "python": platform.python_version(),
        "pyarrow": _installed("pyarrow"),
    }


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "from its sources, not installed"
