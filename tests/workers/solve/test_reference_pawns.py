"""Facts about the reference twin for pawns: its moves are those of python-chess, and its values are
those of the oracle.
"""

import random
from functools import cache
from itertools import chain, product

import chess
import numpy as np
import pawn_oracle
import pytest
from en_passant import POSITIONS
from pawn_boards import NONE
from pawn_moves import Placed

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import FIXED
from kingpair.workers.index.structures import structures
from kingpair.workers.number_types import SIDES, STRONGER, WEAKER, Side, opponent
from kingpair.workers.solve.reference_boards import (
    Man,
    Men,
    can_move,
    en_passant,
    exits,
    is_legal,
    quiet_moves,
    with_right,
)
from kingpair.workers.solve.reference_pawns import (
    Position,
    Slice,
    Solutions,
    in_order,
    layers_of,
    position_of,
)

KPVK, KPVKP = Material.parse("KPvK"), Material.parse("KPvKP")
SLOW = pytest.mark.slow


def men_of(board: chess.Board) -> Men:
    return tuple(
        Man(piece.symbol().upper(), STRONGER if piece.color else WEAKER, square)
        for square, piece in sorted(board.piece_map().items())
    )


def placed(men: Men) -> frozenset[Man]:
    return frozenset(men)


# Moves


