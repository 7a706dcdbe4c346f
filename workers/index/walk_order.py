"""The order in which a proof goes through the walks of both kings, so that it keeps few values.

A partition lies on one walk of either king, and the proof of each of these two walks reads its
values.  The proof keeps them until the second walk is done.  Next comes always the walk with
the least share of partitions that were not read before.  So the values of at most 240 of the 462
partitions are kept; all of them would be if the walks of one king came before those of the other.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.number_types import SIDES, Side

KEPT_BYTES = 512 << 20  # a proof keeps values if they take no more


class ProofWalk(NamedTuple):
    """The partitions of one walk of the mover's king."""

    mover: Side
    pairs: list[int]


def in_turns(walks: Iterable[ProofWalk]) -> list[ProofWalk]:
    """Returns the walks in the order of a proof."""
    left, read, ordered = list(walks), set[int](), list[ProofWalk]()
    while left:
        ordered.append(min(left, key=lambda walk: len({*walk.pairs} - read) / len(walk.pairs)))
        left.remove(ordered[-1])
        read.update(ordered[-1].pairs)
    return ordered


def most_kept(ordered: Sequence[ProofWalk]) -> int:
    """Returns how many partitions are kept at most, from the first of their walks to the end of the
    second.
    """
    once, most = set[int](), 0
    for walk in ordered:
        most = max(most, len(once.union(walk.pairs)))
        once ^= {*walk.pairs}
    return most


@lru_cache(maxsize=1)
def partitions_kept() -> int:
    """Returns how many partitions a proof keeps the values of, at most."""
    walks = (ProofWalk(mover, pairs.tolist()) for mover in SIDES for pairs in TURNED.walks(mover))
    return most_kept(in_turns(walks))


def kept_bytes(partitions: int, slots: int, item: int) -> int:
    """Returns the bytes that a proof keeps, or 0 if they are too many: given how many partitions of
    either column, the slots of one, and the bytes of a value.
    """
    kept = len(SIDES) * partitions * slots * item
    return kept if kept <= KEPT_BYTES else 0
