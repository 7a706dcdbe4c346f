"""Facts about the commands that study an endgame: what they print, and what they refuse."""

import json
from pathlib import Path

import chess
import pytest
from pyarrow import parquet
from terminal import kingpair, said

from kingpair.api.cli.failures import ExitCode

LONGEST = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"


def asked(tables: Path, *words: object) -> str:
    return said(*words, "--tables", tables)


def refused(code: ExitCode, *words: object) -> str:
    """The one line on stderr."""
    done = kingpair(*words)
    assert (done.exit_code, done.stdout) == (code, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


# What they print


def test_zugzwangs_are_counted_by_kind_and_listed(tables: Path) -> None:
    lines = asked(tables, "zugzwangs", "KRvKN", "--list", "2").splitlines()
    assert lines[0] == "KRvKN: 18 mutual zugzwangs; White has KR, Black KN"
    assert lines[2].split(maxsplit=2) == ["=/1-0", "18", "White to move draws, Black to move loses"]
    assert lines[6] == "=/1-0, the first 2 of them"
    assert len(lines[7:]) == 2
    assert all("Black to move loses in" in line for line in lines[7:])


def test_zugzwangs_are_listed_whole_as_json(tables: Path) -> None:
    words = ("zugzwangs", "KRvKN", "--kind", "=/1-0", "--all", "--json")
    found = json.loads(asked(tables, *words))["zugzwangs"]
    assert list(found) == ["=/1-0"]
    assert found["=/1-0"]["positions"] == len(found["=/1-0"]["listed"]) == 18
    for each in found["=/1-0"]["listed"]:
        assert chess.Board(each["fen"]).turn == chess.WHITE
        assert each["white"] == {"result": "draw", "moves": None}
        assert each["black"]["result"] == "loss"


def test_the_longest_are_said_and_shown(tables: Path) -> None:
    text = asked(tables, "longest", "KQvKR", "--list", "1")
    assert "White to move wins in at most 31 moves, in 2 distinct positions" in text
    assert f"\n  {LONGEST}\n" in text
    found = json.loads(asked(tables, "longest", "KQvKR", "--all", "--json"))["longest"]
    assert [(each["to_move"], each["result"], each["moves"]) for each in found] == [
        ("white", "win", 31),
        ("white", "loss", 2),
        ("black", "win", 3),
        ("black", "loss", 31),
    ]
    assert all(len(each["fens"]) == each["positions"] for each in found)


def test_where_nobody_can_win_that_is_said(tables: Path) -> None:
    assert "Nobody can win." in asked(tables, "longest", "KNvK")
    assert "Nobody can win." in asked(tables, "report", "KNvK")


def test_a_report_has_it_all(tables: Path) -> None:
    text = asked(tables, "report", "KQvKR", "--list", "1")
    rows = [line.split() for line in text.splitlines()]
    assert rows[3][:5] == ["White", "wins", "1,108,111", "99.0", "%"]
    assert f"\n  {LONGEST}\n" in text
    assert "mutual zugzwangs: 0" in text
    assert rows[-1] == ["31", "2", "-", "-", "11"]


def test_a_report_is_there_for_programs(tables: Path) -> None:
    report = json.loads(asked(tables, "report", "KRvKN", "--all", "--json"))
    assert (report["material"], report["metric"]) == ("KRvKN", "dtc")
    for name in ("white", "black"):
        side = report["counts"][name]
        legal = side["draw"] + sum(side["win"].values()) + sum(side["loss"].values())
        assert report["positions"][name]["legal"] == legal
        assert sum(report["positions"][name]["percent"].values()) == pytest.approx(100, abs=0.001)
    assert report["zugzwangs"]["=/1-0"]["positions"] == 18
    assert report["longest"][0]["moves"] == 27


def test_a_sample_is_a_line_each(tables: Path) -> None:
    words = ("sample", "KQvKR", "--wdl", "win", "--depth", "20:", "--n", "20", "--seed", "7")
    lines = asked(tables, *words).splitlines()
    assert len(lines) == 20
    for line in lines:
        fen, worth = line.split("  ")
        assert not chess.Board(fen).was_into_check()
        assert worth.split()[0] == "win"
        assert int(worth.split()[1]) >= 20
    found = [json.loads(line) for line in asked(tables, *words, "--json").splitlines()]
    assert [f"{row['fen']}  {row['result']} {row['moves']}" for row in found] == lines


def test_an_export_says_how_many_rows_it_wrote(tables: Path, tmp_path: Path) -> None:
    path = tmp_path / "KQvKR.parquet"
    words = ("export", "KQvKR", "--parquet", str(path), "--fen", "--wdl", "win", "--depth", "31")
    assert asked(tables, *words) == f"wrote 2 rows to {path}\n"
    (first, _) = parquet.read_table(path).to_pylist()
    assert first["fen"] == LONGEST
    assert (first["to_move"], first["result"], first["moves"]) == ("white", "win", 31)


@pytest.mark.parametrize(
    ("depth", "rows"), [("9", 335), ("9:", 336), ("9:10", 336), (":1", 306), ("9:9", 335)]
)
def test_a_depth_is_a_number_or_a_range(
    tables: Path, tmp_path: Path, depth: str, rows: int
) -> None:
    path = str(tmp_path / "KQvK.parquet")
    words = ("export", "KQvK", "--parquet", path, "--to-move", "white", "--depth", depth, "--json")
    assert json.loads(asked(tables, *words))["rows"] == rows


# What they refuse


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("sample", "KQvKR", "--depth", "deep"), "'deep' is no range of moves"),
        (("sample", "KQvKR", "--depth", ":"), "':' is no range of moves"),
        (("sample", "KQvKR", "--depth", "9:3"), "no depth is from 9 to 3"),
        (("sample", "KQvKR", "--wdl", "draw", "--depth", "3"), "a draw has no depth"),
        (("sample", "KQvKR", "--to-move", "red"), "'red' is none of white, black"),
        (("sample", "KQvKR", "--depth", "31", "--n", "99"), "has 13 such positions, fewer than 99"),
        (("zugzwangs", "KQvKR", "--kind", "1-0"), "'1-0' is none of =/1-0, 0-1/=, 0-1/1-0"),
        (("report", "KQvKX"), "'X' is no man"),
    ],
)
def test_impossible_options_are_refused_in_one_line(
    tables: Path, words: tuple[str, ...], says: str
) -> None:
    assert says in refused(ExitCode.BAD_INPUT, *words, "--tables", tables)


