"""What is running: the versions that a report of a fault should name."""

import platform
from importlib.metadata import PackageNotFoundError, version

from workers import _kernels


def versions() -> str:
    levels = ", ".join(_kernels.levels())
    return (
        f"kingpair {_installed('kingpair')}\n"
        f"kernels  {_kernels.level()} (this machine has {levels})\n"
        f"Python   {platform.python_version()}\n"
        f"pyarrow  {_installed('pyarrow')}"
    )


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "from its sources, not installed"
