"""The counts of a table with pawns: those of its parts, added up."""

from collections.abc import Iterable
from itertools import pairwise
from math import comb
from typing import Any, NamedTuple

import numpy as np

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import SIDES, Row, Side, opponent
from kingpair.workers.sets.domain import Domain
from kingpair.workers.table.fens import fen_of_row
from kingpair.workers.table.format import COLUMNS, Counts
from kingpair.workers.table.level_painting import PaintedLevel
from kingpair.workers.table.painting import Histories, deepest, side_histograms
from kingpair.workers.table.value import loss_in, smallest_dtype, win_in

RESULTS = ("win", "loss")
_SEARCHED_ROWS = 1 << 20  # at a time


class PartCounts(NamedTuple):
    """The counts of a part of a level.  What is of the level as a whole is in its first part alone.

    `decided` has the positions by side, result and moves; `longest` the moves of the longest win
    and loss of each side in the level, and the first row of the part that has it, or -1.
    """

    placements: int
    decided: list[dict[str, dict[str, int]]]
    legal: list[int]
    longest: list[dict[str, tuple[int, int]]]


def counts_of(
    domain: Domain,
    metric: Metric,
    logs: Histories,
    painted: PaintedLevel,
    first: int,
    is_first: bool,
) -> PartCounts:
    """The counts of a part whose first row is `first`."""
    decided: list[dict[str, dict[str, int]]] = [{}, {}]
    if is_first:
        decided = [
            dict(zip(RESULTS, side_histograms(metric, logs, side), strict=True)) for side in SIDES
        ]
    longest = [
        {
            result: (moves, _first_row(painted, side, result, moves, first))
            for result, winner in (("win", side), ("loss", opponent(side)))
            if (moves := _longest_in(metric, logs, winner, result == "win")) is not None
        }
        for side in SIDES
    ]
    placements = placements_of(domain) if is_first else 0
    return PartCounts(placements, decided, list(painted.legal), longest)


def _longest_in(metric: Metric, logs: Histories, winner: Side, won: bool) -> int | None:
    depth = deepest(logs, winner, won)
    return None if depth is None else metric.distance(depth, won)


def smallest_level_dtype(metric: Metric, logs: Histories) -> np.dtype[Any]:
    """The smallest type that holds every value of a level."""
    found = (_longest_in(metric, logs, winner, won) for winner in logs for won in (True, False))
    return smallest_dtype(max((moves for moves in found if moves is not None), default=0))


def _first_row(painted: PaintedLevel, side: Side, result: str, moves: int, first: int) -> int:
    """The first row of a value; rows without a position repeat a row before them."""
    value = win_in(moves) if result == "win" else loss_in(moves)
    column = painted.columns[side]
    for at in range(0, len(column), _SEARCHED_ROWS):
        is_found = column[at : at + _SEARCHED_ROWS] == value
        if is_found[row := int(is_found.argmax())]:
            return first + at + row
    return -1


def stated(material: Material, parts: Iterable[PartCounts]) -> Counts:
    """The counts of a table as its footer states them."""
    every = list(parts)
    placements = sum(part.placements for part in every)
    counts: Counts = {}
    longest: dict[str, Any] = {}
    for side, name in zip(SIDES, COLUMNS, strict=True):
        of = {
            result: _added(part.decided[side].get(result, {}) for part in every)
            for result in RESULTS
        }
        legal = sum(part.legal[side] for part in every)
        draw = legal - sum(sum(found.values()) for found in of.values())
        assert draw >= 0, "more positions were decided than are legal"
        counts[name] = {**of, "draw": draw, "illegal": placements - legal}
        longest[name] = _longest(material, side, every)
    counts["longest"] = longest
    return counts


def _added(found: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[int, int] = {}
    for each in found:
        for moves, count in each.items():
            total[int(moves)] = total.get(int(moves), 0) + count
    return {str(moves): total[moves] for moves in sorted(total)}


def _longest(material: Material, side: Side, parts: list[PartCounts]) -> dict[str, Any]:
    """The longest win and loss of a side, and the first position of each."""
    found: dict[str, tuple[int, int]] = {}
    for part in parts:
        for result, (moves, row) in part.longest[side].items():
            if row >= 0 and moves > found.get(result, (-1, 0))[0]:
                found[result] = moves, row
    return {
        result: {"moves": moves, "fen": fen_of_row(material, Row(row), side)}
        for result, (moves, row) in sorted(found.items())
    }


def placements_of(domain: Domain) -> int:
    """Distinct ways to place the men of a level on different squares, kings apart."""
    placings, kings = domain.placings, domain.index.kings
    assert placings is not None, "a domain without pawns is no level"
    standing = placings.words.standing.view(np.uint8).reshape(-1, 8)
    free = 1 - np.unpackbits(standing, axis=1, bitorder="little").astype(np.int64)
    stronger, weaker = np.array(kings.squares).T
    pairs = np.zeros((2, 64, 64), np.int64)  # all that are kept, and those of symmetric pawns
    pairs[0, stronger, weaker], pairs[1, stronger, weaker] = 1, ~kings.halved
    of_pawns = [free[~placings.symmetric], free[placings.symmetric]]
    ways_of_kings = sum(
        int((each @ kept * each).sum()) for each, kept in zip(of_pawns, pairs, strict=True)
    )
    empty = 62 - placings.squares.shape[1]
    ways, run = 1, 0
    pieces = domain.material.pieces
    for piece, following in pairwise((*pieces, None)):
        run += 1
        if piece != following:
            ways, empty, run = ways * comb(empty, run), empty - run, 0
    return ways_of_kings * ways
