"""Facts about the captures en passant that the solver reads: it knows which of them are lawful."""

from collections.abc import Callable
from typing import Any

import chess
import numpy as np
import pytest
from en_passant import POSITIONS
from numpy.typing import NDArray
from placed_men import PlacedMan
from rows_of_men import material_of, rows_of

from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.board import MIRROR_FILES, TURN
from kingpair.workers.index.material_index import table_index
from kingpair.workers.index.structures import Numbers, structures
from kingpair.workers.number_types import Side, opponent
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve import en_passant
from kingpair.workers.solve.levels_below import SlicePushes


class Won:
    """A table in which the side to move wins everywhere."""

    def __init__(self, material: Material) -> None:
        self._index = table_index(material)

    def column(self, side: Side, numbers: Numbers) -> NDArray[Any]:
        return np.full((len(numbers), len(self._index.kings), self._index.slots), 5, np.int8)


@pytest.mark.parametrize("fen", POSITIONS)
def test_only_lawful_captures_en_passant_have_a_value(fen: str) -> None:
    board = chess.Board(fen)
    men = [
        PlacedMan(piece.symbol().upper(), 0 if piece.color else 1, np.array(square))
        for square, piece in board.piece_map().items()
    ]
    material, shown = material_of(men)
    captor: Side = 0 if board.turn != (shown is not men) else 1
    kept, stepper = structures(*material.pawns), opponent(captor)
    number, place = divmod(int(rows_of(material, shown)), table_index(material).structure_rows)
    level = next(n for n, each in enumerate(kept.levels) if number in each)
    pushes = SlicePushes.of(kept, stepper, kept.levels[level + 2])
    steps = pushes.with_right(kept.levels[level])
    passed = board.ep_square
    assert passed is not None
    passed ^= 56 if shown is not men else 0
    forward = 8 if stepper == 0 else -8
    pawns = kept.squares[number][np.array(kept.sides) == stepper].tolist()
    images = {passed, int(TURN[MIRROR_FILES][passed])}
    (shown_on,) = (square for square in images if square + forward in pawns)
    made = np.flatnonzero((steps.into == number) & (steps.passed == shown_on))
    found = [_lawful(material, steps, int(step), stepper, place) for step in made]
    assert found == [POSITIONS[fen][1]]


def _lawful(
    material: Material, steps: en_passant.DoubleSteps, step: int, side: Side, place: int
) -> int:
    """The number of lawful captures at a place of a structure, after one double step."""
    kept = structures(*material.pawns)
    one = en_passant.DoubleSteps(*(column[step : step + 1] for column in steps))
    find: Callable[[Material], Any] = Won
    with Threads(1) as threads:
        values = en_passant.captures_after(material, kept, one, side, find, threads)
    return int(np.count_nonzero(values.reshape(2, -1)[:, place] != en_passant.NONE))
