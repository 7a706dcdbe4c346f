"""The keys of positions, from the values of a table with pawns and of the smaller tables.

Rows without a position can hold anything.  So a slot gets the value of the row that stands for its
position; then slots that are not legal positions get the key 0.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from move_keys import Keys, Rules, draw_of, keys_of
from numpy.typing import NDArray
from placed_men import Flags, Men, are_legal
from rows_of_men import material_of, rows_of
from structure_positions import Positions

from kingpair.workers.game.chess.material import Material
from kingpair.workers.number_types import SIDES, Side
from kingpair.workers.table.value import Values

ValuesAt = Callable[[Material, Side, NDArray[np.int64]], Values]
"""Returns the values of rows of a material's table with a side to move."""


class TableKeys:
    """The keys of the positions of a table with pawns, and of those that it rests on."""

    def __init__(
        self, positions: Positions, values_at: ValuesAt, dtype: np.dtype[Any], rules: Rules
    ) -> None:
        self._positions, self._values_at = positions, values_at
        self._unsigned, self._rules = np.dtype(f"u{dtype.itemsize}"), rules

    def of_structure(self, number: int, to_move: int) -> Keys:
        men, material = self._positions.men(number), self._positions.material
        rows = np.broadcast_to(rows_of(material, men), self._positions.shape)
        keys = keys_of(self._values_at(material, SIDES[to_move], rows), self._rules.quiet)
        return np.where(are_legal(men, to_move), keys, keys.dtype.type(0))

    def own_rows(self, number: int) -> Flags:
        """Whether the row of a slot is the one that stands for its position."""
        rows = rows_of(self._positions.material, self._positions.men(number))
        size = int(np.prod(self._positions.shape))
        every = np.arange(number * size, (number + 1) * size).reshape(self._positions.shape)
        own: Flags = rows == every
        return own

    def of_smaller(self, men: Men, to_move: int) -> Keys:
        material, shown = material_of(men)
        if not material.letters:
            return np.array(draw_of(self._unsigned), self._unsigned)
        side = SIDES[to_move ^ (shown is not men)]
        values = self._values_at(material, side, rows_of(material, shown))
        return keys_of(values, self._rules.conversion)
