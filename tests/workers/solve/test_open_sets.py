"""Facts about the open sets of a killed worker: the replacement has what was committed, and nothing
more.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from killable_build import environment
from open_set_takeover import Team, key, log_at, logged, shares

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.material_index import index_of
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.recycled import recycled
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.exits import exits_of
from kingpair.workers.solve.open_sets import PREPARED, TORN, Address, OpenSets, TakeoverPool
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore

KQVKR = Material.parse("KQvKR")
KBBVKN = Material.parse("KBBvKN")
TOGETHER = index_of(KBBVKN).together
PROGRAM = Path(__file__).parents[2] / "support" / "open_set_takeover.py"
ALL = len(TURNED)


@pytest.fixture(scope="module")
def smaller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables that KBBvKN rests on."""
    directory = tmp_path_factory.mktemp("smaller")
    captured = {capture.material for capture in KBBVKN.captures()}
    request = BuildRequest(
        BuildSpec(tuple(captured), tuple(Metric), verify=False), directory, threads=2
    )
    build(request, lambda event: None)
    return directory


@contextmanager
def at_work(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], list[Address]]]:
    """Workers in a process that waits for a line, and the addresses of their open sets."""
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
    ) as child:
        assert child.stdout is not None
        fds = map(int, child.stdout.readline().split())
        try:
            yield child, [Address(child.pid, fd) for fd in fds]
        finally:
            child.kill()


def killed(pools: Sequence[TakeoverPool], *arguments: object) -> None:
    """Lets workers run until they are killed, while the pools hold their open sets."""
    with at_work(*arguments) as (child, addresses):
        for pool, address in zip(pools, addresses, strict=True):
            pool.hold([address])
        child.communicate("\n")
        assert child.returncode == -signal.SIGKILL


def taken_over(
    tables: Path, logs: Path, subject: tuple[str, str], workers: int, last: int, at: tuple[int, int]
) -> list[set[int]]:
    """Kills workers in the middle of a pass, after a part of it, and takes over; returns the
    partitions that each replacement recomputed.
    """
    pools = [TakeoverPool() for _ in range(workers)]
    killed(pools, tables, logs, *subject, workers, last, *at)
    every = shares(workers)
    domains = [Domain(Material.parse(subject[0]), share) for share in every]
    open_sets = [
        pool.take_over(domain, key(n))
        for n, (pool, domain) in enumerate(zip(pools, domains, strict=True))
    ]
    assert all(open_sets)
    after, anew = logs / "after", logs / "anew"
    after.mkdir()
    anew.mkdir()
    with Threads(2) as threads, logged(logs, workers, last) as history:
        ours = [log_at(after, share, subject[0]) for share in every]
        replacement = Team(tables, ours, subject, open_sets, threads)
        replacement.prepare(history)
        theirs = [log_at(anew, share, subject[0]) for share in every]
        undisturbed = Team(tables, theirs, subject, [None] * workers, threads)
        undisturbed.prepare()
        undisturbed.run(0, last, last)
        assert replacement.sets() == undisturbed.sets()
        further = last + 1, last + 6
        assert replacement.run(*further, last) == undisturbed.run(*further, last)
        assert replacement.sets() == undisturbed.sets()
        for log in (*ours, *theirs):
            log.close()
    return [analysis.made for analysis in replacement.analyses]


# The state after a takeover


@pytest.mark.parametrize("part", [1, 2])
def test_a_replacement_worker_has_every_committed_pass(
    tables: Path, tmp_path: Path, part: int
) -> None:
    taken_over(tables, tmp_path, ("KQvKR", "dtc"), 2, 9, (10, part))


@pytest.mark.slow
@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("part", [1, 13, 16, 27])
def test_only_what_was_at_hand_is_made_again(
    smaller: Path, tmp_path: Path, metric: str, part: int
) -> None:
    (made,) = taken_over(smaller, tmp_path, ("KBBvKN", metric), 1, 9, (10, part))
    assert 0 < len(made) <= 2 * TOGETHER  # by two threads


@pytest.mark.slow
@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("part", [3, 9, 13])
def test_copies_of_what_others_own_go_back_as_well(
    smaller: Path, tmp_path: Path, metric: str, part: int
) -> None:
    every = taken_over(smaller, tmp_path, ("KBBvKN", metric), 2, 9, (10, part))
    assert sum(map(len, every)) <= 4 * TOGETHER


@pytest.mark.slow
@pytest.mark.parametrize("metric", list(Metric))
def test_several_passes_that_were_not_committed_are_put_back(
    smaller: Path, tmp_path: Path, metric: str
) -> None:
    (made,) = taken_over(smaller, tmp_path, ("KBBvKN", metric), 1, 9, (12, 9))
    assert len(made) <= 2 * TOGETHER


