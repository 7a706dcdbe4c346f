"""The work of a material in seconds of processor time, as measured on one core of an AMD EPYC.

    solve   the passes of both analyses, with what captures and promotions lead to
    write   the columns and the seal of the table
    prove   every value once more, by forward moves
    export  the Syzygy files of the table, if they are asked for

How long a machine takes is this work times its pace, the seconds that it needs for one of these,
which every build measures anew (`kingpair.coordinator.journal.countdown`).  Solving pawnless
materials of up to five men was measured one by one; all else follows from the number of slots, and
was off by at most a factor of 1.7.
"""

from functools import cache
from typing import NamedTuple

from kingpair.coordinator.plan.closure import PROOF_PARTS
from kingpair.coordinator.plan.domains import proof_part_count
from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.structures import structures
from kingpair.workers.table.key import TableKey

EACH = 0.03  # what any table or level takes besides: files, and the journal
EXPORT_PER_SLOT = 6e-8  # to write the Syzygy files of a table
PER_SLOT = (4e-9, 7e-9)  # to write and to prove a slot of one side to move
WRITE_PER_SLOT_WITH_PAWNS = 3e-9
# To prove a slot with pawns and no piece, one piece, or more of them besides.
PROVE_PER_SLOT_WITH_PAWNS = (7e-8, 6e-8, 2e-8)
# To solve with pawns: a level, and a slot by the number of pieces, as above.
PAWNS = {
    Metric.DTC: (0.1, (2.5e-7, 4.5e-8, 2.2e-8)),
    Metric.DTM: (0.2, (5.5e-7, 1.4e-7, 4.2e-8)),
    Metric.DTZ: (0.2, (5.5e-7, 1.4e-7, 4.2e-8)),
}
FOUR_MEN = {Metric.DTC: 0.03, Metric.DTM: 0.07, Metric.DTZ: 0.07}
# A sixth man multiplies the slots by 64, and there are more and slower passes.
SIX_MEN = 64 * 4.5
FRAMED_PER_SLOT = 2e-8  # of a game with men in frames
# Tenths of a second to solve five men to conversion and to mate, processor time of one thread.
_FIVE_MEN = """
KQQQvK 1 1  KQQRvK 1 1  KQQBvK 1 1  KQQNvK 1 2  KQRRvK 1 2  KQRBvK 1 3  KQRNvK 1 3  KQBBvK 2 3
KQBNvK 1 8  KQNNvK 2 3  KRRRvK 1 1  KRRBvK 2 3  KRRNvK 1 4  KRBBvK 4 5  KRBNvK 2 7  KRNNvK 2 4
KBBBvK 1 4  KBBNvK 3 9  KBNNvK 5 10 KNNNvK 4 3  KQQvKQ 3 10 KQQvKR 1 10 KQQvKB 1 6  KQQvKN 1 5
KQRvKQ 9 21 KQRvKR 3 12 KQRvKB 3 9  KQRvKN 2 11 KQBvKQ 4 9  KQBvKR 6 13 KQBvKB 5 7  KQBvKN 4 10
KQNvKQ 3 9  KQNvKR 4 16 KQNvKB 5 7  KQNvKN 3 8  KRRvKQ 4 17 KRRvKR 6 11 KRRvKB 3 9  KRRvKN 2 11
KRBvKQ 8 19 KRBvKR 3 8  KRBvKB 7 12 KRBvKN 7 13 KRNvKQ 10 20 KRNvKR 2 8 KRNvKB 8 11 KRNvKN 8 12
KBBvKQ 15 18 KBBvKR 1 2 KBBvKB 1 1  KBBvKN 13 14 KBNvKQ 10 16 KBNvKR 1 7 KBNvKB 1 3 KBNvKN 4 8
KNNvKQ 11 15 KNNvKR 1 2 KNNvKB 1 1  KNNvKN 1 1
"""


class Work(NamedTuple):
    """Seconds of processor time to solve, write and prove a table."""

    solve: float
    write: float
    prove: float


@cache
def work_of(table: TableKey) -> Work:
    """Returns the work of a table whose smaller tables are there."""
    material, metric = table
    slots = estimate(material, 1, metric).slots
    write, prove = PER_SLOT
    solve = _pawnless
    if material.has_pawns:
        write, prove = WRITE_PER_SLOT_WITH_PAWNS, PROVE_PER_SLOT_WITH_PAWNS[_pieces(material)]
        solve = _with_pawns
    return Work(EACH + solve(material, metric, slots), EACH + write * slots, prove * slots)


@cache
def export_work(material: Material) -> float:
    """Returns the work of the Syzygy files of a material."""
    return EACH + EXPORT_PER_SLOT * estimate(material, 1, Metric.DTZ).slots


def work_by_team(table: TableKey, solvers: int, provers: int) -> float:
    """Returns the work that is left one after the other if so many nodes share the levels of a
    material with pawns, and so many its proof.  What they exchange is not counted, nor that one of
    them joins the table.
    """
    found, parts = work_of(table), proof_part_count(PROOF_PARTS, provers)
    return (found.solve + found.write) / solvers + found.prove / parts * -(-parts // provers)


@cache
def level_work(table: TableKey) -> list[float]:
    """Returns the work to solve each level of a table with pawns: that of all is `solve`."""
    sizes = [len(level) for level in structures(*table.material.pawns).levels]
    each, _ = _rates(*table)
    fixed = min(1.0, each * len(sizes) / work_of(table).solve)
    shares = [fixed / len(sizes) + (1 - fixed) * size / sum(sizes) for size in sizes]
    return [share * work_of(table).solve for share in shares]


def _with_pawns(material: Material, metric: Metric, slots: int) -> float:
    each, per_slot = _rates(material, metric)
    return each * len(structures(*material.pawns).levels) + per_slot * slots


def _rates(material: Material, metric: Metric) -> tuple[float, float]:
    each, by_pieces = PAWNS[metric]
    return each, by_pieces[_pieces(material)]


def _pieces(material: Material) -> int:
    """Pieces beside kings and pawns, at most two: more of them make no difference to a slot."""
    return min(2, len(material.pieces))


def _pawnless(material: Material, metric: Metric, slots: int) -> float:
    measured = _five_men()
    if material.game.frame:
        return FRAMED_PER_SLOT * slots
    if material.men < 5:
        return FOUR_MEN[metric] * (material.men - 2) / 2
    to_mate = metric is not Metric.DTC
    if material.men == 5:
        return measured[str(material)][to_mate] / 10
    smaller = {str(exit_.material) for exit_ in material.captures()}
    return SIX_MEN * sum(measured[each][to_mate] / 10 for each in smaller) / len(smaller)


@cache
def _five_men() -> dict[str, tuple[int, int]]:
    words = _FIVE_MEN.split()
    return {
        name: (int(dtc), int(dtm))
        for name, dtc, dtm in zip(words[::3], words[1::3], words[2::3], strict=True)
    }
