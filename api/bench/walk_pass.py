"""Passes of a part of a walk whose sets lie in files, measured beside the model.

A worker that owns a few partitions of a walk reads and writes for each of them what a worker with
all of them does, and copies of those around.  So a pass of a material that is too large for this
machine can be measured by some of its partitions:

    bytes      3 sets of each partition read and 2 written; a copy read     solve/sets_mode.py
    core       bytes * STREAM + units * scan + units found * (unit + AGAIN)  plan/domain_work.py
    clock      core / threads + bytes / rate

No smaller table is read: captures lead nowhere, and the first passes find what quiet moves find.
No other worker finds anything, so copies are not written.  That changes which positions are found,
not how many bytes move; the model is given the units in which the pass found anything.  The rate of
the disk is measured before each pass, in the same directory: other programs may use the disk, too.

Cost: the sets of the partitions and of those around, twice in memory and once on disk.  Of seven
men a set of a partition has 128 MiB: one partition takes 2.5 GiB of memory, four take 4.3 GiB.
"""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from kingpair.api.text import columns, duration
from kingpair.coordinator.plan.amounts import amount
from kingpair.coordinator.plan.cluster import Constants
from kingpair.coordinator.plan.domain_work import AGAIN, STREAM, UNIT_SLOTS
from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.share import Share
from kingpair.workers.number_types import STRONGER, Depth, Partition, Side, opponent
from kingpair.workers.passlog.history import EMPTY_HISTORY
from kingpair.workers.passlog.log import PassResult
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.disk_use import DiskUse
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.exits import ConversionExits, Exits, Sets
from kingpair.workers.solve.layer_reader import LayerReader
from kingpair.workers.solve.set_file import SetFile
from kingpair.workers.solve.sets_mode import SetsMode
from kingpair.workers.solve.streamed_analysis import StreamedAnalysis
from kingpair.workers.solve.walks import Window, walks

WINNER: Side = STRONGER
MODE = SetsMode.WALKS
PASSES = 6
RATE_PARTITIONS = 4  # written and read to measure a disk
_ROW, _UNIT = 64, 8  # words


class NoExits:
    """The exits of a material whose captures lead nowhere."""

    last, has_freed = 1, False

    def __init__(self, material: Material) -> None:
        self._men: list[None] = [None] * len(material.letters)

    def of_loser(self, partitions: Chunk) -> Exits:
        return ConversionExits([*self._men], [*self._men])

    def winning(self, depth: Depth, partitions: Chunk) -> Sets:
        return ()


class MeasuredPass(NamedTuple):
    """A pass: the use of the disk, the seconds of processors and of a clock, and what the model has
    for its findings: the most bytes, and for those that it moved the seconds of cores and a disk;
    `threads` share the work.
    """

    depth: Depth
    disk: DiskUse
    work: float
    seconds: float
    most_read: int
    most_written: int
    predicted_work: float
    predicted_disk: float
    threads: int

    @property
    def predicted(self) -> float:
        return self.predicted_work / self.threads + self.predicted_disk


def passes_of_part(
    material: Material, count: int, scratch: Path, threads: int
) -> Iterator[MeasuredPass]:
    """Yields passes of `count` partitions of a walk, with both open sets in files."""
    share = _part_of_a_walk(count)
    domain = Domain(material, share)
    most = _most_moved(domain)
    scratch.mkdir(parents=True, exist_ok=True)
    with Threads(threads) as pool, TemporaryDirectory(dir=scratch) as folder:
        identity = {"partitions": share.own.tolist(), "together": domain.index.together}
        log = PassLog(Path(folder) / "log", identity)
        at = pool, log, scratch, 1, MODE
        analysis = StreamedAnalysis(domain, WINNER, NoExits(material), *at)
        analysis.prepare()
        analysis.lose_at_once()
        log.commit(PassResult(Depth(0), 0, 0, False)).result()
        for depth in map(Depth, range(1, PASSES)):
            yield _measured(analysis, depth, most, disk_rate(domain, scratch), threads)
        analysis.close()
        log.close()


