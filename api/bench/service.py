"""Measures a service, each figure next to its target: `kingpair bench --service`.

The bench starts a service on loopback, in a temporary directory, and asks it over HTTP as clients
do.  Probes are warm and use a few connections that stay open.  An event's delay runs from its entry
into the journal until a reader has it.  Builds with and without five watchers take turns; the least
processor time of each counts, that of the service and of its build process, because clock time
would depend on other programs.  In the soak 50 watchers come and go while a build is repeated.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

from kingpair.api.bench.figures import Figure
from kingpair.api.bench.streams import some_fens
from kingpair.workers.errors import CannotServe
from kingpair.workers.game.chess.material import Material

PROBED, AGAIN = "KRBvKR", "KQRvKR"
CONNECTIONS = 4
WATCHERS, SOAKERS = 5, 50
_TURNS = 3
_WARMING = 20  # builds before the soak; with 50 watchers memory grows by 1 MiB a build until then


class Service(NamedTuple):
    """The service that is measured."""

    process: "subprocess.Popen[str]"
    port: int

    def ask(self, path: str, body: Any = None, is_json: bool = True) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        asked = Request(f"http://127.0.0.1:{self.port}{path}", data, headers)
        with urlopen(asked, timeout=60) as answer:
            return json.loads(answer.read()) if is_json else answer.read()

    def build(self, material: str) -> None:
        """Builds a material again, and waits for the end."""
        name = self.ask("/api/v1/builds", {"materials": [material], "force": True})["id"]
        with self.events(f"/api/v1/builds/{name}/events?after=0") as events:
            for event, data in events:
                if event == "build" and data["state"] == "succeeded":
                    return
        raise CannotServe(f"the build of {material} did not end well")

    @contextmanager
    def events(self, path: str) -> Iterator[Iterator[tuple[str, Any]]]:
        with urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as stream:
            yield _events(stream)

    def seconds(self) -> float:
        """Returns the processor time of the service and its build process."""
        own = Path(f"/proc/{self.process.pid}")
        children = [file.read_text(encoding="ascii") for file in own.glob("task/*/children")]
        stats = [own / "stat", *(Path(f"/proc/{pid}/stat") for pid in " ".join(children).split())]
        return sum(_ticks(stat) for stat in stats) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> int:
        pages = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGESIZE")

    def count(self, what: str) -> int:
        """Returns the number of its threads (task) or files (fd)."""
        return len(os.listdir(f"/proc/{self.process.pid}/{what}"))


def figures(minutes: float, probed: str = PROBED, again: str = AGAIN) -> Iterator[Figure]:
    """Yields the figures, with one material that is probed and one that is built repeatedly."""
    with TemporaryDirectory(prefix="kingpair-bench-") as at, serving(Path(at)) as service:
        service.build(probed)
        yield from _probing(service, probed, "warm, one process")
        with _building(service, again):
            yield from _probing(service, probed, "while it builds")
        yield from _delays(service, again)
        yield _slowdown(service, again)
        yield from _soak(service, minutes, again)


@contextmanager
def serving(tables: Path) -> Iterator[Service]:
    """Starts a service of these tables, whose state is kept elsewhere."""
    with TemporaryDirectory(prefix="kingpair-bench-state-") as state:
        words = ["serve", "--in-process", "--tables", str(tables), "--port", "0"]
        yield from _started([*words, "--state", state])


def _started(words: Sequence[str]) -> Iterator[Service]:
    # A limit for each client is not what is measured.
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "KINGPAIR_PROBES_PER_SECOND": "1000000"}
    with subprocess.Popen(
        [sys.executable, "-m", "kingpair", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://[\d.]+:(\d+)/", process.stdout.readline())
            if found is None:
                raise CannotServe("the service did not begin; try kingpair serve")
            yield Service(process, int(found[1]))
        finally:
            process.terminate()


# ---- probes ----


def _probing(service: Service, probed: str, how: str, requests: int = 4000) -> Iterator[Figure]:
    fens = [fen.replace(" ", "_") for fen in some_fens(Material.parse(probed), 200)]
    _asked(service, fens)  # warm
    began = time.perf_counter()
    with ThreadPoolExecutor(CONNECTIONS) as clients:
        each = requests // CONNECTIONS
        many = [(fens * (each // len(fens) + 1))[:each] for _ in range(CONNECTIONS)]
        found = [s for of in clients.map(_asked, [service] * CONNECTIONS, many) for s in of]
    rate = len(found) / (time.perf_counter() - began)
    yield Figure(f"probes over HTTP, {how}", rate, "/s", 1500, is_rate=True)
    yield Figure(f"{how}: 99 of 100 within", quantiles(found, n=100)[98] * 1e3, "ms", 20)


def _asked(service: Service, fens: list[str]) -> list[float]:
    """Returns the time of each request over one connection."""
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return [_one(connection, fen) for fen in fens]


def _one(connection: socket.socket, fen: str) -> float:
    began = time.perf_counter()
    connection.sendall(f"GET /standard?fen={fen} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1 << 16)
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    length = int(re.search(rb"content-length: (\d+)", head.lower())[1])  # type: ignore[index]
    while len(body) < length:
        body += connection.recv(1 << 16)
    return time.perf_counter() - began


@contextmanager
def _building(service: Service, material: str) -> Iterator[None]:
    """Builds repeatedly for the length of the block."""
    over = Event()

    def work() -> None:
        while not over.is_set():
            service.build(material)

    builder = Thread(target=work)
    builder.start()
    try:
        yield
    finally:
        over.set()
        builder.join()


# ---- events ----


def _delays(service: Service, again: str) -> Iterator[Figure]:
    delays: list[float] = []
    watcher = Thread(target=_watched, args=(service, delays), daemon=True)
    watcher.start()
    while not delays:  # it begins with how things are
        time.sleep(0.01)
    service.build(again)
    watcher.join(10)
    yield Figure("a pass, from commit to reader, worst", max(delays[1:]) * 1e3, "ms", 250)


def _watched(service: Service, delays: list[float]) -> None:
    with service.events("/api/v1/events") as events:
        for event, data in events:
            committed = datetime.fromisoformat(data["time"]).timestamp()
            if event in ("pass", "service"):
                delays.append(time.time() - committed)
            if event == "build" and data["state"] == "succeeded":
                return


def _slowdown(service: Service, again: str) -> Figure:
    alone, watched = [], []
    for _ in range(_TURNS):
        alone.append(_took(service, again))
        with _watchers(service, WATCHERS):
            watched.append(_took(service, again))
    slower = 100 * (min(watched) / min(alone) - 1)
    return Figure(f"a build with {WATCHERS} watchers takes more by", slower, "%", 3)


def _took(service: Service, again: str) -> float:
    """Returns the processor time of a build and of the service meanwhile."""
    before = service.seconds()
    name = service.ask("/api/v1/builds", {"materials": [again], "force": True})["id"]
    while service.ask(f"/api/v1/builds/{name}")["ended"] is None:
        time.sleep(0.2)
    return service.seconds() - before


def _soak(service: Service, minutes: float, again: str) -> Iterator[Figure]:
    """Measures what has grown since the end of the first builds, which fill pools and buffers."""
    for _ in range(_WARMING):
        with _watchers(service, SOAKERS):
            service.build(again)
    files, threads, memory = service.count("fd"), service.count("task"), service.memory()
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        with _watchers(service, SOAKERS):
            service.build(again)
    time.sleep(1.0)  # for what is being closed
    yield Figure("50 watchers: files left open", max(0, service.count("fd") - files), "", 0)
    # Those that wait for the disk come and go, as many as a pool has.
    yield Figure("50 watchers: threads left", max(0, service.count("task") - threads), "", 40)
    grown = max(0, service.memory() - memory) / (1 << 20)
    yield Figure("50 watchers: memory grown by", grown, "MiB", 16)


@contextmanager
def _watchers(service: Service, count: int) -> Iterator[None]:
    """Starts a process that reads all events over so many connections, as pages do."""
    code = (
        "import selectors, socket, sys\n"
        "at = selectors.DefaultSelector()\n"
        f"for _ in range({count}):\n"
        f"    s = socket.create_connection(('127.0.0.1', {service.port}))\n"
        "    s.sendall(b'GET /api/v1/events HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n')\n"
        "    at.register(s, selectors.EVENT_READ)\n"
        "print('there', flush=True)\n"
        "while True:\n"
        "    for key, _ in at.select():\n"
        "        if not key.fileobj.recv(1 << 16): sys.exit()\n"
    )
    with ExitStack() as stack:
        command = [sys.executable, "-c", code]
        readers = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE))
        stack.callback(readers.terminate)
        assert readers.stdout is not None
        readers.stdout.readline()
        yield


def _events(stream: Any) -> Iterator[tuple[str, Any]]:
    name = ""
    for line in stream:
        key, _, value = line.decode().rstrip("\n").partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            yield name, json.loads(value)


def _ticks(stat: Path) -> int:
    """Returns the processor time of a process in ticks, user and system."""
    fields = stat.read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
