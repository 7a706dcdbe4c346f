"""Measures a service of given tables beside its own warm probes: `kingpair bench --service`.

Each rate is divided by that of warm probes, which are asked before and after it, so that machines
can be compared; both are taken from the processor time of the service:

    random      positions of all materials of the most men that there are, each asked once
    mainline    the whole line of a win of about 75 plies, asked before
    batch       10,000 positions in one request on warm blocks, positions a second
    start       from the command to its first answer, beside Python's import of FastAPI and pyarrow
    page        all that a browser fetches for the first view, bytes over the wire
"""

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from resource import RUSAGE_CHILDREN, getrusage
from statistics import quantiles
from typing import Any, NamedTuple

from kingpair.api.bench.figures import Figure
from kingpair.api.bench.service import Service, serving
from kingpair.workers.errors import BadPosition
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.board import SQUARES

RANDOM, HOT, LINES, IN_A_BATCH = 2000, 1000, 20, 10_000
PLIES, BATCHES = 75, 5
_REFERENCES = re.compile(r"""(?:src|href)="(/page/[^"]+)"|from '\./([^']+)'""")


class Request(NamedTuple):
    path: str
    body: bytes = b""

    def encoded(self) -> bytes:
        verb = b"POST" if self.body else b"GET"
        head = f" {self.path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(self.body)}\r\n"
        return verb + head.encode() + b"Content-Type: application/json\r\n\r\n" + self.body


class Client:
    """One connection that stays open."""

    def __init__(self, port: int) -> None:
        self._connection = socket.create_connection(("127.0.0.1", port))
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        self._connection.close()

    def ask(self, request: Request) -> bytes:
        """Returns the answer, its head included."""
        self._connection.sendall(request.encoded())
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._connection.recv(1 << 20)
        head, _, body = data.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head + body
        found = re.search(rb"content-length: (\d+)", head.lower())
        assert found is not None, head
        parts, missing = [data], int(found[1]) - len(body)
        while missing > 0:
            parts.append(self._connection.recv(1 << 20))
            missing -= len(parts[-1])
        return b"".join(parts)

    def seconds(self, requests: Sequence[Request]) -> list[float]:
        """Returns the time that each answer takes."""
        found = []
        for request in requests:
            began = time.perf_counter()
            self.ask(request)
            found.append(time.perf_counter() - began)
        return found


def figures(tables: Path) -> Iterator[Figure]:
    """Yields the figures of a service of these tables."""
    with serving(tables) as service, closing(Client(service.port)) as client:
        yield from _probing(service, client)
        yield Figure("the page, everything over the wire", _page(client) / 1e3, "kB", 350)
    yield Figure("start of the service / import fastapi, pyarrow", _start(tables), "x", 2)


def _probing(service: Service, client: Client) -> Iterator[Figure]:
    tables = service.ask("/api/v1/tables")["tables"]
    fens = _fens(tables, RANDOM + 200)
    hot = [_probe(fen) for fen in fens[:200]] * (HOT // 200)
    client.seconds(hot * 2)  # blocks are decoded when they were asked for a few times
    random = [_probe(fen) for fen in fens[200:]]
    ratio, found = _beside(service, client, hot, random)
    yield Figure("random probes of all materials / warm ones", ratio, "x", 0.8, is_rate=True)
    yield Figure("random: 99 of 100 within", quantiles(found, n=100)[98] * 1e3, "ms", 20)
    line = Request(f"/standard/mainline?fen={_longest(service, tables)}")
    client.ask(line)
    ratio, _ = _beside(service, client, hot, [line] * LINES)
    yield Figure("mainlines of the longest win / warm probes", ratio, "x", 0.1, is_rate=True)
    batch = (fens * (IN_A_BATCH // len(fens) + 1))[:IN_A_BATCH]
    many = Request("/api/v1/probe", json.dumps({"fens": batch}).encode())
    client.ask(many)
    ratio, _ = _beside(service, client, hot, [many] * BATCHES)
    yield Figure("positions of a batch / warm probes", ratio * IN_A_BATCH, "x", 40, is_rate=True)


def _beside(
    service: Service, client: Client, hot: Sequence[Request], others: Sequence[Request]
) -> tuple[float, list[float]]:
    """Returns the rate of other requests over that of warm probes, by the processor time that the
    service takes for each, and how long each took.
    """
    before = service.seconds()
    client.seconds(hot)
    between = service.seconds()
    found = client.seconds(others)
    after = service.seconds()
    client.seconds(hot)
    warm = (service.seconds() - after + between - before) / 2 / len(hot)
    return warm / ((after - between) / len(others)), found


def _probe(fen: str) -> Request:
    return Request(f"/standard?fen={fen}")


def _fens(tables: Sequence[Any], number: int) -> list[str]:
    """Positions of the materials of the most men, the same ones every time."""
    most = max(table["men"] for table in tables)
    materials = sorted({table["material"] for table in tables if table["men"] == most})
    chance, found = Random(number), list[str]()
    while len(found) < number:
        fen = _position(Material.parse(chance.choice(materials)), chance)
        try:
            parse_fen(fen)
        except BadPosition:
            continue
        found.append(fen)
    return found


def _position(material: Material, chance: Random) -> str:
    white, black = material.side_names
    men = dict(zip(chance.sample(list(SQUARES), material.men), white + black.lower(), strict=True))
    ranks = (
        "".join(men.get(8 * rank + file, ".") for file in range(8)) for rank in range(7, -1, -1)
    )
    board = "/".join(re.sub(r"\.+", lambda gap: str(len(gap[0])), rank) for rank in ranks)
    return f"{board}_{chance.choice('wb')}_-_-_0_1"


def _longest(service: Service, tables: Sequence[Any]) -> str:
    """Returns the position of a longest win, of the table in which it is nearest to PLIES."""
    table = min(tables, key=lambda table: abs(2 * (table["longest_win"] or 0) - 1 - PLIES))
    where = f"/api/v1/tables/{table['material']}/longest?metric={table['metric']}"
    wins = [kind for kind in service.ask(where)["longest"] if kind["result"] == "win"]
    return str(max(wins, key=lambda kind: kind["moves"])["fens"][0]).replace(" ", "_")


def _page(client: Client) -> int:
    """Returns the bytes of the first view: the page and all that it names."""
    left, seen, total = ["/"], set[str](), 0
    while left:
        path = left.pop()
        if path in seen:
            continue
        seen.add(path)
        answer = client.ask(Request(path))
        total += len(answer)
        for absolute, beside in _REFERENCES.findall(answer.decode(errors="replace")):
            left.append(absolute or f"/page/{beside}")
    return total


def _start(tables: Path) -> float:
    """Returns the least processor time to the first answer over the least of the imports."""
    starts, imports = list[float](), list[float]()
    for _ in range(3):
        with serving(tables) as service:
            service.ask("/healthz", is_json=False)
            starts.append(service.seconds())
        imports.append(_children_seconds())
        subprocess.run([sys.executable, "-c", "import fastapi, pyarrow"], check=True)
        imports[-1] = _children_seconds() - imports[-1]
    return min(starts) / min(imports)


def _children_seconds() -> float:
    """Returns the processor time of the processes that were started here and have ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
