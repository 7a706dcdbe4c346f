"""Examines this machine: processor, memory, disk, clock, and what a cluster would need of it.

Nothing is changed.  One temporary file is written, to time the disk and to compare its clock with
this machine's.
"""

import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from kingpair.api.doctor.findings import Finding
from kingpair.api.doctor.ports import ports
from kingpair.api.settings import Settings
from kingpair.api.text import count, duration
from kingpair.api.version import installed
from kingpair.coordinator.plan.amounts import amount
from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers import _kernels, limits
from kingpair.workers.errors import KingpairError
from kingpair.workers.game.chess.material import Material
from kingpair.workers.store.filesystem import store_at, uri_of
from kingpair.workers.table.directory import find_tables

WRITTEN = 32 << 20  # to time the disk with
SLOW_BYTES_PER_SECOND = 20e6
SLOW_SYNC_SECONDS = 0.1
ROOM = 1 << 30
SHARED = 512 << 20  # of the object store that a cluster of our own is given
SKEW_SECONDS = 2.0
FIVE, SIX = Material.parse("KRBvKR"), Material.parse("KRBvKBN")
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
SHARED_MEMORY = Path("/dev/shm")


def examine(settings: Settings) -> Iterator[Finding]:
    """Yields everything that can be seen from this machine."""
    yield _kernels_found(settings)
    yield _cores(settings)
    yield _memory(settings)
    yield _huge_pages()
    yield from _store(settings)
    yield _shared_memory()
    yield _ray()
    yield from ports(settings)


# ---- the processor and its memory ----


def _kernels_found(settings: Settings) -> Finding:
    has = _kernels.levels()
    fact = f"{_kernels.level()} in use; this processor has {', '.join(has)}"
    if settings.level is not None and settings.level != has[-1]:
        return Finding("kernels", fact, f"{has[-1]} is faster: leave the setting level away")
    return Finding("kernels", fact)


def _cores(settings: Settings) -> Finding:
    usable, there = limits.usable_cores(), os.cpu_count() or 1
    fact = f"{count(usable, 'core')} of {there} may be used, by {count(settings.threads, 'thread')}"
    if settings.threads > usable:
        return Finding("cores", fact, f"more threads than cores gain nothing: set threads {usable}")
    return Finding("cores", fact)


def _memory(settings: Settings) -> Finding:
    room = limits.free_memory()
    five, six = (estimate(material, settings.threads).memory for material in (FIVE, SIX))
    fact = (
        f"{room.says} {amount(room.bytes)}; five men take {amount(five)}, {SIX} takes {amount(six)}"
    )
    if room.bytes < five:
        return Finding("memory", fact, "raise the limit, use fewer threads or a larger machine")
    if settings.memory is not None and settings.memory > room.bytes:
        return Finding(
            "memory", fact, f"the setting memory, {amount(settings.memory)}, is above it"
        )
    return Finding("memory", fact)


def _huge_pages() -> Finding:
    try:
        text = HUGE_PAGES.read_text(encoding="ascii")
    except OSError:
        return Finding("huge pages", "this kernel has none; builds are some percent slower")
    chosen = text.partition("[")[2].partition("]")[0]
    if chosen == "never":
        return Finding("huge pages", "switched off", f"as root: echo madvise > {HUGE_PAGES}")
    return Finding("huge pages", chosen)


# ---- the store ----


def _store(settings: Settings) -> Iterator[Finding]:
    at = settings.tables
    if uri_of(at) is not None:
        yield _reached(at)
        return
    if not at.is_dir():
        parent = next(path for path in (at, *at.absolute().parents) if path.exists())
        if parent.is_dir() and os.access(parent, os.W_OK | os.X_OK):
            yield Finding("store", f"{at} is not there yet; what needs it makes it")
            yield from _disk(parent)
        else:
            advice = f"make it and give it to {_user()}, or set tables to another directory"
            yield Finding("store", f"{at} is not there, and cannot be made", advice)
        return
    found = count(len(find_tables(at)), "table")
    if not os.access(at, os.R_OK | os.X_OK):
        yield Finding("store", f"{at} cannot be read", f"give it to {_user()}: chown or chmod")
    elif not os.access(at, os.W_OK):
        advice = f"to build there, give it to {_user()}: chown or chmod; to ask tables, leave it"
        yield Finding("store", f"{found} in {at}, which cannot be written", advice)
    else:
        yield Finding("store", f"{found} in {at}, which can be written")
        yield from _disk(at)


def _reached(at: Path) -> Finding:
    """Examines a store behind a URI, and shows only its address."""
    store = store_at(at)
    try:
        store.check()
    except (OSError, KingpairError) as error:
        return Finding("store", f"{store}: {error}", "see its address, its key, and the network")
    finally:
        store.close()
    return Finding(
        "store", f"{count(len(find_tables(at)), 'table')} in {store}, which can be written"
    )


def _disk(at: Path) -> Iterator[Finding]:
    free = shutil.disk_usage(at).free
    advice = None if free >= ROOM else "make room, or set tables to a directory on a larger disk"
    yield Finding("room", f"{amount(free)} free at {at}", advice)
    if free < 2 * WRITTEN:
        return
    try:
        speed, sync, skew = _timed(at)
    except OSError as error:
        yield Finding(
            "disk", f"cannot be written: {error.strerror}", "see what its system log says"
        )
        return
    fact = f"{speed / 1e6:.0f} MB/s written and synced, {duration(sync)} for a sync alone"
    slow = speed < SLOW_BYTES_PER_SECOND or sync > SLOW_SYNC_SECONDS
    yield Finding("disk", fact, "builds will wait for it: use a local disk" if slow else None)
    fact = f"the disk's is {abs(skew):.1f} s {'ahead of' if skew > 0 else 'behind'} this machine's"
    off = abs(skew) > SKEW_SECONDS
    yield Finding("clock", fact, "set both by one time server (NTP)" if off else None)


def _timed(at: Path) -> tuple[float, float, float]:
    """Bytes a second, the seconds of one more sync, and how far the disk's clock is ahead."""
    block = os.urandom(1 << 20)
    with tempfile.NamedTemporaryFile(dir=at, prefix=".kingpair.doctor.") as file:
        began = time.perf_counter()
        for _ in range(WRITTEN >> 20):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
        written = time.perf_counter()
        file.write(block[:4096])
        file.flush()
        now = time.time()
        os.fsync(file.fileno())
        sync = time.perf_counter() - written
        return WRITTEN / (written - began), sync, os.fstat(file.fileno()).st_mtime - now


def _user() -> str:
    return f"user {os.geteuid()}"


# ---- what a cluster needs ----


def _shared_memory() -> Finding:
    if not SHARED_MEMORY.is_dir():
        return Finding("shared memory", "none", "mount /dev/shm, or builds on a cluster are slow")
    usage = shutil.disk_usage(SHARED_MEMORY)
    fact = f"{amount(usage.free)} of {amount(usage.total)} free in /dev/shm"
    if usage.free < SHARED and installed("ray"):
        advice = f"Ray wants {amount(SHARED)}: docker run --shm-size=2g, or a larger tmpfs"
        return Finding("shared memory", fact, advice)
    return Finding("shared memory", fact)


def _ray() -> Finding:
    if (found := installed("ray")) is None:
        return Finding(
            "Ray", "not installed, and the service builds without it: pip install kingpair"
        )
    return Finding("Ray", f"{found} on Python {platform.python_version()}, as all nodes must have")
