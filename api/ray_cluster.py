"""The cluster that a build runs on: one of its own, the one this machine is part of, or another.

    local         started here, ended with the build
    auto          what RAY_ADDRESS or Ray's own note on this machine names
    HOST:PORT     the head of a cluster

Closed by default.  A cluster of our own is not reachable from outside: all its processes listen on
loopback alone, which is looked at and not hoped for, and whoever speaks to it must have its token.
A cluster that was started by others listens where they let it, and Ray binds to all interfaces
unless it is told otherwise; its token, if it has one, is taken from where Ray looks for it.

Every wait has a limit: connecting to an address where nobody is, or somebody else, would take Ray
minutes.
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

from api.head import reached
from workers.errors import CannotBuild

STORE_BYTES = 512 << 20  # of the object store of a cluster of our own
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LOOPBACK = {"127.0.0.1", "::1"}


@contextmanager
def connected(where: str, cores: int, store: int = STORE_BYTES) -> Iterator[None]:
    """The cluster that `where` names, for as long as it is needed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")
    with _handlers_kept():
        try:
            if where == "local":
                _start(cores, store)
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
    """Whatever Ray is told, it prints a page on standard output when a process dies.  That is for
    what was asked for; who was lost, and why, is told by the build.
    """
    printing = worker.print_to_stdstream
    worker.print_to_stdstream = lambda *said, **how: None
    try:
        yield
    finally:
        worker.print_to_stdstream = printing


def line(error: BaseException) -> str:
    """What Ray says, in one line and without colours."""
    return " ".join(_COLOUR.sub("", str(error)).split())[:300] or type(error).__name__


def _init(**settings: Any) -> None:
    ray.init(**settings, log_to_driver=False, logging_level=logging.ERROR)


# ---- a cluster of our own ----


def _start(cores: int, store: int) -> None:
    _ask_for_a_token()
    is_for_others = ray_constants.ENABLE_RAY_CLUSTER
    # As Ray does by itself where a firewall would ask: the node's address is that of loopback.
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        _init(address="local", num_cpus=cores, include_dashboard=False, object_store_memory=store)
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = is_for_others
    for node in ray.nodes():
        if node["NodeManagerAddress"] not in _LOOPBACK:
            address = node["NodeManagerAddress"]
            raise CannotBuild(f"Ray listens on {address}, not on loopback alone; not used")


def _ask_for_a_token() -> None:
    """Ray checks tokens on a cluster of its own unless it is told not to; ours it is never told.
    The token is made here and goes to Ray's processes in their environment, not into a file.
    """
    os.environ.pop("RAY_AUTH_MODE", None)
    if not os.environ.get("RAY_AUTH_TOKEN_PATH"):
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


@contextmanager
def _handlers_kept() -> Iterator[None]:
    """Ray replaces them; on another thread than the main one it cannot, and neither can we."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {s: signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
