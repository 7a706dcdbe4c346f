"""Examines whether the nodes of a cluster can build together: versions, store, clocks.

Each node says what it is, seen from itself; what differs from here is a finding.
"""

import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from kingpair.api.doctor.findings import Finding
from kingpair.api.doctor.machine import SKEW_SECONDS
from kingpair.api.ray.fitness import commits_may_match
from kingpair.api.settings import Settings
from kingpair.api.version import installed
from kingpair.coordinator.plan.amounts import amount
from kingpair.workers import _kernels, limits
from kingpair.workers.commit import UNKNOWN, commit
from kingpair.workers.errors import CannotBuild
from kingpair.workers.store.filesystem import printable, uri_of
from kingpair.workers.table.directory import is_table_directory

MARK = ".kingpair.doctor"
NAMES = ("kingpair", "ray", "pyarrow")


class NodeReport(NamedTuple):
    """A node's report about itself."""

    versions: tuple[str, ...]
    level: str
    cores: int
    memory: int
    sees_store: bool
    clock: float
    commit: str = UNKNOWN


def look(tables: Path) -> NodeReport:
    """Reports on the node that it runs on; the directory has a new mark of the node that asks."""
    return NodeReport(
        (*map(_version, NAMES), f"Python {platform.python_version()}"),
        _kernels.level(),
        limits.usable_cores(),
        limits.free_memory().bytes,
        is_table_directory(tables) if uri_of(tables) else (tables / MARK).exists(),
        time.time(),
        commit(),
    )


def examine_cluster(settings: Settings, address: str) -> Iterator[Finding]:
    try:
        from kingpair.api.ray.cluster import connected
        from kingpair.api.ray.nodes import asked
    except ModuleNotFoundError as error:
        yield Finding("cluster", f"{error.name} is not installed", "pip install kingpair")
        return
    tables = settings.tables if uri_of(settings.tables) else settings.tables.absolute()
    try:
        with connected(address, settings.threads), _marked(tables):
            here, began = look(tables), time.time()
            for name, said in asked(lambda: look(tables)):
                yield judged(name, said, here, time.time() - began)
    except CannotBuild as error:
        yield Finding("cluster", str(error), "see its head's address, and what is installed there")
    except OSError as error:
        yield Finding(
            "cluster", f"cannot write to {printable(tables)}: {error}", "make it writable"
        )


@contextmanager
def _marked(tables: Path) -> Iterator[None]:
    """Keeps a mark in a directory for the length of the block."""
    if uri_of(tables):
        yield
        return
    mark = tables / MARK
    mark.touch()
    try:
        yield
    finally:
        mark.unlink(missing_ok=True)


def judged(name: str, said: NodeReport | str, here: NodeReport, waited: float) -> Finding:
    """Compares a node with this machine; its clock was read while we `waited` for it."""
    subject = f"node {name}"
    if isinstance(said, str):
        return Finding(subject, said, "install the same kingpair there: pip install kingpair")
    fact = f"{said.level}, {said.cores} cores, {amount(said.memory)} left"
    if said.versions != here.versions:
        others = ", ".join(v for v in said.versions if v not in here.versions)
        return Finding(subject, f"{fact}; has {others}", f"install {', '.join(here.versions)}")
    if not commits_may_match(said.commit, here.commit):
        return Finding(
            subject, f"{fact}; has commit {said.commit}", f"install commit {here.commit}"
        )
    if not said.sees_store:
        return Finding(
            subject, f"{fact}; sees another store", "mount one store on all nodes, at one path"
        )
    off = abs(said.clock - here.clock) - waited
    if off > SKEW_SECONDS:
        return Finding(
            subject, f"{fact}; clock {off:.1f} s off", "set all by one time server (NTP)"
        )
    return Finding(subject, f"{fact}; same versions, same store, same time")


def _version(name: str) -> str:
    return f"{name} {installed(name) or 'uninstalled'}"