@pytest.mark.slow
@pytest.mark.parametrize("metric", list(Metric))
def test_more_passes_than_are_kept_are_read_from_the_log(
    smaller: Path, tmp_path: Path, metric: str
) -> None:
    (made,) = taken_over(smaller, tmp_path, ("KBBvKN", metric), 1, 9, (16, 9))
    assert len(made) == ALL


@pytest.mark.slow
def test_nothing_was_committed_yet(smaller: Path, tmp_path: Path) -> None:
    (made,) = taken_over(smaller, tmp_path, ("KBBvKN", "dtm"), 1, -1, (1, 9))
    assert len(made) < ALL


# The pool


def test_an_owner_that_is_only_stopped_is_killed_first(tables: Path, tmp_path: Path) -> None:
    pool, domain = TakeoverPool(), Domain(KQVKR, shares(1)[0])
    with at_work(tables, tmp_path, "KQvKR", "dtc", 1, 9, 10, 1) as (child, addresses):
        pool.hold(addresses)
        os.kill(child.pid, signal.SIGSTOP)
        assert pool.take_over(domain, key(0))
        assert child.wait() == -signal.SIGKILL


def test_an_owner_that_released_its_sets_is_not_killed() -> None:
    domain, pool = Domain(KQVKR, shares(1)[0]), TakeoverPool()
    open_sets = OpenSets.shared(domain, key(0))
    assert open_sets.address is not None
    pool.hold([open_sets.address])
    open_sets.begin(1)
    open_sets.marks[:] = 7
    open_sets.release()
    assert open_sets.address is None
    taken = pool.take_over(domain, key(0))
    assert taken is not None
    assert (taken.marks == 7).all()


def test_open_sets_are_taken_over_by_key_and_once() -> None:
    domain, pool, other = Domain(KQVKR, shares(1)[0]), TakeoverPool(), TakeoverPool()
    open_sets = OpenSets.shared(domain, key(0))
    assert open_sets.address is not None
    for holder in (pool, other):
        holder.hold([open_sets.address])
    open_sets.release()
    assert other.take_over(domain, key(1)) is None
    assert pool.take_over(domain, key(0)) is not None
    assert pool.take_over(domain, key(0)) is None


def test_discarded_sets_are_not_taken_over() -> None:
    domain, pool = Domain(KQVKR, shares(1)[0]), TakeoverPool()
    open_sets = OpenSets.shared(domain, key(0))
    assert open_sets.address is not None
    pool.hold([open_sets.address])
    open_sets.discard()
    assert pool.take_over(domain, key(0)) is None


def test_sets_that_a_pool_no_longer_holds_are_closed(tables: Path, tmp_path: Path) -> None:
    pool, domain = TakeoverPool(), Domain(KQVKR, shares(1)[0])
    with at_work(tables, tmp_path, "KQvKR", "dtc", 1, 9, 10, 1) as (child, addresses):
        pool.hold(addresses)
        pool.hold([])
        assert pool.take_over(domain, key(0)) is None
        assert child.poll() is None


def test_only_sets_held_before_the_death_of_their_owner_are_taken_over(
    tables: Path, tmp_path: Path
) -> None:
    pool, late, domain = TakeoverPool(), TakeoverPool(), Domain(KQVKR, shares(1)[0])
    with at_work(tables, tmp_path, "KQvKR", "dtc", 1, 9, 10, 1) as (child, addresses):
        pool.hold(addresses)
        child.kill()
        child.wait()
        for holder in (pool, late):
            holder.hold(addresses)
    assert late.take_over(domain, key(0)) is None
    assert pool.take_over(domain, key(0)) is not None


# The contents


def test_another_analysis_begins_with_nothing() -> None:
    open_sets = OpenSets.private(Domain(KQVKR, shares(1)[0]))
    open_sets.begin(0)
    open_sets.marks[:] = PREPARED
    open_sets.begin(0)
    assert (open_sets.marks == PREPARED).all()
    open_sets.begin(1)
    assert (open_sets.marks == TORN).all()


def test_exits_are_the_same_wherever_they_stand(tables: Path, threads: Threads) -> None:
    open_sets = OpenSets.shared(Domain(KQVKR, shares(1)[0]), key(0))
    exits = exits_of(TableKey(KQVKR, Metric.DTC), TableStore(tables), threads)
    assert open_sets.exits is None
    assert pickle.dumps(open_sets.share_exits(exits)) == pickle.dumps(exits)
    assert pickle.dumps(open_sets.exits) == pickle.dumps(exits)


def test_private_sets_hold_nothing_where_another_array_was() -> None:
    domain = Domain(KQVKR)
    fresh = OpenSets.private(domain)
    recycled(32 << 20, np.uint8)[:] = 255
    again = OpenSets.private(domain)
    assert again.freed_file is None
    assert not again.open_w.dense().any()
    assert not again.open_l.dense().any()
    assert (again.marks == fresh.marks).all()
