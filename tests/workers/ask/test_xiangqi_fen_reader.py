"""The kernel that reads FENs of Chinese chess finds the rows that the rules give."""

import random

import pytest
from xiangqi_positions import address_by_rules, random_fen, random_position

from kingpair.workers.ask.addresses import GOOD, AddressReader
from kingpair.workers.errors import BadPosition, MissingTableError
from kingpair.workers.game.rules import fen, parse_fen
from kingpair.workers.game.xiangqi.position import XiangqiPosition

READER = AddressReader()
START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_those_of_the_rules(seed: int) -> None:
    chance = random.Random(seed)
    chosen = [random_position(chance) for _ in range(300)]
    fens = list(map(fen, chosen))
    for position, place in zip(chosen, READER.addresses(fens), strict=True):
        assert place == address_by_rules(position), fen(position)
        assert place == READER.address(fen(position))


def test_impossible_positions_are_refused_by_kernel_and_rules_alike() -> None:
    chance = random.Random(5)
    fens = [random_fen(chance) for _ in range(1000)]
    good = READER.read(fens).status == GOOD
    for text, read in zip(fens, good.tolist(), strict=True):
        assert read == is_possible(text), text
    assert 100 < good.sum() < 900


def is_possible(text: str) -> bool:
    try:
        return isinstance(parse_fen(text), XiangqiPosition)
    except BadPosition:
        return False


def test_usual_forms_of_a_fen_have_one_address() -> None:
    usual = "3k5/9/4b4/9/9/9/9/4C4/4N4/5K3 w - - 0 1"
    for other in (
        "3k5/9/4e4/9/9/9/9/4G4/4H4/5K3 w",
        "3k5/9/4b4/9/9/9/9/4C4/4N4/5K3_r_-_-_3_9",
        "3k5/9/4b4/9/9/9/9/4C4/4N4/5K3 w - - 0 1",
    ):
        assert READER.address(other) == READER.address(usual)


def test_men_that_no_table_holds_are_refused_in_one_line() -> None:
    with pytest.raises(MissingTableError, match="17 rooks, horses, cannons and pawns, at most 4"):
        READER.address(START.replace("P1P1P1P1P", "9"))
    with pytest.raises(MissingTableError, match="at most 4"):
        READER.address(START)
