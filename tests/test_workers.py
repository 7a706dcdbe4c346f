"""Facts about several workers in one process: each holds a share, and nobody can tell from the
tables how many there were.
"""

import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from building import copied, files, finished

from coordinator.build import build
from coordinator.request import Committed, Event, Request
from workers.analysis import Analysis, Parcel
from workers.domain import Domain, domain_of
from workers.exits import exits_of
from workers.geometry import PAIRS, neighbours
from workers.history import Entry, History
from workers.material import STRONGER, Material
from workers.metric import Metric
from workers.passlog import Pass, PassLog
from workers.share import WHOLE, Share
from workers.threads import Threads
from workers.workshop import Tables

KQVKR = Material.parse("KQvKR")
THIRDS = [p % 3 for p in range(len(PAIRS))]


def built_by(out: Path, workers: int, name: str = "KQvKR", metric: Metric = Metric.DTC) -> None:
    request = Request((Material.parse(name),), out, (metric,), threads=2, workers=workers, grain=1)
    build(request, lambda event: None)


# Shares


def test_neighbours_are_mutual_and_never_oneself() -> None:
    for p, around in enumerate(neighbours()):
        assert p not in around
        assert all(p in neighbours()[q] for q in around)


def test_shares_hold_their_own_partitions_and_those_around_them() -> None:
    shares = [Share(THIRDS, number) for number in range(3)]
    assert sorted(p for share in shares for p in share.own) == list(range(len(PAIRS)))
    for share in shares:
        own, halo = set(map(int, share.own)), set(map(int, share.halo))
        assert not own & halo
        assert halo == {q for p in own for q in neighbours()[p]} - own
        assert {reader: set(of) for reader, of in share.readers.items()} == {
            other.number: own & set(map(int, other.halo)) for other in shares if other is not share
        }
    assert not len(WHOLE.halo)
    assert not WHOLE.readers


# Copies


def open_sets(analyses: list[Analysis]) -> list[dict[int, bytes]]:
    """What each worker believes the winner may still be found to be, and its marks, by
    partition.
    """
    found = []
    for analysis in analyses:
        share, size = analysis.domain.share, analysis.domain.words
        sets = analysis.open_w.words.reshape(-1, size)
        marks = analysis.open_w.occupied.reshape(len(sets), -1)
        held = map(int, np.flatnonzero(share.places >= 0))
        places = {p: share.places[p] for p in held}
        found.append({p: sets[at].tobytes() + marks[at].tobytes() for p, at in places.items()})
    return found


def test_copies_agree_with_what_their_owners_hold(tables: Path, tmp_path: Path) -> None:
    with Threads(2) as threads:
        exits = exits_of(KQVKR, Metric.DTC, Tables(tables, "dtc"), threads)[STRONGER]
        logs = [PassLog(tmp_path / f"{number}.log", {}) for number in range(3)]
        analyses = [
            Analysis(Domain(KQVKR, Share(THIRDS, n)), STRONGER, exits, threads, logs[n])
            for n in range(3)
        ]
        for analysis in analyses:
            analysis.prepare()
        sent = [analysis.lose_at_once().parcels for analysis in analyses]
        for depth in range(1, 20):
            for step in ("win", "lose"):
                inbound: list[list[Parcel]] = [[p[n] for p in sent if n in p] for n in range(3)]
                done = [getattr(a, step)(depth, inbound[n]) for n, a in enumerate(analyses)]
                sent = [findings.parcels for findings in done]
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


@pytest.mark.slow
@pytest.mark.parametrize("metric", list(Metric))
def test_several_workers_make_the_same_bytes_of_many_parts(tmp_path: Path, metric: Metric) -> None:
    for workers in (1, 2, 3):
        built_by(tmp_path / str(workers), workers, "KRBvKN", metric)
    assert files(tmp_path / "2") == files(tmp_path / "1")
    assert files(tmp_path / "3") == files(tmp_path / "1")


# Going on


class Interruption(Exception):
    """Whoever watches breaks the build off."""


def committed(out: Path, workers: int, at: int | None = None) -> list[int]:
    """Build, break it off at a pass; the depths of the passes that were heard of."""
    depths: list[int] = []

    def listen(event: Event) -> None:
        if isinstance(event, Committed):
            depths.append(event.passed.depth)
            if len(depths) == at:
                raise Interruption

    with suppress(Interruption):
        build(Request((KQVKR,), out, threads=2, workers=workers, grain=1), listen)
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


def test_a_layer_is_read_by_partition_whoever_logged_it(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    shutil.copytree(tmp_path, tmp_path / "alone")
    committed(tmp_path, 3, 8)
    committed(tmp_path / "alone", 1, 8)
    ours = held(tmp_path, 3)
    assert ours.keys() == held(tmp_path / "alone", 1).keys()
    assert ours == held(tmp_path / "alone", 1)


def held(out: Path, workers: int) -> dict[tuple[int, bool, int], bytes]:
    """The streams of passes 0 to 7 that hold anything."""
    workshop = Tables(out, "dtc").workshop(KQVKR)
    logs = [workshop.read_log(workshop.log(STRONGER, 1, number)) for number in range(workers)]
    history = History([Entry(log, 0, 7) for log in logs])
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


def test_what_not_all_workers_committed_is_not_gone_on_from(tmp_path: Path) -> None:
    workshop = Tables(tmp_path, "dtc").workshop(KQVKR)
    workshop.begin()
    for worker, depths in ((0, 4), (1, 2)):
        identity = workshop.identity(STRONGER, {}) | {"workers": 2}
        log = workshop.new_log(workshop.log(STRONGER, 7, worker), identity)
        for depth in range(depths):
            log.commit(Pass(depth, 1, 1, False))
        log.close()
    assert [done.depth for done, _ in workshop.logged(STRONGER, {}).passes] == [0, 1]
    assert workshop.logged(STRONGER, {"KQvK": "other"}).passes == []
    workshop.store.remove(workshop.log(STRONGER, 7, 1))
    assert workshop.logged(STRONGER, {}).passes == []
    assert workshop.last_incarnation() == 7
