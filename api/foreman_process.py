"""The foreman's process: what is asked comes in as lines of JSON, what happens goes out as such.

    in    {"id": 1, "ask": "submit", "wanted": {...}, "key": null}   or a "build" to cancel, ...
    out   {"id": 1, "answer": {...}}  or  {"id": 1, "refused": {"kind": ..., "detail": ...}}
          {"row": 17}                 the journal has come so far
          {"workers": [...], "build": "b1"}
          {"troubles": {"cluster": "no cluster at ..."}}
          {"ready": true}  or  {"ready": false, "reason": ...}

It is a process of its own so that a build takes no time from whoever asks positions, can be killed,
and can be waited for.  It ends with SIGTERM, and when nobody writes to it any more; at once, as
nothing else ends what waits for Ray, if the head of the cluster that it builds on is gone.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, NoReturn, TextIO

from api.head import Lookout
from api.hiring import hiring
from api.logs import log_to_stderr
from coordinator.book import JOURNAL
from coordinator.foreman import Foreman, Place, Refused
from coordinator.journal import Journal
from coordinator.lanes import lanes
from coordinator.wanted import wanted_of
from workers import _kernels
from workers.errors import KingpairError

LOOK_SECONDS = 1.0
STOP_SECONDS = 6.0  # sooner than the service loses patience
CANNOT_BEGIN = 5  # the status of a process that has said why
CLUSTER_LOST = 6  # that of one that left its build as it was
NICE = 10  # whoever asks a position goes first


class Writer:
    """Lines for the service, in their order; nobody who builds waits for it to read them."""

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


def main(text: str) -> int:
    told = json.loads(text)
    writer = Writer(_private_output())
    if told["level"] is not None:
        _kernels.use_level(told["level"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the service's
    signal.signal(signal.SIGTERM, _ended)
    os.nice(NICE)
    log_to_stderr(told["verbose"])
    try:
        with _at_work(told, writer) as foreman, suppress(SystemExit, KeyboardInterrupt):
            for line in sys.stdin:
                _answer(foreman, json.loads(line), writer)
    except KingpairError as error:
        writer.say({"ready": False, "reason": str(error)})
        return CANNOT_BEGIN
    finally:
        writer.close()
    return 0


@contextmanager
def _at_work(told: dict[str, Any], writer: Writer) -> Iterator[Foreman]:
    state = Path(told["state"])
    state.mkdir(parents=True, exist_ok=True)
    place = Place(
        Path(told["out"]),
        told["threads"],
        partial(hiring, told["cluster"], told["threads"], told["workers"]),
        told["memory"],
        told["workers"] or 1,
        told["queued"],
    )
    with Journal(state / JOURNAL) as journal:
        foreman = Foreman(journal, place, lambda row: writer.say({"row": row}))
        foreman.start()
        over = Event()
        looked_at = foreman, writer, over, Lookout(told["cluster"])
        try:
            writer.say({"ready": True})
            Thread(target=_watch, args=looked_at, name="watch", daemon=True).start()
            yield foreman
        finally:
            over.set()
            if not foreman.stop(STOP_SECONDS):
                _end(writer, 0)


def _watch(foreman: Foreman, writer: Writer, over: Event, lookout: Lookout) -> None:
    """Tell of the workers and of the cluster as they are, now and then."""
    was_busy = False
    told: dict[str, str] | None = None
    while not over.wait(LOOK_SECONDS):
        name, found = lanes(foreman.job())
        if name is not None or was_busy:
            writer.say({"workers": found, "build": name})
        was_busy = name is not None
        lack = lookout.lack()
        troubles = foreman.troubles | ({"cluster": lack} if lack else {})
        if troubles != told:
            writer.say({"troubles": troubles})
            told = troubles
        if lack and foreman.is_connected and not over.is_set():
            _leave(foreman, writer, lack)


def _leave(foreman: Foreman, writer: Writer, lack: str) -> None:
    with suppress(KingpairError):
        foreman.leave(lack)
    _end(writer, CLUSTER_LOST)


def _end(writer: Writer, status: int) -> NoReturn:
    """Without waiting for threads that wait themselves."""
    writer.close()
    os._exit(status)


def _answer(foreman: Foreman, asked: dict[str, Any], writer: Writer) -> None:
    try:
        found = _done(foreman, asked)
    except Refused as no:
        writer.say({"id": asked["id"], "refused": {"kind": no.kind, "detail": str(no)}})
    except KingpairError as error:
        writer.say({"id": asked["id"], "refused": {"kind": "not-ready", "detail": str(error)}})
    else:
        writer.say({"id": asked["id"], "answer": found})


def _done(foreman: Foreman, asked: dict[str, Any]) -> dict[str, Any]:
    what, by = asked["ask"], asked.get("by", "")
    if what == "submit":
        name, is_new = foreman.submit(wanted_of(asked["wanted"]), asked.get("key"))
        return {"build": name, "is_new": is_new, "row": foreman.row}
    act = {"cancel": foreman.cancel, "retry": foreman.retry, "delete": foreman.delete}[what]
    act(asked["build"], by)
    return {"build": asked["build"], "row": foreman.row}


def _private_output() -> TextIO:
    """What others print goes to the log, not in between."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return out


def _ended(number: int, frame: object) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
