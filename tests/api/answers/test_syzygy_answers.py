"""Facts about answers by Syzygy files, from the command and from the service."""

import json
from pathlib import Path

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
