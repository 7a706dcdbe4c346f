"""Facts about the line that the 50-move rule draws through the distances of a table."""

import pytest

from kingpair.api.answers.figures import by_moves, phase_limit
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric


@pytest.mark.parametrize(
    ("material", "metric", "limit"),
    [
        ("KBBvKN", Metric.DTC, 50),
        ("KBBvKN", Metric.DTZ, 100),
        ("KRPvKR", Metric.DTZ, 100),
        ("KRPvKR", Metric.DTC, None),  # a pawn may move before the phase ends
        ("KBBvKN", Metric.DTM, None),
        ("xiangqi:KRvKAA", Metric.DTC, None),  # no rule counts plies
    ],
)
def test_distances_are_limited_where_they_are_those_of_a_phase(
    material: str, metric: Metric, limit: int | None
) -> None:
    assert phase_limit(Material.parse(material), metric) == limit


def test_a_line_divides_what_the_rule_lets_count_from_what_it_draws() -> None:
    none: dict[str, int] = {}
    counts = {
        "white": {"win": {"49": 5, "50": 4, "52": 3}, "loss": none},
        "black": {"win": none, "loss": {"50": 2}},
    }
    first = [row[0] for row in by_moves(counts, Metric.DTC, 50)]
    assert first == ["moves", "49", "50", "-----", "52"]
    assert "-----" not in [row[0] for row in by_moves(counts, Metric.DTM, None)]
