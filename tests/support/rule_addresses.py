"""The addresses of positions with pawns by the rules of the game, move by move: a slow twin of the
kernel that reads FENs.
"""

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.ask.addresses import EnPassant, RowAddress
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.moves import Move, legal_moves, play
from kingpair.workers.game.chess.position import EMPTY, Colour, Position, material_of
from kingpair.workers.game.packed_material import pack_material
from kingpair.workers.index.material_index import table_index
from kingpair.workers.number_types import STRONGER, Row


def address_by_rules(fen: str) -> RowAddress:
    return _address(parse_fen(fen))


def _address(position: Position) -> RowAddress:
    material, swapped = material_of(position)
    assert material.has_pawns, "the kernel finds rows without pawns"
    row = Row(int(table_index(material).rows_of(_squares(position, material, swapped))[0]))
    weaker_to_move = (position.turn is Colour.BLACK) != swapped
    en_passant = None
    if position.en_passant is not None:
        moves = legal_moves(position)
        captures = [move for move in moves if _is_en_passant(position, move)]
        after = tuple(_address(play(position, move)) for move in captures)
        en_passant = EnPassant(after, len(captures) == len(moves))
    return RowAddress(pack_material(material), int(weaker_to_move), row, en_passant)


def _squares(position: Position, material: Material, swapped: bool) -> NDArray[np.int64]:
    """The squares of both kings and of man 0, man 1, ...; ranks flip where colours are swapped."""
    standing: dict[str, list[int]] = {}
    for square, letter in enumerate(position.board):
        if letter != EMPTY:
            standing.setdefault(letter.swapcase() if swapped else letter, []).append(square)
    men = zip(material.letters, material.sides, strict=True)
    wanted = ["K", "k", *(man if side == STRONGER else man.lower() for man, side in men)]
    flip = 56 if swapped else 0
    return np.array([[standing[letter].pop() ^ flip] for letter in wanted])


def _is_en_passant(position: Position, move: Move) -> bool:
    return move.target == position.en_passant and position.board[move.origin] in "Pp"
