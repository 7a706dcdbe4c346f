"""Positions of Chinese chess are reported and played to the end: a side without a move has lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from building import build_unverified

from kingpair.workers.ask.answer import Answer
from kingpair.workers.ask.play import best_line, rated_moves, rated_moves_of
from kingpair.workers.ask.position_report import report_position
from kingpair.workers.ask.probe import Tablebase, open_tablebase
from kingpair.workers.errors import BadPosition
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.notation import san
from kingpair.workers.game.rules import is_checkmate, is_stalemate, legal_moves, parse_fen

STALEMATE = "5k3/9/5P3/9/9/9/9/4K4/9/9 b"
BEFORE_STALEMATE = "5k3/9/9/5P3/9/9/9/4K4/9/9 w"


@pytest.fixture(scope="module")
def tablebase(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tablebase]:
    directory: Path = tmp_path_factory.mktemp("xiangqi")
    build_unverified(directory, "xiangqi:KPvKA")
    with open_tablebase(directory) as found:
        yield found


def test_a_stalemate_loses_in_every_answer(tablebase: Tablebase) -> None:
    position = parse_fen(STALEMATE)
    assert not legal_moves(position)
    assert is_checkmate(position)
    assert not is_stalemate(position)
    here, replies = report_position(tablebase, position)
    assert here.mate
    assert not here.stalemate
    assert not replies
    assert here.answer == tablebase.probe(position) == Answer(-1, 0)


def test_a_move_that_stalemates_wins_and_is_marked_as_mate(tablebase: Tablebase) -> None:
    position = parse_fen(BEFORE_STALEMATE)
    best = rated_moves(tablebase, position)[0]
    assert best.mate
    assert best.answer == Answer(1, 1)
    assert san(position, best.move).endswith("#")
    assert rated_moves_of(report_position(tablebase, position), Metric.DTC)[0] == best


def test_a_line_goes_on_until_a_side_has_no_move(tablebase: Tablebase) -> None:
    position = parse_fen("4k4/9/9/9/P8/9/9/9/9/3K5 w")
    line = list(best_line(tablebase, position))
    assert len(line) == 2 * line[0].answer.moves - 1
    assert line[-1].option.mate


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("4k4/9/9/9/4B4/9/9/9/9/3K5 w", "elephant 'B' on e6, where it never stands"),
        ("4k4/9/9/9/9/9/9/9/A8/3K5 w", "advisor 'A' on a2, where it never stands"),
        ("4k4/9/9/9/9/9/9/9/9/K8 w", "king 'K' on a1, where it never stands"),
        ("4k4/9/9/9/9/9/9/9/4P4/3K5 w", "pawn 'P' on e2, where it never stands"),
        ("4k4/9/9/9/9/9/9/9/9/4K4 w", "the kings see each other on an open file"),
        ("4k4/4R4/9/9/9/9/9/9/9/3K5 w", "Black is in check but not to move"),
        ("4k4/9/9/9/9/9/9/9/9/9 w", "each side needs exactly one king; 'K' stands 0 times"),
        ("4k4/9/9/9/9/9/9/9/9/3KX4 w", "unknown letter 'X' on rank 1"),
        ("4k4/9/9/9/9/9/9/9/9/3K4 w", "rank 1 needs 9 files"),
        ("4k4/9/9/9/9/9/9/9/9/3K5 x", "turn 'x' in FEN"),
        ("4k4/9/9/9/PPP6/PPP6/9/9/9/3K5 w", "too many men: 6 'P'; at most 5"),
    ],
)
def test_an_impossible_position_is_refused_in_one_line(
    tablebase: Tablebase, fen: str, reason: str
) -> None:
    for ask in (tablebase.probe, parse_fen, lambda text: tablebase.probe_batch([text])):
        with pytest.raises(BadPosition, match=reason) as found:
            ask(fen)
        assert "\n" not in str(found.value)
