"""Tables of Chinese chess agree with a solver that shares no code, and with published figures."""

import csv
import os
from itertools import product
from pathlib import Path

import pytest
from building import BOTH_METRICS, build_unverified
from xiangqi_oracle import solve
from xiangqi_tables import histogram, open_xiangqi, values_of_positions

from kingpair.workers import _kernels
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.value import loss_in

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
FLAGSHIPS = ("xiangqi:KCPvKAA", "xiangqi:KCPvKAB", "xiangqi:KCPAvKA", "xiangqi:KCBvKBB")
SMALL = ("xiangqi:KCPvKA", "xiangqi:KCAvKB")


def assert_agrees(directory: Path, white: str, black: str, metric: str) -> None:
    name = f"xiangqi:K{white}vK{black}"
    expected = solve(white, black, metric)
    table = open_xiangqi(directory, f"{name}.{metric}")
    count = 0
    for position, side, value in values_of_positions(table):
        count += 1
        assert expected[position, side] == value, (position, side)
    assert count > 1000


@pytest.mark.slow
def test_a_pawn_against_an_advisor_is_solved_as_the_oracle_solves_it(tmp_path: Path) -> None:
    build_unverified(tmp_path, "xiangqi:KPvKA")
    assert_agrees(tmp_path, "P", "A", "dtc")


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["dtc", "dtm"])
@pytest.mark.parametrize(
    ("white", "black"),
    [
        ("C", "A"),
        ("C", "B"),
        ("N", "A"),
        ("R", "B"),
        ("PA", "A"),
        ("PB", ""),
        ("CA", ""),
        ("P", "P"),
    ],
)
def test_every_position_is_solved_as_the_oracle_solves_it(
    tmp_path: Path, white: str, black: str, metric: str
) -> None:
    build_unverified(tmp_path, f"xiangqi:K{white}vK{black}", metrics=(Metric(metric),))
    assert_agrees(tmp_path, white, black, metric)


def rows(name: str) -> list[dict[str, str]]:
    with (GOLDEN / name).open() as file:
        return list(csv.DictReader(file))


def assert_as_published(directory: Path) -> int:
    """Compares maxima and histograms of the tables there; returns how many were compared."""
    longest = {row["code"]: row for row in rows("xiangqi_wu_beal.csv")}
    depths = rows("xiangqi_histograms.csv")
    compared = 0
    for code, metric in product(longest, BOTH_METRICS):
        if code == "000000-000000":
            continue  # bare kings have no table
        try:
            table = open_xiangqi(directory, f"{code}.{metric}")
        except FileNotFoundError:
            continue
        compared += 1
        won, lost = table.counts["white"]["win"], table.counts["black"]["loss"]
        assert max(map(int, won), default=0) == int(longest[code][f"{metric}_longest_win"])
        assert max(map(int, lost), default=0) == int(longest[code][f"{metric}_longest_loss"])
        assert not table.counts["white"]["loss"]
        wanted = [row for row in depths if (row["code"], row["metric"]) == (code, metric)]
        if wanted:
            white, black = histogram(table)
            assert {
                int(r["moves"]): int(r["wtm_won"]) for r in wanted if int(r["wtm_won"])
            } == white
            assert {
                loss_in(int(r["moves"])): int(r["btm_lost"]) for r in wanted if int(r["btm_lost"])
            } == black
    return compared


def test_small_endgames_have_the_published_maxima_and_histograms(tmp_path: Path) -> None:
    build_unverified(tmp_path, *SMALL, metrics=BOTH_METRICS)
    assert assert_as_published(tmp_path) >= 20


@pytest.mark.slow
def test_more_endgames_have_the_published_maxima_and_histograms(tmp_path: Path) -> None:
    build_unverified(tmp_path, *FLAGSHIPS, metrics=BOTH_METRICS)
    assert assert_as_published(tmp_path) >= 40


@pytest.mark.slow
@pytest.mark.skipif("XIANGQI_TABLES" not in os.environ, reason="no directory of all tables")
def test_all_108_endgames_have_the_published_maxima_and_histograms() -> None:
    assert assert_as_published(Path(os.environ["XIANGQI_TABLES"])) == 2 * 107


@pytest.mark.parametrize("level", _kernels.levels())
def test_every_instruction_set_gives_the_same_bytes(tmp_path: Path, level: str) -> None:
    best = _kernels.level()
    try:
        for each in (level, best):
            _kernels.use_level(each)
            build_unverified(tmp_path / each, "xiangqi:KCPvKA")
    finally:
        _kernels.use_level(best)
    name = "xiangqi.KCPvKA.dtc.arrow"
    assert (tmp_path / level / name).read_bytes() == (tmp_path / best / name).read_bytes()
