"""Facts about pass times: they stand beside the table, never in it, and survive interruptions."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from building import built, replace
from services import client_of, got
from terminal import kingpair

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import LevelSolved, PassCommitted
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import DomainKey
from kingpair.workers.table.pass_times import PassTime, read_pass_times

KRVKN = (Material.parse("KRvKN"),)
DOMAIN = "KRvKN.dtc"
NAME = f"{DOMAIN}.arrow"


def timed(path: Path) -> list[PassTime]:
    found = read_pass_times(Table(path))
    assert found is not None
    return list(found)


def note(directory: Path) -> Path:
    return directory / "KRvKN.dtc.passes.json"


def is_of(found: list[PassTime], table: Table) -> bool:
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
    build(
        BuildRequest(BuildSpec(KRVKN), tmp_path, threads=3, workers=workers, grain=1),
        lambda event: None,
    )
    assert (tmp_path / NAME).read_bytes() == (tables / NAME).read_bytes()
    untimed = [each._replace(seconds=0.0) for each in timed(tables / NAME)]
    assert [each._replace(seconds=0.0) for each in timed(tmp_path / NAME)] == untimed


def test_a_resumed_build_knows_the_times_of_earlier_passes(tmp_path: Path) -> None:
    def interrupt(row: Row) -> None:
        record = row.record
        if isinstance(record, PassCommitted) and (record.domain, record.depth) == (DOMAIN, 5):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(BuildRequest(BuildSpec(KRVKN), tmp_path, threads=2), interrupt)
    assert not note(tmp_path).exists()
    events = built(tmp_path, "KRvKN")
    later = [e for e in events if isinstance(e, PassCommitted) and e.domain == DOMAIN]
    found = timed(tmp_path / NAME)
    assert is_of(found, Table(tmp_path / NAME))
    assert len(found) - len(later) >= 6
    assert all(each.seconds > 0 for each in found)


def test_a_table_without_its_own_note_has_no_pass_times(tables: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(tables / NAME, tmp_path))
    assert read_pass_times(Table(path)) is None
    shutil.copy(note(tables), tmp_path)
    assert is_of(timed(path), Table(path))
    note(tmp_path).write_text((tables / "KQvKR.dtc.passes.json").read_text())
    assert read_pass_times(Table(path)) is None
    for text in ("", "{", "[]", '{"digest": 1}', "\0"):
        note(tmp_path).write_text(text)
        assert read_pass_times(Table(path)) is None


def test_a_replaced_table_loses_its_pass_times(tables: Path, tmp_path: Path) -> None:
    for path in tables.glob("K?vK.*"):
        shutil.copy(path, tmp_path)
    path = tmp_path / "KRvK.dtc.arrow"
    replace(path, Table(path).counts | {"other": "counts"})
    assert read_pass_times(Table(path)) is None
    built(tmp_path, "KRvK", force=True)
    assert is_of(timed(path), Table(path))


def test_a_report_gives_the_times_of_passes_or_says_that_they_are_unknown(
    tables: Path, tmp_path: Path
) -> None:
    said = json.loads(kingpair("report", "KRvKN", "--tables", tables, "--json").stdout)
    assert [PassTime(**each) for each in said["passes"]] == timed(tables / NAME)
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


# ---- with pawns ----


def levels_of(found: list[PassTime], table: Table) -> list[int]:
    """The levels of passes that together found what the table's counts say."""
    won: Counter[tuple[str, int]] = Counter()
    lost: Counter[tuple[str, int]] = Counter()
    for each in found:
        won[each.winner, each.depth] += each.won
        lost[each.winner, each.depth] += each.lost
    for winner, other in (("white", "black"), ("black", "white")):
        of = {str(depth): n for (name, depth), n in won.items() if name == winner and n}
        assert of == table.counts[winner]["win"]
        of = {str(depth): n for (name, depth), n in lost.items() if name == winner and n}
        assert of == table.counts[other]["loss"]
    return list(dict.fromkeys(each.level for each in found if each.level is not None))


@pytest.fixture(scope="module")
def with_pawns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("passes")
    built(out, "KPvK")
    return out / "KPvK.dtc.arrow"


def test_passes_with_pawns_are_noted_by_level(with_pawns: Path) -> None:
    found = timed(with_pawns)
    assert levels_of(found, Table(with_pawns)) == list(range(6))
    assert all(each.seconds > 0 for each in found)


@pytest.mark.parametrize("workers", [1, 2])
def test_levels_before_an_interruption_keep_their_times(
    with_pawns: Path, tmp_path: Path, workers: int
) -> None:
    shutil.copytree(with_pawns.parent, tmp_path, dirs_exist_ok=True)
    for path in tmp_path.glob("KPvK.*"):
        path.unlink()

    def interrupt(row: Row) -> None:
        if isinstance(row.record, LevelSolved) and DomainKey.parse(row.record.domain).level == 3:
            raise KeyboardInterrupt

    request = BuildRequest(
        BuildSpec((Material.parse("KPvK"),)), tmp_path, threads=2, workers=workers, grain=1
    )
    with pytest.raises(KeyboardInterrupt):
        build(request, interrupt)
    build(request, lambda row: None)
    found, path = timed(tmp_path / with_pawns.name), tmp_path / with_pawns.name
    assert path.read_bytes() == with_pawns.read_bytes()
    assert levels_of(found, Table(path)) == list(range(6))
    untimed = [each._replace(seconds=0.0) for each in timed(with_pawns)]
    assert [each._replace(seconds=0.0) for each in found] == untimed


def test_a_report_adds_the_passes_of_a_level(with_pawns: Path) -> None:
    words = ("report", "KPvK", "--tables", with_pawns.parent)
    said = json.loads(kingpair(*words, "--json").stdout)
    assert [PassTime(**each) for each in said["passes"]] == timed(with_pawns)
    lines = kingpair(*words).stdout.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("what its passes took: "))
    assert lines[first + 3].split() == ["level", "won", "lost", "took"]
    rows = [line.split()[:3] for line in lines[first + 4 : first + 10]]
    assert [row[0] for row in rows] == [str(level) for level in range(1, 7)]
    won = sum(Table(with_pawns).counts["white"]["win"].values())
    assert sum(int(row[1].replace(",", "")) for row in rows) == won


def test_the_service_answers_with_the_passes_of_a_table(with_pawns: Path, tmp_path: Path) -> None:
    for name in ("KPvK.dtc.arrow", "KPvK.dtc.passes.json", "KQvK.dtc.arrow"):
        shutil.copy(with_pawns.with_name(name), tmp_path)
    with client_of(tmp_path) as client:
        found = got(client, "/api/v1/tables/KPvK/passes")
        assert [PassTime(**each) for each in found["passes"]] == timed(with_pawns)
        assert got(client, "/api/v1/tables/KQvK/passes")["passes"] is None
