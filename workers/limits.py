"""The memory and the cores that this process may use.

The control group (cgroup, version 1 or 2) of a process limits it, and so does every group above;
containers, systemd and Slurm set such limits.  Cached files that the system could drop at once do
not count as used memory.
"""

import math
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path("/")


class FreeMemory(NamedTuple):
    """Bytes of memory that may still be taken, and the limit that sets them, in words."""

    bytes: int
    says: str


def free_memory(root: Path = ROOT) -> FreeMemory:
    """The memory that the narrowest limit leaves."""
    return max(min(_rooms(root)), FreeMemory(0, ""))


def usable_cores(root: Path = ROOT) -> int:
    """The number of cores that this process may use, by its affinity and its control groups."""
    shares = (_share(group) for group in _groups(root, "cpu"))
    return min([len(os.sched_getaffinity(0)), *(share for share in shares if share is not None)])


def private_memory(root: Path = ROOT) -> int:
    """Bytes of memory that this process does not share; mapped files do not count."""
    _, resident, shared, *_ = map(int, (root / "proc/self/statm").read_text().split())
    return (resident - shared) * resource.getpagesize()


def _rooms(root: Path) -> Iterator[FreeMemory]:
    with (root / "proc/meminfo").open(encoding="ascii") as lines:
        fields = dict(line.split(":", 1) for line in lines)
    yield FreeMemory(int(fields["MemAvailable"].split()[0]) << 10, "the machine has left")
    for group in _groups(root, "memory"):
        limit = _number(group, "memory.max", "memory.limit_in_bytes")
        used = _number(group, "memory.current", "memory.usage_in_bytes")
        if limit is not None and used is not None:
            yield FreeMemory(
                limit - used + _droppable(group), f"the control group {group} has left"
            )
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        pages = int((root / "proc/self/statm").read_text().split()[0])
        yield FreeMemory(limit - pages * resource.getpagesize(), "ulimit -v has left")


# ---- control groups ----


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The group of this process and the groups above it that this process can see."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            at = root / "sys/fs/cgroup"
        elif controller in controllers.split(","):
            at = root / "sys/fs/cgroup" / controllers
        else:
            continue
        # In a container the mount may begin at the group itself, under another path than outside.
        inside = Path(path.lstrip("/"))
        yield from dict.fromkeys(at / part for part in (inside, *inside.parents))


def _share(group: Path) -> int | None:
    """The cores that a group's limit of processor time amounts to; None without a limit."""
    quota, _, period = _text(group / "cpu.max").strip().partition(" ")
    quota = quota or _text(group / "cpu.cfs_quota_us").strip()
    period = period or _text(group / "cpu.cfs_period_us").strip()
    limited = quota.isdecimal() and period.isdecimal() and int(period) > 0
    return max(1, math.ceil(int(quota) / int(period))) if limited else None


def _droppable(group: Path) -> int:
    """Bytes of cached files that were not used lately."""
    stat = dict(line.split() for line in _text(group / "memory.stat").splitlines())
    return int(stat.get("total_inactive_file") or stat.get("inactive_file") or 0)


def _number(group: Path, *names: str) -> int | None:
    found = (_text(group / name).strip() for name in names)
    return next((int(text) for text in found if text.isdecimal()), None)


def _text(path: Path) -> str:
    """The text of a file; empty if there is none or this process may not read it."""
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
