"""Facts about play: the best move stands first, and the best line ends in mate when announced."""

import random
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import chess
import pytest
from boards import scattered

from kingpair.workers.ask.answer import Answer, value_of_move
from kingpair.workers.ask.play import (
    LineMove,
    RatedMove,
    best_line,
    rated_moves,
    result_of,
)
from kingpair.workers.ask.probe import Tablebase, open_tablebase
from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.notation import GameResult

NAMES = ("KQvK", "KRvK", "KQvKR", "KRvKR", "KRvKN", "KBBvK", "KBNvK", "KNvKN")
WON = ("KQvK", "KRvK", "KQvKR", "KRvKN", "KBBvK", "KBNvK")
LONGEST = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"


@pytest.fixture(scope="module")
def tablebase(tables: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables) as opened:
        yield opened


def worth(option: RatedMove) -> tuple[int, int]:
    """A number that is larger for better moves: a quick win, a draw, a slow loss."""
    assert option.answer is not None
    return option.answer.wdl, -option.answer.wdl * option.answer.moves


def line(tablebase: Tablebase, board: chess.Board) -> list[LineMove]:
    """The best line; python-chess makes every move of it on `board`."""
    steps = []
    for step in best_line(tablebase, parse_fen(board.fen())):
        assert parse_fen(board.fen()).board == step.position.board
        assert tablebase.probe(board) == step.answer == step.option.answer
        move = chess.Move.from_uci(step.option.uci)
        assert step.option.san == board.san(move)
        assert step.option.conversion == board.is_capture(move)
        board.push(move)
        steps.append(step)
    return steps


# Moves


@pytest.mark.parametrize("name", NAMES)
def test_rated_moves_are_the_legal_moves_best_first(tablebase: Tablebase, name: str) -> None:
    chance = random.Random(name)
    for _ in range(25):
        board = scattered(name, chance)
        found = rated_moves(tablebase, parse_fen(board.fen()))
        assert sorted(o.uci for o in found) == sorted(move.uci() for move in board.legal_moves)
        assert [worth(o) for o in found] == sorted(map(worth, found), reverse=True)
        if found:
            assert found[0].answer == tablebase.probe(board)


@pytest.mark.parametrize("name", NAMES)
def test_a_rated_move_has_notation_value_capture_and_mate(tablebase: Tablebase, name: str) -> None:
    board = scattered(name, random.Random(name))
    for option in rated_moves(tablebase, parse_fen(board.fen())):
        move = chess.Move.from_uci(option.uci)
        assert (option.san, option.conversion) == (board.san(move), board.is_capture(move))
        board.push(move)
        assert option.mate == board.is_checkmate()
        assert option.after == tablebase.probe(board)
        assert option.answer == value_of_move(option.after, option.conversion)
        board.pop()


@pytest.mark.parametrize("name", NAMES)
def test_equal_moves_have_a_fixed_order(tablebase: Tablebase, name: str) -> None:
    chance = random.Random(name)
    for _ in range(25):
        found = rated_moves(tablebase, parse_fen(scattered(name, chance).fen()))
        for first, second in pairwise(found):
            assert first.answer is not None
            assert first.after is not None
            assert second.after is not None
            if first.answer != second.answer:
                continue
            # Mate first, then the shorter win (the longer loss) in the phase after, then a to h.
            sign = first.answer.wdl
            assert (not first.mate, sign * first.after.moves, first.uci) < (
                not second.mate,
                sign * second.after.moves,
                second.uci,
            )


def test_mate_comes_before_a_capture_that_wins_as_quickly(tablebase: Tablebase) -> None:
    found = rated_moves(tablebase, parse_fen("7k/8/7K/r6Q/8/8/8/8 w - - 0 1"))
    assert [option.san for option in found[:2]] == ["Qe8#", "Qxa5"]
    assert [option.answer for option in found[:2]] == [Answer(1, 1)] * 2


