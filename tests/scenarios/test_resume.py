"""Facts about builds that were interrupted: the next build ends with the same bytes.

It is killed from outside at an event, dies in mid-write at a size, or is interrupted at an event.
"""

import re
import shutil
from pathlib import Path

import killable_build
import pytest
from building import BOTH_METRICS, built, copied, files, finished, replace, started

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.executor import OpenExecutor, Site
from kingpair.coordinator.execute.in_process import InProcess
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import (
    Assigned,
    Became,
    PaintingBegan,
    PartWritten,
    PassCommitted,
    Record,
    SetBack,
)
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.errors import DamagedLog
from kingpair.workers.game.chess.material import Material
from kingpair.workers.number_types import STRONGER, Depth
from kingpair.workers.table.format import Table
from kingpair.workers.table.table_store import TableStore

pytestmark = pytest.mark.slow  # whole builds, one after the other

KQVKR = Material.parse("KQvKR")


@pytest.mark.parametrize("events", [1, 2, 9, 14, 30, 55, 75])
def test_a_build_that_was_killed_goes_on_to_the_same_bytes(
    tables: Path, tmp_path: Path, events: int
) -> None:
    assert killable_build.killed(tmp_path, ["KQvKR"], lambda number, _: number == events)
    built(tmp_path, "KQvKR")
    assert files(tmp_path) == finished(tables)


def test_a_build_that_was_killed_while_painting_does_not_solve_again(
    tables: Path, tmp_path: Path
) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    assert killable_build.killed(
        tmp_path, ["KQvKR"], lambda _, line: line == "PaintingBegan KQvKR.dtc"
    )
    events = built(tmp_path, "KQvKR")
    assert not [event for event in events if isinstance(event, PassCommitted)]
    assert files(tmp_path) == finished(tables)


@pytest.fixture(scope="module")
def both_metrics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """KRvKN and what it rests on, for both metrics."""
    out = tmp_path_factory.mktemp("both metrics")
    built(out, "KRvKN", metrics=BOTH_METRICS)
    return out


@pytest.mark.parametrize("at", ["Assigned", "PassCommitted", "PaintingBegan", "TablePublished"])
def test_a_build_for_two_metrics_that_was_killed_in_the_second_goes_on(
    both_metrics: Path, tmp_path: Path, at: str
) -> None:
    line = f"{at} KRvKN.dtm"
    assert killable_build.killed(tmp_path, ["KRvKN"], lambda _, said: said == line, "dtc,dtm")
    assert (tmp_path / "KRvKN.dtc.arrow").exists()
    events = built(tmp_path, "KRvKN", metrics=BOTH_METRICS)
    worked = {e.domain for e in events if isinstance(e, PassCommitted | PaintingBegan)}
    assert worked <= {"KRvKN.dtm"}
    assert files(tmp_path) == files(both_metrics)


@pytest.mark.parametrize("size", [100, 900, 9000, 13000, 200000, 1000000])
def test_a_build_that_died_in_mid_write_goes_on_to_the_same_bytes(
    tables: Path, tmp_path: Path, size: int
) -> None:
    assert killable_build.killed_at_size(tmp_path, ["KQvKR"], size)
    assert any(len(data) == size for data in files(tmp_path).values())
    built(tmp_path, "KQvKR")
    assert files(tmp_path) == finished(tables)


def test_a_build_that_is_killed_again_and_again_still_ends(tables: Path, tmp_path: Path) -> None:
    deaths = 0
    while killable_build.killed(tmp_path, ["KQvKR"], lambda number, _: number == 9):
        deaths += 1
    assert deaths > 3
    assert files(tmp_path) == finished(tables)


