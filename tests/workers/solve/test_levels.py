"""Facts about materials with pawns: solved level by level, every count is the one published."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pawn_oracle
import pytest
from levels import Histogram, column, histogram, slots_of, solved
from pawn_tables import written_in_slices
from shared_tables import copied_closure, unproved

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import Side
from kingpair.workers.table.key import TableKey

SLOW = pytest.mark.slow
GOLDEN = Path(__file__).parents[2] / "golden" / "histograms_pawns.csv"


EVERY_METRIC = pytest.mark.parametrize("metric", Metric)


def published(material: str, metric: Metric, side: Side) -> Histogram:
    """Positions by result and plies, or moves: a win takes half its plies, rounded up, a loss
    down.
    """
    found: Histogram = Counter()
    with GOLDEN.open(newline="") as file:
        for row in csv.DictReader(file):
            at = row["material"], row["metric"], row["stm"], row["result"]
            if (
                at[:3] == (material, metric.upper(), ("wtm", "btm")[side])
                and row["result"] != "draw"
            ):
                plies = int(row["ply"])
                moves = (plies + (row["result"] == "win")) // 2
                found[row["result"], plies if metric.counts_plies else moves] += int(
                    row["unlabelled_orbits"]
                )
    return found


@pytest.mark.slow
@EVERY_METRIC
@pytest.mark.parametrize("side", [0, 1], ids=["white", "black"])
@pytest.mark.parametrize(
    "material",
    [
        "KPvK",
        pytest.param("KRPvK", marks=SLOW),
        pytest.param("KQvKP", marks=SLOW),
        pytest.param("KPPvK", marks=SLOW),
    ],
)
def test_positions_per_move_to_conversion_are_those_published(
    material: str, side: Side, metric: Metric
) -> None:
    expected = published(material, metric, side)
    if not expected:
        assert metric is Metric.DTZ  # in another list: test_zeroing.py
        return
    assert histogram(solved(material, metric), side) == expected


@EVERY_METRIC
@pytest.mark.parametrize("side", [0, 1], ids=["white", "black"])
@pytest.mark.parametrize(
    "material", ["KPvK", pytest.param("KPvKP", marks=SLOW), pytest.param("KRvKP", marks=SLOW)]
)
def test_every_value_is_the_oracles(material: str, side: Side, metric: Metric) -> None:
    """With pawns on both sides the right to capture en passant decides many of them."""
    table = solved(material, metric)
    expected = pawn_oracle.solve(material)
    nodes = expected.nodes[side]
    at = slots_of(expected.endgame, [squares[: nodes.plain] for squares in nodes.board])
    plies = expected.plain(metric, side).astype(np.int64)
    won, lost = (plies + 1) // 2, -((-plies - 1) // 2) - 1
    moves = np.where(plies > 0, won, np.where(plies < 0, lost, 0))
    values = plies if metric.counts_plies else moves
    assert np.array_equal(column(table, side)[at], values)


@SLOW
@EVERY_METRIC
def test_a_table_that_is_solved_slice_by_slice_has_the_same_bytes(
    tmp_path: Path, metric: Metric
) -> None:
    """Also where a slice has several below it, and captures en passant lead out of these."""
    key = TableKey(Material.parse("KPvKP"), metric)
    copied_closure(unproved(["KPvKP"], metric), tmp_path, "KPvKP", metric=metric)
    whole = (tmp_path / key.file_name).read_bytes()
    (tmp_path / key.file_name).unlink()
    assert written_in_slices(tmp_path, key, most=84) == whole
