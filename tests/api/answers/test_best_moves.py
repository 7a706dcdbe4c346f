"""Facts about the best moves that a server remembers: they are those of `best_line`."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from boards import scattered

from kingpair.api.answers.best_moves import BestMoves
from kingpair.workers.ask.play import best_line
from kingpair.workers.ask.probe import Tablebase, open_tablebase
from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.metric import Metric

NAMES = ("KQvK", "KQvKR", "KRvKN", "KBNvK", "KRvKR", "KNvKN")
LONGEST = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"


@pytest.fixture(scope="module")
def tablebase(tables: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables) as opened:
        yield opened


@pytest.mark.parametrize("name", NAMES)
def test_a_remembered_line_is_the_best_line(tablebase: Tablebase, name: str) -> None:
    best, chance = BestMoves(tablebase), random.Random(name)
    for _ in range(15):
        position = parse_fen(scattered(name, chance).fen())
        wanted = list(best_line(tablebase, position, Metric.DTC))
        for _ in ("new", "known"):
            assert list(best.line(position, Metric.DTC)) == wanted


def test_the_clock_of_a_remembered_position_is_its_own(tablebase: Tablebase) -> None:
    best = BestMoves(tablebase)
    for clock in (0, 30):
        (first, *_) = best.line(parse_fen(LONGEST.replace("0 1", f"{clock} 1")), Metric.DTC)
        assert first.position.half_moves == clock


def test_no_more_is_kept_than_was_said(tablebase: Tablebase) -> None:
    best = BestMoves(tablebase, kept=5)
    wanted = list(best_line(tablebase, parse_fen(LONGEST), Metric.DTC))
    assert list(best.line(parse_fen(LONGEST), Metric.DTC)) == wanted
    assert len(best._kept) == 5


def test_a_missing_table_is_named(tables: Path, tmp_path: Path) -> None:
    (tmp_path / "KQvKR.dtc.arrow").symlink_to(tables / "KQvKR.dtc.arrow")
    with (
        open_tablebase(tmp_path) as alone,
        pytest.raises(MissingTableError, match="no table of KQvK"),
    ):
        list(BestMoves(alone).line(parse_fen(LONGEST), Metric.DTC))
