"""The page of misprints names every printed distance that is wrong, and its lines are sound."""

import re
from pathlib import Path

import pytest
from building import build_unverified
from misprints import PAGE, misprints, section, sections

from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.notation import san
from kingpair.workers.game.rules import is_checkmate, legal_moves, parse_fen, play

SECTIONS = dict(sections(PAGE.read_text()))
SMALL = ("000001-010000", "000001-200000", "100001-010000")


def test_every_wrong_number_has_a_section() -> None:
    assert list(SECTIONS) == list(misprints())
    assert len(SECTIONS) == 23


@pytest.mark.parametrize("code", SECTIONS)
def test_a_line_is_played_by_the_rules_and_is_as_long_as_said(code: str) -> None:
    text = SECTIONS[code]
    said = re.search(r"(wins|loses) in (\d+): `(.*)`", text)
    assert said is not None
    line = text.split("```")[1].removeprefix("text").split()
    moves = [word for word in line if not word.endswith(".")]
    assert len(moves) == 2 * int(said[2]) - (said[1] == "wins")
    position = parse_fen(said[3])
    for move in moves:
        by_name = {san(position, each): each for each in legal_moves(position)}
        position = play(position, by_name[move])
    assert is_checkmate(position)


def test_small_endgames_give_the_same_sections_again(tmp_path: Path) -> None:
    build_unverified(tmp_path, *SMALL, metrics=(Metric.DTM,))
    with open_tablebase(tmp_path) as tablebase:
        for code in SMALL:
            assert section(tablebase, code) == SECTIONS[code]
