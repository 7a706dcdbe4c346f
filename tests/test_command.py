"""Facts about the command `kingpair`: what it explains, what it refuses, how it builds."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chess
import pytest
from terminal import in_process_of_its_own, kingpair, said, told

from api import watching
from api.failures import EXIT_CODES, EXPLAINED, ExitCode
from api.progress import Progress, status
from api.settings import Size
from coordinator.plan import estimate
from coordinator.request import Committed, Event, Listener, Planned, Published, Started
from workers import _kernels, errors
from workers.material import Material
from workers.metric import Metric
from workers.passlog import Pass
from workers.subject import Subject

STUDY = ("report", "longest", "zugzwangs", "sample", "export")
COMMANDS = (
    "build",
    "estimate",
    "probe",
    "line",
    "stats",
    "tables",
    "verify",
    "config",
    "bench",
    *STUDY,
)
LONGEST = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"


# Help


def test_without_a_command_it_explains_itself() -> None:
    assert said() == said("--help")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_examples(command: str) -> None:
    help_ = said(command, "--help")
    assert f"Examples:\n    kingpair {command}" in help_
    assert "--json" in help_


@pytest.mark.parametrize("words", [(), *((command,) for command in COMMANDS)])
def test_help_fits_80_columns(words: tuple[str, ...]) -> None:
    assert max(map(len, said(*words, "--help").splitlines())) <= 80


def test_help_and_errors_wait_for_nothing_heavy() -> None:
    heavy = "{'numpy', 'pyarrow', 'rich.console', 'workers._kernels'} & set(sys.modules)"
    code = (
        "import sys\nfrom api.cli import app\n"
        "try: app(['build', '--help'])\n"
        f"except SystemExit: sys.exit(repr({heavy}) if {heavy} else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_versions_that_matter_are_named() -> None:
    version = said("--version")
    assert [line.split()[0] for line in version.splitlines()] == [
        "kingpair",
        "kernels",
        "Ray",
        "Python",
        "pyarrow",
    ]
    assert f"kernels  {_kernels.level()} " in version


# Errors


def test_every_error_has_an_exit_code() -> None:
    leaves = {
        error
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.KingpairError)
    } - {errors.KingpairError}
    assert set(EXIT_CODES) == leaves


def test_every_exit_code_is_explained() -> None:
    explained = {int(code) for code in re.findall(r"^ +(\d+)  ", EXPLAINED, re.MULTILINE)}
    assert explained == set(ExitCode)
    assert "Exit codes:" in said("--help")


PROBE = ("probe", "--tables", "{tables}")
BUILD = ("build", "--out", "{out}")
BAD_INPUT: tuple[tuple[str, tuple[str, ...], int, str], ...] = (
    ("no such command", ("solve",), 2, "no such command 'solve'"),
    ("no such option", ("build", "--fast"), 2, "no such option: --fast"),
    ("nothing to build", BUILD, 2, "name a material, such as KQvKR"),
    ("an unknown man", (*BUILD, "KXvK"), 2, "'X' is no man; use K Q R B N"),
    ("two kings", (*BUILD, "KKvK"), 2, "each side needs one K"),
    ("no king", (*BUILD, "QvK"), 2, "each side needs one K"),
    ("bare kings", (*BUILD, "KvK"), 2, "bare kings are a draw"),
    ("seven men", (*BUILD, "KQRBvKRR"), 2, "7 men; at most 6"),
    ("pawns", (*BUILD, "KPvK"), 2, "pawns: not yet solved"),
    ("one bad among good", (*BUILD, "KQvK", "KPvK"), 2, "pawns: not yet solved"),
    ("too many men", (*BUILD, "--men", "7"), 2, "'--men'"),
    ("no threads", (*BUILD, "KQvK", "--threads", "0"), 2, "'--threads'"),
    ("a thread that is no number", (*BUILD, "KQvK", "--threads", "x"), 2, "'--threads'"),
    ("an amount that is none", (*BUILD, "KQvK", "--memory", "lots"), 2, "such as 12GiB"),
    ("no memory", (*BUILD, "KQvK", "--memory", "0"), 2, "such as 12GiB"),
    ("too little memory", (*BUILD, "KQvK", "--memory", "1MiB"), 5, "1.0 MiB is the cap"),
    ("a file for a directory", ("build", "KQvK", "--out", "{file}"), 5, "choose another --out"),
    ("inside a file", ("build", "KQvK", "--out", "{file}/x"), 5, "choose another --out"),
    ("a damaged table below", ("build", "KQvKR", "--out", "{damaged}"), 4, "build --force KQvK"),
    ("nothing to estimate", ("estimate",), 2, "name a material"),
    ("a level that is none", ("build", "KQvK", "--level", "v9"), 2, "no instruction set 'v9'"),
    ("the same before", ("--level", "v9", "tables"), 2, "this machine has v2"),
    ("no position", ("probe",), 2, "missing argument 'FEN'"),
    ("no FEN", (*PROBE, "hello"), 2, "a FEN needs 2 to 6 fields"),
    ("seven ranks", (*PROBE, "8/8/8/8/8/8/kK6", "w"), 2, "a board needs 8 ranks"),
    ("nine files", (*PROBE, "9/8/8/8/8/8/8/8", "w"), 2, "'9'"),
    ("no kings", (*PROBE, "8/8/8/8/8/8/8/8", "w"), 2, "exactly one king"),
    ("kings that touch", (*PROBE, "8/8/8/8/8/8/kK6/8", "w"), 2, "touch"),
    ("who is not to move in check", (*PROBE, "8/8/8/8/8/5k2/6N1/K2r4", "b"), 2, "in check"),
    ("no table of it", (*PROBE, "8/8/8/8/8/5k2/8/KR1r3q", "w"), 3, "no table of KQRvKR"),
    ("pawns on the board", (*PROBE, "8/8/8/8/8/5k2/P7/K7", "w"), 3, "pawns are not yet solved"),
    ("the first position", (*PROBE, chess.STARTING_FEN), 3, "pawns are not yet solved"),
    ("castling", (*PROBE, "4k3/8/8/8/8/8/8/4K2R", "w", "K", "-"), 3, "castling"),
    ("no directory", ("probe", LONGEST, "--tables", "nowhere"), 3, "no directory of tables"),
    ("a line without its table", ("line", LONGEST, "--tables", "nowhere"), 3, "no directory"),
    ("figures without their table", ("stats", "KBvKB", "--tables", "{tables}"), 3, "of KBvKB"),
    ("figures of nothing", ("stats", "xyz", "--tables", "{tables}"), 2, "is no man"),
    ("two figures at once", ("stats", "KQvK", "KRvK"), 2, "unexpected extra argument"),
    (
        "no place for Parquet",
        ("stats", "KQvK", "--tables", "{tables}", "--parquet", "{file}/x"),
        5,
        "choose another file",
    ),
    ("a truncated table", ("stats", "KQvK", "--tables", "{damaged}"), 4, "build it again"),
    ("another table's name", ("stats", "KRvK", "--tables", "{damaged}"), 4, "not what its name"),
    ("an error for programs", ("stats", "KPvK", "--json"), 2, "pawns: not yet solved"),
)


@pytest.fixture(scope="module")
def places(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Directories that bad input is about: sound tables, spoilt ones, a file, and none yet."""
    root = tmp_path_factory.mktemp("places")
    damaged = root / "damaged"
    damaged.mkdir()
    sound = (tables / "KQvK.dtc.arrow").read_bytes()
    (damaged / "KQvK.dtc.arrow").write_bytes(sound[:-10])
    (damaged / "KRvK.dtc.arrow").write_bytes(sound)
    (root / "file").write_text("somebody's own")
    return {
        "tables": str(tables),
        "damaged": str(damaged),
        "file": str(root / "file"),
        "out": str(root / "out"),
    }


