"""A service on a cluster whose head goes away and comes back, while there is a build and after.

    python lost_head.py OUT

Prints after how many seconds the service noticed, what it then said of the cluster and of its
build, and how ready it was when the head went once more, with nothing to build.  To be run where
only loopback is, among no processes but its own.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from raylet_builds import titled
from services import running, until

PORT = 6379
HEAD, REST, WORKERS = b"gcs_server", b"raylet/raylet", b"ray::Actor"
NOTICED_SECONDS = 30.0  # Ray itself takes a minute
PASSES = 8  # of the material in the middle of which it happens


def begin(place: str) -> None:
    words = ["ray", "start", "--head", "--port", str(PORT), "--node-ip-address", "127.0.0.1"]
    words += ["--include-dashboard=false", "--num-cpus", "1", "--object-store-memory", "100000000"]
    words += ["--disable-usage-stats", "--temp-dir", tempfile.mkdtemp(dir=place)]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(words, check=True, capture_output=True, env=os.environ | {"PATH": path})


def end(*titles: bytes, how: signal.Signals = signal.SIGKILL) -> None:
    for title in titles:
        for pid in titled(title):
            os.kill(pid, how)


def asked(url: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    sent = Request(url + path, data, {"Content-Type": "application/json"})
    with urlopen(sent, timeout=60) as answer:
        return json.load(answer)


def is_in_the_middle(build: Any) -> bool:
    built = [each for wave in build["waves"] for each in wave["materials"]]
    return any(each["material"] == "KQvKR" and len(each["passes"]) > PASSES for each in built)


def main(out: str) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as place:
        begin(place)
        with running("--cluster", f"127.0.0.1:{PORT}", "--tables", out, "--port", "0") as (_, url):
            on(url, place)
        end(HEAD, REST)


def on(url: str, place: str) -> None:
    name = asked(url, "api/v1/builds", {"materials": ["KQvKR"]})["id"]
    until(lambda: is_in_the_middle(asked(url, f"api/v1/builds/{name}")))
    gone = time.monotonic()
    end(WORKERS, how=signal.SIGSTOP)  # they could finish without a head
    end(HEAD)
    ready = until(lambda: degraded(url), NOTICED_SECONDS)
    print("noticed", time.monotonic() - gone)
    until(lambda: asked(url, f"api/v1/builds/{name}")["state"] == "queued")
    print("cluster", *(each["reason"] for each in ready["problems"] if each["what"] == "cluster"))
    print("state", asked(url, f"api/v1/builds/{name}")["state"])
    end(WORKERS, REST)
    begin(place)
    until(lambda: asked(url, f"api/v1/builds/{name}")["state"] == "succeeded")
    idle = [asked(url, "readyz")["status"]]
    end(HEAD)
    idle.append(until(lambda: degraded(url), NOTICED_SECONDS)["status"])
    end(REST)
    begin(place)
    until(lambda: degraded(url) is None)
    print("idle", [*idle, "ready"])


def degraded(url: str) -> Any:
    """Returns the readiness report if the cluster is its only problem, else None."""
    found = asked(url, "readyz")
    what = [each["what"] for each in found.get("problems", ())]
    return found if what == ["cluster"] else None


if __name__ == "__main__":
    main(*sys.argv[1:])