def some_board(chance: random.Random, letters: str) -> chess.Board:
    """A legal position of these men, with either side to move."""
    while True:
        board = chess.Board(None)
        board.turn = chance.random() < 0.5
        for letter, square in zip(letters, chance.sample(range(64), len(letters)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        if board.is_valid():
            return board


@pytest.mark.parametrize("letters", ["KPk", "KPkp", "KRPkp", "KPPkq", "KQkpp", "KPPPkn", "KBPkrp"])
def test_moves_are_those_of_the_judge(letters: str) -> None:
    chance = random.Random(letters)
    for _ in range(60):
        board = some_board(chance, letters)
        assert all_moves(board) == by_the_judge(board), board.fen()
        men, side = men_of(board), side_to_move(board)
        assert is_legal(men, side)
        assert can_move(men, side) == any(board.legal_moves)


@pytest.mark.parametrize("fen", POSITIONS)
def test_captures_en_passant_are_those_of_the_judge(fen: str) -> None:
    board = chess.Board(fen)
    assert all_moves(board) == by_the_judge(board)


def all_moves(board: chess.Board) -> set[frozenset[Man]]:
    men, side = men_of(board), side_to_move(board)
    passing = [] if board.ep_square is None else en_passant(men, board.ep_square, side)
    afters = chain(quiet_moves(men, side), (e.after for e in exits(men, side)), passing)
    return {placed(after) for after in afters if is_legal(after, opponent(side))}


def side_to_move(board: chess.Board) -> Side:
    return STRONGER if board.turn else WEAKER


def by_the_judge(board: chess.Board) -> set[frozenset[Man]]:
    found = set()
    for move in board.legal_moves:
        board.push(move)
        found.add(placed(men_of(board)))
        board.pop()
    return found


@pytest.mark.parametrize("letters", ["KPk", "KRPkp"])
def test_quiet_moves_of_a_slice_are_those_of_the_board(letters: str) -> None:
    chance = random.Random(letters)
    for _ in range(40):
        board = some_board(chance, letters)
        material, men, swapped = in_order(men_of(board))
        position = position_of(material, men)
        side = SIDES[side_to_move(board) ^ swapped]
        slice_ = Slice(material, [position[0]])
        after = slice_.moves(position, side)
        played = (in_order(men)[1] for men in quiet_moves(slice_.men(position), side))
        wanted = {position_of(material, men) for men in played if not kings_touch(men)}
        assert after == wanted
        assert all(position in slice_.moves(p, side) for p in after)
        assert after == slice_.unmove([position], side)


def kings_touch(men: Men) -> bool:
    return chess.square_distance(men[0].square, men[1].square) <= 1


# The right to capture en passant


class Stub:
    """Says of each number of men at what depth the winner wins."""

    def __init__(self, men: int, without: int | None, after: int | None) -> None:
        self._depths = {men: without, men - 1: after}

    def depth(self, men: Men, to_move: Side, winner: Side) -> int | None:
        return self._depths[len(men)]


def settled(fen: str, *, to_move_wins: bool, without: int | None, after: int | None) -> int | None:
    board = chess.Board(fen)
    men, side = men_of(board), side_to_move(board)
    assert board.ep_square is not None
    known, winner = Stub(len(men), without, after), side if to_move_wins else opponent(side)
    return with_right(known, Metric.DTM, men, board.ep_square, side, winner)


def of_kind(*ends: str, lawful: bool) -> list[str]:
    return [fen for fen, (end, n) in POSITIONS.items() if end in ends and (n > 0) == lawful]


@pytest.mark.parametrize("fen", of_kind("mate", "stalemate", lawful=True))
def test_where_the_capture_is_the_only_move_it_alone_counts(fen: str) -> None:
    without = 0 if POSITIONS[fen][0] == "mate" else None
    assert settled(fen, to_move_wins=False, without=without, after=5) == 5
    assert settled(fen, to_move_wins=False, without=without, after=None) is None
    assert settled(fen, to_move_wins=True, without=None, after=5) == 6
    assert settled(fen, to_move_wins=True, without=None, after=None) is None


@pytest.mark.parametrize("fen", of_kind("", lawful=True))
def test_where_there_are_other_moves_the_side_to_move_chooses(fen: str) -> None:
    assert settled(fen, to_move_wins=False, without=3, after=5) == 5
    assert settled(fen, to_move_wins=False, without=7, after=5) == 7
    assert settled(fen, to_move_wins=False, without=7, after=None) is None
    assert settled(fen, to_move_wins=False, without=None, after=5) is None
    assert settled(fen, to_move_wins=True, without=3, after=5) == 3
    assert settled(fen, to_move_wins=True, without=7, after=5) == 6
    assert settled(fen, to_move_wins=True, without=7, after=None) == 7
    assert settled(fen, to_move_wins=True, without=None, after=5) == 6


@pytest.mark.parametrize("fen", of_kind("", "mate", "stalemate", lawful=False))
def test_a_capture_that_is_not_lawful_changes_nothing(fen: str) -> None:
    for without in (None, 0, 4):
        assert settled(fen, to_move_wins=False, without=without, after=9) == without
        assert settled(fen, to_move_wins=True, without=without, after=9) == without


# Values


class Oracle:
    """The values of the oracle, as the twin asks for them."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._known: dict[tuple[frozenset[Man], int], int] = {}

    def depth(self, men: Men, to_move: Side, winner: Side) -> int | None:
        key = placed(men), to_move
        if key not in self._known:
            sides: tuple[Placed, Placed] = ([], [])
            for man in men:
                sides[man.side].append((man.letter, np.array([man.square], np.uint8)))
            found = pawn_oracle.find(*sides, to_move)
            assert found.nodes[0] != NONE
            self._known[key] = int(found.values(self._metric.value)[0])
        return depth_of(self._metric, self._known[key], to_move, winner)


oracle = cache(Oracle)


def depth_of(metric: Metric, value: int, to_move: Side, winner: Side) -> int | None:
    """The oracle's plies as the metric counts them; None if the winner does not win."""
    if (value if to_move == winner else -value) <= 0:
        return None
    plies = value if value > 0 else -value - 1
    if metric.counts_plies:
        return plies
    return (plies + 1) // 2 if value > 0 else plies // 2


def expected(
    material: Material, numbers: list[int], metric: Metric, winner: Side
) -> tuple[set[tuple[int, Position]], dict[tuple[int, Position], int]]:
    """All legal positions of some structures, and the depths of those that the winner wins."""
    slice_, of = Slice(material, numbers), structures(*material.pawns)
    slots = list(product(range(len(FIXED)), product(range(64), repeat=len(slice_.pieces))))
    rows = np.array([(*FIXED.squares[pair], *squares) for pair, squares in slots], np.uint8)
    legal, depths = set[tuple[int, Position]](), dict[tuple[int, Position], int]()
    for number in numbers:
        sides: tuple[Placed, Placed] = ([("K", rows[:, STRONGER])], [("K", rows[:, WEAKER])])
        for man, (letter, side) in enumerate(slice_.pieces, start=2):
            sides[side].append((letter, rows[:, man]))
        for side, square in zip(of.sides, of.squares[number], strict=True):
            sides[side].append(("P", np.full(len(rows), square)))
        for to_move in SIDES:
            found = pawn_oracle.find(*sides, to_move)
            values = found.values(metric.value).tolist()
            for at in np.flatnonzero(found.nodes != NONE).tolist():
                position = number, *slots[at]
                legal.add((to_move, position))
                if (depth := depth_of(metric, values[at], to_move, winner)) is not None:
                    depths[to_move, position] = depth
    return legal, depths


def solved(
    material: Material, numbers: list[int], metric: Metric, winner: Side
) -> dict[tuple[int, Position], int]:
    found = dict[tuple[int, Position], int]()
    layers = layers_of(Slice(material, numbers), winner, metric, oracle(metric))
    for depth, layer in enumerate(layers):
        found |= {(winner, position): depth for position in layer.won}
        found |= {(opponent(winner), position): depth for position in layer.lost}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("metric", Metric)
@pytest.mark.parametrize("number", [0, 9, 23], ids=["seventh", "fifth", "second"])
def test_a_slice_has_the_values_of_the_oracle(number: int, metric: Metric) -> None:
    legal, depths = expected(KPVK, [number], metric, STRONGER)
    slice_ = Slice(KPVK, [number])
    assert {(side, p) for side in SIDES for p in slice_.legal(side)} == legal
    assert solved(KPVK, [number], metric, STRONGER) == depths
    assert solved(KPVK, [number], metric, WEAKER) == {}


@SLOW
@pytest.mark.parametrize("metric", Metric)
def test_all_of_king_and_pawn_against_king_is_as_the_oracle_has_it(metric: Metric) -> None:
    numbers = list(range(len(structures(1, 0))))
    depths = expected(KPVK, numbers, metric, STRONGER)[1]
    solutions = Solutions(metric)
    assert solutions.depths(KPVK, STRONGER) == depths


def with_double_steps() -> list[int]:
    """Structures of a pawn a side from which a double step leads beside the enemy pawn."""
    of, found = structures(1, 1), []
    for side in SIDES:
        pushes = of.pushes(side)
        double = pushes.passed != 255
        beside = of.squares[pushes.structure[double], opponent(side)]
        entered = pushes.entered[double]
        aside = np.abs((beside & 7).astype(int) - (entered & 7)) == 1
        found += pushes.structure[double][aside & (beside >> 3 == entered >> 3)].tolist()
    return found


def some_structures() -> list[int]:
    """One of each level, and all in which capturing en passant matters."""
    chance, of = random.Random(12), structures(1, 1)
    anywhere = [chance.choice(level) for level in of.levels]
    return anywhere + with_double_steps()


@SLOW
@pytest.mark.parametrize("metric", Metric)
@pytest.mark.parametrize("number", some_structures())
def test_pawn_against_pawn_is_as_the_oracle_has_it(number: int, metric: Metric) -> None:
    for winner in SIDES:
        found = solved(KPVKP, [number], metric, winner)
        assert found == expected(KPVKP, [number], metric, winner)[1]


@SLOW
@pytest.mark.parametrize("metric", [Metric.DTC, Metric.DTZ])
def test_a_rook_against_a_pawn_is_as_the_oracle_has_it(metric: Metric) -> None:
    """On one structure: a black pawn on the seventh rank, which can be pushed by two squares."""
    material = Material.parse("KRvKP")
    number = int(np.flatnonzero(structures(0, 1).squares[:, 0] == chess.C7)[0])
    for winner in SIDES:
        found = solved(material, [number], metric, winner)
        assert found == expected(material, [number], metric, winner)[1]
