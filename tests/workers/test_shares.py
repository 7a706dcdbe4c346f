"""Facts about several workers in one process: each holds a share, and the bytes of the tables do
not depend on how many there were.
"""

import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from building import copied, files, finished

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import PassCommitted
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.share import Share, whole
from kingpair.workers.number_types import SIDES, STRONGER, Depth, Partition
from kingpair.workers.passlog.history import History, LogRange
from kingpair.workers.passlog.log import PassResult
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.analysis import Analysis
from kingpair.workers.solve.exits import exits_of
from kingpair.workers.solve.frontiers import PackedFrontier
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore

pytestmark = pytest.mark.slow  # whole materials among workers

KQVKR = Material.parse("KQvKR")
TABLE = TableKey(KQVKR, Metric.DTC)
THIRDS = [p % 3 for p in range(len(TURNED))]


def built_by(out: Path, workers: int, name: str = "KQvKR", metric: Metric = Metric.DTC) -> None:
    request = BuildRequest(
        BuildSpec((Material.parse(name),), (metric,)), out, threads=2, workers=workers, grain=1
    )
    build(request, lambda event: None)


# Shares


def test_neighbours_are_mutual_and_never_oneself() -> None:
    for p, around in enumerate(TURNED.neighbours):
        assert p not in around
        assert all(p in TURNED.neighbours[q] for q in around)


def test_shares_hold_their_own_partitions_and_those_around_them() -> None:
    shares = [Share(TURNED, THIRDS, number) for number in range(3)]
    assert sorted(p for share in shares for p in share.own) == list(range(len(TURNED)))
    for share in shares:
        own, halo = set(map(int, share.own)), set(map(int, share.halo))
        assert not own & halo
        assert halo == {q for p in own for q in TURNED.neighbours[p]} - own
        for side, readers in zip(SIDES, share.readers, strict=True):
            assert {reader: set(of) for reader, of in readers.items()} == {
                other.number: own & {q for p in other.own for q in TURNED.entered[side][p]}
                for other in shares
                if other is not share
            }
    assert not len(whole(TURNED).halo)
    assert not any(whole(TURNED).readers)


# Copies


def open_sets(analyses: list[Analysis]) -> list[dict[int, bytes]]:
    """Returns for each worker the positions that it still holds open for the winner, and its
    marks, by partition: of its own, and of the copies that it reads.
    """
    found = []
    for analysis in analyses:
        share, size = analysis.domain.share, analysis.domain.words
        sets = analysis.open_w.words.reshape(-1, size)
        marks = analysis.open_w.occupied.reshape(len(sets), -1)
        read = {q for p in share.own for q in TURNED.entered[analysis.loser][p]}
        places = {p: share.places[p] for p in read | set(map(int, share.own))}
        found.append({p: sets[at].tobytes() + marks[at].tobytes() for p, at in places.items()})
    return found


def test_copies_agree_with_what_their_owners_hold(tables: Path, tmp_path: Path) -> None:
    with Threads(2) as threads:
        exits = exits_of(TABLE, TableStore(tables), threads)[STRONGER]
        logs = [PassLog(tmp_path / f"{number}.log", {}) for number in range(3)]
        analyses = [
            Analysis(Domain(KQVKR, Share(TURNED, THIRDS, n)), STRONGER, exits, threads, logs[n])
            for n in range(3)
        ]
        for analysis in analyses:
            analysis.prepare()
        sent = [analysis.lose_at_once().frontiers for analysis in analyses]
        for depth in range(1, 20):
            for step in ("win", "lose"):
                inbound: list[list[PackedFrontier]] = [
                    [p[n] for p in sent if n in p] for n in range(3)
                ]
                done = [getattr(a, step)(depth, inbound[n]) for n, a in enumerate(analyses)]
                sent = [findings.frontiers for findings in done]
            first, *others = open_sets(analyses)
            for sets in others:
                assert all(first[p] == sets[p] for p in first.keys() & sets.keys())
        for log in logs:
            log.close()


# Bytes


@pytest.mark.parametrize("workers", [2, 3, 5])
def test_several_workers_make_the_same_bytes(tables: Path, tmp_path: Path, workers: int) -> None:
    built_by(tmp_path, workers)
    assert files(tmp_path) == finished(tables)


def test_several_workers_make_the_same_bytes_where_exits_carry_a_depth(tmp_path: Path) -> None:
    for workers in (1, 3):
        built_by(tmp_path / str(workers), workers, metric=Metric.DTM)
    assert files(tmp_path / "3") == files(tmp_path / "1")


