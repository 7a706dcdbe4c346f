"""Positions of the oracle for pawns: the board, which positions there are, and their numbers.

Of positions that are mirror images one is kept, that in which the place of White's and Black's
king has the smallest number: of left-right mirror images if there are pawns, else of all eight.
Men of one side and kind are kept in ascending order of their squares.

Functions take many positions at a time: an array of squares for each man.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Values = NDArray[np.int16]
Flags = NDArray[np.bool_]
Squares = NDArray[np.uint8]
Bitboards = NDArray[np.uint64]
Board = list[Squares]  # the squares of each man, in many positions

WHITE, BLACK = 0, 1
ORDER = "KQRBNP"
NOWHERE = 255  # no square
NONE = -1  # no node, no place


def _ray(square: int, files: int, ranks: int) -> Iterator[int]:
    file, rank = square % 8 + files, square // 8 + ranks
    while 0 <= file < 8 and 0 <= rank < 8:
        yield 8 * rank + file
        file, rank = file + files, rank + ranks


_ROOK = [(1, 0), (-1, 0), (0, 1), (0, -1)]
_BISHOP = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
_KNIGHT = [(f, r) for f in (-2, -1, 1, 2) for r in (-2, -1, 1, 2) if abs(f) != abs(r)]
_WAYS = {"K": _ROOK + _BISHOP, "Q": _ROOK + _BISHOP, "R": _ROOK, "B": _BISHOP, "N": _KNIGHT}


class Reach(NamedTuple):
    """Where a man can go on an empty board, and what must be empty for it."""

    squares: Squares  # [square][i], padded with NOWHERE
    between: Bitboards  # [square][i], a bit for each square on the way
    hits: Flags  # [square][target]
    on_way: Bitboards  # [square][target]


@cache
def reach(letter: str) -> Reach:
    lists: list[list[tuple[int, int]]] = []
    for square in range(64):
        found = []
        for files, ranks in _WAYS[letter]:
            way = 0
            for target in _ray(square, files, ranks):
                found.append((target, way))
                way |= 1 << target
                if letter in "KN":
                    break
        lists.append(found)
    return _reach(lists)


@cache
def pawn_reach(colour: int) -> Reach:
    """The squares that a pawn attacks."""
    ahead = 1 if colour == WHITE else -1
    lists: list[list[tuple[int, int]]] = []
    for square in range(64):
        rays = [list(_ray(square, aside, ahead))[:1] for aside in (-1, 1)]
        lists.append([(target, 0) for ray in rays for target in ray])
    return _reach(lists)


def _reach(lists: list[list[tuple[int, int]]]) -> Reach:
    most = max(map(len, lists))
    squares = np.full((64, most), NOWHERE, dtype=np.uint8)
    between = np.zeros((64, most), dtype=np.uint64)
    hits, on_way = np.zeros((64, 64), dtype=np.bool_), np.zeros((64, 64), dtype=np.uint64)
    for square, found in enumerate(lists):
        for i, (target, way) in enumerate(found):
            squares[square, i], between[square, i] = target, way
            hits[square, target], on_way[square, target] = True, way
    return Reach(squares, between, hits, on_way)


def bits(squares: Squares) -> Bitboards:
    return np.left_shift(np.uint64(1), squares.astype(np.uint64))


def _images(square: int) -> list[int]:
    """A square under the eight symmetries, of which the first two keep the ranks."""
    file, rank = square % 8, square // 8
    return [
        8 * b + a for x, y in ((file, rank), (rank, file)) for b in (y, 7 - y) for a in (x, 7 - x)
    ]


IMAGE = np.array([_images(square) for square in range(64)], dtype=np.uint8).T.copy()


class Places(NamedTuple):
    """The places of both kings of which no two are mirror images, and where any two kings are."""

    kings: Squares  # [place][colour]
    place: Ints  # [64 * white + black], NONE if the kings touch
    symmetry: Squares  # which shows the board as it is kept
    other: Squares  # another one that does so, if there is one


@cache
def places(symmetries: int) -> Places:
    kings: list[tuple[int, int]] = []
    numbers = np.full(4096, NONE, dtype=np.int32)
    symmetry, other = np.zeros(4096, np.uint8), np.zeros(4096, np.uint8)
    for code in range(4096):
        white, black = divmod(code, 64)
        if max(abs(white % 8 - black % 8), abs(white // 8 - black // 8)) <= 1:
            continue
        images = [64 * int(IMAGE[g, white]) + int(IMAGE[g, black]) for g in range(symmetries)]
        smallest = min(images)
        if code == smallest:
            numbers[code] = len(kings)
            kings.append((white, black))
        numbers[code] = numbers[smallest]
        symmetry[code] = images.index(smallest)
        other[code] = symmetries - 1 - images[::-1].index(smallest)
    return Places(np.array(kings, dtype=np.uint8), numbers, symmetry, other)


# Endgames


@dataclass(frozen=True)
class Endgame:
    """The men of both sides, kings first."""

    white: str
    black: str

    @classmethod
    def parse(cls, name: str) -> "Endgame":
        found = re.fullmatch("(K[QRBNP]*)v(K[QRBNP]*)", name)
        if found is None:
            raise ValueError(f"no endgame: {name!r}; expected one like 'KPvK'")
        return cls(*(in_order(side) for side in found.groups()))

    @property
    def men(self) -> list[tuple[str, int]]:
        """The letter and the colour of each man, White's first."""
        return [(m, WHITE) for m in self.white] + [(m, BLACK) for m in self.black]

    @property
    def kings(self) -> tuple[int, int]:
        return 0, len(self.white)

    @property
    def others(self) -> list[int]:
        return [man for man in range(len(self.men)) if man not in self.kings]

    @property
    def symmetries(self) -> int:
        return 2 if "P" in self.white + self.black else 8

    @property
    def like(self) -> list[list[int]]:
        """Groups of men of one kind."""
        groups = groupby(self.others, key=self.men.__getitem__)
        return [found for _, group in groups if len(found := list(group)) > 1]

    def of(self, colour: int) -> list[int]:
        return [man for man, (_, side) in enumerate(self.men) if side == colour]


