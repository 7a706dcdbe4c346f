"""Moves of the oracle for pawns, played forward by squares in many positions at a time.

A move is lawful if the position that it leads to is there: positions in which the side that has
moved is in check are not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from pawn_boards import (
    NONE,
    NOWHERE,
    WHITE,
    Endgame,
    Flags,
    Ints,
    Longs,
    Nodes,
    Squares,
    Values,
    bits,
    digit,
    has_one_image,
    node_of,
    occupied_by,
    pawn_reach,
    reach,
)

METRICS = ("dtc", "dtm", "dtz")
NEVER = 30_000  # more than the plies of anything
SPOILT = 100


@dataclass
class Exits:
    """The best and the worst of the exits of each node."""

    win: dict[str, Values]
    loss: dict[str, Values]
    held: Flags
    """Some exit does not lose."""

    @classmethod
    def none(cls, nodes: int) -> "Exits":
        def full(value: int) -> dict[str, Values]:
            return {metric: np.full(nodes, value, dtype=np.int16) for metric in METRICS}

        return cls(full(NEVER), full(0), np.zeros(nodes, dtype=np.bool_))

    def are_alike(self) -> bool:
        """Whether exits count in dtz what they count in dtc: none is spoilt."""
        return all(np.array_equal(of["dtc"], of["dtz"]) for of in (self.win, self.loss))

    def take(self, metric: str, nodes: Ints, after: Values) -> None:
        """Moves of different nodes to positions of those values, which end a phase."""
        plies = np.where(after > 0, after, -after - 1)
        costs = cost(metric, plies)
        won, lost = after < 0, after > 0
        win, loss = self.win[metric], self.loss[metric]
        win[nodes[won]] = np.minimum(win[nodes[won]], costs[won])
        loss[nodes[lost]] = np.maximum(loss[nodes[lost]], costs[lost])
        self.held[nodes[~lost]] = True


def cost(metric: str, plies: Values) -> Values:
    """The plies that a move counts which ends a phase, if so many follow it."""
    if metric == "dtm":
        return plies + np.int16(1)
    if metric == "dtc":
        return np.ones_like(plies)
    return np.where(plies > SPOILT, np.int16(SPOILT + 1), np.int16(1))


class Arcs(NamedTuple):
    """Moves by the node that they lead to."""

    sources: Ints
    starts: Longs

    @classmethod
    def of(cls, sources: list[Ints], targets: list[Ints], nodes: int) -> "Arcs":
        target = np.concatenate([np.empty(0, np.int32), *targets])
        starts = np.zeros(nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(target, minlength=nodes), out=starts[1:])
        both = target.astype(np.int64)
        both <<= 32
        both |= np.concatenate([np.empty(0, np.int32), *sources])
        both.sort(kind="stable")  # each man's moves come in order: a sixth of the time
        return cls(both.astype(np.int32), starts)

    def into(self, nodes: Ints) -> Ints:
        """The sources of all arcs into the nodes, as often as there are arcs."""
        first, count = self.starts[nodes], self.starts[nodes + 1] - self.starts[nodes]
        ends = np.cumsum(count)
        total = int(ends[-1]) if len(ends) else 0
        at = np.arange(total) + np.repeat(first - (ends - count), count)
        found: Ints = self.sources[at]
        return found


Placed = list[tuple[str, Squares]]
"""The men of one side by letter, with their squares in many positions."""
After = Callable[[Placed, Placed, int], tuple[Flags, dict[str, Values]]]
"""White's and Black's men, and who is to move: which positions are lawful, and the values."""


class Moves:
    """All lawful moves of one side: arcs, pushes apart from others, and exits."""

    def __init__(
        self, endgame: Endgame, nodes: tuple[Nodes, Nodes], to_move: int, after: After
    ) -> None:
        self.endgame, self.to_move, self._after = endgame, to_move, after
        self.here, self.there = nodes[to_move], nodes[1 - to_move]
        self.board, self.occupied = self.here.board, occupied_by(self.here.board)
        self._has_one_image = has_one_image(endgame, self.board)
        count = len(self.here.en_passant)
        self.exits = Exits.none(count)
        self.quiet_moves = np.zeros(count, dtype=np.int16)
        self.pushes = np.zeros(count, dtype=np.int16)
        self._quiet: tuple[list[Ints], list[Ints]] = ([], [])
        self._pushed: tuple[list[Ints], list[Ints]] = ([], [])
        for man in endgame.of(to_move):
            if endgame.men[man][0] == "P":
                self._move_pawn(man)
            else:
                self._move_piece(man)
        self.quiet_arcs = Arcs.of(*self._quiet, len(self.there.en_passant))
        self.push_arcs = Arcs.of(*self._pushed, len(self.there.en_passant))
        self._quiet = ([], [])  # not asked for again, and large

    @cached_property
    def push_pairs(self) -> tuple[Ints, Ints]:
        """The sources and the targets of all pushes."""
        none = [np.empty(0, np.int32)]
        return np.concatenate(none + self._pushed[0]), np.concatenate(none + self._pushed[1])

    def _move_piece(self, man: int) -> None:
        by, squares = reach(self.endgame.men[man][0]), self.board[man]
        own = np.zeros_like(self.occupied)
        for other in self.endgame.of(self.to_move):
            own |= bits(self.board[other])
        for i in range(by.squares.shape[1]):
            target = by.squares[squares, i]
            node = np.flatnonzero(
                (target != NOWHERE)
                & ((by.between[squares, i] & self.occupied) == 0)
                & ((bits(target & 63) & own) == 0)
            )
            target = target[node]
            self._capture(man, node, target, None)
            free = (bits(target) & self.occupied[node]) == 0
            self._quietly(man, node[free], target[free], self._quiet, self.quiet_moves)

    def _move_pawn(self, man: int) -> None:
        squares, ahead = self.board[man], 8 if self.to_move == WHITE else -8
        last, first = (7, 1) if self.to_move == WHITE else (0, 6)
        one = (squares.astype(np.int16) + ahead).astype(np.uint8)
        free = (bits(one) & self.occupied) == 0
        node = np.flatnonzero(free & (one >> 3 == last))
        for letter in "QRBN":
            self._leave(man, node, one[node], None, letter)
        node = np.flatnonzero(free & (one >> 3 != last))
        self._quietly(man, node, one[node], self._pushed, self.pushes)
        node = np.flatnonzero(free & (squares >> 3 == first))
        two = (one[node].astype(np.int16) + ahead).astype(np.uint8)
        able = (bits(two) & self.occupied[node]) == 0
        node, two = node[able], two[able]
        self._quietly(man, node, two, self._pushed, self.pushes, passed=one[node])
        self._capture_by_pawn(man, last)

    def _capture_by_pawn(self, man: int, last: int) -> None:
        for i in range(2):
            target = pawn_reach(self.to_move).squares[self.board[man], i]
            taken = np.flatnonzero(target != NOWHERE)
            promoting = target[taken] >> 3 == last
            self._capture(man, taken[~promoting], target[taken[~promoting]], None)
            for letter in "QRBN":
                self._capture(man, taken[promoting], target[taken[promoting]], letter)
            passing = np.flatnonzero((target == self.here.en_passant) & (target != NOWHERE))
            self._capture_en_passant(man, passing, target[passing])

    def _capture(self, man: int, node: Longs, target: Squares, letter: str | None) -> None:
        for taken in self.endgame.of(1 - self.to_move):
            if taken not in self.endgame.kings:
                there = self.board[taken][node] == target
                self._leave(man, node[there], target[there], taken, letter)

    def _capture_en_passant(self, man: int, node: Longs, target: Squares) -> None:
        behind = target.astype(np.int16) + (-8 if self.to_move == WHITE else 8)
        for taken in self.endgame.of(1 - self.to_move):
            if self.endgame.men[taken][0] == "P":
                there = self.board[taken][node] == behind
                self._leave(man, node[there], target[there], taken, None)

    def _quietly(
        self,
        man: int,
        node: Longs,
        target: Squares,
        into: tuple[list[Ints], list[Ints]],
        count: Values,
        passed: Squares | None = None,
    ) -> None:
        if passed is None and man not in (*self.endgame.kings, *chain(*self.endgame.like)):
            found = self._after_piece(man, node, target)
        else:
            found = self._after_any(man, node, target, passed)
        lawful = found != NONE
        into[0].append(node[lawful].astype(np.int32))
        into[1].append(found[lawful])
        count[node[lawful]] += 1

    def _after_any(
        self, man: int, node: Longs, target: Squares, passed: Squares | None = None
    ) -> Ints:
        board = [squares[node] for squares in self.board]
        board[man] = target
        right = np.full(len(node), NOWHERE, dtype=np.uint8) if passed is None else passed
        return node_of(self.endgame, self.there, board, right)

    def _after_piece(self, man: int, node: Longs, target: Squares) -> Ints:
        """The nodes after a move of a piece that no other is like: one digit of the code changes.

        Where the kings are kept in two ways, the smaller of two codes counts.
        """
        step = target.astype(np.int64) - self.board[man][node]
        found = self.there.number[self.here.code[node] + step * digit(self.endgame, man)]
        twice = np.flatnonzero(~self._has_one_image[node])
        if len(twice):
            found[twice] = self._after_any(man, node[twice], target[twice])
        return found

    def _leave(
        self,
        man: int,
        node: Longs,
        target: Squares,
        taken: int | None,
        letter: str | None,
    ) -> None:
        """A man goes to the target, takes `taken`, if any, and becomes `letter`, if any."""
        if not len(node):
            return
        sides: tuple[Placed, Placed] = ([], [])
        for other, (kind, colour) in enumerate(self.endgame.men):
            if other != taken:
                squares = target if other == man else self.board[other][node]
                sides[colour].append((letter or kind if other == man else kind, squares))
        lawful, values = self._after(*sides, 1 - self.to_move)
        for metric in METRICS:
            self.exits.take(metric, node[lawful].astype(np.int32), values[metric][lawful])
