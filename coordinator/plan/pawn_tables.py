"""The sizes of tables with pawns, as those were that have been built.

A value takes more where it is harder to guess.  Measured, in bytes a value, like pieces in every
order counted once:

                                           dtc            dtm            dtz
    a pawn, the other king bare            0.07 to 0.14   0.15 to 0.26   0.02 to 0.07
    two pawns                              0.03 to 0.08   0.15 to 0.23   0.01 to 0.03
    three pawns                            0.04           0.20           0.01
    the weaker side has pawns alone        0.07 to 0.14   0.24 to 0.39   0.10 to 0.13
    it has a piece                         0.11 to 0.23   0.17 to 0.33   0.13
    KNNNvKP                                0.20

The rates lie above the middle of these.  A minor piece against a pawn mostly draws, and takes a
third of its rate.
"""

from collections import Counter
from math import factorial, prod

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.material_index import table_index

AGAINST_A_BARE_KING = {  # by the number of pawns
    Metric.DTC: (0.135, 0.065, 0.05),
    Metric.DTM: (0.25, 0.25, 0.25),
    Metric.DTZ: (0.05, 0.02, 0.01),
}
AGAINST_PAWNS = {Metric.DTC: 0.14, Metric.DTM: 0.33, Metric.DTZ: 0.13}
AGAINST_PIECES = {Metric.DTC: 0.22, Metric.DTM: 0.36, Metric.DTZ: 0.18}
SIX_MEN = 1.5  # times the rate of fewer men, where the other king is not bare
BESIDE = 1.5
"""Times the size of a table its folder takes before the table is there: its parts, which are joined
to a table, and the logs of a few levels.  KRPvKR took 1.25 times, KPPPvK to mate 1.9 times.
"""


def table_bytes(material: Material, metric: Metric) -> int:
    """Returns about how many bytes a table takes, rather too many."""
    return int(2 * table_index(material).rows * _rate(material, metric) / _orders(material))


def _rate(material: Material, metric: Metric) -> float:
    if material.weaker:
        has_pieces = material.weaker.strip("P") != ""
        rates = AGAINST_PIECES if has_pieces else AGAINST_PAWNS
        return rates[metric] * (SIX_MEN if material.men > 5 else 1.0)
    by_pawns = AGAINST_A_BARE_KING[metric]
    return by_pawns[min(sum(material.pawns), len(by_pawns)) - 1]


def _orders(material: Material) -> int:
    """In how many orders like pieces can stand on the same squares: one of them is a position, and
    the values of the others repeat those before them.
    """
    return prod(factorial(count) for count in Counter(material.pieces).values())