def in_order(men: str) -> str:
    return "".join(sorted(men, key=ORDER.index))


def weight(men: str) -> tuple[int, list[int]]:
    return len(men), [-ORDER.index(man) for man in men]


class Nodes(NamedTuple):
    """Positions with one side to move; those from `plain` on have a right to capture en passant."""

    board: Board
    code: Longs
    en_passant: Squares
    plain: int
    number: Ints  # by code: the node without a right
    rights: Longs  # 64 * node + square captured on: ascending, from `plain` on


def fold(endgame: Endgame, board: Board) -> tuple[Longs, Squares]:
    """The codes of positions, NONE (the last code) where the kings touch; and a symmetry that shows
    each as it is kept.
    """
    at = places(endgame.symmetries)
    white, black = (board[king] for king in endgame.kings)
    pair = white.astype(np.int64) * 64 + black
    place = at.place[pair].astype(np.int64)
    symmetry = at.symmetry[pair]
    code = _code(endgame, board, place, symmetry)
    twice = np.flatnonzero(at.other[pair] != symmetry)
    if len(twice):
        image = _code(endgame, [s[twice] for s in board], place[twice], at.other[pair[twice]])
        code[twice] = np.minimum(code[twice], image)
    code[place == NONE] = NONE
    return code, symmetry


def _code(endgame: Endgame, board: Board, place: Longs, symmetry: Squares) -> Longs:
    shown = {man: IMAGE[symmetry, board[man]] for man in endgame.others}
    for men in endgame.like:
        for man, squares in zip(men, np.sort([shown[man] for man in men], axis=0), strict=True):
            shown[man] = squares
    code = place
    for man in endgame.others:
        code = code * 64 + shown[man]
    return code


def codes(endgame: Endgame) -> int:
    """How many codes there are: one for each way to put the men down."""
    places_of_kings = len(places(endgame.symmetries).kings)
    return places_of_kings * int(64 ** len(endgame.others))


def _kept(endgame: Endgame) -> tuple[Longs, Board]:
    """The codes of all positions that are kept, lawful or not, and the boards."""
    code = np.arange(codes(endgame), dtype=np.int64)
    board = _decoded(endgame, code)
    apart = np.ones(len(code), dtype=np.bool_)
    for man, (letter, _) in enumerate(endgame.men):
        for other in range(man):
            apart &= board[man] != board[other]
        if letter == "P":
            apart &= (board[man] >= 8) & (board[man] < 56)
    code, board = code[apart], [squares[apart] for squares in board]
    kept = fold(endgame, board)[0] == code
    return code[kept], [squares[kept] for squares in board]


