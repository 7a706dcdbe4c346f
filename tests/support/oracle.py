"""Ground truth for pawnless endgames of up to four men, found by playing every move forward.

The idea
--------
A table has one slot for every way to put the men on the board: ``64 ** men`` slots for White to
move and as many for Black, with nothing folded away by symmetry. Everything is then one question::

    best(p) = max over the moves of p of answer(table[slot after the move])

* A quiet move leads to another slot of the table.
* A capture leads to a slot in which the taker stands on the taken man. No position lives there, so
  the slot holds what the capture is worth: the outcome of the smaller material.
* A king is in check if an enemy man could move to the slot in which it stands on the king.
* A slot that is no legal position answers `NO_MOVE`, so no rule needs further care.

Every position starts as a draw, and the two tables are recomputed from each other until neither
changes. Each round looks two plies further ahead and calls the rest a draw. A value that is no
longer a draw is therefore final, and what never changes is a draw.

The product is compared with this file on every position, so it shares nothing with it: no
symmetry, no pairs of kings, no bitmaps, no un-moves.

Values
------
While solving, a slot holds a score: ``END - n`` for a win in `n` plies, ``n - END`` for a loss, 0
for a draw, so that the better outcome is the larger number. The answer to a score is its negative,
one ply nearer to 0. A phase ends by mate, or by a capture that decides the game; the capture is one
ply for either side, so a forced conversion by the loser is "lost in 1".

A solution holds ``+n`` for a win in `n`, ``-(n + 1)`` for a loss in `n`, 0 for a draw, `ILLEGAL`
for no position: in strict plies, and in Thompson's moves, where moves of a win are
``(plies + 1) // 2`` and moves of a loss are ``plies // 2``. Squares are ``8 * rank + file``: a1 is
0, h1 is 7, a8 is 56.

Cost: for four men a dozen arrays of 32 MiB, and each round passes over the table once for every
direction in which a man can move.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, groupby

import numpy as np
from made_once import once
from numpy.typing import NDArray

Table = NDArray[np.int16]
Flags = NDArray[np.bool_]
Direction = tuple[int, int]  # ranks, files

WHITE, BLACK = 0, 1
ILLEGAL = 32767
NO_MOVE = 1 - ILLEGAL  # the answer to an illegal slot, worse than any score
END = 1000  # more than the plies of any phase

FOUR_MEN = (
    "KQvKR", "KRvKN", "KRvKB", "KBvKN", "KNvKN", "KBNvK", "KBBvK", "KNNvK", "KQQvK",
)  # fmt: skip
"""The materials of four men whose every value is compared with a solution."""

ORTHOGONAL: list[Direction] = [(1, 0), (-1, 0), (0, 1), (0, -1)]
DIAGONAL: list[Direction] = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
LEAPS: list[Direction] = [
    (ranks, files) for ranks in (-2, -1, 1, 2) for files in (-2, -1, 1, 2) if ranks**2 != files**2
]
STEPS: dict[str, list[Direction]] = {"K": ORTHOGONAL + DIAGONAL, "N": LEAPS}
RAYS: dict[str, list[Direction]] = {
    "R": ORTHOGONAL,
    "B": DIAGONAL,
    "Q": ORTHOGONAL + DIAGONAL,
}


@dataclass(frozen=True)
class Material:
    """The men of an endgame; a man is known by the axis of its square in a table."""

    white: str
    black: str

    @classmethod
    def parse(cls, name: str) -> "Material":
        found = re.fullmatch("(K[QRBN]*)v(K[QRBN]*)", name)
        if found is None:
            raise ValueError(f"no pawnless material: {name!r}; expected one like 'KQvKR'")
        return cls(*found.groups())

    @property
    def men(self) -> str:
        return self.white + self.black

    @property
    def shape(self) -> tuple[int, ...]:
        return (64,) * len(self.men)

    def axes(self, side: int) -> range:
        """The men of `side`, its king first."""
        return (range(len(self.white)), range(len(self.white), len(self.men)))[side]

    def king(self, side: int) -> int:
        return self.axes(side)[0]

    def without(self, man: int) -> str:
        rest = self.men[:man] + self.men[man + 1 :]
        white = len(self.white) - (man < len(self.white))
        return f"{rest[:white]}v{rest[white:]}"


@dataclass(frozen=True)
class Solution:
    """All values of a material: `plies[stm]` and `dtc[stm]`, one axis per man, White's first."""

    material: Material
    plies: tuple[Table, Table]
    dtc: tuple[Table, Table]

    def fen(self, stm: int, squares: Sequence[int]) -> str:
        """The position in the slot `squares`."""
        board = [["1"] * 8 for _ in range(8)]
        for man, square in enumerate(squares):
            letter = self.material.men[man]
            white = man in self.material.axes(WHITE)
            board[7 - square // 8][square % 8] = letter if white else letter.lower()
        return f"{'/'.join(_fen_rank(rank) for rank in board)} {'wb'[stm]} - - 0 1"


def solve(name: str) -> Solution:
    """Every value of a material such as "KQvKR", in the order in which its men are named."""
    material = Material.parse(name)
    return once(f"oracle {name}", lambda: _solved(material))


def _solved(material: Material) -> Solution:
    clear = _clear(material)
    checked = tuple(_in_check(material, side, clear) for side in (WHITE, BLACK))
    legal = tuple((clear == ILLEGAL) & ~checked[1 - stm] for stm in (WHITE, BLACK))
    tables = [np.where(legal[stm], 0, _exits(material, stm)) for stm in (WHITE, BLACK)]
    changed = True
    while changed:
        changed = False
        for stm in (WHITE, BLACK):
            best = _best_moves(material, stm, _answers(tables[1 - stm]), clear)
            _without_moves(best, checked[stm])
            np.copyto(best, tables[stm], where=~legal[stm])
            changed |= not np.array_equal(best, tables[stm])
            tables[stm] = best
    plies = tuple(_plies(tables[stm], legal[stm]) for stm in (WHITE, BLACK))
    return Solution(material, (plies[0], plies[1]), (_moves(plies[0]), _moves(plies[1])))


@cache
def _smaller(name: str) -> Solution:
    return solve(name)


# What stands where


def _same_square(material: Material, man: int, other: int) -> Flags:
    """Slots in which two men share a square, with axes of length 1 for all other men."""
    shape = [64 if axis in (man, other) else 1 for axis in range(len(material.men))]
    return np.eye(64, dtype=np.bool_).reshape(shape)


def _clear(material: Material) -> Table:
    """`ILLEGAL` where all men stand apart, else `NO_MOVE`: what a ray is capped by on its way."""
    clear = np.full(material.shape, ILLEGAL, dtype=np.int16)
    for man, other in combinations(range(len(material.men)), 2):
        np.copyto(clear, NO_MOVE, where=_same_square(material, man, other))
    return clear


def _in_check(material: Material, side: int, clear: Table) -> Flags:
    """Slots in which a man of the other side, kings included, could move onto the king."""
    on_king = np.full(material.shape, NO_MOVE, dtype=np.int16)
    for man in material.axes(1 - side):
        np.copyto(on_king, 0, where=_same_square(material, man, material.king(side)))
    checked: Flags = _best_moves(material, 1 - side, on_king, clear) == 0
    return checked


def _exits(material: Material, stm: int) -> Table:
    """For slots in which a man of `stm` has just been taken: what that is worth to `stm`."""
    exits = np.full(material.shape, ILLEGAL, dtype=np.int16)
    for taken in material.axes(stm)[1:]:
        left = _smaller(material.without(taken)).plies[stm]
        worth = np.where(left == ILLEGAL, left, END * np.sign(left))
        for taker in material.axes(1 - stm):
            on_taken = _same_square(material, taker, taken)
            np.copyto(exits, np.expand_dims(worth, taken), where=on_taken)
    return exits


# Moves


def _best_moves(material: Material, side: int, landing: Table, clear: Table) -> Table:
    """For every slot the best of `landing` that a move of `side` reaches, or `NO_MOVE`."""
    best = np.full(material.shape, NO_MOVE, dtype=np.int16)
    for man in material.axes(side):
        _improve(best, landing, clear, man, material.men[man])
    return best


def _improve(best: Table, landing: Table, clear: Table, man: int, piece: str) -> None:
    """Raise `best` to the best slot that one man reaches."""
    if man > 0 and best.ndim > 3:  # one slab at a time, for the processor's cache
        for square in range(64):
            _improve(best[square], landing[square], clear[square], man - 1, piece)
        return
    board_first = np.moveaxis(best, man, 0)
    reached = _best_reached(piece, _as_board(landing, man), _as_board(clear, man))
    np.maximum(board_first, reached.reshape(board_first.shape), out=board_first)


def _as_board(table: Table, man: int) -> Table:
    """The table as (rank, file, all others) of one man."""
    return np.ascontiguousarray(np.moveaxis(table, man, 0)).reshape(8, 8, -1)


def _best_reached(piece: str, landing: Table, clear: Table) -> Table:
    best = np.full_like(landing, NO_MOVE)
    for ranks, files in STEPS.get(piece, ()):
        (from_rank, to_rank), (from_file, to_file) = _shift(ranks), _shift(files)
        here = best[from_rank, from_file]
        np.maximum(here, landing[to_rank, to_file], out=here)
    for direction in RAYS.get(piece, ()):
        np.maximum(best, _best_on_ray(direction, landing, clear), out=best)
    return best


def _shift(step: int) -> tuple[slice, slice]:
    """The ranks (or files) from which `step` stays on the board, and those it leads to."""
    return slice(max(0, -step), min(8, 8 - step)), slice(max(0, step), min(8, 8 + step))


def _best_on_ray(direction: Direction, landing: Table, clear: Table) -> Table:
    """The best of the next square and, if that one is clear, of the squares beyond it."""
    ray = np.full_like(landing, NO_MOVE)
    ranks, files = direction
    if ranks == 0:
        sideways = _best_on_ray((files, 0), landing.swapaxes(0, 1), clear.swapaxes(0, 1))
        return sideways.swapaxes(0, 1)
    here, there = _shift(files)
    for rank in range(6, -1, -1) if ranks == 1 else range(1, 8):
        beyond = np.minimum(ray[rank + ranks, there], clear[rank + ranks, there])
        np.maximum(landing[rank + ranks, there], beyond, out=ray[rank, here])
    return ray


# Values


def _answers(scores: Table) -> Table:
    """Returns the value of a slot for the side that has just moved into it."""
    return np.sign(scores) - scores


def _without_moves(best: Table, checked: Flags) -> None:
    """Mate or stalemate, where there is no move."""
    np.copyto(best, np.where(checked, -END, 0), where=best == NO_MOVE, casting="same_kind")


def _plies(scores: Table, legal: Flags) -> Table:
    plies = END * np.sign(scores) - scores  # n of a win, -n of a loss
    plies -= scores < 0
    return np.where(legal, plies, ILLEGAL)


def _moves(plies: Table) -> Table:
    """Thompson's count: a win in 1 or 2 plies is 1, a loss in 0 or 1 plies is lost in 0: -1."""
    won, lost = plies - plies // 2, plies // 2  # halves rounded up, and towards the longer loss
    return np.where(plies == ILLEGAL, plies, np.where(plies > 0, won, lost))


def _fen_rank(squares: Sequence[str]) -> str:
    runs = groupby(squares, key=lambda square: square == "1")
    return "".join(str(len(list(run))) if empty else "".join(run) for empty, run in runs)
