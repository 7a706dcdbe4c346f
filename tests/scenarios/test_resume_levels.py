"""Facts about builds with pawns that did not end: they go on at the level that was under way.

However many workers a level has, and whenever a build is killed, the table has the same bytes.
"""

import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import killable_build
import pytest
from building import built, files
from shared_tables import copied_closure, unproved

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.in_process import InProcess
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import (
    Assigned,
    LevelSolved,
    PassCommitted,
    Record,
    SetBack,
)
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.key import DomainKey, TableKey
from kingpair.workers.table.table_store import TableStore

pytestmark = pytest.mark.slow  # whole builds, one after the other

SLOW = pytest.mark.slow
PAWN = "KPvK"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """KPvK and what it rests on."""
    out = tmp_path_factory.mktemp("pawns")
    built(out, PAWN)
    return out


@pytest.fixture
def begun(whole: Path, tmp_path: Path) -> Path:
    """The tables that KPvK rests on."""
    return without(whole, tmp_path, PAWN)


def without(whole: Path, out: Path, name: str) -> Path:
    shutil.copytree(whole, out, dirs_exist_ok=True)
    for path in out.glob(f"{name}.*"):
        path.unlink()
    return out


def shared(out: Path, workers: int, name: str = PAWN, metric: Metric = Metric.DTC) -> list[Record]:
    """Builds with so many workers to a level."""
    rows: list[Row] = []
    spec = BuildSpec((Material.parse(name),), (metric,))
    build(BuildRequest(spec, out, threads=2, workers=workers, grain=1), rows.append)
    return [row.record for row in rows]


def solved(records: list[Record]) -> list[int]:
    """The levels that were solved."""
    return [level_of(record.domain) for record in records if isinstance(record, LevelSolved)]


def level_of(domain: str) -> int:
    slice_ = DomainKey.parse(domain).slice
    assert slice_ is not None
    return slice_.level


# ---- several workers ----


@pytest.mark.parametrize("workers", [2, pytest.param(5, marks=SLOW)])
def test_bytes_do_not_depend_on_the_number_of_workers(
    whole: Path, begun: Path, workers: int
) -> None:
    records = shared(begun, workers)
    teams = {r.domain: len(r.shares) for r in records if isinstance(r, Assigned)}
    assert teams == dict.fromkeys([*(f"KPvK.dtc.level{i}" for i in range(6)), "KPvK.dtc"], workers)
    assert sum(r.exchanged for r in records if isinstance(r, PassCommitted)) > 0
    assert solved(records) == list(range(6))
    assert files(begun) == files(whole)


@SLOW
def test_a_position_whose_mirror_image_counts_at_another_worker_is_logged(tmp_path: Path) -> None:
    """With two like pawns a position and its mirror image can both have a slot, and one counts.  Of
    eight workers some have passes in which they find none that counts.
    """
    tables, metric = unproved(["KPPvK"], Metric.DTM), Metric.DTM
    for out in ("one", "eight"):
        copied_closure(tables, tmp_path / out, "KPPvK", metric=metric)
    (tmp_path / "eight" / "KPPvK.dtm.arrow").unlink()
    shared(tmp_path / "eight", 8, "KPPvK", metric)
    assert files(tmp_path / "eight") == files(tmp_path / "one")


@SLOW
@pytest.mark.parametrize("metric", [Metric.DTC, Metric.DTM])
def test_captures_en_passant_are_found_by_several_workers(tmp_path: Path, metric: Metric) -> None:
    copied_closure(unproved(["KPvKP"], metric), tmp_path / "one", "KPvKP", metric=metric)
    without(tmp_path / "one", tmp_path / "four", "KPvKP")
    shared(tmp_path / "four", 4, "KPvKP", metric)
    assert files(tmp_path / "four") == files(tmp_path / "one")


# ---- kills ----


def killed(out: Path, at: Callable[[int, str], bool]) -> bool:
    return killable_build.killed(out, [PAWN], at)


RANDOM = random.Random(12)


@pytest.mark.parametrize(
    "events", [20, *(pytest.param(RANDOM.randint(2, 80), marks=SLOW) for _ in range(20))]
)
def test_a_build_that_was_killed_goes_on_to_the_same_bytes(
    whole: Path, begun: Path, events: int
) -> None:
    assert killed(begun, lambda number, _: number == events)
    built(begun, PAWN)
    assert files(begun) == files(whole)


def test_levels_that_were_solved_are_not_solved_again(whole: Path, begun: Path) -> None:
    assert killed(begun, lambda _, line: line == "Assigned KPvK.dtc.level4")
    left = {path.name for path in (begun / ".KPvK.dtc.build").glob("*.log")}
    # Level 4 rests on levels 2 and 3.
    assert {name.split(".")[0] for name in left} >= {"level2", "level3"}
    assert not any(name.startswith(("level0", "level1")) for name in left)
    assert solved(built(begun, PAWN)) == [4, 5]
    assert files(begun) == files(whole)


