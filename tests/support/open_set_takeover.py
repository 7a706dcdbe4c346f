"""Analyses of a domain by several workers with shared open sets, and a process in which they are
killed.

    python open_set_takeover.py TABLES LOGS MATERIAL METRIC WORKERS LAST DEPTH PART

Prints the descriptors of the open sets and waits for a line.  Then it commits passes up to
LAST, and is killed in pass DEPTH as soon as one worker has logged so many parts of that.
"""

import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.material_index import index_of
from kingpair.workers.index.share import Share
from kingpair.workers.number_types import STRONGER, Depth, Partition, Side
from kingpair.workers.passlog.history import EMPTY_HISTORY, History, LogRange
from kingpair.workers.passlog.log import Buffer, LayerChunk, LogFile, PassResult
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.analysis import Analysis
from kingpair.workers.solve.exits import Sets, exits_of
from kingpair.workers.solve.frontiers import PackedFrontier, StepResult
from kingpair.workers.solve.open_sets import OpenSets
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore


class Counting(Analysis):
    """Knows which partitions it had to make."""

    made: set[int]

    def _open(self, mover: Side, escapes: Sets, open_: Layer, chunks: Iterable[Chunk]) -> None:
        if open_ is self.open_w:
            self.made = {int(pair) for chunk in chunks for pair in chunk}
        super()._open(mover, escapes, open_, chunks)


class Killed(PassLog):
    """Its process is killed in a pass, when it has so many parts of that."""

    depth, parts = Depth(-1), -1

    def append(self, found: LayerChunk, packed: tuple[Buffer, list[int]]) -> None:
        super().append(found, packed)
        if found.depth == self.depth:
            self.parts -= 1
            if self.parts == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def shares(workers: int) -> list[Share]:
    owners = [pair % workers for pair in range(len(TURNED))]
    return [Share(TURNED, owners, number) for number in range(workers)]


def key(number: int) -> bytes:
    return b"worker %9d" % number


class Team:
    """All workers of a domain, for the analysis of the stronger side."""

    def __init__(
        self,
        tables: Path,
        logs: Sequence[PassLog],
        subject: tuple[str, str],
        open_sets: Sequence[OpenSets | None],
        threads: Threads,
    ) -> None:
        key = TableKey(Material.parse(subject[0]), Metric(subject[1]))
        material = key.material
        exits = exits_of(key, TableStore(tables), threads)[STRONGER]
        self.domains = [Domain(material, share) for share in shares(len(logs))]
        self.analyses = [
            Counting(domain, STRONGER, exits, threads, log, sets, key.metric.passes_per_move)
            for domain, log, sets in zip(self.domains, logs, open_sets, strict=True)
        ]
        self._sent: list[dict[int, PackedFrontier]] = []

    def prepare(self, history: History = EMPTY_HISTORY) -> None:
        self._sent = [analysis.prepare(history) for analysis in self.analyses]

    def step(self, name: str, *depth: int) -> int:
        """Runs a step on all of them and returns the findings."""
        of = range(len(self.analyses))
        inbound = [[p[n] for p in self._sent if n in p] for n in of]
        found: list[StepResult] = [
            getattr(analysis, name)(*depth, *([inbound[n]] if depth else []))
            for n, analysis in enumerate(self.analyses)
        ]
        self._sent = [findings.frontiers for findings in found]
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
                    analysis.log.commit(PassResult(Depth(depth), won, lost, False)).result()
        return counts

    def sets(self) -> list[dict[int, tuple[bytes, ...]]]:
        """The open sets and the last lost layer, with the marks of the former, by partition."""
        return [
            {int(pair): _sets(analysis, domain, Partition(int(pair))) for pair in domain.share.own}
            | {
                int(pair): _copy(analysis, domain, Partition(int(pair)))
                for pair in domain.share.halo
            }
            for analysis, domain in zip(self.analyses, self.domains, strict=True)
        ]


def _copy(analysis: Analysis, domain: Domain, pair: Partition) -> tuple[bytes, ...]:
    place, rows = int(domain.share.places[pair]), domain.kernel.rows
    layer = analysis.open_w
    words = layer.words[place * domain.words :][: domain.words].tobytes()
    return words, layer.occupied[place * rows :][:rows].tobytes()


def _sets(analysis: Analysis, domain: Domain, pair: Partition) -> tuple[bytes, ...]:
    place, rows = int(domain.share.places[pair]), domain.kernel.rows
    layer = analysis.open_l
    words = layer.words[place * domain.words :][: domain.words].tobytes()
    occupied = layer.occupied[place * rows :][:rows].tobytes()
    chunk = domain.share.own[domain.share.own == pair]
    return *_copy(analysis, domain, pair), words, occupied, packed(analysis, chunk)


def packed(analysis: Analysis, chunk: Chunk) -> bytes:
    """The frontiers of the loser: there are two where plies are counted."""
    return b"".join(bytes(analysis._pack(chunk, layer).streams) for layer in analysis._losses)


def log_at(logs: Path, share: Share, material: str, kind: type[PassLog] = PassLog) -> PassLog:
    together = index_of(Material.parse(material)).together
    identity = {"winner": STRONGER, "partitions": [int(p) for p in share.own], "together": together}
    return kind(logs / f"{share.number}.log", identity)


@contextmanager
def logged(logs: Path, workers: int, last: int) -> Iterator[History]:
    """Yields the logs of the passes up to one."""
    with ExitStack() as stack:
        files = [LogFile(logs / f"{number}.log") for number in range(workers)]
        for file in files:
            stack.callback(file.close)
        yield History([LogRange(file, 0, last) for file in files])


def main(tables: Path, logs: Path, subject: tuple[str, str], *numbers: int) -> None:
    workers, last, depth, parts = numbers
    every = shares(workers)
    open_sets = [
        OpenSets.shared(Domain(Material.parse(subject[0]), share), key(share.number))
        for share in every
    ]
    print(*(each.address.fd for each in open_sets if each.address), flush=True)
    sys.stdin.readline()
    Killed.depth, Killed.parts = Depth(depth), parts
    with Threads(2) as threads:
        own = [log_at(logs, share, subject[0], Killed) for share in every]
        team = Team(tables, own, subject, open_sets, threads)
        team.prepare()
        team.run(0, depth, last)
    raise SystemExit("nobody was killed")


if __name__ == "__main__":
    at, logs_at, name, how, *rest = sys.argv[1:]
    main(Path(at), Path(logs_at), (name, how), *map(int, rest))
