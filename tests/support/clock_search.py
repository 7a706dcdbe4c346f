"""The 50-move rule by brute force: the result of every position at every value of the clock.

A position with a clock is a node, and a ply leads from one clock to the next.  So the search begins
where the clock has reached the limit and a draw is claimed, unless the position is mate, and goes
back a ply at a time:

    clock = limit    lost if mated, else drawn
    clock < limit    won if a capture leads to a position lost at clock 0, or another move to one
                     lost at clock + 1; lost if every move leads to what is won there

No distance is counted anywhere, so nothing is shared with a metric.  This takes materials without
pawns whose captures lead to three men: what three men win they win without a capture.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from pawn_boards import BLACK, WHITE, Endgame, Flags, Values, in_check, nodes_of
from pawn_moves import Moves
from pawn_oracle import Solution, after


class AtClock(NamedTuple):
    """The results with White and with Black to move: 1 won, -1 lost, 0 drawn."""

    clock: int
    results: tuple[Values, Values]


class Search:
    """All positions of an endgame, and their moves."""

    def __init__(self, name: str, limit: int) -> None:
        endgame = Endgame.parse(name)
        self.limit = limit
        self.nodes = nodes_of(endgame, WHITE), nodes_of(endgame, BLACK)
        self._moves = tuple(Moves(endgame, self.nodes, side, after) for side in (WHITE, BLACK))
        self._checked = [in_check(endgame, self.nodes[s].board, s) for s in (WHITE, BLACK)]
        self.positions = Solution(endgame, self.nodes, {})

    def results(self) -> Iterator[AtClock]:
        """From the last clock to the first."""
        last = tuple(-self._is_mate(side).astype(np.int16) for side in (WHITE, BLACK))
        at = AtClock(self.limit, (last[WHITE], last[BLACK]))
        yield at
        for clock in reversed(range(self.limit)):
            at = AtClock(clock, (self._before(WHITE, at), self._before(BLACK, at)))
            yield at

    def _is_mate(self, side: int) -> Flags:
        stuck = ~self._has_exit(side) & (self._moves[side].quiet_moves == 0)
        mated: Flags = self._checked[side] & stuck
        return mated

    def _has_exit(self, side: int) -> Flags:
        exits = self._moves[side].exits
        return exits.held | (exits.loss["dtm"] > 0)

    def _before(self, side: int, next_: AtClock) -> Values:
        moves, theirs = self._moves[side], next_.results[1 - side]
        count = len(moves.here.en_passant)
        into_lost, into_won = (
            np.bincount(
                moves.quiet_arcs.into(np.flatnonzero(theirs == worth).astype(np.int32)),
                minlength=count,
            )
            for worth in (-1, 1)
        )
        exits = moves.exits
        in_time = self.limit + 1  # the capture itself is a ply
        won = (exits.win["dtm"] <= in_time) | (into_lost > 0)
        bound = ~exits.held & (exits.loss["dtm"] <= in_time) & (into_won == moves.quiet_moves)
        can_move = self._has_exit(side) | (moves.quiet_moves > 0)
        lost = bound & (can_move | self._checked[side])
        found: Values = won.astype(np.int16) - lost
        return found