def test_moves_without_a_table_come_last(tables: Path, tmp_path: Path) -> None:
    shutil.copy(tables / "KQvKR.dtc.arrow", tmp_path)
    with open_tablebase(tmp_path) as alone:
        found = rated_moves(alone, parse_fen("8/8/8/4k3/8/1r6/Q7/K7 w - - 0 1"))
    unknown = [option for option in found if option.answer is None]
    assert [option.uci for option in unknown] == ["a2b3"]
    assert found[-1:] == unknown
    assert unknown[0].after is None


@pytest.mark.parametrize(
    ("after", "capture", "value"),
    [
        (Answer(-1, 4), False, Answer(1, 5)),
        (Answer(-1, 0), False, Answer(1, 1)),
        (Answer(-1, 4), True, Answer(1, 1)),
        (Answer(1, 4), False, Answer(-1, 4)),
        (Answer(1, 4), True, Answer(-1, 0)),
        (Answer(0, 0), True, Answer(0, 0)),
    ],
)
def test_the_value_of_a_move_follows_from_the_position_after_it(
    after: Answer, capture: bool, value: Answer
) -> None:
    assert value_of_move(after, capture) == value


# Lines


def until_conversion(steps: list[LineMove], winner: chess.Color) -> int:
    """The winner's moves before the phase ends, a capture of his own included."""
    made = 0
    for step in steps:
        his = (step.position.turn.value == "w") == winner
        made += his
        if step.option.conversion:
            break
    return made


@pytest.mark.parametrize("name", WON)
def test_the_best_line_ends_in_mate_as_announced(tablebase: Tablebase, name: str) -> None:
    chance, seen = random.Random(name), 0
    while seen < 6:
        board = scattered(name, chance)
        answer = tablebase.probe(board)
        if answer.wdl == 0:
            continue
        seen += 1
        winner = board.turn == (answer.wdl > 0)
        steps = line(tablebase, board)
        assert board.is_checkmate()
        assert board.turn != winner
        assert until_conversion(steps, winner) == answer.moves
        # Every phase is as long as it was announced where it began.
        for at, step in enumerate(steps):
            if step.option.conversion and steps[at + 1 :]:
                begun = steps[at + 1]
                assert until_conversion(steps[at + 1 :], winner) == begun.answer.moves


def test_the_longest_line_is_as_long_as_its_value(tablebase: Tablebase) -> None:
    board = chess.Board(LONGEST)
    assert until_conversion(line(tablebase, board), chess.WHITE) == 31
    assert board.is_checkmate()


def test_a_draw_has_no_line(tablebase: Tablebase) -> None:
    assert line(tablebase, chess.Board("4k3/8/8/8/8/8/8/4KN2 w - - 0 1")) == []


def test_mate_has_no_line(tablebase: Tablebase) -> None:
    assert line(tablebase, chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")) == []


def test_a_line_names_the_missing_table(tables: Path, tmp_path: Path) -> None:
    shutil.copy(tables / "KQvKR.dtc.arrow", tmp_path)
    board = chess.Board(LONGEST)
    with (
        open_tablebase(tmp_path) as alone,
        pytest.raises(MissingTableError, match=r"^no table of K[QR]vK in .*kingpair build"),
    ):
        line(alone, board)
    assert board.fullmove_number >= 30


@pytest.mark.parametrize(
    ("fen", "result"),
    [
        (LONGEST, GameResult.WHITE_WINS),
        ("k3R3/8/5K2/q7/8/8/8/8 b - - 0 1", GameResult.BLACK_WINS),
        ("4k3/8/8/8/8/8/8/4KN2 w - - 0 1", GameResult.DRAW),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", GameResult.WHITE_WINS),
    ],
)
def test_the_result_of_a_game_is_that_of_best_play(
    tablebase: Tablebase, fen: str, result: GameResult
) -> None:
    assert result_of(parse_fen(fen), tablebase.probe(fen)) is result
