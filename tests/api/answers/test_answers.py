"""Facts about what `kingpair` answers: positions, lines, figures, tables."""

import csv
import io
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import chess
import chess.pgn
import pytest
from pyarrow import parquet
from terminal import kingpair, said, told

from kingpair.api import text
from kingpair.api.answers import figures
from kingpair.api.answers import position_text as answers
from kingpair.api.cli.failures import ExitCode
from kingpair.workers.ask.answer import Answer
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.game.chess.fen import parse_fen

LONGEST = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"
"""KQvKR, White wins in 31 moves."""
DRAWN = "8/8/8/8/8/5k2/6Q1/K7 b - - 0 1"
MATED = "8/8/8/8/8/1k6/8/K6r w - - 0 1"
STALEMATED = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
GOLDEN = Path(__file__).parents[2] / "golden" / "histograms_3_4man.csv"


# Probe


def test_a_probe_shows_every_legal_move_best_first(tables: Path) -> None:
    found = told("probe", DRAWN, "--tables", tables)
    assert (found["material"], found["to_move"], found["result"]) == ("KQvK", "black", "draw")
    assert found["options"][0] == {
        "san": "Kxg2",
        "uci": "f3g2",
        "result": "draw",
        "moves": None,
        "dtz": None,
        "precise_dtz": None,
        "category": "draw",
        "mate": False,
        "converts_to": "KvK",
        "fen": "8/8/8/8/8/8/6k1/K7 w - - 0 2",
    }
    assert [o["moves"] for o in found["options"][1:]] == [9, 6]
    assert {o["uci"] for o in found["options"]} == {m.uci() for m in chess.Board(DRAWN).legal_moves}


def test_a_probe_says_its_result_in_a_sentence(tables: Path) -> None:
    lines = said("probe", LONGEST, "--tables", tables).splitlines()
    assert lines[:2] == [
        LONGEST,
        "KQvKR, White to move: White wins in 31 moves, to mate or conversion.",
    ]
    assert lines[-1] == "  Qd1+  loses in 1 move"


@pytest.mark.parametrize(
    "words",
    [(LONGEST,), tuple(LONGEST.split()), (LONGEST.replace(" ", "_"),), LONGEST.split()[:2]],
    ids=["quoted", "unquoted", "underscores", "two fields"],
)
def test_a_fen_may_be_written_in_these_ways(tables: Path, words: tuple[str, ...]) -> None:
    assert said("probe", *words, "--tables", tables).splitlines()[0] == LONGEST


@pytest.mark.parametrize(
    ("fen", "sentence"),
    [
        (MATED, "White is mated, Black has won."),
        (STALEMATED, "Black is stalemated, a draw."),
        (DRAWN, "draw."),
        ("8/8/8/8/8/3k4/8/K7 w - - 0 1", "KvK, White to move: draw."),
    ],
)
def test_the_end_of_a_game_is_called_by_its_name(tables: Path, fen: str, sentence: str) -> None:
    assert said("probe", fen, "--tables", tables).splitlines()[1].endswith(sentence)


def test_a_forced_conversion_is_called_by_its_name() -> None:
    position = parse_fen("8/8/8/8/B7/kR6/r7/1K6 b - - 0 1")
    words = "Black loses and must convert at once (forced capture)"
    assert answers.verdict(position, Answer(-1, 0)) == words


def test_a_probe_says_which_move_has_no_table(only_queen_against_rook: Path) -> None:
    probe = said("probe", CONVERTS, "--tables", only_queen_against_rook)
    assert re.search(r"Qxe7\+? +unknown +no table of KQvK\n", probe)


@pytest.mark.parametrize(("clock", "rule"), [(0, ""), (40, "; drawn under the 50-move rule")])
def test_a_probe_says_what_the_fifty_move_rule_makes_of_it(
    tables: Path, clock: int, rule: str
) -> None:
    fen = LONGEST.replace("0 1", f"{clock} 1")
    assert said("probe", fen, "--tables", tables).splitlines()[1].endswith(f"conversion{rule}.")
    found = told("probe", fen, "--tables", tables)
    assert found["category"] == ("cursed-win" if rule else "win")


# Line

CONVERTS = "k7/4r3/8/8/8/8/4Q3/K7 w - - 0 1"
"""KQvKR, White takes the rook at once."""


