"""A service as `kingpair serve` starts it: on a Ray cluster of its own.

    python service_on_ray.py OUT

Prints the steps that it reported before builds could begin, where anything listens, what became of
a build, whether the next build was done by the same processes, the steps after the head of the
cluster was killed in the middle of a build, and what became of that; then what a service said that
could not start Ray.  To be run where only loopback and a network without peers are, among no
processes but its own.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster_access import listening
from lost_head import asked
from raylet_builds import titled
from services import ROOT, started, until

STEPS = ("loading", "starting Ray", "starting worker")


@contextmanager
def serving(out: Path, **settings: str) -> Iterator[str]:
    words = [sys.executable, "-m", "kingpair", "serve", "--tables", str(out), "--port", "0"]
    with started(words, ROOT, {"PYTHONPATH": str(ROOT)} | settings) as (process, url):
        yield url
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def steps(url: str) -> list[str]:
    """Returns the steps that readiness reported, until builds can begin."""
    seen: list[str] = []

    def is_over() -> bool:
        ready = asked(url, "readyz")
        seen.append(ready.get("starting", ""))
        return not seen[-1] and any(seen)

    until(is_over, 120)
    return [step for step in STEPS if any(each.startswith(step) for each in seen)]


def build(url: str, name: str) -> str:
    return ended(url, submitted(url, name))


def submitted(url: str, name: str) -> str:
    return str(asked(url, "api/v1/builds", {"materials": [name], "force": True})["id"])


def ended(url: str, build: str) -> str:
    """Waits for a build, and returns the state in which it ended."""
    path = f"api/v1/builds/{build}"
    until(lambda: asked(url, path)["ended"] is not None, 120)
    return str(asked(url, path)["state"])


def main(out: Path) -> None:
    with serving(out) as url:
        print("steps", "; ".join(steps(url)))
        print("listens", *sorted(set(listening())))
        print("built", build(url, "KQvKR"), asked(url, "readyz")["status"])
        actors = titled(b"ray::Actor")
        print("again", build(url, "KQvKR"), set(actors) <= set(titled(b"ray::Actor")))
        interrupted = submitted(url, "KRBvKR")
        until(lambda: asked(url, f"api/v1/builds/{interrupted}")["progress"]["decided"])
        for pid in titled(b"gcs_server"):
            os.kill(pid, signal.SIGKILL)
        print("lost", "; ".join(steps(url)))
        print("restarted", ended(url, interrupted), asked(url, "readyz")["status"])
    until(lambda: not titled(b"raylet/raylet"))
    with tempfile.NamedTemporaryFile() as file, serving(out, RAY_TMPDIR=file.name) as url:
        until(lambda: asked(url, "readyz")["status"] == "degraded", 120)
        print("without", build(url, "KQvKR"))
        for each in asked(url, "readyz")["problems"]:
            print("problem", each["what"], each["reason"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
