"""What this process may use of the machine: memory and cores, less where a limit says so.

A control group (cgroup, version 1 or 2) limits a process, and so does every group above its own;
containers, systemd and Slurm limit by them.  Files that the kernel could drop at once do not count
as memory that is used.
"""

import math
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path("/")


class Room(NamedTuple):
    """Bytes of memory that may still be taken, and who says so."""

    bytes: int
    says: str


def memory(root: Path = ROOT) -> Room:
    """What may still be taken by the narrowest of all limits."""
    return max(min(_rooms(root)), Room(0, ""))


def cores(root: Path = ROOT) -> int:
    """How many may be used at once: those that this process may run on, or its groups' share."""
    shares = (_share(group) for group in _groups(root, "cpu"))
    return min([len(os.sched_getaffinity(0)), *(share for share in shares if share is not None)])


def held(root: Path = ROOT) -> int:
    """Bytes of memory that this process has to itself: files that it reads do not count."""
    _, resident, shared, *_ = map(int, (root / "proc/self/statm").read_text().split())
    return (resident - shared) * resource.getpagesize()


def _rooms(root: Path) -> Iterator[Room]:
    with (root / "proc/meminfo").open(encoding="ascii") as lines:
        fields = dict(line.split(":", 1) for line in lines)
    yield Room(int(fields["MemAvailable"].split()[0]) << 10, "the machine has left")
    for group in _groups(root, "memory"):
        limit = _number(group, "memory.max", "memory.limit_in_bytes")
        used = _number(group, "memory.current", "memory.usage_in_bytes")
        if limit is not None and used is not None:
            yield Room(limit - used + _droppable(group), f"the control group {group} has left")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        pages = int((root / "proc/self/statm").read_text().split()[0])
        yield Room(limit - pages * resource.getpagesize(), "ulimit -v has left")


# ---- control groups ----


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The group of this process and those above it, as far as they can be seen from here."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            at = root / "sys/fs/cgroup"
        elif controller in controllers.split(","):
            at = root / "sys/fs/cgroup" / controllers
        else:
            continue
        # In a container the mount may begin at the group itself, whatever it is called outside.
        inside = Path(path.lstrip("/"))
        yield from dict.fromkeys(at / part for part in (inside, *inside.parents))


def _share(group: Path) -> int | None:
    """Cores' worth of time that a group may use, if that is limited."""
    quota, _, period = _text(group / "cpu.max").strip().partition(" ")
    quota = quota or _text(group / "cpu.cfs_quota_us").strip()
    period = period or _text(group / "cpu.cfs_period_us").strip()
    limited = quota.isdecimal() and period.isdecimal() and int(period) > 0
    return max(1, math.ceil(int(quota) / int(period))) if limited else None


def _droppable(group: Path) -> int:
    """Bytes of files that nobody has looked at lately."""
    stat = dict(line.split() for line in _text(group / "memory.stat").splitlines())
    return int(stat.get("total_inactive_file") or stat.get("inactive_file") or 0)


def _number(group: Path, *names: str) -> int | None:
    found = (_text(group / name).strip() for name in names)
    return next((int(text) for text in found if text.isdecimal()), None)


def _text(path: Path) -> str:
    """Of a file that may not be there, or not for us."""
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