@pytest.fixture(scope="module")
def only_queen_against_rook(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("alone")
    shutil.copy(tables / "KQvKR.dtc.arrow", directory)
    return directory


def test_a_line_goes_on_through_the_smaller_tables_to_mate(tables: Path) -> None:
    line = told("line", LONGEST, "--tables", tables)
    assert [phase["material"] for phase in line["phases"]] == ["KQvKR", "KQvK"]
    assert len(line["phases"][0]["line"]) == 61
    assert line["complete"]
    board = chess.Board(LONGEST)
    for move in (move for phase in line["phases"] for move in phase["line"]):
        board.push_san(move["san"])
    assert board.is_checkmate()


def test_a_line_marks_its_conversions(tables: Path) -> None:
    lines = said("line", CONVERTS, "--tables", tables).splitlines()
    assert lines[3:7] == ["KQvKR", "  1. Qxe7", "", "into KQvK: Black loses in 6 moves"]
    assert lines[-1] == "White needs 7 moves to mate."
    assert max(map(len, lines)) <= 80


def test_a_line_can_be_pgn_alone(tables: Path) -> None:
    pgn = said("line", LONGEST, "--tables", tables, "--pgn")
    game = chess.pgn.read_game(io.StringIO(pgn))
    assert game is not None
    assert not game.errors
    assert game.end().board().is_checkmate()
    assert game.headers["Result"] == "1-0"


def test_there_is_no_best_line_in_a_draw(tables: Path) -> None:
    assert said("line", DRAWN, "--tables", tables).splitlines()[1:] == [
        "KQvK, Black to move: draw."
    ]
    assert said("line", DRAWN, "--tables", tables, "--pgn").splitlines()[-1] == "1/2-1/2"


def test_a_line_ends_where_a_table_is_missing_and_says_which(
    tables: Path, only_queen_against_rook: Path
) -> None:
    result = kingpair("line", LONGEST, "--tables", only_queen_against_rook)
    whole = said("line", LONGEST, "--tables", tables)
    assert result.stdout.rstrip("\n") in whole
    assert "30. " in result.stdout
    assert "no table of KQvK in" in result.stderr
    assert result.exit_code == ExitCode.NO_TABLE
    incomplete = kingpair("line", LONGEST, "--tables", only_queen_against_rook, "--json")
    assert json.loads(incomplete.stdout)["complete"] is False


# Stats


def golden(material: str, counted: str) -> dict[tuple[str, str], dict[str, int]]:
    """Published counts by side to move and result, plies turned into moves."""
    sides = {"wtm": "white", "btm": "black"}
    found: dict[tuple[str, str], Counter[str]] = {}
    for row in csv.DictReader(GOLDEN.read_text().splitlines()):
        if (row["material"], row["metric"]) == (material, "DTC") and row["result"] != "draw":
            moves = (int(row["ply"]) + (row["result"] == "win")) // 2
            key = sides[row["stm"]], row["result"]
            found.setdefault(key, Counter())[str(moves)] += int(row[counted])
    return {key: dict(moves) for key, moves in found.items()}


@pytest.mark.parametrize("material", ["KQvK", "KRvK", "KBBvK", "KQvKR", "KRvKR"])
@pytest.mark.parametrize(
    ("options", "counted"),
    [((), "unlabelled_orbits"), (("--labelled",), "labelled_orbits")],
    ids=["like men as the same", "like men as different"],
)
def test_figures_are_those_published(
    tables: Path, material: str, options: tuple[str, ...], counted: str
) -> None:
    stats = told("stats", material, "--tables", tables, *options)
    published = golden(material, counted)
    assert published
    assert {key: stats[key[0]][key[1]] for key in published} == published


def test_figures_have_this_shape(tables: Path) -> None:
    stats = told("stats", "KQvKR", "--tables", tables)
    assert list(stats) == ["material", "metric", "white", "black", "longest"]
    assert (stats["material"], stats["metric"]) == ("KQvKR", "dtc")
    for side in ("white", "black"):
        assert list(stats[side]) == ["win", "loss", "draw", "illegal"]
        assert [int(n) for n in stats[side]["loss"]] == list(range(len(stats[side]["loss"])))
    assert stats["longest"]["white"]["win"] == {"moves": 31, "fen": LONGEST}


def test_colours_do_not_matter_in_a_name(tables: Path) -> None:
    assert said("stats", "KRvKQ", "--tables", tables) == said("stats", "KQvKR", "--tables", tables)


def test_figures_for_people_are_aligned_and_fit(tables: Path) -> None:
    lines = said("stats", "KQvKR", "--tables", tables).splitlines()
    assert max(map(len, lines)) <= 80
    assert "won          1,108,111  99.0 %        386,313  28.7 %" in lines
    assert f"White wins in at most   31 moves  {LONGEST}" in lines
    assert "Black wins in at most    3 moves  8/8/8/8/8/1r6/6Q1/k1K5 b - - 0 1" in lines


def test_labelled_legal_and_illegal_add_up_to_all_placements(tables: Path) -> None:
    distinct, labelled = (
        told("stats", "KBBvK", "--tables", tables, *options) for options in ((), ("--labelled",))
    )
    placements = {
        side: figures.legal(labelled[side]) + labelled[side]["illegal"]
        for side in ("white", "black")
    }
    assert placements["white"] == placements["black"]
    twice = 2 * (figures.legal(distinct["white"]) + distinct["white"]["illegal"])
    assert 0 < twice - placements["white"] < 0.01 * twice


def test_parquet_has_a_row_for_each_figure(tables: Path, tmp_path: Path) -> None:
    path = tmp_path / "KQvKR.parquet"
    stats = told("stats", "KQvKR", "--tables", tables, "--parquet", path)
    rows = parquet.read_table(path).to_pylist()
    assert list(rows[0]) == ["material", "metric", "to_move", "result", "moves", "positions"]
    wins = {
        str(row["moves"]): row["positions"]
        for row in rows
        if (row["to_move"], row["result"]) == ("white", "win")
    }
    assert wins == stats["white"]["win"]
    drawn = [row for row in rows if row["result"] == "draw"]
    assert [(row["moves"], row["positions"]) for row in drawn] == [
        (None, stats["white"]["draw"]),
        (None, stats["black"]["draw"]),
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["KQvKR.parquet"]


# Tables


def test_tables_are_listed(tables: Path) -> None:
    listed = {table["material"]: table for table in told("tables", "--tables", tables)}
    assert len(listed) == len(list(tables.glob("*.arrow")))
    queen = listed["KQvKR"]
    assert (queen["men"], queen["type"], queen["longest_win"]) == (4, "int8", 31)
    assert queen["bytes"] == (tables / "KQvKR.dtc.arrow").stat().st_size
    lines = said("tables", "--tables", tables, "--verify").splitlines()
    assert lines[-1].endswith("every byte agrees with its digest")


def test_an_empty_directory_has_no_tables(tmp_path: Path) -> None:
    assert told("tables", "--tables", tmp_path) == []
    assert said("tables", "--tables", tmp_path).startswith("no tables yet; kingpair build")
    assert f"--tables {tmp_path} makes" in said("tables", "--tables", tmp_path)


def test_verifying_finds_a_flipped_bit_and_names_it(tables: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(tables / "KQvKR.dtc.arrow", tmp_path))
    spoilt = bytearray(path.read_bytes())
    spoilt[len(spoilt) // 2] ^= 1
    path.write_bytes(spoilt)
    assert kingpair("tables", "--tables", tmp_path).exit_code == 0
    result = kingpair("tables", "--tables", tmp_path, "--verify")
    assert result.exit_code == ExitCode.DAMAGED
    assert re.fullmatch(r"kingpair: .*KQvKR.*: block \d+ of column \w+ is .*\n", result.stderr)
    assert "unusable" in result.stdout


def test_files_of_other_names_are_left_alone(tables: Path, tmp_path: Path) -> None:
    shutil.copy(tables / "KQvK.dtc.arrow", tmp_path)
    for name in ("notes.txt", "backup.dtc.arrow", ".KRvK.dtc.arrow.partial"):
        (tmp_path / name).write_text("somebody's own")
    assert [table["material"] for table in told("tables", "--tables", tmp_path)] == ["KQvK"]
    with open_tablebase(tmp_path) as tablebase:
        assert tablebase.probe(DRAWN).wdl == 0


# Words


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [(0, 9, "0.0 %"), (9, 9, "100 %"), (1, 10**6, "< 0.1 %"), (10**6 - 1, 10**6, "99.9 %")],
)
def test_a_share_is_never_rounded_to_none_or_all(part: int, whole: int, shown: str) -> None:
    assert text.percent(part, whole) == shown


def test_one_is_not_many() -> None:
    assert [text.count(n, "pass") for n in (0, 1, 2000)] == ["0 passes", "1 pass", "2,000 passes"]
