"""Facts about the command `kingpair`: what it explains, and what it refuses."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import chess
import pytest
from building import contents
from terminal import in_process_of_its_own, kingpair, said

from kingpair.api.cli import commands
from kingpair.api.cli.failures import EXIT_CODES, EXPLAINED, ExitCode
from kingpair.api.settings import Size
from kingpair.workers import _kernels, errors

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


def test_no_summary_of_a_command_is_truncated() -> None:
    listed = (
        said("--help").partition("Commands:")[2] + said("token", "--help").partition("Commands:")[2]
    )
    assert [line for line in listed.splitlines() if line.endswith("...")] == []


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_the_summary_of_a_command_is_the_first_line_of_its_help(name: str) -> None:
    assert said(name, "--help").splitlines()[2].strip() == commands.COMMANDS[name].summary


def test_every_command_about_tables_takes_the_same_option_for_their_directory() -> None:
    asking = (
        "build",
        "estimate",
        "probe",
        "line",
        "stats",
        "tables",
        "verify",
        "serve",
        "doctor",
        *STUDY,
    )
    assert [name for name in asking if " --tables" not in said(name, "--help")] == []
    assert "--tables, --out DIR" in said("build", "--help")


def test_help_and_errors_wait_for_nothing_heavy() -> None:
    heavy = "{'numpy', 'pyarrow', 'rich.console', 'kingpair.workers._kernels'} & set(sys.modules)"
    code = (
        "import sys\nfrom kingpair.api.cli.main import app\n"
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
    ("no such command", ("solve",), 2, "no such command 'solve' (did you mean 'serve'?); see"),
    ("no such option", ("build", "--fast"), 2, "no such option: --fast"),
    ("nothing to build", BUILD, 2, "name a material, such as KQvKR"),
    ("an unknown man", (*BUILD, "KXvK"), 2, "'X' is no man; use K Q R B N P"),
    ("two kings", (*BUILD, "KKvK"), 2, "each side needs one K"),
    ("no king", (*BUILD, "QvK"), 2, "each side needs one K"),
    ("bare kings", (*BUILD, "KvK"), 2, "bare kings are a draw"),
    ("seven men", (*BUILD, "KQRBvKRR"), 2, "7 men; at most 6"),
    ("one bad among good", (*BUILD, "KQvK", "KXvK"), 2, "'X' is no man"),
    ("too many men", (*BUILD, "--men", "7"), 2, "'--men': must be at most 6; see"),
    ("pawnless of no men", (*BUILD, "KQvK", "--pawnless"), 2, "goes with --men"),
    ("too few men", (*BUILD, "--men", "2"), 2, "'--men': must be at least 3; see"),
    ("workers without a cluster", (*BUILD, "KQvK", "--workers", "2"), 2, "needs --cluster"),
    ("a metric that is none", (*BUILD, "KQvK", "--metric", "x"), 2, ": 'x' is not one of 'dtc'"),
    ("no threads", (*BUILD, "KQvK", "--threads", "0"), 2, "'--threads'"),
    ("a thread that is no number", (*BUILD, "KQvK", "--threads", "x"), 2, "'--threads'"),
    ("an amount that is none", (*BUILD, "KQvK", "--memory", "lots"), 2, "such as 12GiB"),
    ("no memory", (*BUILD, "KQvK", "--memory", "0"), 2, "such as 12GiB"),
    ("too little memory", (*BUILD, "KQvK", "--memory", "1MiB"), 5, "1.0 MiB is the cap"),
    ("a file for a directory", ("build", "KQvK", "--out", "{file}"), 5, "choose another --tables"),
    ("inside a file", ("build", "KQvK", "--out", "{file}/x"), 5, "choose another --tables"),
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
    (
        "no table of it",
        (*PROBE, "8/8/8/8/8/5k2/8/KR1r3q", "w"),
        3,
        "kingpair build KQRvKR --tables /",
    ),
    ("pawns on the board", (*PROBE, "8/8/8/8/8/5k2/P7/K7", "w"), 3, "no table of KPvK"),
    ("the first position", (*PROBE, chess.STARTING_FEN), 3, "at most 6"),
    ("castling", (*PROBE, "4k3/8/8/8/8/8/8/4K2R", "w", "K", "-"), 3, "castling"),
    ("no directory", ("probe", LONGEST, "--tables", "nowhere"), 3, "build KQvKR --tables nowhere"),
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
    ("figures of pawns", ("stats", "KPvK", "--tables", "{tables}"), 3, "no table of KPvK"),
    ("an error for programs", ("estimate", "KRPvKRPP", "--json"), 2, "7 men; at most 6"),
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
def test_bad_input_is_reported_in_one_line(
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


def test_a_full_disk_is_reported(tables: Path) -> None:
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


@pytest.mark.parametrize(
    ("written", "size"),
    [("12GiB", 12 << 30), ("12 gib", 12 << 30), ("1.5G", 1_500_000_000), ("800MB", 800_000_000)],
)
def test_memory_is_written_as_people_do(written: str, size: int) -> None:
    assert Size.parse(written) == size
