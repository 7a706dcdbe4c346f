"""Analyses of a domain by several workers, in estates that others may hold; and a process in which
they are killed.

    python estates.py TABLES LOGS MATERIAL METRIC WORKERS LAST DEPTH PART

Says where the estates are and waits for a line.  Then it commits passes up to LAST, and is killed
in pass DEPTH as soon as one of them has logged so many parts of that.
"""

import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from workers.analysis import Analysis, Findings, Parcel
from workers.bits import Layer
from workers.domain import Domain
from workers.estate import Estate
from workers.exits import Sets, exits_of
from workers.geometry import PAIRS
from workers.history import NOTHING, Entry, History
from workers.material import STRONGER, Material
from workers.metric import Metric
from workers.passlog import Buffer, Found, LogFile, Pass, PassLog
from workers.share import Share
from workers.threads import Chunk, Threads, chunk_size
from workers.workshop import Tables


class Counting(Analysis):
    """Knows which partitions it had to make."""

    made: set[int]

    def _open(self, mover: int, escapes: Sets, open_: Layer, chunks: Iterable[Chunk]) -> None:
        if open_ is self.open_w:
            self.made = {int(pair) for chunk in chunks for pair in chunk}
        super()._open(mover, escapes, open_, chunks)


class Killed(PassLog):
    """Its process is killed in a pass, when it has so many parts of that."""

    depth, parts = -1, -1

    def append(self, found: Found, packed: tuple[Buffer, list[int]]) -> None:
        super().append(found, packed)
        if found.depth == self.depth:
            self.parts -= 1
            if self.parts == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def shares(workers: int) -> list[Share]:
    owners = [pair % workers for pair in range(len(PAIRS))]
    return [Share(owners, number) for number in range(workers)]


def key(number: int) -> bytes:
    return b"worker %9d" % number


class Team:
    """All workers of a domain, for the analysis of the stronger side."""

    def __init__(
        self,
        tables: Path,
        logs: Sequence[PassLog],
        subject: tuple[str, str],
        estates: Sequence[Estate | None],
        threads: Threads,
    ) -> None:
        material, metric = Material.parse(subject[0]), Metric(subject[1])
        exits = exits_of(material, metric, Tables(tables, metric), threads)[STRONGER]
        self.domains = [Domain(material, share) for share in shares(len(logs))]
        self.analyses = [
            Counting(domain, STRONGER, exits, threads, log, estate)
            for domain, log, estate in zip(self.domains, logs, estates, strict=True)
        ]
        self._sent: list[dict[int, Parcel]] = []

    def prepare(self, history: History = NOTHING) -> None:
        self._sent = [analysis.prepare(history) for analysis in self.analyses]

    def step(self, name: str, *depth: int) -> int:
        """What all of them found."""
        of = range(len(self.analyses))
        inbound = [[p[n] for p in self._sent if n in p] for n in of]
        found: list[Findings] = [
            getattr(analysis, name)(*depth, *([inbound[n]] if depth else []))
            for n, analysis in enumerate(self.analyses)
        ]
        self._sent = [findings.parcels for findings in found]
        return sum(findings.total for findings in found)

    def run(self, first: int, last: int, committed: int) -> list[tuple[int, int]]:
        """Passes, of which some are committed; what each found."""
        counts = []
        for depth in range(first, last + 1):
            won = self.step("win", depth) if depth else 0
            lost = self.step("lose", depth) if depth else self.step("lose_at_once")
            counts.append((won, lost))
            for analysis in self.analyses:
                if depth <= committed:
                    analysis.log.commit(Pass(depth, won, lost, False)).result()
        return counts

    def sets(self) -> list[dict[int, tuple[bytes, ...]]]:
        """The open sets and the last lost layer, with the marks of the former, by partition."""
        return [
            {int(pair): _sets(analysis, domain, int(pair)) for pair in domain.share.own}
            | {int(pair): _copy(analysis, domain, int(pair)) for pair in domain.share.halo}
            for analysis, domain in zip(self.analyses, self.domains, strict=True)
        ]


def _copy(analysis: Analysis, domain: Domain, pair: int) -> tuple[bytes, ...]:
    place, rows = int(domain.share.places[pair]), domain.kernel.rows
    layer = analysis.open_w
    words = layer.words[place * domain.words :][: domain.words].tobytes()
    return words, layer.occupied[place * rows :][:rows].tobytes()


def _sets(analysis: Analysis, domain: Domain, pair: int) -> tuple[bytes, ...]:
    place, rows = int(domain.share.places[pair]), domain.kernel.rows
    layer = analysis.open_l
    words = layer.words[place * domain.words :][: domain.words].tobytes()
    occupied = layer.occupied[place * rows :][:rows].tobytes()
    chunk = domain.share.own[domain.share.own == pair]
    return *_copy(analysis, domain, pair), words, occupied, packed(analysis, chunk)


def packed(analysis: Analysis, chunk: Chunk) -> bytes:
    return bytes(analysis._packed(chunk, analysis.lost).streams)


def log_at(logs: Path, share: Share, material: str, kind: type[PassLog] = PassLog) -> PassLog:
    together = chunk_size(len(Material.parse(material).letters))
    identity = {"winner": STRONGER, "partitions": [int(p) for p in share.own], "together": together}
    return kind(logs / f"{share.number}.log", identity)


@contextmanager
def logged(logs: Path, workers: int, last: int) -> Iterator[History]:
    """What there is of the passes up to one."""
    with ExitStack() as stack:
        files = [LogFile(logs / f"{number}.log") for number in range(workers)]
        for file in files:
            stack.callback(file.close)
        yield History([Entry(file, 0, last) for file in files])


def main(tables: Path, logs: Path, subject: tuple[str, str], *numbers: int) -> None:
    workers, last, depth, parts = numbers
    every = shares(workers)
    estates = [
        Estate.shared(Domain(Material.parse(subject[0]), share), key(share.number))
        for share in every
    ]
    print(*(e.address.fd for e in estates if e.address), flush=True)
    sys.stdin.readline()
    Killed.depth, Killed.parts = depth, parts
    with Threads(2) as threads:
        own = [log_at(logs, share, subject[0], Killed) for share in every]
        team = Team(tables, own, subject, estates, threads)
        team.prepare()
        team.run(0, depth, last)
    raise SystemExit("nobody was killed")


if __name__ == "__main__":
    at, logs_at, name, how, *rest = sys.argv[1:]
    main(Path(at), Path(logs_at), (name, how), *map(int, rest))
