"""The positions of the structures of a material, as arrays of one shape.

A structure's array is [king pair][square of piece 0][square of piece 1]...  Kings and pieces have
their squares by place in the array; pawns stand on the same squares throughout.
"""

import numpy as np
from placed_men import Men, PlacedMan
from rows_of_men import placing_of, placings

from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import FIXED
from kingpair.workers.number_types import STRONGER, WEAKER


class Positions:
    """The positions of a material's structures, as arrays of one shape."""

    def __init__(self, material: Material) -> None:
        self.material, self.pieces = material, material.pieces
        axes = len(self.pieces)
        self.shape = (len(FIXED), *(64,) * axes)
        kings = np.array(FIXED.squares, np.intp).T.reshape(2, -1, *(1,) * axes)
        self.kings = kings[STRONGER], kings[WEAKER]
        self.pairs = np.arange(len(FIXED), dtype=np.intp).reshape(-1, *(1,) * axes)
        self.squares = [
            np.arange(64, dtype=np.intp).reshape(-1, *(1,) * (axes - 1 - axis))
            for axis in range(axes)
        ]
        known = placings(*material.pawns)
        self.numbers = known
        self._pawns = {
            number: tuple(
                PlacedMan("P", side, np.array(square, np.intp))
                for side, squares in enumerate(placing)
                for square in squares
            )
            for placing, number in known.items()
        }

    def __len__(self) -> int:
        return len(self._pawns)

    def pawns(self, number: int) -> Men:
        return self._pawns[number]

    def placed_kings(self) -> Men:
        return [PlacedMan("K", side, square) for side, square in enumerate(self.kings)]

    def placed_pieces(self) -> Men:
        named = zip(self.pieces, self.squares, strict=True)
        return [PlacedMan(letter, side, square) for (letter, side), square in named]

    def men(self, number: int) -> Men:
        return [*self.placed_kings(), *self.pawns(number), *self.placed_pieces()]

    def number_of(self, pawns: Men) -> int:
        """The structure that a push leads to; a push never mirrors the board."""
        return self.numbers[placing_of(pawns)]
