"""Worker processes whose node or whose driver is killed.

    python orphans.py

Prints after how many seconds none was left: when the driver of a cluster of its own was killed,
when that of a cluster of others was, and when the raylet of a node was.  To be run where only
loopback is, among no processes but its own.
"""

import multiprocessing
import os
import signal
import tempfile
import time

from lost_head import PORT, REST, begin, end
from raylet_builds import titled
from services import until

from kingpair.api.ray.cluster import connected
from kingpair.api.ray.kept_processes import KeptProcesses

WORKERS = b"ray::Actor"
LEFT_SECONDS = 5.0


def drive(where: str) -> None:
    """Starts a worker process, and waits for its own end."""
    with connected(where, 1):
        kept = KeptProcesses()
        kept.start(1)
        signal.pause()


def killed(what: str, where: str) -> None:
    driver = multiprocessing.get_context("spawn").Process(target=drive, args=(where,))
    driver.start()
    until(lambda: titled(WORKERS))
    assert driver.pid is not None
    began = time.monotonic()
    for pid in [driver.pid] if what != "raylet" else titled(REST):
        os.kill(pid, signal.SIGKILL)
    until(lambda: not titled(WORKERS), LEFT_SECONDS)
    print(what, time.monotonic() - began, flush=True)
    driver.kill()
    driver.join()


def main() -> None:
    killed("own", "local")
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as place:
        begin(place)
        killed("driver", f"127.0.0.1:{PORT}")
        killed("raylet", f"127.0.0.1:{PORT}")
        end(b"gcs_server")


if __name__ == "__main__":
    main()
