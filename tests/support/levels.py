"""Columns of tables with pawns, by the squares of the oracle."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pawn_boards import Endgame
from shared_tables import unproved

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import FIXED
from kingpair.workers.index.structures import structures
from kingpair.workers.number_types import Side
from kingpair.workers.table.format import COLUMNS, Table
from kingpair.workers.table.key import TableKey

Histogram = Counter[tuple[str, int]]  # by result and moves


def slots_of(endgame: Endgame, board: Sequence[NDArray[np.uint8]]) -> tuple[NDArray[Any], ...]:
    """Where the oracle's positions lie in a column: structure, partition and slot."""
    material = Material.parse(f"{endgame.white}v{endgame.black}")
    men = list(zip(endgame.men, board, strict=True))
    pawns = [squares for (letter, _), squares in men if letter == "P"]
    found = structures(*material.pawns).find(np.stack(pawns, axis=1))
    turned = [np.where(found.mirrored, squares ^ 7, squares) for squares in board]
    pair = _PAIRS[turned[endgame.kings[0]], turned[endgame.kings[1]]]
    slot = np.zeros(len(pair), np.int64)
    for letter, side in material.pieces:
        (man,) = (m for m, of in enumerate(endgame.men) if of == (letter, side))
        slot = slot << 6 | turned[man]
    return found.numbers, pair, slot


_PAIRS = np.full((64, 64), -1, np.int64)
_PAIRS[tuple(np.array(FIXED.squares).T)] = np.arange(len(FIXED))


def solved(name: str, metric: Metric) -> Table:
    return Table(unproved([name], metric) / TableKey(Material.parse(name), metric).file_name)


def column(table: Table, side: Side) -> NDArray[Any]:
    """The values of a column: [structure][partition][slot]."""
    index = table.index
    return table.rows(0, index.rows, side).reshape(-1, len(index.kings), index.slots)


def histogram(table: Table, side: Side) -> Histogram:
    """Distinct positions with a side to move, by result and moves."""
    stated = table.counts[COLUMNS[side]]
    return Counter({(r, int(n)): stated[r][n] for r in ("win", "loss") for n in stated[r]})
