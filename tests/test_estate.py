"""Facts about what a worker leaves behind: who takes over after a kill has what was committed, and
nothing more.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from child import environment
from estates import Team, key, log_at, logged, shares

from coordinator.build import build
from coordinator.request import Request
from workers.domain import Domain
from workers.estate import PREPARED, TORN, Address, Estate, Heirlooms
from workers.exits import exits_of
from workers.geometry import PAIRS
from workers.material import Material
from workers.metric import Metric
from workers.threads import Threads, chunk_size
from workers.workshop import Tables

KQVKR = Material.parse("KQvKR")
KBBVKN = Material.parse("KBBvKN")
TOGETHER = chunk_size(len(KBBVKN.letters))
PROGRAM = Path(__file__).with_name("estates.py")
ALL = len(PAIRS)


@pytest.fixture(scope="module")
def smaller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables that KBBvKN rests on."""
    directory = tmp_path_factory.mktemp("smaller")
    captured = {capture.material for capture in KBBVKN.captures()}
    request = Request(tuple(captured), directory, tuple(Metric), threads=2, verify=False)
    build(request, lambda event: None)
    return directory


@contextmanager
def at_work(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], list[Address]]]:
    """Workers in a process that waits for a line, and where their estates are."""
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


def killed(heirs: Sequence[Heirlooms], *arguments: object) -> None:
    """Let workers run until they are killed, with somebody who holds what they leave."""
    with at_work(*arguments) as (child, addresses):
        for heir, address in zip(heirs, addresses, strict=True):
            heir.keep([address])
        child.communicate("\n")
        assert child.returncode == -signal.SIGKILL


def taken_over(
    tables: Path, logs: Path, subject: tuple[str, str], workers: int, last: int, at: tuple[int, int]
) -> list[set[int]]:
    """Kill workers in the middle of a pass, after a part of it, and take over: the partitions that
    each had to make again.
    """
    heirs = [Heirlooms() for _ in range(workers)]
    killed(heirs, tables, logs, *subject, workers, last, *at)
    every = shares(workers)
    domains = [Domain(Material.parse(subject[0]), share) for share in every]
    estates = [
        heir.taken(domain, key(n))
        for n, (heir, domain) in enumerate(zip(heirs, domains, strict=True))
    ]
    assert all(estates)
    after, anew = logs / "after", logs / "anew"
    after.mkdir()
    anew.mkdir()
    with Threads(2) as threads, logged(logs, workers, last) as history:
        ours = [log_at(after, share, subject[0]) for share in every]
        heir = Team(tables, ours, subject, estates, threads)
        heir.prepare(history)
        theirs = [log_at(anew, share, subject[0]) for share in every]
        undisturbed = Team(tables, theirs, subject, [None] * workers, threads)
        undisturbed.prepare()
        undisturbed.run(0, last, last)
        assert heir.sets() == undisturbed.sets()
        further = last + 1, last + 6
        assert heir.run(*further, last) == undisturbed.run(*further, last)
        assert heir.sets() == undisturbed.sets()
        for log in (*ours, *theirs):
            log.close()
    return [analysis.made for analysis in heir.analyses]


# What is taken over


@pytest.mark.parametrize("part", [1, 2])
def test_who_takes_over_has_what_was_committed(tables: Path, tmp_path: Path, part: int) -> None:
    taken_over(tables, tmp_path, ("KQvKR", "dtc"), 2, 9, (10, part))


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["dtc", "dtm"])
@pytest.mark.parametrize("part", [1, 13, 16, 27])
def test_only_what_was_at_hand_is_made_again(
    smaller: Path, tmp_path: Path, metric: str, part: int
) -> None:
    (made,) = taken_over(smaller, tmp_path, ("KBBvKN", metric), 1, 9, (10, part))
    assert 0 < len(made) <= 2 * TOGETHER  # by two threads


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["dtc", "dtm"])
@pytest.mark.parametrize("part", [3, 9, 13])
def test_copies_of_what_others_own_go_back_as_well(
    smaller: Path, tmp_path: Path, metric: str, part: int
) -> None:
    every = taken_over(smaller, tmp_path, ("KBBvKN", metric), 2, 9, (10, part))
    assert sum(map(len, every)) <= 4 * TOGETHER


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["dtc", "dtm"])
def test_several_passes_that_were_not_committed_are_put_back(
    smaller: Path, tmp_path: Path, metric: str
) -> None:
    (made,) = taken_over(smaller, tmp_path, ("KBBvKN", metric), 1, 9, (12, 9))
    assert len(made) <= 2 * TOGETHER


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["dtc", "dtm"])
def test_more_passes_than_are_kept_are_read_from_the_log(
    smaller: Path, tmp_path: Path, metric: str
) -> None:
    (made,) = taken_over(smaller, tmp_path, ("KBBvKN", metric), 1, 9, (15, 9))
    assert len(made) == ALL


