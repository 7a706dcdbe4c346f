"""The size of our index of a material, beside the published ones.

Our index is regular: 64 squares for each man besides the kings, so that a row is a word.  It has
more entries than others, and compression takes most of them back.  How many hold a position is
counted by the kernels that solve the material, so it checks the legality of all positions against
published figures.

Positions are counted as those figures do: like men are not told apart, and where both kings stand
on the long diagonal a position and its mirror image are two; with pawns there is one of a position
and its mirror image, and rights to capture en passant are no positions of their own.
"""

from dataclasses import dataclass

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.errors import BadMaterial
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.material_index import table_index
from kingpair.workers.index.published_indexes import PublishedSizes, published_sizes
from kingpair.workers.index.slices import division
from kingpair.workers.index.structures import structures
from kingpair.workers.number_types import SIDES, Partition, Side
from kingpair.workers.sets.domain import Domain, popcount
from kingpair.workers.sets.material_domain import domain_of
from kingpair.workers.sets.memory import zeros
from kingpair.workers.sets.threads import Threads


@dataclass(frozen=True, slots=True)
class IndexSizes:
    """The entries and positions of a material with one side to move."""

    material: Material
    mover: Side
    ours: int
    positions: int
    published: PublishedSizes

    def waste(self, entries: int) -> int:
        """The entries of an index that hold no position."""
        return entries - self.positions


def index_sizes(material: Material, threads: Threads) -> tuple[IndexSizes, IndexSizes]:
    """The sizes with the stronger and with the weaker side to move.  Raises BadMaterial for other
    games than chess.
    """
    if material.game.frame:
        raise BadMaterial(
            f"{material}: the published indexes are of chess; kingpair report {material} counts "
            "the positions of its table"
        )
    ours = table_index(material).rows
    first, second = (
        IndexSizes(
            material, mover, ours, _positions(material, mover, threads),
            published_sizes(material, mover),
        )
        for mover in SIDES
    )  # fmt: skip
    return first, second


def _positions(material: Material, mover: Side, threads: Threads) -> int:
    return sum(_legal_slots(domain, mover, threads) for domain in _domains(material))


def _domains(material: Material) -> list[Domain]:
    if not material.has_pawns:
        return [domain_of(material)]
    kept = structures(*material.pawns)
    levels = division(*material.pawns).slices
    return [Domain(material, placings=level.placings(kept)) for level in levels]


def _legal_slots(domain: Domain, mover: Side, threads: Threads) -> int:
    """The legal slots of a domain with like men in order."""
    kings = domain.index.kings
    # Without pawns both images on the diagonal count; with pawns one of each pair of images does.
    halved = kings.halved & ~np.bool_(kings.is_turned)
    scratches = threads.scratches(domain)

    def job(pair: Partition) -> int:
        out = zeros(domain.words, np.uint64)
        with scratches.lend() as scratch:
            _kernels.legal(domain.kernel, pair, mover, out, scratch)
        out &= domain.canonical_of(bool(halved[pair]))
        return popcount(out)

    return sum(threads.map(job, kings.partitions))
