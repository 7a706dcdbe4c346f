"""Connects to the cluster that a build runs on.

    local         a cluster that is started here and ends with the build
    auto          the cluster that RAY_ADDRESS or Ray's own note on this machine names
    HOST:PORT     the cluster with this head

A local cluster cannot be reached from other machines: all its processes listen on loopback only,
which is checked, and it asks for a token.  Clusters that others started listen where they were told
to; Ray binds to all interfaces by default.  Their token, if any, is taken from where Ray looks for
                                             it.

Every wait has a limit; Ray alone would take minutes to connect to an address where nothing answers.
"""

import logging
import os
import re
import secrets
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray._private import ray_constants, worker

from kingpair.api.ray.head import reached
from kingpair.workers.errors import CannotBuild

STORE_BYTES = 512 << 20  # of the object store of a cluster of our own
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LOOPBACK = {"127.0.0.1", "::1"}


@contextmanager
def connected(
    where: str, cores: int, store: int = STORE_BYTES, memory: int | None = None
) -> Iterator[None]:
    """Connects to the cluster that `where` names, for the length of the block.

    Cores, the size of the object store and memory are those of a local cluster.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")
    with _handlers_kept():
        try:
            if where == "local":
                _start(cores, store, memory)
            else:
                _init(address=reached(where))
        except CannotBuild:
            raise
        except Exception as error:  # no shutdown then: Ray would wait for it for ever
            raise CannotBuild(
                f"cannot use the cluster {where}: {line(error)}; it takes the cluster's token "
                "(RAY_AUTH_TOKEN) and the same versions of Ray and Python"
            ) from error
    try:
        with _unprinted():
            yield
    finally:
        with _handlers_kept():
            ray.shutdown()


@contextmanager
def _unprinted() -> Iterator[None]:
    """Keeps Ray from printing a page on standard output when a process dies.

    Standard output belongs to the answer; the build reports lost workers itself.
    """
    printing = worker.print_to_stdstream
    worker.print_to_stdstream = lambda *said, **how: None
    try:
        yield
    finally:
        worker.print_to_stdstream = printing


def addresses() -> list[str]:
    """Returns where the head and the nodes of this cluster answer, as HOST:PORT."""
    nodes = (f"{n['NodeManagerAddress']}:{n['NodeManagerPort']}" for n in ray.nodes() if n["Alive"])
    return [ray.get_runtime_context().gcs_address, *nodes]


def line(error: BaseException) -> str:
    """Returns a message of Ray in one line, without colours."""
    return " ".join(_COLOUR.sub("", str(error)).split())[:300] or type(error).__name__


def ending(error: BaseException) -> str:
    """Returns why a process ended: the useful part of a page of text that Ray prints."""
    process = re.search(r"pid: (\d+)", str(error))
    if process is None or "SYSTEM_ERROR" not in str(error):
        return line(error)
    node = re.search(r"\bip: ([\d.]+|[\da-f:]+)\s", str(error))
    of = f" of {node[1]}" if node else ""
    return f"process {process[1]}{of} was killed, ran out of memory or crashed"


def advice_on_room(error: BaseException) -> str:
    """Returns advice if an object store is full, else an empty string."""
    if not any(kind in str(error) for kind in ("OutOfDiskError", "ObjectStoreFullError")):
        return ""
    return (
        "the object store of a node is full, and the disk it spills to; make room there, or give "
        "Ray more (ray start --object-store-memory)"
    )


def _init(**settings: Any) -> None:
    ray.init(**settings, log_to_driver=False, logging_level=logging.ERROR)


# ---- a local cluster ----


def _start(cores: int, store: int, memory: int | None) -> None:
    _ask_for_a_token()
    is_for_others = ray_constants.ENABLE_RAY_CLUSTER
    # As Ray does by itself where a firewall would ask: the node's address is that of loopback.
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        _init(
            address="local",
            num_cpus=cores,
            include_dashboard=False,
            object_store_memory=store,
            _memory=memory,
        )
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = is_for_others
    for node in ray.nodes():
        if node["NodeManagerAddress"] not in _LOOPBACK:
            address = node["NodeManagerAddress"]
            raise CannotBuild(f"Ray listens on {address}, not on loopback alone; not used")


def _ask_for_a_token() -> None:
    """Makes Ray ask for a token, whatever the environment says.

    The token is made here and goes to Ray's processes in their environment, not into a file.
    """
    os.environ.pop("RAY_AUTH_MODE", None)
    if not os.environ.get("RAY_AUTH_TOKEN_PATH"):
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


@contextmanager
def _handlers_kept() -> Iterator[None]:
    """Restores the signal handlers that Ray replaces, which it can do on the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {s: signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
