"""The orders of men that a sub-table may have, and the one under which its values code shortest."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from itertools import permutations, product, repeat

from kingpair.workers.game.chess.material import Material
from kingpair.workers.syzygy.numbering import (
    BLACK,
    KING,
    PAWN,
    Men,
    Order,
    groups_of,
    has_other_pawns,
    leading_pawns,
    men_of,
)

Arrangement = tuple[Men, Order]


def arrangements(material: Material) -> Iterator[Arrangement]:
    """All orders of the men, and all places of the leading weights, each numbering once."""
    for men in _orders_of_men(material):
        groups = groups_of(men)
        places = range(len(groups))
        if not has_other_pawns(groups):
            yield from ((men, Order(place)) for place in places)
        else:
            yield from (
                (men, Order(first, second))
                for first, second in product(places, places)
                if first != second
            )


def _orders_of_men(material: Material) -> Iterator[Men]:
    men = men_of(material)
    pawns = [man for man in men if man % BLACK == PAWN]
    pawns.sort(key=lambda man: man != leading_pawns(material))
    pieces = [man for man in men if man % BLACK != PAWN]
    kinds = list(dict.fromkeys(pieces))
    for order in permutations(kinds):
        found = (*pawns, *(man for kind in order for man in [kind] * pieces.count(kind)))
        if pawns or _leads(found, pieces):
            yield found


def _leads(men: Men, pieces: list[int]) -> bool:
    """Whether the first men can lead: three that are single, or the kings."""
    single = [man for man in dict.fromkeys(pieces) if pieces.count(man) == 1]
    if len(single) >= 3:
        return all(man in single for man in men[:3])
    return all(man % BLACK == KING for man in men[:2])


def best(
    candidates: list[Arrangement],
    estimate: Callable[[Arrangement, int], int],
    pool: Executor,
) -> Arrangement:
    """The candidate that is estimated to be shortest, by samples that grow as fewer are left."""
    for chunks in SAMPLES:
        if len(candidates) == 1:
            break
        found = pool.map(estimate, candidates, repeat(chunks))
        sizes = dict(zip(candidates, found, strict=True))
        candidates = sorted(candidates, key=sizes.__getitem__)[: max(1, len(candidates) // FEWER)]
    return candidates[0]


SAMPLES = (16, 64, 256)
"""Chunks of a table that are looked at."""
FEWER = 6
