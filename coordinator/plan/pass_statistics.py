"""Statistics of passes: how many an analysis takes, and how much each of them finds.

This is not known of a material before it is solved.  But materials are alike: most that is ever
found is found in the first passes, the rest in a long thin tail.

    decided   the share of all placements that is found won or lost, by the winner's strength
    first     the part of it that passes 0, 1, ... find
    tail      the part of the rest found when a tenth, two tenths, ... of the later passes are over
    deepest   how many passes the deepest material of so many men takes

These are means over the pawnless materials of five men.  The deepest of up to five men are known
from their tables; those of six (KRNvKNN, 243 moves to conversion, 262 to mate) and seven
(KQNvKRBN, 517 and 545) are published results; that of eight is a guess, twice the last.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from math import log
from typing import NamedTuple

from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import Side

DEEPEST = {
    Metric.DTC: {3: 16, 4: 33, 5: 77, 6: 243, 7: 517, 8: 1034},
    Metric.DTM: {3: 28, 4: 40, 5: 107, 6: 262, 7: 545, 8: 1090},
    # Pawnless, a distance in plies is one to conversion; the last pass finds nothing.
    Metric.DTZ: {3: 33, 4: 67, 5: 155, 6: 487, 7: 1035, 8: 2069},
}
DECIDED = (0.50, 0.08)  # by the stronger, by the weaker side
LASTS = (1.0, 0.77)  # passes of the weaker side's analysis to one of the stronger's
FIRST = {
    Metric.DTC: (
        (0.006, 0.402, 0.086, 0.063, 0.060, 0.060),
        (0.003, 0.675, 0.131, 0.043, 0.023, 0.015),
    ),
    Metric.DTM: (
        (0.005, 0.030, 0.061, 0.085, 0.079, 0.073),
        (0.015, 0.123, 0.060, 0.029, 0.009, 0.007),
    ),
    Metric.DTZ: (
        (0.001, 0.005, 0.380, 0.022, 0.070, 0.016),
        (0.001, 0.002, 0.660, 0.015, 0.120, 0.011),
    ),
}
TAIL = {
    Metric.DTC: (
        (0.0, 0.333, 0.580, 0.711, 0.793, 0.870, 0.938, 0.967, 0.988, 0.999, 1.0),
        (0.0, 0.520, 0.713, 0.831, 0.886, 0.931, 0.966, 0.984, 0.993, 0.999, 1.0),
    ),
    Metric.DTM: (
        (0.0, 0.302, 0.488, 0.658, 0.747, 0.821, 0.876, 0.929, 0.976, 0.999, 1.0),
        (0.0, 0.092, 0.225, 0.356, 0.516, 0.691, 0.803, 0.915, 0.971, 0.999, 1.0),
    ),
    Metric.DTZ: (
        (0.0, 0.333, 0.580, 0.711, 0.793, 0.870, 0.938, 0.967, 0.988, 0.999, 1.0),
        (0.0, 0.520, 0.713, 0.831, 0.886, 0.931, 0.966, 0.984, 0.993, 0.999, 1.0),
    ),
}


class PassShares(NamedTuple):
    """The findings of a pass, as shares of the slots of one side to move."""

    won: float
    lost: float


def pass_shares(men: int, metric: Metric, winner: Side, passes: int) -> tuple[PassShares, ...]:
    """Returns the findings of passes 0, 1, ... of a winner's analysis; the stronger side's goes to
    pass `passes`.
    """
    count = max(1, round(passes * LASTS[winner]))
    parts = _parts(FIRST[metric][winner], TAIL[metric][winner], count)
    half = DECIDED[winner] * placed(men) / sum(parts)
    return tuple(
        PassShares(half * part if depth else 0.0, half * part) for depth, part in enumerate(parts)
    )


def _parts(first: Sequence[float], tail: Sequence[float], count: int) -> list[float]:
    """Returns how much passes 0 to `count` find, relative to each other."""
    early, late = list(first[: count + 1]), count + 1 - len(first)
    reached = [_along(tail, i / late) for i in range(late + 1)] if late > 0 else []
    rest = 1 - sum(first)
    return early + [rest * (after - before) for before, after in pairwise(reached)]


def placed(men: int) -> float:
    """The part of the slots in which no two men share a square."""
    share = 1.0
    for man in range(men - 2):
        share *= (62 - man) / 64
    return share


def _along(values: Sequence[float], at: float) -> float:
    """A value on the straight lines through evenly spaced ones; `at` from 0 to 1."""
    place = at * (len(values) - 1)
    i = min(int(place), len(values) - 2)
    return values[i] + (place - i) * (values[i + 1] - values[i])


# ---- how thinly what is found is spread ----

_DENSITY = (1e-8, 3e-7, 2e-6, 2e-5, 2e-4, 2e-3, 5e-3, 2e-2, 5e-2, 2e-1, 1.0)
_OCCUPIED = (4e-6, 1e-4, 6e-4, 4e-3, 2.5e-2, 2e-1, 2.9e-1, 4.7e-1, 7.2e-1, 9e-1, 1.0)
_BYTES = (60.0, 50.0, 20.0, 5.0, 2.2, 1.5, 1.2, 0.85, 0.62, 0.4, 0.14)


def occupied(density: float) -> float:
    """The share of all units (512 slots) that hold anything of a layer with such a share of the
    slots.  Alike for five and six men.
    """
    return _between(_OCCUPIED, density)


def stream_bytes(density: float) -> float:
    """Bytes for each position of such a layer, as they are logged and exchanged."""
    return _between(_BYTES, density)


def _between(values: Sequence[float], density: float) -> float:
    """Straight between the measured points, as they would lie on paper with logarithmic scales."""
    if density <= _DENSITY[0]:
        return values[0] * (density / _DENSITY[0] if values is _OCCUPIED else 1)
    i = min(bisect_left(_DENSITY, density), len(_DENSITY) - 1)
    low, high = _DENSITY[i - 1], _DENSITY[i]
    power: float = (density / low) ** (_log_ratio(values[i - 1], values[i]) / _log_ratio(low, high))
    return values[i - 1] * power


def _log_ratio(low: float, high: float) -> float:
    return log(high / low)
