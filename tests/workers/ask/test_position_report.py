"""Reports on positions read few pages, and what is in memory changes no answer."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from boards import scattered
from building import BOTH_METRICS, build_unverified

from kingpair.workers.ask.answer import Answer
from kingpair.workers.ask.position_report import report_position
from kingpair.workers.ask.probe import Tablebase, open_tablebase
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.rules import parse_fen

pytestmark = pytest.mark.slow  # tables of all metrics are built

NAMES = ("KQvKR", "KRvKN", "KPvK", "KRvK", "KNvK")
XIANGQI = ("4k4/4a4/9/9/9/9/9/9/3C5/3K5 w", "3k5/9/9/9/9/9/4P4/9/9/4K4 w")
DRAWN = "8/8/8/4k3/8/8/8/K6N w - - 0 1"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tables")
    build_unverified(directory, *NAMES, metrics=tuple(Metric))
    build_unverified(directory, "xiangqi:KCvKA", "xiangqi:KPvK", metrics=BOTH_METRICS)
    return directory


@pytest.fixture(scope="module")
def tablebase(directory: Path) -> Iterator[Tablebase]:
    with open_tablebase(directory) as opened:
        yield opened


def fens() -> list[str]:
    chance = Random(17)
    boards = [scattered(name, chance) for name in NAMES for _ in range(20)]
    return [board.fen() for board in boards if board.is_valid()]


@pytest.mark.parametrize("limit", [0, 256 << 20])
def test_a_value_that_follows_from_the_moves_is_that_of_the_table(
    directory: Path, tablebase: Tablebase, limit: int
) -> None:
    with open_tablebase(directory, cache_bytes=limit) as few_pages:
        for fen in [*fens(), *XIANGQI]:
            position = parse_fen(fen)
            answers = report_position(few_pages, position).here.answers
            metrics = Metric if fen not in XIANGQI else BOTH_METRICS
            for metric in metrics:
                assert answers[metric] == tablebase.probe(position, metric), (fen, metric)


def test_a_draw_is_looked_up_by_one_metric_alone(directory: Path) -> None:
    with open_tablebase(directory) as opened:
        report = report_position(opened, parse_fen(DRAWN))
        assert report.here.answers == dict.fromkeys(Metric, Answer(0, 0))
        assert opened.cache.misses == 1
