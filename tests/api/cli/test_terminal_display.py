"""Facts about the display on a terminal: what is under way, and the lines that stay."""

import io
import os
import pty
import re
from pathlib import Path

from terminal import in_process_of_its_own

from kingpair.api.answers.progress import (
    analysis,
    exported_line,
    found_by,
    planned_lines,
    status,
    summary,
)
from kingpair.coordinator.journal.build_records import BuildRecord
from kingpair.coordinator.journal.countdown import Left
from kingpair.coordinator.journal.forecast import Range, fraction
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import (
    Assigned,
    Became,
    ExportBegan,
    ExportDone,
    PassCommitted,
    Record,
    TablePublished,
    WavesPlanned,
)
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import Depth
from kingpair.workers.sets.disk_use import DiskUse


def seen_on_a_terminal(*words: object) -> str:
    terminal, inside = pty.openpty()
    process = in_process_of_its_own(*words, stdout=inside, stderr=inside)
    os.close(inside)
    with open(terminal, "rb", buffering=0) as screen:
        seen = b"".join(iter(lambda: read(screen), b"")).decode()
    assert process.wait() == 0
    return seen


def test_a_terminal_sees_how_far_a_verification_has_come(tables: Path) -> None:
    seen = seen_on_a_terminal("verify", "KRvKN", "--tables", tables)
    assert re.search(r"verifying KRvKN dtc +[1-9]\d* % +elapsed 0:\d\d", seen)
    assert "KRvKN dtc: sound, " in seen


def test_a_terminal_sees_what_is_under_way_and_keeps_the_lines(tmp_path: Path) -> None:
    seen = seen_on_a_terminal("build", "KQvKR", "--out", tmp_path / "tables")
    assert "longest win 31 moves" in seen
    assert "elapsed" in seen
    assert "wrote 3 tables" in seen


def read(screen: io.FileIO) -> bytes:
    try:
        return screen.read(4096) or b""
    except OSError:  # what Linux says at the end of a terminal
        return b""


def test_no_number_of_passes_is_promised() -> None:
    left = Left(40.0, Range(20.0, 80.0), "KQvKR takes longer than was estimated")
    lines = list(status(under_way(), 75.0, left))
    assert lines[0] == "wave 2 of 2  KQvKR  White to win, pass 2 of a number not yet known"
    assert lines[1] == "  decided  1,110 positions, 1.01 k positions/s"
    assert lines[2].endswith(" 100 in the last pass, falling")
    assert lines[3] == "  elapsed  1:15, 1 material waiting, about 0:40 left (0:20 to 1:20)"
    assert lines[4] == "  it will take longer: KQvKR takes longer than was estimated"
    assert max(map(len, lines)) <= 80


def test_the_bytes_of_sets_on_disk_and_the_share_of_their_time_are_shown() -> None:
    build, use = under_way(), DiskUse(read=3 << 30, written=2 << 30, seconds=1.5)
    counts = (1,), (1,)
    happen(build, 4.0, PassCommitted(BOTH, 1, Depth(0), 1, *counts, 0, False, 2.5, disk=use))
    happen(build, 7.5, PassCommitted(BOTH, 1, Depth(1), 1, *counts, 0, False, 3.5, disk=use))
    shown = "  disk     3.0 GiB read and 2.0 GiB written in the last pass, 50% of the time"
    assert shown in list(status(build, 7.5, None))


def test_a_pass_without_sets_on_disk_shows_none() -> None:
    assert not any(line.startswith("  disk") for line in status(under_way(), 6.0, None))


def test_a_new_colour_begins_a_new_trend() -> None:
    build = under_way()
    happen(build, 3.0, PassCommitted(BOTH, 1, Depth(0), 1, (0,), (7,), 0, False))
    assert found_by(analysis(build.domains[BOTH])) == [7]


QUEEN, ROOK, BOTH, LAST = (f"{name}.dtc" for name in ("KQvK", "KRvK", "KQvKR", "KRvKR"))


def begun(*waves: tuple[str, ...]) -> BuildRecord:
    spec = BuildSpec(tuple(map(Material.parse, ("KQvKR", "KRvKR"))))
    build = BuildRecord("build", 0, spec, 0.0, is_queued=False)
    happen(build, 0.0, WavesPlanned(waves, (), ()))
    return build


def happen(build: BuildRecord, time: float, record: Record) -> None:
    build.apply(Row(build.row + 1, build.name, 0, time, record))


def assigned(domain: str) -> Assigned:
    return Assigned(domain, 1, (("node0", 462),), 0)


def under_way() -> BuildRecord:
    build = begun((QUEEN, ROOK), (BOTH, LAST))
    for time, record in (
        (0.0, assigned(QUEEN)),
        (0.1, TablePublished(QUEEN, 10, "")),
        (0.1, assigned(ROOK)),
        (0.4, TablePublished(ROOK, 10, "")),
        (0.4, assigned(BOTH)),
        (0.5, PassCommitted(BOTH, 0, Depth(0), 1, (0,), (10,), 0, False)),
        (1.0, PassCommitted(BOTH, 0, Depth(1), 1, (400,), (600,), 0, False)),
        (1.5, PassCommitted(BOTH, 0, Depth(2), 1, (50,), (50,), 0, False)),
    ):
        happen(build, time, record)
    return build


def test_the_syzygy_files_of_tables_that_were_there_are_counted() -> None:
    tables = ("KQvK.dtz", "KRvK.dtz")
    spec = BuildSpec(tuple(map(Material.parse, ("KQvK", "KRvK"))), (Metric.DTZ,), syzygy=True)
    build = BuildRecord("build", 0, spec, 0.0, is_queued=False)
    planned = WavesPlanned((), tables, (), tables)
    assert list(planned_lines(planned)) == ["2 tables are there already, 2 without Syzygy files"]
    for record in (
        planned,
        Became("running", ""),
        ExportBegan(tables[0]),
        ExportDone(tables[0]),
        ExportBegan(tables[1]),
    ):
        happen(build, 1.0, record)
    assert next(status(build, 2.0, None)) == "table 2 of 2  KRvK  writing its Syzygy files"
    assert 0.4 < fraction(build) < 0.6
    happen(build, 3.0, ExportDone(tables[1]))
    assert exported_line(build, build.domains[tables[1]]) == "  KRvK     Syzygy files written"
    assert summary(build, Path("out"), 3.0) == "wrote the Syzygy files of 2 tables in out: 3.00 s"
