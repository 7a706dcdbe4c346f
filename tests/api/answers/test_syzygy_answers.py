"""Facts about answers by Syzygy files, from the command and from the service."""

import json
import shutil
from pathlib import Path

import chess
import pytest
from services import client_with, got
from syzygy_files import GOLDEN
from terminal import kingpair

from kingpair.api.cli.failures import ExitCode
from kingpair.api.settings import Settings

WINNER = "8/8/8/8/8/2k5/1r6/K7 b - - 0 1"
LOSER = "8/8/3k4/8/8/8/8/K1r5 w - - {} 1"


def test_the_command_answers_by_a_syzygy_file(tmp_path: Path) -> None:
    options = ["--tables", str(tmp_path), "--syzygy", str(GOLDEN)]
    text = kingpair("probe", LOSER.format(0), *options).stdout
    assert "KRvK, White to move: loses, 16 plies or one more to zeroing (Syzygy)." in text
    found = json.loads(kingpair("probe", LOSER.format(0), *options, "--json").stdout)
    assert (found["result"], found["dtz"], found["category"]) == ("loss", -16, "loss")
    assert found["moves"] is None
    assert {move["category"] for move in found["options"]} == {"loss"}


@pytest.mark.parametrize(
    ("clock", "category"), [(0, "loss"), (83, "loss"), (84, "maybe-loss"), (85, "blessed-loss")]
)
def test_the_clock_decides_the_category(tmp_path: Path, clock: int, category: str) -> None:
    with client_with(Settings(tables=tmp_path, syzygy=GOLDEN)) as client:
        found = got(client, "/standard", fen=LOSER.format(clock))
        own = got(client, "/api/v1/probe", fen=LOSER.format(clock))
    assert found["category"] == own["category"] == category
    assert (found["dtz"], found["precise_dtz"]) == (own["dtz"], own["precise_dtz"]) == (-16, None)
    assert (own["result"], own["moves"]) == ("loss", None)
    assert found["dtm"] is found["dtc"] is None


def test_the_best_move_comes_first(tmp_path: Path) -> None:
    with client_with(Settings(tables=tmp_path, syzygy=GOLDEN)) as client:
        own = got(client, "/api/v1/probe", fen=WINNER)
        found = got(client, "/standard", fen=WINNER)
    assert [own["options"][i]["category"] for i in (0, -1)] == ["win", "draw"]
    assert [found["moves"][i]["category"] for i in (0, -1)] == ["loss", "draw"]
    assert own["options"][0]["uci"] == found["moves"][0]["uci"]


@pytest.mark.parametrize("fen", [WINNER, LOSER.format(0), "8/8/8/8/8/1k6/2p5/K7 b - - 0 1"])
def test_the_mainline_by_files_ends_in_mate(tmp_path: Path, fen: str) -> None:
    with client_with(Settings(tables=tmp_path, syzygy=GOLDEN)) as client:
        found = got(client, "/standard/mainline", fen=fen)
        known = got(client, "/standard", fen=fen)
    assert (found["dtz"], found["winner"]) == (known["dtz"], "b")
    board = chess.Board(fen)
    for step in found["mainline"]:
        assert board.push_san(step["san"]).uci() == step["uci"]
    assert board.is_checkmate()


