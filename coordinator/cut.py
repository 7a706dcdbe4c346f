"""A cut of the graph of partitions into shares of nearly equal weight, few links between them.

    halve the set, grown from its edge towards where most links already lead
    exchange pairs across the cut while that severs fewer links
    halve the halves

The cut depends on the graph and the number of shares alone.  It decides how many bytes travel,
never what is found.
"""

from collections import deque
from collections.abc import Collection
from functools import lru_cache

from coordinator.domains import Layout

Owners = tuple[int, ...]  # the worker of each partition


@lru_cache(maxsize=256)
def cut(layout: Layout, workers: int) -> Owners:
    """The worker of each partition; every worker has at least one."""
    assert 1 <= workers <= layout.partitions, f"{workers} shares of {layout.partitions}"
    owners = [0] * layout.partitions
    for worker, share in enumerate(_split(layout, range(layout.partitions), workers)):
        for partition in share:
            owners[partition] = worker
    return tuple(owners)


def links_cut(layout: Layout, owners: Owners) -> int:
    """Ordered pairs of neighbours with different workers."""
    return sum(owners[p] != owners[q] for p, others in enumerate(layout.neighbours) for q in others)


def halo(layout: Layout, share: Collection[int]) -> frozenset[int]:
    """The neighbours of a share that are not in it."""
    inside = frozenset(share)
    return frozenset[int]().union(*map(layout.neighbours.__getitem__, inside)) - inside


def _split(layout: Layout, partitions: Collection[int], workers: int) -> list[Collection[int]]:
    if workers == 1:
        return [partitions]
    ours, theirs = workers // 2, workers - workers // 2
    left = _grown(layout, partitions, ours, theirs)
    right = set(partitions) - left
    _exchange(layout, left, right)
    return _split(layout, sorted(left), ours) + _split(layout, sorted(right), theirs)


def _grown(layout: Layout, partitions: Collection[int], ours: int, theirs: int) -> set[int]:
    """A connected set with its part of the weight, and enough left for the others."""
    outside = set(partitions)
    quota = sum(layout.weights[p] for p in outside) * ours / (ours + theirs)
    inside: set[int] = set()
    links = dict.fromkeys(outside, 0)  # inside minus outside
    for p in outside:
        links[p] = -sum(q in outside for q in layout.neighbours[p])
    at, weight = _edge(layout, partitions), 0
    while len(inside) < ours or (weight < quota and len(outside) > theirs):
        inside.add(at)
        outside.remove(at)
        weight += layout.weights[at]
        for q in layout.neighbours[at]:
            if q in outside:
                links[q] += 2
        at = max(outside, key=lambda p: (links[p], -p))
    return inside


def _edge(layout: Layout, partitions: Collection[int]) -> int:
    """A partition far from the others: the last that a walk in breadth comes to."""
    allowed, last = set(partitions), min(partitions)
    seen, waiting = {last}, deque([last])
    while waiting:
        last = waiting.popleft()
        for q in layout.neighbours[last]:
            if q in allowed and q not in seen:
                seen.add(q)
                waiting.append(q)
    return last


def _exchange(layout: Layout, left: set[int], right: set[int]) -> None:
    """Kernighan and Lin, greedily: each exchange severs fewer links, so it ends."""
    while True:
        gains = [_gains(layout, mine, other) for mine, other in ((left, right), (right, left))]
        best = max(
            (
                (gains[0][p] + gains[1][q] - 2 * (q in layout.neighbours[p]), -p, -q)
                for p in _best(gains[0])
                for q in _best(gains[1])
                if layout.weights[p] == layout.weights[q]
            ),
            default=(0, 0, 0),
        )
        if best[0] <= 0:
            return
        p, q = -best[1], -best[2]
        left.symmetric_difference_update((p, q))
        right.symmetric_difference_update((p, q))


def _gains(layout: Layout, mine: set[int], other: set[int]) -> dict[int, int]:
    """How many links fewer would be severed if a partition changed sides."""
    return {p: sum((q in other) - (q in mine) for q in layout.neighbours[p]) for p in sorted(mine)}


def _best(gains: dict[int, int]) -> list[int]:
    return sorted(gains, key=lambda p: (-gains[p], p))[:8]
