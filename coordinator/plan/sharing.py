"""Counts the partitions that the workers of a team hold, copy, read and paint, and prove."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from kingpair.coordinator.plan.closure import layout
from kingpair.coordinator.plan.cut import cut, halo
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.walk_parts import WALKS, walk_parts
from kingpair.workers.number_types import STRONGER, WEAKER, Side


class Sharing(NamedTuple):
    """The partitions of each worker after the cut among so many."""

    workers: int
    own: int  # of the worker that has most
    each: tuple[tuple[int, int], ...]  # own and copied, by every worker
    read: tuple[tuple[int, int], tuple[int, int]]
    """By the side along whose moves they are read: copies of the worker that reads most, and of
    all workers.
    """

    @staticmethod
    @lru_cache(maxsize=512)
    def of(workers: int) -> "Sharing":
        owners, graph = cut(layout(), (1,) * workers), layout()
        shares = [[p for p, o in enumerate(owners) if o == w] for w in range(workers)]
        halos = [len(halo(graph, share)) for share in shares]
        return Sharing(
            workers,
            max(map(len, shares)),
            tuple(zip(map(len, shares), halos, strict=True)),
            (_read(shares, STRONGER), _read(shares, WEAKER)),
        )

    @property
    def held(self) -> list[float]:
        """The part of all partitions that each worker has, its own and copies."""
        return [sum(counts) / len(TURNED) for counts in self.each]

    def busy(self, cores: int, together: int) -> float:
        """Seconds that a second's work on all partitions takes, as chunks of so many together."""
        chunks = -(-self.own // together)
        return -(-chunks // cores) * min(together, self.own) / len(TURNED)


class PaintShares(NamedTuple):
    """How often a painter is given parts at most; and the partitions of the log that all painters
    read of what is logged on their own machines, and of what others have.

    A log has some partitions in one chunk, which is read whole for each part that has any of them.
    """

    turns: int
    own: int
    others: int


@lru_cache(maxsize=512)
def paint_shares(
    solvers: int, painters: int, size: int, together: int, at_once: int
) -> PaintShares:
    """Counts what painters read, of whom the first ones have solved the domain.  They paint parts
    of `size` partitions, each so many at once and the nearest to it of those that are left, from
    logs with so many partitions together.
    """
    owners = cut(layout(), (1,) * painters)
    chunks = _chunks(cut(layout(), (1,) * solvers), together)
    waiting = [range(at, min(at + size, len(TURNED))) for at in range(0, len(TURNED), size)]
    turns, read = 0, [0, 0]
    while waiting:
        turns += 1
        taken = min(at_once, -(-len(waiting) // painters))
        for worker in range(painters):
            for _ in range(min(taken, len(waiting))):
                part = max(waiting, key=lambda some: owners[some.start : some.stop].count(worker))
                waiting.remove(part)
                for owner, held in {chunks[p] for p in part}:
                    read[owner != worker] += len(held)
    return PaintShares(turns, *read)


def _chunks(owners: Sequence[int], together: int) -> list[tuple[int, tuple[int, ...]]]:
    """The owner of each partition, and the chunk of its log that has the partition."""
    found: list[tuple[int, tuple[int, ...]]] = [(0, ())] * len(owners)
    for worker in set(owners):
        own = [p for p, owner in enumerate(owners) if owner == worker]
        for at in range(0, len(own), together):
            for p in own[at : at + together]:
                found[p] = worker, tuple(own[at : at + together])
    return found


class ProofShares(NamedTuple):
    """The partitions of the largest part of a proof, those with the ones around them, and what all
    parts together read: the same of each.
    """

    own: int
    around: int
    read: int


@lru_cache
def proof_shares(finer: int) -> ProofShares:
    """Counts the partitions of the parts of a proof if each walk of a king makes so many."""
    parts = walk_parts(finer * WALKS)
    around = [len(part.around) for part in parts]
    most = max(len(part.pairs) for part in parts)
    return ProofShares(most, max(around), sum(around))


@lru_cache
def proof_copies(finer: int, provers: int) -> int:
    """The partitions that the prover which reads most of them copies, if the provers take parts in
    turn: each once, however many of its parts need it.
    """
    parts = walk_parts(finer * WALKS)
    return max(
        len({pair for part in parts[first::provers] for pair in part.around})
        for first in range(min(provers, len(parts)))
    )


def _read(shares: list[list[int]], side: Side) -> tuple[int, int]:
    """The partitions that workers read along one side's moves: the most, and all together."""
    counts = [len(TURNED.around(share, side)) for share in shares]
    return max(counts), sum(counts)