def _measured(
    analysis: StreamedAnalysis, depth: Depth, most: tuple[int, int], rate: float, threads: int
) -> MeasuredPass:
    start, worked = time.monotonic(), time.process_time()
    won, lost = analysis.win(depth), analysis.lose(depth)
    taken = time.process_time() - worked, time.monotonic() - start
    analysis.log.commit(PassResult(depth, won.total, lost.total, False)).result()
    used, domain = won.disk.plus(lost.disk), analysis.domain
    moved = used.read + used.written
    slots = len(domain.share.own) * domain.slots
    work = _work(slots, _units_won(analysis, depth)) + moved * STREAM
    return MeasuredPass(depth, used, *taken, *most, work, moved / rate, threads)


def _units_won(analysis: StreamedAnalysis, depth: Depth) -> int:
    """Counts the units of the log in which a pass found wins."""
    domain, found = analysis.domain, 0
    logged = LayerReader(EMPTY_HISTORY, analysis.log, domain.share, domain.index.together)
    for walk in walks(domain, WINNER):
        window = Window(len(walk.places), domain.kernel.rows)
        for piece in walk.pieces:
            for partition, stream in logged.streams(depth, True, piece):
                _kernels.restore(walk.kernel, partition, stream, window.layer.kernel)
            rows = window.layer.words.reshape(-1, _ROW)[window.layer.occupied != 0]
            found += int(np.count_nonzero(rows.reshape(-1, _UNIT).any(axis=1)))
            window.release(walk, piece)
    return found


def _most_moved(domain: Domain) -> tuple[int, int]:
    """The bytes that a pass reads and writes at most."""
    own, a_set = domain.share.own.tolist(), domain.words * 8
    copies = len(TURNED.around(own, opponent(WINNER)))
    return (MODE.read * len(own) + copies) * a_set, MODE.written * len(own) * a_set


def _work(slots: int, found: int) -> float:
    """The seconds of a core for a pass over slots that finds anything in so many units, without the
    sets in files.
    """
    c = Constants()
    return slots / UNIT_SLOTS * c.scan + found * (c.unit + AGAIN)


def _part_of_a_walk(count: int) -> Share:
    """The first partitions of the largest walk of the winner's king."""
    walk = max(TURNED.walks(WINNER), key=len)[:count]
    owners = [0 if p in walk else 1 for p in range(len(TURNED))]
    return Share(TURNED, owners, 0)


def disk_rate(domain: Domain, directory: Path) -> float:
    """Measures the bytes a second that are written to and read from files of a directory."""
    file = SetFile(directory, RATE_PARTITIONS, domain.kernel.rows)
    layer = Layer.empty(1, domain.kernel.rows)
    layer.words[:] = 1
    layer.mark()
    start = time.monotonic()
    for number in map(Partition, range(RATE_PARTITIONS)):
        file.write(number, layer, 0)
    for number in map(Partition, range(RATE_PARTITIONS)):
        file.read(number, layer, 0)
    seconds = time.monotonic() - start
    file.close()
    return (file.use.read + file.use.written) / seconds


HEAD = ("pass", "read", "at most", "written", "at most", "cores", "model", "clock", "model")


def text_of(passes: Iterable[MeasuredPass]) -> Iterator[str]:
    """The passes as a table: bytes, seconds of processors and of a clock, beside the model's."""
    yield from columns([HEAD, *map(_row, passes)], ">" * len(HEAD))


def _row(one: MeasuredPass) -> tuple[str, ...]:
    disk = one.disk.read, one.most_read, one.disk.written, one.most_written
    times = one.work, one.predicted_work, one.seconds, one.predicted
    return str(one.depth), *map(amount, disk), *map(duration, times)


def json_of(one: MeasuredPass) -> dict[str, float]:
    return {
        "pass": one.depth,
        "read": one.disk.read,
        "most_read": one.most_read,
        "written": one.disk.written,
        "most_written": one.most_written,
        "work": one.work,
        "predicted_work": one.predicted_work,
        "seconds": one.seconds,
        "predicted": one.predicted,
    }
