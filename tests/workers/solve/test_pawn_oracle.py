"""The oracle for pawns against published counts, and against moves by python-chess."""

import csv
from collections import defaultdict
from functools import cache
from pathlib import Path

import chess
import numpy as np
import pytest
from en_passant import POSITIONS
from pawn_boards import BLACK, NONE, WHITE, Endgame
from pawn_moves import METRICS, SPOILT
from pawn_oracle import Solution, find, solve, value

GOLDEN = Path(__file__).parents[2] / "golden"
Counts = dict[int, int]
SLOW = pytest.mark.slow


def rows(file: str) -> list[dict[str, str]]:
    with (GOLDEN / file).open(newline="") as lines:
        return list(csv.DictReader(lines))


@cache
def published() -> dict[tuple[str, str], tuple[Counts, Counts]]:
    """Positions per value, by endgame and metric, for White and for Black to move."""
    found: dict[tuple[str, str], tuple[Counts, Counts]] = defaultdict(lambda: ({}, {}))
    for row in rows("histograms_pawns.csv"):
        counts = found[row["material"], row["metric"].lower()][row["stm"] == "btm"]
        counts[coded(row)] = int(row["unlabelled_orbits"])
    return found


def coded(row: dict[str, str]) -> int:
    if row["result"] == "draw":
        return 0
    return int(row["ply"]) if row["result"] == "win" else -int(row["ply"]) - 1


def marked(names: list[str]) -> list[object]:
    """Four men take a minute or two."""
    return [pytest.param(name, marks=[] if len(name) == 4 else [SLOW]) for name in names]


ENDGAMES = ["KPvK", "KPvKP", "KQvKP", "KRvKP", "KBvKP", "KNvKP", "KRPvK"]


@pytest.fixture(scope="module", params=marked(ENDGAMES))
def solution(request: pytest.FixtureRequest) -> Solution:
    return solve(request.param)


def name(solution: Solution) -> str:
    return f"{solution.endgame.white}v{solution.endgame.black}"


