"""Facts about an analysis whose sets lie on disk: it logs the bytes that one in memory logs, goes
on from any pass, and reads and writes no more than its files say.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from building import built
from full_disks import files_end_at
from shared_tables import proved, unproved

from kingpair.coordinator.execute.room import check_memory, memory_room, scratch_bytes
from kingpair.coordinator.plan.amounts import amount
from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import STRONGER, WEAKER, Depth, Partition, Side
from kingpair.workers.passlog.history import History, LogRange
from kingpair.workers.passlog.log import LayerChunk, LogFile, PassResult
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.analysis import Analysis
from kingpair.workers.solve.exits import Exits, exits_of
from kingpair.workers.solve.set_file import SetFile
from kingpair.workers.solve.sets_mode import SetsMode
from kingpair.workers.solve.streamed_analysis import StreamedAnalysis
from kingpair.workers.solve.walked_exits import WalkedExits
from kingpair.workers.solve.walks import Window, walks
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore

PASSES = 14
CASES = [
    ("KQvK", Metric.DTC, STRONGER),
    ("KQvKR", Metric.DTC, STRONGER),
    ("KQvKR", Metric.DTM, STRONGER),
    pytest.param("KQvKR", Metric.DTC, WEAKER, marks=pytest.mark.slow),
    pytest.param("KQvKR", Metric.DTZ, WEAKER, marks=pytest.mark.slow),
    pytest.param("KBBvK", Metric.DTM, STRONGER, marks=pytest.mark.slow),
    pytest.param("KQvKQ", Metric.DTM, WEAKER, marks=pytest.mark.slow),
]


class Solving:
    """The analyses of one winner."""

    def __init__(self, material: str, metric: Metric, winner: Side, threads: Threads) -> None:
        self.key, self.winner, self._threads = (
            TableKey(Material.parse(material), metric),
            winner,
            threads,
        )
        self.domain = domain_of(self.key.material)
        smaller = [capture.material for capture in self.key.material.captures()]
        tables = TableStore(unproved([m for m in smaller if m.letters], metric))
        self.exits: Exits = exits_of(self.key, tables, threads)[winner]
        self.by_walk = WalkedExits(self.key, winner, tables, threads)

    def log(self, path: Path) -> PassLog:
        index = self.domain.index
        partitions = list(range(index.partitions))
        identity = {"partitions": partitions, "together": index.together, "winner": self.winner}
        return PassLog(path, identity)

    def in_memory(self, log: PassLog) -> Analysis:
        steps = self.key.metric.passes_per_move
        return Analysis(
            self.domain, self.winner, self.exits, self._threads, log, passes_per_move=steps
        )

    def analysis(self, log: PassLog, mode: SetsMode) -> Analysis | StreamedAnalysis:
        return self.in_memory(log) if mode is SetsMode.ALL else self.on_disk(log, mode)

    def on_disk(self, log: PassLog, mode: SetsMode = SetsMode.WALKS) -> StreamedAnalysis:
        steps = self.key.metric.passes_per_move
        scratch = log.path.parent
        return StreamedAnalysis(
            self.domain, self.winner, self.by_walk, self._threads, log, scratch, steps, mode
        )


def go_on(analysis: Analysis | StreamedAnalysis, first: int, last: int) -> None:
    """Does the passes `first` to `last` of an analysis that is prepared."""
    for depth in map(Depth, range(first, last + 1)):
        won = 0 if depth == 0 else analysis.win(depth).total
        lost = (analysis.lose_at_once() if depth == 0 else analysis.lose(depth)).total
        analysis.log.commit(PassResult(depth, won, lost, False)).result()


def layers(log: LogFile) -> dict[LayerChunk, list[bytes]]:
    return {
        found: [stream.tobytes() for stream in log.read_chunk(found)]
        for first in range(462)
        for found in log.layer_chunks(first)
    }


@pytest.mark.parametrize(("material", "metric", "winner"), CASES)
def test_the_log_is_that_of_an_analysis_in_memory(
    material: str, metric: Metric, winner: Side, threads: Threads, tmp_path: Path
) -> None:
    solving = Solving(material, metric, winner, threads)
    found = []
    for mode in SetsMode:
        analysis = solving.analysis(solving.log(tmp_path / mode), mode)
        analysis.prepare()
        go_on(analysis, 0, PASSES)
        found.append(layers(analysis.log))
        analysis.close()
        analysis.log.close()
    assert all(layers == found[0] for layers in found[1:])
    assert len(found[0]) > 1


def _orders() -> Iterator[list[SetsMode]]:
    """Each mode first, and all of them after it."""
    return ([mode, *SetsMode] for mode in SetsMode)


@pytest.mark.slow
@pytest.mark.parametrize(("material", "metric", "winner"), CASES)
def test_each_mode_goes_on_from_any_pass_of_another(
    material: str, metric: Metric, winner: Side, threads: Threads, tmp_path: Path
) -> None:
    solving = Solving(material, metric, winner, threads)
    whole = solving.in_memory(solving.log(tmp_path / "whole"))
    whole.prepare()
    go_on(whole, 0, PASSES)
    for committed, (first, *others) in zip((0, 1, PASSES // 2, 3), _orders(), strict=True):
        begun = solving.analysis(solving.log(tmp_path / f"begun{committed}"), first)
        begun.prepare()
        go_on(begun, 0, committed)
        for mode in others:
            rest = solving.analysis(solving.log(tmp_path / f"{mode}{committed}"), mode)
            rest.prepare(History([LogRange(begun.log, 0, committed)]))
            go_on(rest, committed + 1, PASSES)
            later = {f: s for f, s in layers(whole.log).items() if f.depth > committed}
            assert layers(rest.log) == later, (first, mode, committed)
            rest.close()
            rest.log.close()
        begun.close()
        begun.log.close()
    whole.close()
    whole.log.close()


def test_a_walk_holds_all_partitions_that_its_king_enters() -> None:
    domain = domain_of(Material.parse("KQvK"))
    entered = domain.index.kings.arrays[1][..., 0]  # by side, partition and step
    for side in (STRONGER, WEAKER):
        there = list(walks(domain, side))
        assert len(there) == 10
        assert sorted(p for walk in there for p in walk.partitions.tolist()) == list(range(462))
        for walk in there:
            for partition in walk.partitions.tolist():
                steps = set(entered[side, partition].tolist()) - {-1}
                assert steps <= set(walk.partitions.tolist())


@pytest.mark.parametrize(
    ("mode", "most_read", "most_written"),
    [(SetsMode.TWO, 0, 0), (SetsMode.ONE, 1, 1), (SetsMode.WALKS, 3, 2)],
)
def test_a_pass_reads_and_writes_so_many_sets_at_most(
    mode: SetsMode, most_read: int, most_written: int, threads: Threads, tmp_path: Path
) -> None:
    solving = Solving("KQvKR", Metric.DTC, STRONGER, threads)
    analysis = solving.on_disk(solving.log(tmp_path / "log"), mode)
    analysis.prepare()
    go_on(analysis, 0, 0)
    for depth in map(Depth, range(1, PASSES)):
        use = analysis.win(depth).disk.plus(analysis.lose(depth).disk)
        assert use.read <= most_read * solving.domain.index.set_bytes
        assert use.written <= most_written * solving.domain.index.set_bytes
        assert (use.seconds > 0) == (mode.filed > 0)
        analysis.log.commit(PassResult(depth, 0, 0, False)).result()
    analysis.close()
    analysis.log.close()


def test_a_set_without_room_on_the_disk_is_refused_at_once(tmp_path: Path) -> None:
    opened = len(os.listdir("/proc/self/fd"))
    said = f"cannot keep sets in {tmp_path}: File too large; .* another --scratch"
    with files_end_at(1 << 20), pytest.raises(CannotBuild, match=said):
        SetFile(tmp_path, 462, 64)
    assert not list(tmp_path.iterdir())
    assert len(os.listdir("/proc/self/fd")) == opened


@pytest.mark.parametrize("material", ["KQvKR", "KRBvKR"])  # of less than a page, and of pages
def test_a_file_keeps_what_was_written_to_it(material: str, tmp_path: Path) -> None:
    domain = domain_of(Material.parse(material))
    (walk, *_) = walks(domain, STRONGER)
    file = SetFile(tmp_path, 462, domain.kernel.rows)
    window = Window(len(walk.partitions), domain.kernel.rows)
    assert not list(tmp_path.iterdir())  # its file has no name
    window.layer.words[:] = range(window.layer.words.size)
    window.layer.mark()
    wanted = window.layer.dense().copy()
    window.write(file, walk, walk.partitions)
    window.release(walk, walk.partitions)
    assert not window.layer.dense().any()
    window.read(file, walk, walk.partitions)
    assert (window.layer.dense() == wanted).all()
    file.close()


@pytest.mark.parametrize("waiting", [0, 2])
def test_partitions_are_read_into_memory_that_others_left(waiting: int, tmp_path: Path) -> None:
    domain = domain_of(Material.parse("KRBvKBN"))
    (walk, *_) = walks(domain, STRONGER)
    file = SetFile(tmp_path, 462, domain.kernel.rows)
    window = Window(len(walk.partitions), domain.kernel.rows, waiting)
    size = domain.words
    pieces = [walk.partitions[at : at + 1] for at in range(3)]
    for _ in range(2):
        for number, piece in enumerate(pieces):
            window.take(walk, piece)
            at = walk.places[Partition(int(piece[0]))]
            window.layer.words[at * size : (at + 1) * size] = number + 1
            window.layer.mark()
            window.write(file, walk, piece)
            window.release(walk, piece)
            assert not window.layer.live.any()
        for number, piece in enumerate(pieces):
            window.read(file, walk, piece)
            at = walk.places[Partition(int(piece[0]))]
            assert (window.layer.words[at * size : (at + 1) * size] == number + 1).all()
        window.release(walk, np.concatenate(pieces))
    file.close()


def test_an_empty_partition_takes_the_place_of_another_walks(tmp_path: Path) -> None:
    domain = domain_of(Material.parse("KQvKR"))
    first, second, *_ = walks(domain, STRONGER)
    file = SetFile(tmp_path, 462, domain.kernel.rows)
    window = Window(58, domain.kernel.rows)
    window.layer.words[:] = 1
    window.layer.mark()
    window.write(file, first, first.partitions)
    window.read(file, second, second.partitions)  # which was never written
    held = len(second.partitions)
    assert not window.layer.words.reshape(58, -1)[:held].any()
    assert not window.layer.occupied.reshape(58, -1)[:held].any()
    file.close()


def test_the_first_mode_that_fits_in_memory_is_planned() -> None:
    needs = estimate(Material.parse("KRBvKBN"), 2)
    assert needs.streamed < needs.memory // 4
    (held,) = check_memory([needs], memory_room(needs.memory))
    assert held.mode is SetsMode.ALL
    for mode, memory, sets, _ in needs.smaller_modes:
        (found,) = check_memory([needs], memory_room(memory))
        assert (found.mode, found.memory, found.sets) == (mode, memory, sets)
        assert found.scratch >= mode.filed * needs.bitmap
        assert found.memory < held.memory
        held = found
    with pytest.raises(CannotBuild, match=r"KRBvKBN needs .* of memory, .* the cap given by"):
        check_memory([needs], memory_room(needs.streamed - 1))


def test_a_material_with_pawns_that_does_not_fit_is_refused_with_the_memory_that_would_do() -> None:
    needs = estimate(Material.parse("KRPvKR"), 2)
    check_memory([needs], memory_room(needs.memory), held=4 << 20)
    with pytest.raises(CannotBuild) as refused:
        check_memory([needs], memory_room(needs.memory - 1), held=4 << 20)
    said = str(refused.value)
    assert said.startswith(f"KRPvKR needs {amount(needs.memory)} of memory, even slice by slice")
    assert "raise the limit" in said
    assert "\n" not in said


def test_workers_that_divide_the_memory_keep_sets_on_disk_until_one_alone_has_room() -> None:
    needs = estimate(Material.parse("KRBvKBN"), 2)
    for mode, memory, _, _ in needs.smaller_modes:
        (found,) = check_memory([needs], memory_room(3 * memory), workers=3)
        assert (found.mode, found.memory, found.workers) == (mode, memory, 3)
        assert scratch_bytes(found) >= mode.filed * needs.bitmap
    least = min(each.memory for each in needs.smaller_modes)
    (found,) = check_memory([needs], memory_room(2 * least - 1), workers=2)
    assert found.workers == 1
    assert least <= found.memory < 2 * least
    with pytest.raises(CannotBuild, match=r"KRBvKBN needs .* of memory"):
        check_memory([needs], memory_room(least - 1), workers=2)


@pytest.mark.slow
def test_a_table_has_the_same_bytes_with_its_sets_on_disk(tmp_path: Path) -> None:
    material = Material.parse("KBBvKN")
    needs = estimate(material, 2, Metric.DTM)
    built(tmp_path, "KBBvKN", metrics=(Metric.DTM,), memory=needs.memory - 1)
    name = TableKey(material, Metric.DTM).file_name
    assert needs.in_room(needs.memory - 1).mode is not SetsMode.ALL
    assert (tmp_path / name).read_bytes() == (proved([material], Metric.DTM) / name).read_bytes()
    left = {path.suffix for path in tmp_path.iterdir()}
    assert left == {".arrow", ".json"}
