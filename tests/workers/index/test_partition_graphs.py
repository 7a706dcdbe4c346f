"""The graphs of partitions that the coordinator cuts into shares."""

import pytest

from kingpair.workers.game.xiangqi.material import XiangqiMaterial
from kingpair.workers.index.partition_graphs import (
    GRAPHS,
    KING_PAIRS,
    SINGLE,
    STRONGER_KINGS,
    graph_number,
    partition_graph,
)


@pytest.mark.parametrize("number", range(GRAPHS))
def test_neighbours_are_mutual_and_no_partition_is_its_own(number: int) -> None:
    weights, neighbours = partition_graph(number)
    assert len(weights) == len(neighbours)
    for partition, others in enumerate(neighbours):
        assert partition not in others
        assert all(partition in neighbours[other] for other in others)


def test_graphs_weigh_as_many_king_pairs_as_there_are() -> None:
    weights = [sum(partition_graph(n).weights) for n in (KING_PAIRS, SINGLE, STRONGER_KINGS)]
    assert weights == [462, 1, 3612]


def test_the_graph_of_blocks_is_that_of_the_upper_sides_frame() -> None:
    """The numbers of blocks are those of frame.py."""
    blocks = {
        men: len(partition_graph(graph_number(XiangqiMaterial.parse(f"KCPv{men}"))).weights)
        for men in ("K", "KA", "KAA", "KB", "KBB", "KAB", "KAAB", "KABB", "KAABB")
    }
    assert list(blocks.values()) == [6, 21, 38, 32, 96, 138, 242, 408, 714]