def test_passes_of_a_level_that_were_committed_are_not_done_again(whole: Path, begun: Path) -> None:
    passes = 0

    def at(_: int, line: str) -> bool:
        nonlocal passes
        passes += line == "PassCommitted KPvK.dtc.level4"
        return passes == 6

    assert killed(begun, at)
    passes_of = (r for r in built(begun, PAWN) if isinstance(r, PassCommitted))
    assert next(r.depth for r in passes_of if level_of(r.domain) == 4) >= 6
    assert files(begun) == files(whole)


@SLOW
def test_another_number_of_workers_goes_on_with_a_level(whole: Path, begun: Path) -> None:
    passes = 0

    def at(_: int, line: str) -> bool:
        nonlocal passes
        passes += line == "PassCommitted KPvK.dtc.level3"
        return passes == 4

    assert killed(begun, at)
    records = shared(begun, 3)
    assert solved(records) == [3, 4, 5]
    assert files(begun) == files(whole)


@SLOW
@pytest.mark.parametrize("size", [900, 100, 3000, 9000])
def test_a_build_that_died_in_mid_write_goes_on_to_the_same_bytes(
    whole: Path, begun: Path, size: int
) -> None:
    assert killable_build.killed_at_size(begun, [PAWN], size)
    built(begun, PAWN)
    assert files(begun) == files(whole)


@SLOW
def test_a_build_that_is_killed_again_and_again_still_ends(whole: Path, begun: Path) -> None:
    deaths = 0
    while killed(begun, lambda number, _: number == 12):
        deaths += 1
    assert deaths > 3
    assert files(begun) == files(whole)


# ---- slices ----

ONE_BY_ONE = 0  # bytes of sets: as few as can be


@pytest.mark.parametrize("events", [60, *(RANDOM.randint(2, 250) for _ in range(2))])
def test_a_build_of_slices_goes_on_with_slices(whole: Path, begun: Path, events: int) -> None:
    assert killable_build.killed(begun, [PAWN], lambda number, _: number == events, held=ONE_BY_ONE)
    slices = TableStore(begun).build_folder(TableKey.parse("KPvK.dtc")).slices()
    assert all(each.size == 1 for each in slices)
    records = built(begun, PAWN)
    solved_now = {r.domain for r in records if isinstance(r, LevelSolved)}
    assert len(solved_now) < 24
    assert all(domain[-4:-1] in (".0-", ".1-", ".2-", ".3-") for domain in solved_now)
    assert files(begun) == files(whole)


def test_a_build_in_slices_begins_levels_anew_that_were_whole(whole: Path, begun: Path) -> None:
    assert killed(begun, lambda _, line: line == "Assigned KPvK.dtc.level4")
    spec = BuildSpec((Material.parse(PAWN),))
    records: list[Record] = []
    build(BuildRequest(spec, begun, held=ONE_BY_ONE), lambda row: records.append(row.record))
    assert Counter(solved(records)) == dict.fromkeys(range(6), 4)
    assert files(begun) == files(whole)


# ---- damage ----


def flip(log: Path) -> None:
    """Alters a bit in the middle layer of a log."""
    data = log.read_bytes()
    starts = [found.start() for found in re.finditer(b"kpl3\x01", data)]
    at = starts[len(starts) // 2] + 60
    log.write_bytes(data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :])


def test_a_damaged_log_of_a_level_below_begins_the_levels_again(whole: Path, begun: Path) -> None:
    records: list[Record] = []

    def listen(row: Row) -> None:
        records.append(row.record)
        if isinstance(row.record, LevelSolved) and solved(records) == [0, 1, 2]:
            (log,) = (begun / ".KPvK.dtc.build").glob("level2.stronger.*.log")
            flip(log)

    spec = BuildSpec((Material.parse(PAWN),))
    build(
        BuildRequest(spec, begun, threads=2),
        listen,
        lambda site, tables: InProcess(site, tables, 1, 2),
    )
    (setback,) = (record for record in records if isinstance(record, SetBack))
    assert setback.domain == "KPvK.dtc.level3"
    assert "the log is damaged" in setback.reason
    assert solved(records) == [0, 1, 2, 0, 1, 2, 3, 4, 5]
    made = {n: data for n, data in files(begun).items() if n.endswith(".arrow")}
    assert made == files(whole)


@SLOW
def test_a_log_that_was_damaged_meanwhile_is_not_rested_on(whole: Path, begun: Path) -> None:
    assert killed(begun, lambda _, line: line == "Assigned KPvK.dtc.level4")
    (log,) = (begun / ".KPvK.dtc.build").glob("level2.stronger.*.log")
    flip(log)
    # Level 2 needs the logs of levels 0 and 1, which were cleared; level 3 is sound.
    assert solved(built(begun, PAWN)) == [0, 1, 2, 4, 5]
    assert files(begun) == files(whole)