@pytest.mark.parametrize(("clock", "moves"), [(97, 3), (100, 0)])
def test_the_mainline_by_files_ends_where_a_draw_can_be_claimed(
    tmp_path: Path, clock: int, moves: int
) -> None:
    with client_with(Settings(tables=tmp_path, syzygy=GOLDEN)) as client:
        found = got(client, "/standard/mainline", fen=LOSER.format(clock))
    assert (found["winner"], len(found["mainline"])) == (None, moves)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A position needs the files of its captures, too."""
    files, tables = tmp_path / "files", tmp_path / "tables"
    for each in (files, tables):
        each.mkdir()
    shutil.copy(GOLDEN / "KRvKB.rtbw", files)
    fen = "8/8/8/8/8/1k6/2b5/K1R5 w - - 0 1"
    options = ["--tables", str(tables), "--syzygy", str(files)]
    refused = kingpair("probe", fen, *options)
    message = f"no KRvK.rtbw in {files}; fetch it, or build the table"
    assert (refused.exit_code, refused.stderr) == (ExitCode.NO_TABLE, f"kingpair: {message}\n")
    assert kingpair("probe", fen, *options, "--json").stderr == refused.stderr
    with client_with(Settings(tables=tables, syzygy=files)) as client:
        assert got(client, "/api/v1/probe", fen=fen)["missing"] == message


def test_the_command_exports_syzygy_files(tmp_path: Path) -> None:
    tables, out = str(tmp_path / "tables"), tmp_path / "syzygy"
    assert kingpair("build", "KRvK", "--metric", "dtz", "--tables", tables).exit_code == 0
    options = ["--tables", tables, "--syzygy", str(out)]
    assert f"wrote {out}/KRvK.rtbw, " in kingpair("export", "KRvK", *options).stdout
    found = json.loads(kingpair("export", "KRvK", *options, "--json").stdout)
    assert [(each["material"], each["written"]) for each in found] == [("KRvK", False)] * 2
    elsewhere = tmp_path / "made" / "here"
    assert kingpair("export", "KQvK", *options[:2], "--syzygy", str(elsewhere)).exit_code != 0
    assert not elsewhere.parent.exists()
    refused = kingpair("export", "KQvK", *options)
    assert refused.exit_code != 0
    assert "kingpair build KQvK --metric dtz" in refused.stderr
    assert sorted(path.name for path in out.iterdir()) == ["KRvK.rtbw", "KRvK.rtbz"]


def test_an_export_has_one_kind_of_file(tmp_path: Path) -> None:
    assert "use one of them" in kingpair("export", "KRvK").stderr
    for other, option in (("--syzygy", "--fen"), ("--parquet", "--force")):
        refused = kingpair("export", "KRvK", other, str(tmp_path / "out"), option)
        assert refused.exit_code == ExitCode.BAD_INPUT
        assert f"invalid value for {option}: takes " in refused.stderr


def test_the_command_verifies_syzygy_files(tmp_path: Path) -> None:
    tables = str(tmp_path / "tables")
    assert kingpair("build", "KRvK", "--metric", "dtz", "--tables", tables).exit_code == 0
    options = ["--tables", tables, "--syzygy", str(GOLDEN)]
    text = kingpair("verify", "KRvK", *options).stdout
    assert "KRvK.rtbw: sound, 62,664 values compared" in text
    found = json.loads(kingpair("verify", "KRvK", *options, "--json").stdout)
    assert [each["sound"] for each in found] == [True, True]
    short = tmp_path / "KRvK.rtbw"
    short.write_bytes((GOLDEN / short.name).read_bytes()[:100])
    wrong = kingpair("verify", "--tables", tables, "--syzygy", str(tmp_path))
    assert wrong.exit_code == ExitCode.DAMAGED
    assert wrong.stdout.startswith(f"{short}: damaged Syzygy file")
    assert wrong.stdout.count("\n") == 1
    assert wrong.stderr == f"kingpair: wrong Syzygy files in {tmp_path}: 1 of 1\n"
    refused = kingpair("verify", "KQvKR", *options)
    assert refused.exit_code != 0
    assert "no Syzygy files of KQvKR" in refused.stderr


def test_files_whose_tables_are_missing_are_named_and_the_others_verified(tmp_path: Path) -> None:
    tables = str(tmp_path / "tables")
    assert kingpair("build", "KRvK", "--metric", "dtz", "--tables", tables).exit_code == 0
    options = ["KRvK", "KRvKB", "--tables", tables, "--syzygy", str(GOLDEN)]
    verified = kingpair("verify", *options)
    assert verified.exit_code == ExitCode.NO_TABLE
    lines = verified.stdout.splitlines()
    assert [line.split(":")[1].split(",")[0] for line in lines] == [" sound"] * 2 + [
        " not compared"
    ] * 2
    assert lines[2].startswith("KRvKB.rtbw: not compared, no dtz table of KRvKB in ")
    assert verified.stderr.endswith("for tables are missing: 2 of 4\n")
    found = json.loads(kingpair("verify", *options, "--json").stdout)
    assert [each["sound"] for each in found] == [True, True, None, None]
