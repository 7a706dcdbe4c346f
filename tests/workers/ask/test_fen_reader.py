"""Facts about the kernel that reads FENs with pawns: it finds the rows that the rules give."""

import random

import chess
import numpy as np
import pytest
from en_passant import POSITIONS
from rule_addresses import address_by_rules

from kingpair.workers.ask.addresses import GOOD, AddressReader
from kingpair.workers.errors import BadPosition

READER = AddressReader()


def scattered(chance: random.Random) -> chess.Board:
    """A pawn and up to three other men, anywhere; some just after a double step beside a pawn."""
    board = chess.Board(None)
    men = (
        "Kk"
        + chance.choice("Pp")
        + "".join(chance.choices("QRBNPPPqrbnppp", k=chance.randrange(4)))
    )
    if chance.random() < 0.5:
        board.ep_square, taken = doubled(chance, board)
        men = men.replace("P", "", 1) if chance.random() < 0.5 else men[:4]
    else:
        taken = set()
    free = [square for square in chess.SQUARES if square not in taken]
    for man, square in zip(men, chance.sample(free, len(men)), strict=True):
        if man not in "Pp" or chess.square_rank(square) not in (0, 7):
            board.set_piece_at(square, chess.Piece.from_symbol(man))
    board.turn = board.ep_square is None and chance.random() < 0.5
    return board if chance.random() < 0.5 else board.mirror()


def doubled(chance: random.Random, board: chess.Board) -> tuple[int, set[int]]:
    """Puts a white pawn that has just made a double step, and black ones beside it."""
    file = chance.randrange(8)
    beside = [24 + file + step for step in (-1, 1) if 0 <= file + step < 8]
    for square in chance.sample(beside, chance.randint(1, len(beside))):
        board.set_piece_at(square, chess.Piece(chess.PAWN, chess.BLACK))
    board.set_piece_at(24 + file, chess.Piece(chess.PAWN, chess.WHITE))
    return 16 + file, {8 + file, 16 + file, 24 + file, *beside}


def fens(seed: int, count: int) -> list[str]:
    """Legal positions with a pawn, of at most six men; the square of en passant is always named."""
    chance, found = random.Random(seed), list[str]()
    while len(found) < count:
        board = scattered(chance)
        if len(board.piece_map()) <= 6 and board.pawns and not is_impossible(board):
            found.append(board.fen(en_passant="fen"))
    return found


def is_impossible(board: chess.Board) -> bool:
    """Whether the side not to move is in check, or the kings touch."""
    return bool(board.status() & chess.STATUS_OPPOSITE_CHECK)


@pytest.mark.parametrize("seed", range(4))
def test_rows_with_pawns_are_those_of_the_rules(seed: int) -> None:
    chosen = fens(seed, 500)
    found = READER.addresses(chosen)
    for fen, place in zip(chosen, found, strict=True):
        assert place == address_by_rules(fen), fen
        assert place == READER.address(fen), fen


def test_positions_with_rights_are_among_them() -> None:
    found = [place for place in READER.addresses(fens(0, 500)) if place is not None]
    rights = [place.en_passant for place in found if place.en_passant is not None]
    assert len(rights) > 80
    assert {len(right.captures) for right in rights} == {1, 2}


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("8/8/8/8/8/8/2k5/K1P5 w - - 0 1", "pawn on c1"),
        ("8/8/8/8/8/2k5/1P6/K7 w - - 0 1", "Black is in check"),
        ("8/8/8/8/8/8/kP6/K7 w - - 0 1", "touch"),
    ],
)
def test_an_impossible_position_is_refused_with_a_reason(fen: str, reason: str) -> None:
    assert READER.read([fen]).status[0] != GOOD
    with pytest.raises(BadPosition, match=reason):
        READER.address(fen)


def test_an_en_passant_square_that_nothing_has_passed_is_no_right() -> None:
    for fen in (
        "8/8/8/8/4pP2/4K3/8/4k3 b - e3 0 1",
        "8/8/8/8/4pP2/4K3/8/4k3 b - f6 0 1",
        "k7/8/8/8/4pP2/8/5K2/8 b - f3 0 1",
        "8/8/8/8/4pP2/4K3/8/4k3 w - f3 0 1",
    ):
        assert READER.address(fen).en_passant is None
        assert READER.address(fen) == address_by_rules(fen)


def test_the_structures_of_more_pawns_than_men_are_refused() -> None:
    with pytest.raises(ValueError, match="too many pawns"):
        READER._kernel.list_structures(3, 2, np.zeros(0, np.int64))


@pytest.mark.parametrize("fen", POSITIONS)
def test_captures_and_whether_they_are_all_moves_are_those_of_the_judge(fen: str) -> None:
    """The only lawful move, unlawful as two men leave the rank, two captors, mates but for it."""
    end, lawful = POSITIONS[fen]
    for seen in (chess.Board(fen), chess.Board(fen).mirror()):
        right = READER.address(seen.fen(en_passant="fen")).en_passant
        assert (len(right.captures) if right else 0) == lawful
        assert right is None or right.only_moves == bool(end)
        for sideways in (seen, seen.transform(chess.flip_horizontal)):
            text = sideways.fen(en_passant="fen")
            assert READER.address(text) == address_by_rules(text)
