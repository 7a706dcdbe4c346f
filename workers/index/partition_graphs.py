"""The graphs of partitions: the weight of each, and the partitions that moves lead to from it.

The coordinator cuts a graph into shares and does not know what a partition is.  Domains whose
partitions are alike share a graph, which has a number:

    0         king pairs of a material without pawns
    1         a single partition: Syzygy files, which one worker writes
    2         the king pairs of a level by the square of the stronger king, which alone links them
    3 to 11   blocks of Chinese chess, by the number of the upper side's advisors and elephants
    12        partitions without links: a table with pawns; one worker joins it, any number prove it
"""

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.game import CHESS, XIANGQI
from kingpair.workers.index.board import SQUARES, touch
from kingpair.workers.index.frame import FRAME_LETTERS, side_frame
from kingpair.workers.index.king_pairs import FIXED, TURNED

KING_PAIRS, SINGLE, STRONGER_KINGS, _BLOCKS = range(4)
_MEN_OF_A_FRAME = tuple(product(range(3), repeat=len(FRAME_LETTERS)))
JOINED = _BLOCKS + len(_MEN_OF_A_FRAME)
GRAPHS = JOINED + 1
PROVERS = 128  # of a table with pawns at most


class PartitionGraph(NamedTuple):
    """The weight of each partition, and its neighbours."""

    weights: tuple[int, ...]
    neighbours: tuple[tuple[int, ...], ...]


def graph_number(material: Material) -> int:
    """The number of the graph of a material that is one domain."""
    return _NUMBER[material.game.name](material)


def partition_graph(number: int) -> PartitionGraph:
    """The graph of a number.  One of blocks takes up to 30 ms to derive."""
    if number == JOINED:
        return _of_provers()
    if number >= _BLOCKS:
        return _of_blocks(*_MEN_OF_A_FRAME[number - _BLOCKS])
    return _OF_KINGS[number]()


def _of_king_pairs() -> PartitionGraph:
    return PartitionGraph((1,) * len(TURNED), TURNED.neighbours)


def _of_one() -> PartitionGraph:
    return PartitionGraph((1,), ((),))


def _of_stronger_kings() -> PartitionGraph:
    squares = np.array([stronger for stronger, _ in FIXED.squares])
    around = [[q for q in SQUARES if q != p and touch(p, q)] for p in SQUARES]
    return PartitionGraph(tuple(np.bincount(squares).tolist()), tuple(map(tuple, around)))


def _of_provers() -> PartitionGraph:
    return PartitionGraph((1,) * PROVERS, ((),) * PROVERS)


def _of_blocks(advisors: int, elephants: int) -> PartitionGraph:
    upper = side_frame(advisors, elephants, upper=True)
    return PartitionGraph((1,) * len(upper), upper.neighbours)


@cache
def _number_of_blocks(men: str) -> int:
    return _BLOCKS + _MEN_OF_A_FRAME.index(tuple(map(men.count, FRAME_LETTERS)))


_OF_KINGS = (_of_king_pairs, _of_one, _of_stronger_kings)
_NUMBER: dict[str, Callable[[Material], int]] = {
    CHESS.name: lambda material: KING_PAIRS,
    XIANGQI.name: lambda material: _number_of_blocks(material.weaker),
}
