"""Facts about what passes took: noted beside the table, never in it, kept over interruptions."""

import json
import shutil
from pathlib import Path

import pytest
from building import built, replace
from terminal import kingpair

from coordinator.build import build
from coordinator.request import Committed, Request
from workers.material import Material
from workers.passtimes import Timed, times_of
from workers.table import Table

KRVKN = (Material.parse("KRvKN"),)
NAME = "KRvKN.dtc.arrow"


def timed(path: Path) -> list[Timed]:
    found = times_of(Table(path))
    assert found is not None
    return list(found)


def note(directory: Path) -> Path:
    return directory / "KRvKN.dtc.passes.json"


def is_of(found: list[Timed], table: Table) -> bool:
    """Whether the passes found what the table's counts say, in order."""
    for winner, other in (("white", "black"), ("black", "white")):
        of = [each for each in found if each.winner == winner]
        assert [each.depth for each in of] == list(range(len(of)))
        won = {str(each.depth): each.won for each in of if each.won}
        lost = {str(each.depth): each.lost for each in of if each.lost}
        if won != table.counts[winner]["win"] or lost != table.counts[other]["loss"]:
            return False
    return True


def test_a_build_notes_what_each_pass_took(tables: Path) -> None:
    found, table = timed(tables / NAME), Table(tables / NAME)
    assert is_of(found, table)
    assert all(each.seconds > 0 for each in found)


@pytest.mark.parametrize("workers", [2, 3])
def test_several_workers_note_the_same_passes(tables: Path, tmp_path: Path, workers: int) -> None:
    build(Request(KRVKN, tmp_path, threads=3, workers=workers, grain=1), lambda event: None)
    assert (tmp_path / NAME).read_bytes() == (tables / NAME).read_bytes()
    untimed = [each._replace(seconds=0.0) for each in timed(tables / NAME)]
    assert [each._replace(seconds=0.0) for each in timed(tmp_path / NAME)] == untimed


def test_a_build_that_goes_on_knows_what_earlier_passes_took(tmp_path: Path) -> None:
    def interrupt(event: object) -> None:
        if (
            isinstance(event, Committed)
            and event.subject.material in KRVKN
            and event.passed.depth == 5
        ):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(Request(KRVKN, tmp_path, threads=2), interrupt)
    assert not note(tmp_path).exists()
    events = built(tmp_path, "KRvKN")
    later = [e for e in events if isinstance(e, Committed) and e.subject.material in KRVKN]
    found = timed(tmp_path / NAME)
    assert is_of(found, Table(tmp_path / NAME))
    assert len(found) - len(later) >= 6
    assert all(each.seconds > 0 for each in found)


def test_a_table_without_a_note_or_with_that_of_another_is_not_timed(
    tables: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(tables / NAME, tmp_path))
    assert times_of(Table(path)) is None
    shutil.copy(note(tables), tmp_path)
    assert is_of(timed(path), Table(path))
    note(tmp_path).write_text((tables / "KQvKR.dtc.passes.json").read_text())
    assert times_of(Table(path)) is None
    for text in ("", "{", "[]", '{"digest": 1}', "\0"):
        note(tmp_path).write_text(text)
        assert times_of(Table(path)) is None


def test_a_table_that_is_replaced_takes_its_times_along(tables: Path, tmp_path: Path) -> None:
    for path in tables.glob("K?vK.*"):
        shutil.copy(path, tmp_path)
    path = tmp_path / "KRvK.dtc.arrow"
    replace(path, Table(path).counts | {"other": "counts"})
    assert times_of(Table(path)) is None
    built(tmp_path, "KRvK", force=True)
    assert is_of(timed(path), Table(path))


def test_a_report_says_what_passes_took_or_that_nobody_knows(tables: Path, tmp_path: Path) -> None:
    said = json.loads(kingpair("report", "KRvKN", "--tables", tables, "--json").stdout)
    assert [Timed(**each) for each in said["passes"]] == timed(tables / NAME)
    text = kingpair("report", "KRvKN", "--tables", tables).stdout
    assert "what its passes took: " in text
    assert " ms in all" in text or " s in all" in text
    shutil.copy(tables / NAME, tmp_path)
    assert (
        json.loads(kingpair("report", "KRvKN", "--tables", tmp_path, "--json").stdout)["passes"]
        is None
    )
    text = kingpair("report", "KRvKN", "--tables", tmp_path).stdout
    assert "\nwhat its passes took: not recorded\n" in text