def _decoded(endgame: Endgame, code: Longs) -> Board:
    found: dict[int, Squares] = {}
    rest = code
    for man in reversed(endgame.others):
        found[man] = (rest & 63).astype(np.uint8)
        rest = rest >> 6
    kings = places(endgame.symmetries).kings[rest]
    for colour, man in enumerate(endgame.kings):
        found[man] = kings[:, colour].copy()
    return [found[man] for man in range(len(endgame.men))]


def in_check(endgame: Endgame, board: Board, colour: int) -> Flags:
    """Whether the king of a colour is attacked."""
    king, occupied = board[endgame.kings[colour]], occupied_by(board)
    found = np.zeros(len(king), dtype=np.bool_)
    for man in endgame.of(1 - colour):
        letter, squares = endgame.men[man][0], board[man]
        by = pawn_reach(1 - colour) if letter == "P" else reach(letter)
        found |= by.hits[squares, king] & ((by.on_way[squares, king] & occupied) == 0)
    return found


def occupied_by(board: Board) -> Bitboards:
    occupied = np.zeros(len(board[0]), dtype=np.uint64)
    for squares in board:
        occupied |= bits(squares)
    return occupied


def nodes_of(endgame: Endgame, to_move: int) -> Nodes:
    code, board = _kept(endgame)
    lawful = ~in_check(endgame, board, 1 - to_move)
    code, board = code[lawful], [squares[lawful] for squares in board]
    number = np.full(codes(endgame) + 1, NONE, dtype=np.int32)  # the last is for kings that touch
    number[code] = np.arange(len(code), dtype=np.int32)
    rights = np.unique(np.concatenate(list(_rights(endgame, board, to_move))))
    of, target = rights >> 6, (rights & 63).astype(np.uint8)
    return Nodes(
        [np.concatenate([squares, squares[of]]) for squares in board],
        np.concatenate([code, code[of]]),
        np.concatenate([np.full(len(code), NOWHERE, np.uint8), target]),
        len(code),
        number,
        rights,
    )


def _rights(endgame: Endgame, board: Board, to_move: int) -> Iterator[Longs]:
    """64 * node + square, where a pawn can just have made a double step beside an enemy pawn."""
    occupied, back = occupied_by(board), -8 if to_move == BLACK else 8
    yield np.empty(0, dtype=np.int64)
    for man in endgame.of(1 - to_move):
        if endgame.men[man][0] == "P":
            beside = _beside(endgame, board, board[man], to_move)
            rank = 3 if to_move == BLACK else 4
            node = np.flatnonzero(beside & (board[man] >> 3 == rank))
            passed = (board[man][node].astype(np.int64) + back).astype(np.uint8)
            left = (board[man][node].astype(np.int64) + 2 * back).astype(np.uint8)
            free = (occupied[node] & (bits(passed) | bits(left))) == 0
            yield node[free] * 64 + passed[free]


def _beside(endgame: Endgame, board: Board, square: Squares, colour: int) -> Flags:
    """Whether a pawn of a colour stands next to a square on its rank."""
    found = np.zeros(len(square), dtype=np.bool_)
    for man in endgame.of(colour):
        if endgame.men[man][0] == "P":
            aside = np.abs((board[man] & 7).astype(np.int8) - (square & 7).astype(np.int8))
            found |= (board[man] >> 3 == square >> 3) & (aside == 1)
    return found


def node_of(endgame: Endgame, nodes: Nodes, board: Board, target: Squares) -> Ints:
    """The nodes of positions with a right to capture on `target`, NOWHERE for none.

    A right that no pawn stands ready to use is none.
    """
    code, symmetry = fold(endgame, board)
    found = nodes.number[code]
    some = np.flatnonzero((target != NOWHERE) & (found != NONE))
    if len(some) and len(nodes.rights):
        key = found[some].astype(np.int64) * 64 + IMAGE[symmetry[some], target[some]]
        at = np.minimum(np.searchsorted(nodes.rights, key), len(nodes.rights) - 1)
        there = nodes.rights[at] == key
        found[some[there]] = nodes.plain + at[there].astype(np.int32)
    return found


def has_one_image(endgame: Endgame, board: Board) -> Flags:
    """Whether no symmetry but one shows a position with its kings where they are kept."""
    at = places(endgame.symmetries)
    pair = board[0].astype(np.int64) * 64 + board[endgame.kings[1]]
    alone: Flags = at.other[pair] == at.symmetry[pair]
    return alone


def digit(endgame: Endgame, man: int) -> int:
    """How much a step of a man to the next square adds to the code."""
    others = endgame.others
    return int(64 ** (len(others) - 1 - others.index(man)))