@pytest.mark.parametrize(
    ("words", "code", "fragment"),
    [row[1:] for row in BAD_INPUT],
    ids=[row[0] for row in BAD_INPUT],
)
def test_bad_input_is_told_in_one_line(
    words: tuple[str, ...], code: int, fragment: str, places: Mapping[str, str]
) -> None:
    before = contents(Path(places["out"]).parent)
    result = kingpair(*(word.format_map(places) for word in words))
    assert result.stdout == ""
    assert result.stderr.startswith("kingpair: ")
    assert result.stderr.count("\n") == 1
    assert fragment in result.stderr
    assert result.exit_code == code
    assert contents(Path(places["out"]).parent) == before


def contents(root: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in root.rglob("*")}


def test_a_full_disk_is_told(tables: Path) -> None:
    with open("/dev/full", "w") as full:
        words = ("stats", "KQvK", "--tables", tables)
        process = in_process_of_its_own(*words, stdout=full, stderr=subprocess.PIPE)
        _, stderr = process.communicate()
    assert (process.returncode, stderr.count("\n")) == (ExitCode.CANNOT, 1)
    assert "No space left" in stderr


def test_a_reader_that_goes_away_is_no_error(tables: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = ("stats", "KQvK", "--tables", tables)
    process = in_process_of_its_own(*words, stdout=writer, stderr=subprocess.PIPE)
    _, stderr = process.communicate()
    os.close(writer)
    assert (process.returncode, stderr) == (ExitCode.NO_READER, "")


# Build


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "tables"


def test_a_build_logs_a_line_for_each_material(out: Path) -> None:
    lines = said("build", "krkq", "--out", out).splitlines()
    assert [line.split()[:1] for line in lines if line.startswith(" ")] == [
        ["KQvK"],
        ["KRvK"],
        ["KQvKR"],
    ]
    assert [line for line in lines if line.startswith("wave")] == [
        "wave 1 of 2: 2 materials of 3 men",
        "wave 2 of 2: 1 material of 4 men",
    ]
    assert lines[-1].startswith(f"wrote 3 tables to {out}: ")


def test_what_is_built_is_not_built_again(out: Path) -> None:
    said("build", "KRvK", "--out", out)
    before = contents(out)
    assert said("build", "KRvK", "--out", out).startswith("nothing to build: the table is in")
    assert said("build", "KRvKN", "--out", out).startswith("1 table is there already\nwave 1 of 2")
    assert contents(out).items() >= before.items()


def test_men_stands_for_all_materials_of_up_to_so_many(out: Path) -> None:
    said("build", "--men", "3", "--out", out, "--threads", "1", "--level", "v2")
    assert [path.name.split(".")[0] for path in sorted(out.glob("*.arrow"))] == [
        "KBvK",
        "KNvK",
        "KQvK",
        "KRvK",
    ]


def test_a_build_tells_programs_all_that_happens(out: Path) -> None:
    lines = said("build", "KRvK", "--out", out, "--json").splitlines()
    events = [json.loads(line) for line in lines]
    assert events[0] == {"event": "planned", "waves": [["KRvK"]], "present": []}
    assert events[1] == {"event": "started", "material": "KRvK"}
    passes = [event for event in events if event["event"] == "committed"]
    assert [event["depth"] for event in passes] == list(range(len(passes)))
    assert passes[-1]["decided"] == sum(event["won"] + event["lost"] for event in passes)
    last = [event["event"] for event in events[-3:]]
    assert last == ["painting", "published", "verified"]
    assert events[-2]["longest"]["white"]["win"]["moves"] == 16


def test_a_build_of_both_metrics_says_which(tables: Path, out: Path) -> None:
    both = "--metric", "dtc", "--metric", "dtm"
    lines = said("build", "KRvK", "--out", out, *both, "--json").splitlines()
    found = [(event["metric"], event["event"]) for event in map(json.loads, lines)]
    for kind in ("planned", "published"):
        assert [m for m, event in found if event == kind] == ["dtc", "dtm"]
    text = said("build", "KRvK", "--out", out, *both, "--force").splitlines()
    assert text[:2] == ["dtc: moves to mate or conversion", "dtm: moves to mate"]
    assert text[2] == "wave 1 of 1: 2 tables of 3 men"
    assert [line.split()[0] for line in text[3:5]] == ["KRvK.dtc", "KRvK.dtm"]
    assert text[5].startswith("wrote 2 tables to ")


def test_what_the_second_of_two_metrics_lacks_is_said_before_the_first_is_begun(out: Path) -> None:
    material = Material.parse("KBBvKN")
    to_convert, to_mate = (estimate(material, 1, metric).memory for metric in Metric)
    assert to_convert < to_mate
    cap = ("--memory", f"{(to_convert + to_mate) // 2 >> 20}MiB", "--threads", "1")
    both = "--metric", "dtc", "--metric", "dtm"
    refused = kingpair("build", "KBBvKN", "--out", out, *cap, *both)
    assert refused.exit_code == ExitCode.CANNOT
    assert "KBBvKN needs" in refused.stderr
    assert not list(out.glob("*.arrow"))


def test_an_interrupted_build_says_what_is_kept_and_goes_on(
    tables: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(watching, "watching", interrupting)
        result = kingpair("build", "KQvKR", "--out", out)
    assert result.exit_code == ExitCode.INTERRUPTED
    assert result.stderr.startswith("kingpair: interrupted: what was committed is kept in")
    assert (out / ".KQvKR.dtc.build").is_dir()
    assert "2 tables are there already" in said("build", "KQvKR", "--out", out)
    for path in out.glob("*.arrow"):
        assert path.read_bytes() == (tables / path.name).read_bytes()


@contextmanager
def interrupting(*_: object) -> Iterator[Listener]:
    def listen(event: Event) -> None:
        if isinstance(event, Committed) and (str(event.subject), event.passed.depth) == (
            "KQvKR.dtc",
            9,
        ):
            raise KeyboardInterrupt

    yield listen


def test_a_level_can_be_chosen_by_option_or_setting(out: Path) -> None:
    before, listing = _kernels.level(), ("tables", "--tables", out)
    try:
        said("build", "KNvK", "--out", out, "--level", "v2")
        assert _kernels.level() == "v2"
        assert kingpair(*listing, KINGPAIR_LEVEL=before).exit_code == 0
        assert _kernels.level() == before
        assert kingpair("--level", "v2", *listing, KINGPAIR_LEVEL="v9").exit_code == 0
        assert kingpair(*listing, KINGPAIR_LEVEL="v9").exit_code == ExitCode.BAD_INPUT
    finally:
        _kernels.use_level(before)


# Progress


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


def test_a_terminal_sees_what_is_under_way_and_keeps_the_lines(out: Path) -> None:
    seen = seen_on_a_terminal("build", "KQvKR", "--out", out)
    assert "longest win 31 moves" in seen
    assert "elapsed" in seen
    assert "wrote 3 tables" in seen


def read(screen: io.FileIO) -> bytes:
    try:
        return screen.read(4096) or b""
    except OSError:  # what Linux says at the end of a terminal
        return b""


def test_no_number_of_passes_is_promised() -> None:
    progress = under_way()
    lines = list(status(progress, progress.began + 75))
    assert lines[0] == "wave 2 of 2  KQvKR  White to win, pass 2 of a number not yet known"
    assert lines[1] == "  decided  1,110 positions, 1.0 k a second"
    assert lines[2].endswith(" 100 in the last pass, falling")
    assert lines[3] == "  elapsed  1:15, 1 material waiting"
    assert max(map(len, lines)) <= 80


def test_a_new_colour_begins_a_new_trend() -> None:
    progress = under_way()
    progress.follow(Committed(Subject.parse("KQvKR.dtc"), 1, Pass(0, 0, 7, False), 7, 0.1))
    assert progress.found == [7]


def test_nothing_is_guessed_before_a_material_is_done() -> None:
    progress = Progress()
    progress.follow(Planned((tuple(subjects("KQvK", "KRvK")),), ()))
    progress.follow(Started(Subject.parse("KQvK.dtc")))
    assert progress.left() is None


def test_the_time_to_come_is_that_of_materials_with_as_many_men() -> None:
    progress = under_way()
    assert progress.left() is None
    progress.follow(Published(Subject.parse("KQvKR.dtc"), 10, 2.5, NO_WINS))
    assert progress.left() == (2.5, 2.5)


def test_what_has_no_like_leaves_a_lower_bound_alone() -> None:
    progress = Progress()
    queen, rook, both = subjects("KQvK", "KRvK", "KQvKR")
    progress.follow(Planned(((queen, rook), (both,)), ()))
    progress.follow(Published(queen, 10, 2.5, NO_WINS))
    assert progress.left() == (2.5, None)


def subjects(*names: str) -> list[Subject]:
    return [Subject.parse(f"{name}.dtc") for name in names]


NO_WINS: dict[str, Any] = {"white": {"win": {}}, "black": {"win": {}}}


def under_way() -> Progress:
    queen, rook, both, last = subjects("KQvK", "KRvK", "KQvKR", "KRvKR")
    progress = Progress()
    for event in (
        Planned(((queen, rook), (both, last)), ()),
        Started(queen),
        Published(queen, 10, 0.1, NO_WINS),
        Started(rook),
        Published(rook, 10, 0.3, NO_WINS),
        Started(both),
        Committed(both, 0, Pass(0, 0, 10, False), 10, 0.1),
        Committed(both, 0, Pass(1, 400, 600, False), 1010, 0.5),
        Committed(both, 0, Pass(2, 50, 50, False), 1110, 0.5),
    ):
        progress.follow(event)
    return progress


# Estimate


def test_an_estimate_lists_the_closure() -> None:
    estimate = told("estimate", "KQvKR")
    assert [e["material"] for e in estimate["materials"]] == ["KQvK", "KRvK", "KQvKR"]
    largest = estimate["materials"][-1]
    assert (largest["slots"], largest["bitmap"]) == (462 * 64**2, 462 * 64**2 // 8)
    assert estimate["total"]["memory"] == largest["memory"]
    assert said("estimate", "KQvKR").splitlines()[3].split()[:3] == ["KQvKR", "4", "1,892,352"]


@pytest.mark.parametrize(
    ("written", "size"),
    [("12GiB", 12 << 30), ("12 gib", 12 << 30), ("1.5G", 1_500_000_000), ("800MB", 800_000_000)],
)
def test_memory_is_written_as_people_do(written: str, size: int) -> None:
    assert Size.parse(written) == size
