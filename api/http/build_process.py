"""The build process of the service: runs the build queue, and speaks lines of JSON.

    in    {"id": 1, "ask": "submit", "spec": {...}, "key": null}   or a "build" to cancel, ...
    out   {"id": 1, "answer": {...}}  or  {"id": 1, "refused": {"kind": ..., "detail": ...}}
          {"row": 17}                 the journal has come so far
          {"workers": [...], "nodes": [...], "build": "b1"}
          {"troubles": {"cluster": "no cluster at ..."}}
          {"starting": "starting Ray on this machine (2 of 3)"}  or null, once builds can begin
          {"ready": true}  or  {"ready": false, "reason": ...}

It is a process of its own so that a build takes no time from probes, can be killed and can be
waited for.  It ends on SIGTERM, and when its input is closed.  If the head of its Ray cluster is
gone, it exits at once, because nothing else ends a thread that waits for Ray.

A cluster of its own is started before the first build, and builds wait for it; if it cannot be
started, threads of this process build.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, NoReturn, TextIO

from kingpair.api.executors import Machines, executors_or_threads
from kingpair.api.logs import log_to_stderr
from kingpair.api.ray.head import HeadMonitor
from kingpair.coordinator.execute.build_queue import BuildQueue, QueueOptions, RequestRefused
from kingpair.coordinator.execute.executor import OpenExecutor
from kingpair.coordinator.execute.recorder import JOURNAL
from kingpair.coordinator.execute.worker_status import worker_status
from kingpair.coordinator.journal.database import Journal
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers import _kernels
from kingpair.workers.errors import KingpairError

LOOK_SECONDS = 1.0
STOP_SECONDS = 6.0  # less than the service waits for this process
CANNOT_BEGIN = 5  # exit status: it could not begin, and has reported the reason
CLUSTER_LOST = 6  # exit status: the cluster is gone; the build can be resumed
NICE = 10  # probes go first


class Writer:
    """Writes lines for the service, in their order; no build waits for it to read them."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lines: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._thread = Thread(target=self._write, name="writer", daemon=True)
        self._thread.start()

    def say(self, line: dict[str, Any]) -> None:
        self._lines.put(line)

    def _write(self) -> None:
        with suppress(BrokenPipeError, ValueError):
            while (line := self._lines.get()) is not None:
                self._out.write(json.dumps(line) + "\n")
                if self._lines.empty():
                    self._out.flush()

    def close(self) -> None:
        self._lines.put(None)
        self._thread.join(1.0)


class Connection:
    """The cluster of this process: connects to it, and knows whether it is there."""

    def __init__(self, machines: Machines, writer: Writer) -> None:
        self._machines, self._writer = machines, writer
        self._monitor = HeadMonitor(machines.cluster)
        self._regret: str | None = None

    @contextmanager
    def open(self) -> Iterator[OpenExecutor | None]:
        """Connects for the length of the block, and reports each step."""
        self._regret = None
        with executors_or_threads(self._machines, self._report, self._note) as opener:
            self._report(None)
            if opener is not None and self._machines.has_own_cluster:
                from kingpair.api.ray.cluster import addresses

                self._monitor = HeadMonitor(*addresses())
            try:
                yield opener
            finally:
                self._monitor = HeadMonitor(self._machines.cluster)

    def lack(self) -> str | None:
        """Returns why there is no cluster, or None."""
        return self._monitor.lack()

    @property
    def troubles(self) -> dict[str, str]:
        """Why builds run without Ray, if they do."""
        return {} if self._regret is None else {"cluster": self._regret}

    def _report(self, step: str | None) -> None:
        self._writer.say({"starting": step})

    def _note(self, reason: str) -> None:
        self._regret = reason


