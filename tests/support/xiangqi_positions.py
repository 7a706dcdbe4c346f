"""Random positions of Chinese chess, and their addresses by the rules and the Python index: a slow
twin of the kernel that reads FENs.
"""

import random

import numpy as np

from kingpair.workers.ask.addresses import BARE_KINGS, RowAddress
from kingpair.workers.errors import BadPosition
from kingpair.workers.game.chess.position import EMPTY, Colour
from kingpair.workers.game.packed_material import pack_material
from kingpair.workers.game.xiangqi.board import SQUARES, flip, squares_of
from kingpair.workers.game.xiangqi.fen import board_text, parse_xiangqi
from kingpair.workers.game.xiangqi.position import XiangqiPosition
from kingpair.workers.index.material_index import table_index
from kingpair.workers.number_types import STRONGER, Row


def random_fen(chance: random.Random, free_max: int = 4) -> str:
    """A FEN of kings, up to four free men and any frame men; it may be an impossible position."""
    men = "Kk" + "".join(chance.choices("RNCPrncp", k=chance.randint(0, free_max)))
    for letter in "AaBb":
        men += letter * chance.randint(0, 2)
    board = [EMPTY] * len(SQUARES)
    for man in men:
        free = [s for s in squares_of(man.upper(), man.islower()) if board[s] == EMPTY]
        board[chance.choice(free)] = man
    return f"{board_text(''.join(board))} {chance.choice('wb')} - - 0 1"


def random_position(chance: random.Random) -> XiangqiPosition:
    while True:
        try:
            return parse_xiangqi(random_fen(chance))
        except BadPosition:
            continue


def address_by_rules(position: XiangqiPosition) -> RowAddress:
    material, swapped = position.material()
    if not material.letters:
        return RowAddress(BARE_KINGS, 0, Row(0))
    standing: dict[str, list[int]] = {}
    for square, letter in enumerate(position.board):
        if letter != EMPTY:
            shown = letter.swapcase() if swapped else letter
            standing.setdefault(shown, []).append(flip(square) if swapped else square)
    men = zip(material.letters, material.sides, strict=True)
    wanted = ["K", "k", *(man if side == STRONGER else man.lower() for man, side in men)]
    squares = np.array([[standing[letter].pop()] for letter in wanted])
    row = int(table_index(material).rows_of(squares)[0])
    weaker_to_move = (position.turn is Colour.BLACK) != swapped
    return RowAddress(pack_material(material), int(weaker_to_move), Row(row))
