"""The rows of positions in finished tables, from the words of table_index.py and format.py.

The verifier looks up positions after captures and promotions.  It finds their rows by itself: it
takes from the index only the lists that define it, those of king pairs and of pawn structures.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from placed_men import Men, PlacedMan, Squares

from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import FIXED, TURNED, KingPairs
from kingpair.workers.index.structures import structures
from kingpair.workers.number_types import STRONGER, WEAKER

Rows = NDArray[np.int64]
Placing = tuple[tuple[int, ...], tuple[int, ...]]
"""The squares of the stronger side's and of the weaker side's pawns, each ascending."""

_FILES, _RANKS = 0b000_111, 0b111_000  # xor with it mirrors them


def material_of(men: Men) -> tuple[Material, Men]:
    """The material of some men, kings among them, and the men with its sides and its ranks."""
    sides = ["".join(m.letter for m in men if m.side == s and m.letter != "K") for s in (0, 1)]
    material, swapped = Material.of(*sides)
    if swapped:
        men = [PlacedMan(m.letter, 1 - m.side, m.square ^ _RANKS) for m in men]
    return material, men


def rows_of(material: Material, men: Men) -> Rows:
    """The rows of positions of a material; like men in any order."""
    kings = _only(men, "K", STRONGER), _only(men, "K", WEAKER)
    pieces = [_take(men, *of) for of in _groups(material)]
    ordered = [square for group in pieces for square in group]
    if not material.has_pawns:
        return _rows_without_pawns(material, kings, ordered)
    placing = placing_of(men)
    return _rows_with_pawns(material, placing, kings, ordered)


def _groups(material: Material) -> list[tuple[str, int]]:
    """The letters and sides of a table's axes, like pieces once."""
    return list(dict.fromkeys(material.pieces))


def _take(men: Men, letter: str, side: int) -> list[Squares]:
    return _ascending([m.square for m in men if (m.letter, m.side) == (letter, side)])


def _only(men: Men, letter: str, side: int) -> Squares:
    (square,) = (m.square for m in men if (m.letter, m.side) == (letter, side))
    return square


def _ascending(squares: Sequence[Squares]) -> list[Squares]:
    found = list(squares)
    for _ in found:
        for i in range(len(found) - 1):
            one, other = found[i], found[i + 1]
            found[i], found[i + 1] = np.minimum(one, other), np.maximum(one, other)
    return found


# ---- with pawns ----


def placing_of(men: Men) -> Placing:
    """The pawns of some men, which stand on the same squares in all positions."""
    ours, theirs = (
        tuple(sorted(int(m.square) for m in men if (m.letter, m.side) == ("P", side)))
        for side in (STRONGER, WEAKER)
    )
    return ours, theirs


def mirrored(placing: Placing) -> Placing:
    ours, theirs = (tuple(sorted(square ^ _FILES for square in side)) for side in placing)
    return ours, theirs


@cache
def placings(stronger: int, weaker: int) -> dict[Placing, int]:
    """The numbers of all structures that are kept."""
    found = {}
    for number, squares in enumerate(structures(stronger, weaker).squares.tolist()):
        ours, theirs = sorted(squares[:stronger]), sorted(squares[stronger:])
        found[tuple(ours), tuple(theirs)] = number
    return found


def is_symmetric(placing: Placing, of: dict[Placing, int]) -> bool:
    """Whether a structure and its mirror image are both kept."""
    return placing in of and mirrored(placing) in of


def _rows_with_pawns(
    material: Material, placing: Placing, kings: tuple[Squares, Squares], pieces: list[Squares]
) -> Rows:
    known = placings(*material.pawns)
    if placing not in known:
        return _rows_mirrored(material, placing, kings, pieces)
    rows = _rows_in(known[placing], kings, pieces)
    if not is_symmetric(placing, known):
        return rows
    return np.where(kings[0] & 7 > 3, _rows_mirrored(material, placing, kings, pieces), rows)


def _rows_mirrored(
    material: Material, placing: Placing, kings: tuple[Squares, Squares], pieces: list[Squares]
) -> Rows:
    number = placings(*material.pawns)[mirrored(placing)]
    like = [one == other for one, other in pairwise(material.pieces)]
    turned = _sorted_like([square ^ _FILES for square in pieces], like)
    return _rows_in(number, (kings[0] ^ _FILES, kings[1] ^ _FILES), turned)


def _sorted_like(squares: list[Squares], like: Sequence[bool]) -> list[Squares]:
    """The squares with those of like pieces ascending."""
    found: list[Squares] = []
    start = 0
    for i in range(len(squares)):
        if i + 1 == len(squares) or not like[i]:
            found += _ascending(squares[start : i + 1])
            start = i + 1
    return found


def _rows_in(number: int, kings: tuple[Squares, Squares], pieces: list[Squares]) -> Rows:
    rows = _PAIRS[kings] + number * len(FIXED)
    for square in pieces:
        rows = rows << 6 | square
    return rows


def _numbers_of(pairs: KingPairs) -> NDArray[np.int64]:
    found = np.full((64, 64), -1, np.int64)
    for number, kings in enumerate(pairs.squares):
        found[kings] = number
    return found


_PAIRS = _numbers_of(FIXED)

# ---- without pawns ----


def _turn(symmetry: int, square: int) -> int:
    file, rank = square & 7, square >> 3
    file, rank = file ^ (7 if symmetry & 1 else 0), rank ^ (7 if symmetry & 2 else 0)
    return 8 * file + rank if symmetry & 4 else 8 * rank + file


_TURN = np.array([[_turn(g, s) for s in range(64)] for g in range(8)])


def _smallest_images() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By kings: the pair of their smallest image, and a symmetry that shows it."""
    numbers = _numbers_of(TURNED)
    pairs, symmetries = np.full((64, 64), -1, np.int64), np.zeros((64, 64), np.int64)
    for one, other in FIXED.squares:
        image = min((_TURN[g, one], _TURN[g, other], g) for g in range(8))
        pairs[one, other], symmetries[one, other] = numbers[image[0], image[1]], image[2]
    return pairs, symmetries


_TURNED_PAIRS, _SYMMETRIES = _smallest_images()


def _rows_without_pawns(
    material: Material, kings: tuple[Squares, Squares], pieces: list[Squares]
) -> Rows:
    like = [one == other for one, other in pairwise(material.pieces)]
    symmetry, pairs = _SYMMETRIES[kings], _TURNED_PAIRS[kings]
    shown = [_TURN[symmetry, square] for square in pieces]
    rows = _slots(shown, like)
    on_diagonal = (_TURN[symmetry, kings[0]] % 9 == 0) & (_TURN[symmetry, kings[1]] % 9 == 0)
    if on_diagonal.any():
        other = _slots([_TURN[4][square] for square in shown], like)
        rows = np.where(on_diagonal, np.minimum(rows, other), rows)
    found: Rows = pairs * 64 ** len(pieces) + rows
    return found


def _slots(squares: list[Squares], like: Sequence[bool]) -> Any:
    slots: Any = 0
    for square in _sorted_like(squares, like):
        slots = slots << 6 | square
    return slots