def counted(solution: Solution, metric: str, to_move: int) -> Counts:
    values, counts = np.unique(solution.plain(metric, to_move), return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


# Published counts


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("endgame", marked(["KPvK", "KQvKP", "KRPvK"]))
def test_positions_per_ply_are_those_published(endgame: str, metric: str) -> None:
    expected = published().get((endgame, metric))
    if expected is None:
        assert metric == "dtz"
        assert endgame == "KRPvK"  # not published
        return
    solved = solve(endgame)
    assert tuple(counted(solved, metric, side) for side in (WHITE, BLACK)) == expected


@pytest.mark.parametrize("metric", ["dtc", "dtm"])
def test_the_longest_wins_and_losses_are_those_published(solution: Solution, metric: str) -> None:
    (row,) = (
        row
        for row in rows("extremes_3_4man.csv")
        if (row["material"], row["metric"].lower()) == (name(solution), metric)
    )
    for side, to_move in (("wtm", WHITE), ("btm", BLACK)):
        values = solution.plain(metric, to_move)
        best, worst = int(values.max()), int(values.min())
        assert row[f"{side}_win_ply"] == (str(best) if best > 0 else "")
        assert row[f"{side}_loss_ply"] == (str(-worst - 1) if worst < 0 else "")


def test_mutual_zugzwangs_are_those_published(solution: Solution) -> None:
    board = [squares[: solution.nodes[WHITE].plain] for squares in solution.nodes[WHITE].board]
    men = [
        (letter, squares) for (letter, _), squares in zip(solution.endgame.men, board, strict=True)
    ]
    count = len(solution.endgame.white)
    there = find(men[:count], men[count:], BLACK)
    either = there.nodes != NONE
    white, black = solution.plain("dtm", WHITE)[either], there.values("dtm")[either]
    (row,) = (
        r
        for r in rows("extremes_3_4man.csv")
        if (r["material"], r["metric"]) == (name(solution), "DTM")
    )
    assert int(row["mzug_wtm_draws_btm_loses"]) == np.count_nonzero((white == 0) & (black < 0))
    assert int(row["mzug_wtm_loses_btm_draws"]) == np.count_nonzero((white < 0) & (black == 0))
    assert int(row["mzug_full_point"]) == np.count_nonzero((white < 0) & (black < 0))


def results(endgames: list[str]) -> list[dict[str, str]]:
    return [row for row in rows("syzygy_positions.csv") if row["material"] in endgames]


@pytest.mark.parametrize("endgame", marked(["KPvK", "KPvKP", "KQvKP", "KRvKP"]))
def test_results_and_distances_are_those_of_the_syzygy_tables(endgame: str) -> None:
    found = results([endgame])
    assert len(found) >= 60
    for row in found:
        dtz = value(row["fen"], "dtz")
        assert wdl(dtz) == int(row["wdl"]), row["fen"]
        if dtz:  # theirs can be a ply less
            plies = dtz if dtz > 0 else -dtz - 1
            assert abs(int(row["dtz"])) in (plies, plies - 1) or plies in (0, SPOILT + 1), row


def wdl(dtz: int) -> int:
    if dtz > 0:
        return 1 if dtz > SPOILT else 2
    if dtz < 0:
        return -1 if -dtz - 1 > SPOILT else -2
    return 0


# Rules


@pytest.mark.parametrize("metric", METRICS)
def test_every_value_follows_from_the_moves_that_the_rules_allow(
    solution: Solution, metric: str
) -> None:
    dice = np.random.default_rng(1986)
    for to_move in (WHITE, BLACK):
        nodes = solution.nodes[to_move]
        anywhere = dice.integers(0, len(nodes.en_passant), 150).tolist()
        with_rights = dice.permutation(np.arange(nodes.plain, len(nodes.en_passant)))[:150].tolist()
        for node in anywhere + with_rights:
            fen = solution.fen(to_move, node)
            expected = by_the_rules(fen, metric)
            assert int(solution.values[metric][to_move][node]) == expected, fen
            assert value(fen, metric) == expected


def by_the_rules(fen: str, metric: str) -> int:
    """The value of a position from those that its moves lead to, moves by python-chess."""
    board = chess.Board(fen)
    values = [after(board, move, metric) for move in board.legal_moves]
    wins = [v for v in values if v > 0]
    if wins:
        return min(wins)
    if not values:
        return -1 if board.is_check() else 0
    return 0 if 0 in values else min(values)


def after(board: chess.Board, move: chess.Move, metric: str) -> int:
    """Returns the value of a move for its player."""
    is_pawn = board.piece_type_at(move.from_square) == chess.PAWN
    converts = board.is_capture(move) or move.promotion is not None
    played = board.copy()
    played.push(move)
    found = value(played.fen(en_passant="fen"), metric)
    plies = found if found > 0 else -found - 1
    if metric == "dtc" and converts:
        plies = 0
    if metric == "dtz" and (converts or is_pawn):
        plies = SPOILT if plies > SPOILT else 0
    return 0 if found == 0 else -plies - 2 if found > 0 else plies + 1


# Single positions


def test_a_value_is_the_same_from_either_side_of_the_board() -> None:
    for fen in ("8/8/8/8/4k3/8/4P3/4K3 w - - 0 1", "8/1P6/8/8/8/2k5/8/4K3 b - - 0 1"):
        board = chess.Board(fen)
        mirrored = board.mirror().fen()
        sideways = board.transform(chess.flip_horizontal).fen()
        for metric in METRICS:
            assert value(fen, metric) == value(mirrored, metric) == value(sideways, metric)


def test_a_right_that_cannot_be_used_is_none() -> None:
    with_right, without = "8/8/8/8/4P3/8/8/K1k5 b - e3 0 1", "8/8/8/8/4P3/8/8/K1k5 b - - 0 1"
    assert value(with_right, "dtm") == value(without, "dtm")


@pytest.mark.parametrize("fen", ["8/8/8/8/8/8/8/Kk6 w - - 0 1", "8/8/8/8/8/8/1P6/K1k5 w - - 0 1"])
def test_an_unlawful_position_has_no_value(fen: str) -> None:
    if "P" in fen:  # Black is not in check: the position is lawful
        assert value(fen, "dtc") == by_the_rules(fen, "dtc")
        return
    with pytest.raises(ValueError, match="no lawful position"):
        value(fen, "dtc")


@pytest.mark.parametrize("name", ["", "QvK", "KQK", "kqvk", "KPvKP "])
def test_a_name_that_is_no_endgame_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no endgame"):
        Endgame.parse(name)


# Capturing en passant, with python-chess as judge


@pytest.mark.parametrize("fen", POSITIONS)
def test_the_judge_says_what_capturing_en_passant_does(fen: str) -> None:
    board, without = chess.Board(fen), chess.Board(fen)
    without.ep_square = None
    captures = [m.uci() for m in board.legal_moves if board.is_en_passant(m)]
    others = list(without.legal_moves)
    end = "" if others else "mate" if without.is_check() else "stalemate"
    assert board.ep_square is not None
    assert board.is_valid() or board.status() == chess.STATUS_INVALID_EP_SQUARE
    assert (end, len(captures)) == POSITIONS[fen]
