"""Are the nodes of a cluster fit to build together: versions, store, clocks.

Each node says what it is, seen from itself; what differs from here is a finding.
"""

import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from api.doctor import Finding
from api.doctor_machine import SKEW_SECONDS
from api.fitness import may_be_alike
from api.settings import Settings
from api.version import UNKNOWN, commit, installed
from coordinator.plan import gib
from workers import _kernels, limits
from workers.directory import is_there
from workers.errors import CannotBuild
from workers.store import shown, uri_of

MARK = ".kingpair.doctor"
NAMES = ("kingpair", "ray", "pyarrow")


class Node(NamedTuple):
    """What a node says of itself."""

    versions: tuple[str, ...]
    level: str
    cores: int
    memory: int
    sees_store: bool
    clock: float
    commit: str = UNKNOWN


def look(tables: Path) -> Node:
    """Run on each node; in a directory the asker has just put a mark."""
    return Node(
        (*map(_version, NAMES), f"Python {platform.python_version()}"),
        _kernels.level(),
        limits.cores(),
        limits.memory().bytes,
        is_there(tables) if uri_of(tables) else (tables / MARK).exists(),
        time.time(),
        commit(),
    )


def examine_cluster(settings: Settings, address: str) -> Iterator[Finding]:
    try:
        from api.ray_cluster import connected
        from api.ray_nodes import asked
    except ModuleNotFoundError as error:
        yield Finding("cluster", f"{error.name} is not installed", "pip install kingpair[cluster]")
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
        yield Finding("cluster", f"cannot write to {shown(tables)}: {error}", "make it writable")


@contextmanager
def _marked(tables: Path) -> Iterator[None]:
    """A directory, while there is a mark of ours in it."""
    if uri_of(tables):
        yield
        return
    mark = tables / MARK
    mark.touch()
    try:
        yield
    finally:
        mark.unlink(missing_ok=True)


def judged(name: str, said: Node | str, here: Node, waited: float) -> Finding:
    """A node against this machine; its clock was read while we `waited` for it."""
    subject = f"node {name}"
    if isinstance(said, str):
        return Finding(
            subject, said, "install the same kingpair there: pip install kingpair[cluster]"
        )
    fact = f"{said.level}, {said.cores} cores, {gib(said.memory)} left"
    if said.versions != here.versions:
        others = ", ".join(v for v in said.versions if v not in here.versions)
        return Finding(subject, f"{fact}; has {others}", f"install {', '.join(here.versions)}")
    if not may_be_alike(said.commit, here.commit):
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