@pytest.mark.parametrize("metric", list(Metric))
def test_several_workers_make_the_same_bytes_of_many_parts(tmp_path: Path, metric: Metric) -> None:
    for workers in (1, 2, 3):
        built_by(tmp_path / str(workers), workers, "KRBvKN", metric)
    assert files(tmp_path / "2") == files(tmp_path / "1")
    assert files(tmp_path / "3") == files(tmp_path / "1")


# Going on


class Interruption(Exception):
    """The listener breaks the build off."""


def committed(
    out: Path, workers: int, at: int | None = None, metric: Metric = Metric.DTC
) -> list[int]:
    """Build, break it off at a pass; the depths of the passes that were heard of."""
    depths: list[int] = []

    def listen(row: Row) -> None:
        if isinstance(row.record, PassCommitted):
            depths.append(row.record.depth)
            if len(depths) == at:
                raise Interruption

    spec = BuildSpec((KQVKR,), (metric,))
    with suppress(Interruption):
        build(BuildRequest(spec, out, threads=2, workers=workers, grain=1), listen)
    return depths


def test_other_workers_go_on_from_what_the_first_ones_logged(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    heard = [
        committed(tmp_path, workers, at) for workers, at in ((3, 6), (2, 6), (1, 4), (3, None))
    ]
    assert all(len(depths) in (4, 6) for depths in heard[:3])
    starts = [depths[0] for depths in heard]
    assert starts[0] == 0 < starts[1] < starts[2]
    assert files(tmp_path) == finished(tables)


def test_other_workers_go_on_where_plies_are_counted(tmp_path: Path) -> None:
    """A pass rests on the two before it; a build is broken off after odd and even ones."""
    built_by(tmp_path / "whole", 1, "KQvK", Metric.DTZ)
    built_by(tmp_path / "whole", 1, "KRvK", Metric.DTZ)
    shutil.copytree(tmp_path / "whole", tmp_path / "parts")
    built_by(tmp_path / "whole", 1, metric=Metric.DTZ)
    for workers, at in ((3, 7), (2, 6), (1, 3), (3, 5), (2, 40), (3, 25), (3, None)):
        committed(tmp_path / "parts", workers, at, Metric.DTZ)
    assert files(tmp_path / "parts") == files(tmp_path / "whole")


def test_a_layer_is_read_by_partition_whoever_logged_it(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    shutil.copytree(tmp_path, tmp_path / "alone")
    committed(tmp_path, 3, 8)
    committed(tmp_path / "alone", 1, 8)
    ours = held(tmp_path, 3)
    assert ours.keys() == held(tmp_path / "alone", 1).keys()
    assert ours == held(tmp_path / "alone", 1)


def held(out: Path, workers: int) -> dict[tuple[Depth, bool, Partition], bytes]:
    """The streams of passes 0 to 7 that hold anything."""
    folder = TableStore(out).build_folder(TABLE)
    names = [folder.log_name(STRONGER, 1, number) for number in range(workers)]
    logs = [log for name in names for log in folder.opened_logs(name)]
    history = History([LogRange(log, 0, 7) for log in logs])
    assert [done.depth for done in history.passes] == list(range(8))
    empty = 8 * -(-domain_of(KQVKR).kernel.rows // 64)
    found = {
        (layer.depth, layer.won, p): stream.tobytes()
        for chunk in ([5], range(100, 200), [3, 461, 7])
        for layer, streams in history.layers(chunk)
        for p, stream in streams.items()
        if stream.size > empty
    }
    for log in logs:
        log.close()
    return found


def test_a_pass_that_some_workers_did_not_commit_is_repeated(tmp_path: Path) -> None:
    folder = TableStore(tmp_path).build_folder(TABLE)
    folder.create()
    for worker, depths in ((0, 4), (1, 2)):
        identity = folder.log_identity(STRONGER, {}) | {"workers": 2}
        log = folder.new_log(folder.log_name(STRONGER, 7, worker), identity)
        for depth in range(depths):
            log.commit(PassResult(Depth(depth), 1, 1, False))
        log.close()
    assert [done.depth for done, _ in folder.logged_passes(STRONGER, {}).passes] == [0, 1]
    assert folder.logged_passes(STRONGER, {"KQvK": "other"}).passes == []
    folder.store.remove(folder.log_name(STRONGER, 7, 1))
    assert folder.logged_passes(STRONGER, {}).passes == []
    assert folder.last_incarnation() == 7
