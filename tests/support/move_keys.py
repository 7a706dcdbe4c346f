"""Keys: numbers that compare the moves of a side, the better move having the larger key.

A key says how good a move is for its side, by the value of the position that it leads to:

    0              no move: the position entered is not legal
    1              a conversion that loses, where its depth does not count
    1 + n          the other side wins in n moves: the longer the better; 2 + n where plies count
    DRAW           half of the range
    -n             the other side loses in n - 1 moves; unsigned, so the shorter the better

A move that sets the clock to zero counts 1 ply, or 101 if the 50-move rule spoils what follows.

The best key of a position gives its value: minus the key, 0 for a draw.  The keys of a byte hold
values up to 126.
"""

from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.table.value import Values

Keys = NDArray[np.unsignedinteger[Any]]


def draw_of(dtype: np.dtype[Any]) -> int:
    """The key of a draw."""
    return 1 << 8 * dtype.itemsize - 1


def _unsigned(values: Values) -> Keys:
    return values.view(np.dtype(f"u{values.dtype.itemsize}"))


class Rule(Enum):
    """A move adds this to the value that it leads to, or ends the phase."""

    RESULT = 0
    MOVES = 1
    PLIES = 2
    ZEROING = 3


class Rules(NamedTuple):
    """The rules of a metric, by kind of move."""

    quiet: Rule
    push: Rule
    conversion: Rule


RULES = {
    Metric.DTC: Rules(Rule.MOVES, Rule.MOVES, Rule.RESULT),
    Metric.DTM: Rules(Rule.MOVES, Rule.MOVES, Rule.MOVES),
    Metric.DTZ: Rules(Rule.PLIES, Rule.ZEROING, Rule.ZEROING),
}


def keys_of(values: Values, rule: Rule = Rule.MOVES) -> Keys:
    """The keys of moves to positions of those values."""
    if rule is Rule.ZEROING:
        counted = _zeroing(values)
    else:
        counted = (values + (values > 0) * rule.value).astype(values.dtype, copy=False)
    keys = _unsigned(counted)
    return np.where(values == 0, keys.dtype.type(draw_of(keys.dtype)), keys)


def _zeroing(values: Values) -> Values:
    """The class of the value alone counts."""
    won = np.where(values > CLOCK_LIMIT, CLOCK_LIMIT + 2, 2)
    lost = np.where(values < -CLOCK_LIMIT - 1, -CLOCK_LIMIT - 1, -1)
    found: Values = np.where(values > 0, won, lost).astype(values.dtype)
    return found


def values_of(best: Keys) -> Values:
    """The values of positions by their best keys; 0 where there is no move."""
    signed = np.dtype(f"i{best.dtype.itemsize}")
    found: Values = np.where(best == draw_of(best.dtype), best.dtype.type(0), -best).view(signed)
    return found


def entered_by(keys: Keys, rule: Rule = Rule.MOVES) -> Values:
    """The values of the positions that moves with these keys lead to; 0 where there is no move."""
    values = keys.view(np.dtype(f"i{keys.dtype.itemsize}"))
    drawn = (keys == 0) | (keys == draw_of(keys.dtype))
    found: Values = np.where(drawn, 0, values - (values > 0) * rule.value).astype(values.dtype)
    return found


def best_keys_of(values: Values) -> Keys:
    """The best keys of positions of those values: the inverse of `values_of`."""
    keys = -_unsigned(values)
    return np.where(values == 0, keys.dtype.type(draw_of(keys.dtype)), keys)
