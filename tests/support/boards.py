"""Random positions as python-chess boards, and those that must have the same value."""

import random
from collections.abc import Iterator
from itertools import product

import chess


def scattered(name: str, chance: random.Random) -> chess.Board:
    """A position of a material such as "KQvKR", anywhere on the board, either side to move."""
    white, black = name.split("v")
    men = white + black.lower()
    while True:
        board = chess.Board(None)
        for man, square in zip(men, chance.sample(chess.SQUARES, len(men)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(man))
        board.turn = chance.random() < 0.5
        # Also refuses kings that touch.
        if not board.was_into_check():
            return board


def images(board: chess.Board) -> Iterator[chess.Board]:
    """The board under the eight symmetries, each also with the colours changed over."""
    for upside_down, mirrored, transposed in product((False, True), repeat=3):
        image = board.copy()
        if upside_down:
            image.apply_transform(chess.flip_vertical)
        if mirrored:
            image.apply_transform(chess.flip_horizontal)
        if transposed:
            image.apply_transform(chess.flip_diagonal)
        yield image
        yield image.mirror()
