"""Facts about answers from tables that count plies to zeroing: they know the 50-move rule."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from building import built
from terminal import kingpair, said, told

from kingpair.api.answers import lichess
from kingpair.api.answers.best_moves import BestMoves
from kingpair.api.answers.fifty import LaterPhases
from kingpair.api.answers.studies import report_text
from kingpair.workers.ask.play import best_line, rated_moves
from kingpair.workers.ask.position_report import report_position
from kingpair.workers.ask.probe import Tablebase, open_tablebase
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study.report import report_of

LONGEST = "8/8/8/8/Q7/5k2/8/K3r3 w - - {} 50"
"""KQvKR, White wins in 61 plies."""
KQVKR = Material.parse("KQvKR")
ZEROING = "--metric", "dtz"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """KQvKR and what it rests on, to zeroing alone."""
    out = tmp_path_factory.mktemp("zeroing")
    built(out, "KQvKR", metrics=(Metric.DTZ,))
    return out


@pytest.fixture(scope="module")
def tablebase(directory: Path) -> Iterator[Tablebase]:
    with open_tablebase(directory) as found:
        yield found


@pytest.mark.parametrize(
    ("clock", "category"), [(0, "win"), (39, "win"), (40, "cursed-win"), (100, "cursed-win")]
)
def test_a_win_counts_if_its_plies_and_the_clock_are_at_most_a_hundred(
    tablebase: Tablebase, clock: int, category: str
) -> None:
    found = report_position(tablebase, parse_fen(LONGEST.format(clock)))
    answer = lichess.standard(found, LaterPhases(tablebase).of)
    assert (answer["category"], answer["dtz"], answer["precise_dtz"]) == (category, 61, 61)
    assert all(not move["category"].startswith("maybe") for move in answer["moves"])


def test_every_move_and_the_line_agree_with_the_value(tablebase: Tablebase) -> None:
    start = parse_fen(LONGEST.format(0))
    before = None
    for step in best_line(tablebase, start, Metric.DTZ):
        rated = rated_moves(tablebase, step.position, Metric.DTZ)
        assert rated[0].answer == step.answer
        if before is not None and not before.option.zeroing:
            assert step.answer.moves == before.answer.moves - 1
        before = step
    assert before is not None
    assert before.option.mate


def test_the_mainline_of_the_service_has_exact_plies(tablebase: Tablebase) -> None:
    best = BestMoves(tablebase)
    place = parse_fen(LONGEST.format(0))
    found = lichess.mainline(tablebase, best, place, LaterPhases(tablebase).of)
    assert (found["dtz"], found["precise_dtz"], found["winner"]) == (61, 61, "w")
    assert all(step["dtz"] == step["precise_dtz"] for step in found["mainline"])


def test_a_probe_says_plies_and_what_the_rule_makes_of_them(directory: Path) -> None:
    lines = said("probe", LONGEST.format(40), *ZEROING, "--tables", directory).splitlines()
    assert lines[1] == (
        "KQvKR, White to move: White wins in 61 plies, to mate, a capture or a pawn move; "
        "drawn under the 50-move rule."
    )
    assert told("probe", LONGEST.format(40), *ZEROING, "--tables", directory)["moves"] == 61


def test_a_probe_names_the_moves_after_which_the_rule_draws(directory: Path) -> None:
    late = "1k6/8/1K6/8/8/8/7r/3Q4 w - - 80 90"
    asked = told("probe", late, *ZEROING, "--tables", directory)
    spoilt = {each["san"] for each in asked["options"] if each["category"] == "cursed-win"}
    lines = said("probe", late, *ZEROING, "--tables", directory).splitlines()
    noted = {line.split()[0] for line in lines[3:] if "drawn under the 50-move rule" in line}
    assert asked["category"] == "win"
    assert noted == spoilt != set()


def test_counts_name_five_results(directory: Path) -> None:
    lines = said("stats", "KQvKR", *ZEROING, "--tables", directory).splitlines()
    words = ["won", "cursed wins", "drawn", "blessed losses", "lost", "legal", "illegal"]
    assert [line.split("  ")[0] for line in lines[3:10]] == words
    assert any(line.startswith("plies") for line in lines)


def test_a_report_counts_the_wins_that_the_rule_draws(tablebase: Tablebase) -> None:
    with Threads(1) as threads:
        found = report_of(tablebase.table(KQVKR, Metric.DTZ), threads, 1)
    assert not any("cursed" in line for line in report_text(found))
    white = {**found.counts["white"], "win": {**found.counts["white"]["win"], "103": 7}}
    longer = found._replace(counts={**found.counts, "white": white})
    (line,) = (line for line in report_text(longer) if "cursed" in line)
    assert line.split()[:4] == ["of", "these", "cursed", "7"]
    assert line.split().count("0") == 1  # with Black to move


def test_cursed_wins_are_asked_of_a_table_that_knows_them(directory: Path) -> None:
    sample = "sample", "KQvKR", "--cursed", "--tables", directory
    none = kingpair(*sample, *ZEROING)  # none among four men without pawns
    assert "KQvKR has 0 such positions" in none.stderr
    refused = kingpair(*sample, "--metric", "dtc")
    assert refused.exit_code != 0
    assert "add --metric dtz" in " ".join(refused.stderr.split())