@pytest.fixture(scope="module")
def five_men(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """KBBvKN, of many parts to a pass, and what it rests on."""
    out = tmp_path_factory.mktemp("five men")
    built(copied(tables, out, "KBBvK", "KBvK", "KNvK"), "KBBvKN")
    return out


@pytest.mark.parametrize("events", [3, 8, 21, 40, 60, 69, 71])
def test_many_parts_of_a_pass_are_gone_on_from(five_men: Path, tmp_path: Path, events: int) -> None:
    whole = files(five_men)
    shutil.copytree(five_men, tmp_path, dirs_exist_ok=True)
    (tmp_path / "KBBvKN.dtc.arrow").unlink()
    assert killable_build.killed(tmp_path, ["KBBvKN"], lambda number, _: number == events)
    built(tmp_path, "KBBvKN")
    assert files(tmp_path) == whole


def test_leftovers_of_a_death_beside_a_finished_table_are_removed(
    tables: Path, tmp_path: Path
) -> None:
    copied(tables, tmp_path)
    (tmp_path / ".KQvKR.dtc.build").mkdir()
    (tmp_path / ".KQvKR.dtc.build" / "weaker.log").write_bytes(b"kpl2")
    (tmp_path / "KQvKR.dtc.arrow.partial").write_bytes(b"ARROW1")
    assert started(built(tmp_path, "KQvKR")) == []
    assert files(tmp_path) == finished(tables)
    assert not (tmp_path / ".KQvKR.dtc.build").exists()


def test_without_resume_the_logs_are_begun_anew(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    assert killable_build.killed(
        tmp_path, ["KQvKR"], lambda _, line: line == "PaintingBegan KQvKR.dtc"
    )
    rows: list[Row] = []
    build(BuildRequest(BuildSpec((KQVKR,)), tmp_path, resume=False), rows.append)
    assert [row for row in rows if isinstance(row.record, PassCommitted)]
    assert files(tmp_path) == finished(tables)


class Interruption(Exception):
    """Raised by a listener to break a build off."""


def interrupted(out: Path, name: str, at: int) -> bool:
    """Builds, and breaks it off at a record that is neither a state nor a part."""
    records: list[Record] = []

    def listen(row: Row) -> None:
        if not isinstance(row.record, Became | PartWritten):
            records.append(row.record)
        if len(records) == at:
            raise Interruption

    try:
        build(BuildRequest(BuildSpec((Material.parse(name),)), out, threads=2), listen)
    except Interruption:
        return True
    return False


def test_a_build_can_be_interrupted_at_every_event(tables: Path, tmp_path: Path) -> None:
    at, out = 1, tmp_path / "1"
    while interrupted(out, "KRvK", at):
        assert not list(out.glob("*.partial"))
        built(out, "KRvK")
        assert files(out) == finished(tables, "KRvK")
        at += 1
        out = tmp_path / str(at)
    assert at > 20


def test_a_build_that_is_interrupted_again_and_again_still_ends(
    tables: Path, tmp_path: Path
) -> None:
    # The plan, the start, two passes; at last the plan, the start, the painting, the table.  Each
    # time some passes more are kept than were told of: those that were durable when all ended.
    interruptions = 0
    while interrupted(tmp_path, "KQvKR", 4):
        interruptions += 1
        assert interruptions < 200
    assert interruptions > 10
    assert files(tmp_path) == finished(tables)


def test_logs_that_rest_on_other_tables_are_not_gone_on_from(tables: Path, tmp_path: Path) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    assert interrupted(tmp_path, "KQvKR", 12)
    digest = replace(tmp_path / "KQvK.dtc.arrow", {"other": "counts"})
    events = built(tmp_path, "KQvKR")
    passes = [event.depth for event in events if isinstance(event, PassCommitted)]
    assert passes.count(Depth(0)) == 2
    assert Table(tmp_path / "KQvKR.dtc.arrow").smaller["KQvK"] == digest


# ---- logs that were damaged ----


def flip(out: Path, where: str) -> None:
    """A bit of the stronger side's first log, in the header of a layer amid it or in its
    payload.
    """
    log = out / ".KQvKR.dtc.build" / "stronger.1.0.log"
    data = log.read_bytes()
    starts = [found.start() for found in re.finditer(b"kpl3\x01", data)]
    at = starts[len(starts) // 2] + {"header": 8, "payload": 60}[where]
    with open(log, "r+b") as file:
        file.seek(at)
        file.write(bytes([data[at] ^ 8]))


@pytest.mark.parametrize("where", ["header", "payload"])
def test_a_log_that_was_damaged_is_gone_on_from_where_it_is_sound(
    tables: Path, tmp_path: Path, where: str
) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    heard = interrupted_after(tmp_path, 20)
    flip(tmp_path, where)
    again = depths_of(built(tmp_path, "KQvKR"))
    assert 0 < again[0] < heard[-1]
    assert files(tmp_path) == finished(tables)


def depths_of(events: list[Record]) -> list[int]:
    """Of the stronger side's passes."""
    passes = [e for e in events if isinstance(e, PassCommitted) and e.winner == STRONGER]
    return [done.depth for done in passes]


def interrupted_after(out: Path, passes: int) -> list[int]:
    events: list[Record] = []

    def listen(row: Row) -> None:
        events.append(row.record)
        if len(depths_of(events)) == passes:
            raise Interruption

    with pytest.raises(Interruption):
        build(BuildRequest(BuildSpec((KQVKR,)), out, threads=2), listen)
    return depths_of(events)


def built_while_damaged(
    out: Path, at: type[Record], where: str, open_executor: OpenExecutor | None
) -> tuple[list[Record], list[Record]]:
    """Build, and damage the log at an event; all that happened before, and since."""
    before, since = list[Record](), list[Record]()

    def listen(row: Row) -> None:
        if isinstance(row.record, at) and not since:
            flip(out, where)
            since.append(row.record)
        (since or before).append(row.record)

    build(BuildRequest(BuildSpec((KQVKR,)), out, threads=2), listen, open_executor)
    return before, since


def hired(site: Site, library: TableStore) -> InProcess:
    return InProcess(site, library, 1, 2)


AT = pytest.mark.parametrize(
    ("at", "where"), [(Assigned, "header"), (Assigned, "payload"), (PaintingBegan, "payload")]
)


@AT
def test_a_damaged_layer_is_recomputed_from_the_last_sound_pass(
    tables: Path, tmp_path: Path, at: type[Record], where: str
) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    heard = interrupted_after(tmp_path, 20)
    before, since = built_while_damaged(tmp_path, at, where, hired)
    (setback,) = [event for event in since if isinstance(event, SetBack)]
    again = depths_of(since)
    assert f"the log is damaged after pass {again[0] - 1}" in setback.reason
    assert 0 < again[0] < (depths_of(before) or heard)[-1]
    assert {n: data for n, data in files(tmp_path).items() if n in finished(tables)} == finished(
        tables
    )


@AT
def test_a_build_that_meets_damage_says_so_and_the_next_one_goes_on(
    tables: Path, tmp_path: Path, at: type[Record], where: str
) -> None:
    copied(tables, tmp_path, "KQvK", "KRvK")
    interrupted_after(tmp_path, 20)
    with pytest.raises(DamagedLog, match=r"stronger\.1\.0\.log: damaged after pass \d+$"):
        built_while_damaged(tmp_path, at, where, None)
    built(tmp_path, "KQvKR")
    assert files(tmp_path) == finished(tables)