def main(text: str) -> int:
    settings = json.loads(text)
    writer = Writer(_private_output())
    if settings["level"] is not None:
        _kernels.use_level(settings["level"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the service's
    signal.signal(signal.SIGTERM, _on_sigterm)
    os.nice(NICE)
    log_to_stderr(settings["verbose"])
    try:
        with _open_queue(settings, writer) as queue, suppress(SystemExit, KeyboardInterrupt):
            for line in sys.stdin:
                _answer(queue, json.loads(line), writer)
    except KingpairError as error:
        writer.say({"ready": False, "reason": str(error)})
        return CANNOT_BEGIN
    finally:
        writer.close()
    return 0


@contextmanager
def _open_queue(settings: dict[str, Any], writer: Writer) -> Iterator[BuildQueue]:
    state = Path(settings["state"])
    state.mkdir(parents=True, exist_ok=True)
    machines = Machines(
        settings["cluster"],
        settings["threads"],
        settings["workers"],
        settings["memory"],
        awaits_nodes=True,
    )
    connection = Connection(machines, writer)
    options = QueueOptions(
        Path(settings["out"]),
        settings["threads"],
        connection.open,
        settings["memory"],
        settings["workers"] or 1,
        settings["queued"],
        has_own_cluster=machines.has_own_cluster,
        scratch=None if settings["scratch"] is None else Path(settings["scratch"]),
        logs=None if settings["logs"] is None else Path(settings["logs"]),
        parts_from=settings["parts_from"],
    )
    with Journal(state / JOURNAL) as journal:
        queue = BuildQueue(journal, options, lambda row: writer.say({"row": row}))
        queue.start()
        is_closing = Event()
        watched = queue, writer, is_closing, connection
        try:
            writer.say({"ready": True})
            Thread(target=_report_status, args=watched, name="watch", daemon=True).start()
            yield queue
        finally:
            is_closing.set()
            if not queue.stop(STOP_SECONDS):
                _end(writer, 0)


def _report_status(
    queue: BuildQueue, writer: Writer, is_closing: Event, connection: Connection
) -> None:
    """Reports the workers and the state of the cluster now and then."""
    was_busy = False
    reported: dict[str, str] | None = None
    while not is_closing.wait(LOOK_SECONDS):
        status = worker_status(queue.running())
        if status.build is not None or was_busy:
            writer.say(status._asdict())
        was_busy = status.build is not None
        lack = connection.lack()
        troubles = queue.troubles | connection.troubles | ({"cluster": lack} if lack else {})
        if troubles != reported:
            writer.say({"troubles": troubles})
            reported = troubles
        if lack and queue.is_connected and not is_closing.is_set():
            _interrupt_build(queue, writer, lack)


def _interrupt_build(queue: BuildQueue, writer: Writer, lack: str) -> None:
    with suppress(KingpairError):
        queue.leave(lack)
    _end(writer, CLUSTER_LOST)


def _end(writer: Writer, status: int) -> NoReturn:
    """Ends this process without waiting for its threads."""
    writer.close()
    os._exit(status)


def _answer(queue: BuildQueue, asked: dict[str, Any], writer: Writer) -> None:
    try:
        found = _perform(queue, asked)
    except RequestRefused as refusal:
        writer.say({"id": asked["id"], "refused": {"kind": refusal.kind, "detail": str(refusal)}})
    except KingpairError as error:
        writer.say({"id": asked["id"], "refused": {"kind": "not-ready", "detail": str(error)}})
    else:
        writer.say({"id": asked["id"], "answer": found})


def _perform(queue: BuildQueue, asked: dict[str, Any]) -> dict[str, Any]:
    what, by = asked["ask"], asked.get("by", "")
    if what == "submit":
        name, is_new = queue.submit(BuildSpec.parse(asked["spec"]), asked.get("key"))
        return {"build": name, "is_new": is_new, "row": queue.row}
    act = {"cancel": queue.cancel, "retry": queue.retry, "delete": queue.delete}[what]
    act(asked["build"], by)
    return {"build": asked["build"], "row": queue.row}


def _private_output() -> TextIO:
    """Returns standard output for our lines alone; what libraries print goes to the log."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return out


def _on_sigterm(number: int, frame: object) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
