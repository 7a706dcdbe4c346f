"""A build of the command line, first killed, then left by the head of its cluster.

    python killed_head.py OUT

Prints `killed` and the names that a driver killed in the middle of a pass left beside tables and
journal; `gone`, the exit status and the last line of the driver whose head was killed, and after
how many seconds it ended; `again` and the status of the same command with a new head.  To be run
where only loopback is, among no processes but its own.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from subprocess import Popen

from lost_head import HEAD, PORT, REST, WORKERS, begin, end

PASSES = 8  # of the material in the middle of which it happens


def driver(out: Path) -> "Popen[str]":
    words = ("build", "KQvKR", "--tables", str(out), "--cluster", f"127.0.0.1:{PORT}", "--json")
    command = [sys.executable, "-m", "kingpair.api.cli.main", *words]
    return Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def in_the_middle(build: "Popen[str]") -> None:
    """Reads the lines of a build until some passes of the material are committed."""
    assert build.stdout is not None
    passes = (line for line in build.stdout if '"committed", "material": "KQvKR"' in line)
    for _ in zip(range(PASSES), passes, strict=False):
        pass


def main(out: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as place:
        begin(place)
        first = driver(out)
        in_the_middle(first)
        first.kill()
        first.wait()
        known = (".kingpair.journal", "KQvK", "KRvK", ".KQvKR", ".KQvK", ".KRvK")
        left = (path.name for path in out.iterdir() if not path.name.startswith(known))
        print("killed", *left, flush=True)
        second = driver(out)
        in_the_middle(second)
        end(WORKERS, how=signal.SIGSTOP)  # they could finish without a head
        gone = time.monotonic()
        end(HEAD)
        _, said = second.communicate()
        took = time.monotonic() - gone
        (line,) = (line for line in said.splitlines() if line.startswith("kingpair: "))
        print("gone", second.returncode, f"{took:.1f}", line, flush=True)
        end(WORKERS, REST)
        begin(place)
        third = driver(out)
        third.communicate()
        print("again", third.returncode, flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