@pytest.mark.parametrize("command", ["report", "longest", "zugzwangs", "sample"])
def test_a_table_that_is_not_there_is_named(tables: Path, command: str) -> None:
    words = (command, "KQQvKQ", "--tables", tables)
    assert "no table of KQQvKQ" in refused(ExitCode.NO_TABLE, *words)
    words = (command, "KQvKR", "--tables", tables)
    assert "no dtm table of KQvKR" in refused(ExitCode.NO_TABLE, *words, "--metric", "dtm")


def test_a_place_without_permission_is_refused(tables: Path) -> None:
    words = ("export", "KQvKR", "--parquet", "/proc/x.parquet", "--tables", tables)
    assert "cannot write /proc/x.parquet" in refused(ExitCode.CANNOT, *words)


def test_a_line_ends_at_a_claim_if_asked(tables: Path) -> None:
    fen = LONGEST.replace("0 1", "90 46")
    found = json.loads(asked(tables, "line", fen, "--until-claim", "--json"))
    assert (found["plies"], found["claimed"]) == (10, True)
    lines = asked(tables, "line", fen, "--until-claim").splitlines()
    assert lines[-1] == "A draw can be claimed here: 50 moves without a capture or a pawn move."
    assert json.loads(asked(tables, "line", fen, "--json"))["plies"] > 60