@pytest.mark.slow
def test_nothing_was_committed_yet(smaller: Path, tmp_path: Path) -> None:
    (made,) = taken_over(smaller, tmp_path, ("KBBvKN", "dtm"), 1, -1, (1, 9))
    assert len(made) < ALL


# Who holds what


def test_whoever_is_only_stopped_is_ended_first(tables: Path, tmp_path: Path) -> None:
    heir, domain = Heirlooms(), Domain(KQVKR, shares(1)[0])
    with at_work(tables, tmp_path, "KQvKR", "dtc", 1, 9, 10, 1) as (child, addresses):
        heir.keep(addresses)
        os.kill(child.pid, signal.SIGSTOP)
        assert heir.taken(domain, key(0))
        assert child.wait() == -signal.SIGKILL


def test_whoever_has_left_need_not_be_ended() -> None:
    domain, heir = Domain(KQVKR, shares(1)[0]), Heirlooms()
    estate = Estate.shared(domain, key(0))
    assert estate.address is not None
    heir.keep([estate.address])
    estate.begin(1)
    estate.marks[:] = 7
    estate.leave()
    assert estate.address is None
    taken = heir.taken(domain, key(0))
    assert taken is not None
    assert (taken.marks == 7).all()


def test_an_estate_is_known_by_its_key_and_taken_once() -> None:
    domain, heir, other = Domain(KQVKR, shares(1)[0]), Heirlooms(), Heirlooms()
    estate = Estate.shared(domain, key(0))
    assert estate.address is not None
    for holder in (heir, other):
        holder.keep([estate.address])
    estate.leave()
    assert other.taken(domain, key(1)) is None
    assert heir.taken(domain, key(0)) is not None
    assert heir.taken(domain, key(0)) is None


def test_what_is_given_up_is_nobodys() -> None:
    domain, heir = Domain(KQVKR, shares(1)[0]), Heirlooms()
    estate = Estate.shared(domain, key(0))
    assert estate.address is not None
    heir.keep([estate.address])
    estate.give_up()
    assert heir.taken(domain, key(0)) is None


def test_what_is_not_kept_any_more_is_let_go(tables: Path, tmp_path: Path) -> None:
    heir, domain = Heirlooms(), Domain(KQVKR, shares(1)[0])
    with at_work(tables, tmp_path, "KQvKR", "dtc", 1, 9, 10, 1) as (child, addresses):
        heir.keep(addresses)
        heir.keep([])
        assert heir.taken(domain, key(0)) is None
        assert child.poll() is None


def test_the_dead_leave_what_was_held_and_nothing_else(tables: Path, tmp_path: Path) -> None:
    heir, late, domain = Heirlooms(), Heirlooms(), Domain(KQVKR, shares(1)[0])
    with at_work(tables, tmp_path, "KQvKR", "dtc", 1, 9, 10, 1) as (child, addresses):
        heir.keep(addresses)
        child.kill()
        child.wait()
        for holder in (heir, late):
            holder.keep(addresses)
    assert late.taken(domain, key(0)) is None
    assert heir.taken(domain, key(0)) is not None


# What is in it


def test_another_analysis_begins_with_nothing() -> None:
    estate = Estate.private(Domain(KQVKR, shares(1)[0]))
    estate.begin(0)
    estate.marks[:] = PREPARED
    estate.begin(0)
    assert (estate.marks == PREPARED).all()
    estate.begin(1)
    assert (estate.marks == TORN).all()


def test_exits_are_the_same_wherever_they_stand(tables: Path, threads: Threads) -> None:
    estate = Estate.shared(Domain(KQVKR, shares(1)[0]), key(0))
    exits = exits_of(KQVKR, Metric.DTC, Tables(tables, "dtc"), threads)
    assert estate.exits is None
    assert pickle.dumps(estate.with_exits(exits)) == pickle.dumps(exits)
    assert pickle.dumps(estate.exits) == pickle.dumps(exits)
