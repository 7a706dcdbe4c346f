"""Ends a build of the command line when the head of its cluster is gone.

A thread that waits for Ray is not told: Ray goes on for a minute and then ends the process with a
page of its own text.  So another thread checks the head every second, and ends the process itself.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from kingpair.api.ray.head import HeadMonitor

LOOK_SECONDS = 1.0
CLUSTER_GONE = 5  # exit status, that of all builds that cannot be done here


@contextmanager
def guarded_head(addresses: list[str], advice: str) -> Iterator[None]:
    """Ends the process if the head is gone while the block runs; prints why, and the advice, in one
    line on standard error.
    """
    monitor, over = HeadMonitor(*addresses), Event()

    def watch() -> None:
        while not over.wait(LOOK_SECONDS):
            if (lack := monitor.lack()) is not None:
                sys.stdout.flush()
                reason = lack.partition(";")[0]  # the rest is for those who mistyped an address
                sys.stderr.write(f"kingpair: the cluster is gone ({reason}); {advice}\n")
                sys.stderr.flush()
                os._exit(CLUSTER_GONE)

    thread = Thread(target=watch, name="head", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
