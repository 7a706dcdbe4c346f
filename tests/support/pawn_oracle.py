"""Ground truth for endgames of up to four men, pawns included: a graph of all positions, solved
from its ends.

The idea
--------
Each lawful position with a side to move is a node, and so is each position with a right to capture
en passant: it has the moves of the position without the right, and the capture.  So no rule about
en passant is needed.  An arc is a lawful move that leaves all men on the board as they are.  Any
other lawful move, a capture or a promotion, is an exit into an endgame that was solved before.

All moves are played forward, by squares: there are no bitmaps, no un-moves and no structures of
pawns (`pawn_moves.py`, `pawn_boards.py`).  The product is compared with this file on every
position, so nothing of the product is used here.

Values
------
A value is `+n` for a win of the side to move in `n` plies, `-(n + 1)` for a loss in `n`, 0 for a
draw.  A win takes the least, a loss the greatest number of

    dtm    1 + plies after the move
    dtc    1 for a capture or a promotion; 1 + plies after any other move
    dtz    1 for a capture, a promotion or a push, and 101 if the plies after it are more than 100;
           1 + plies after any other move

A win in more than 100 plies of dtz is one that the fifty-move rule spoils.

Squares are `8 * rank + file`: a1 is 0, h1 is 7, a8 is 56.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from made_once import once
from pawn_boards import (
    BLACK,
    NONE,
    NOWHERE,
    ORDER,
    WHITE,
    Board,
    Endgame,
    Flags,
    Ints,
    Nodes,
    Squares,
    Values,
    in_check,
    node_of,
    nodes_of,
)
from pawn_moves import METRICS, NEVER, Moves, Placed, cost


@dataclass
class Solution:
    """All values of an endgame: `values[metric][side to move][node]`."""

    endgame: Endgame
    nodes: tuple[Nodes, Nodes]
    values: dict[str, tuple[Values, Values]]

    def plain(self, metric: str, to_move: int) -> Values:
        """The values of all positions without a right to capture en passant."""
        return self.values[metric][to_move][: self.nodes[to_move].plain]

    def fen(self, to_move: int, node: int) -> str:
        rows = [["1"] * 8 for _ in range(8)]
        nodes = self.nodes[to_move]
        for (letter, colour), squares in zip(self.endgame.men, nodes.board, strict=True):
            rank, file = divmod(int(squares[node]), 8)
            rows[7 - rank][file] = letter if colour == WHITE else letter.lower()
        ranks = ("".join(row) for row in rows)
        placed = "/".join(re.sub("1+", lambda run: str(len(run[0])), rank) for rank in ranks)
        target = int(nodes.en_passant[node])
        right = "-" if target == NOWHERE else "abcdefgh"[target % 8] + str(target // 8 + 1)
        return f"{placed} {'wb'[to_move]} - {right} 0 1"


def value(fen: str, metric: str) -> int:
    """The value of a position, with the right to capture en passant that the FEN gives."""
    placed, side, _, right = fen.split()[:4]
    sides: tuple[Placed, Placed] = ([], [])
    for row, text in enumerate(placed.split("/")):
        spread = re.sub("[1-8]", lambda run: "." * int(run[0]), text)
        for file, letter in enumerate(spread):
            if letter != ".":
                square = np.array([8 * (7 - row) + file], dtype=np.uint8)
                sides[letter.islower()].append((letter.upper(), square))
    target = NOWHERE if right == "-" else 8 * (int(right[1]) - 1) + "abcdefgh".index(right[0])
    there = find(*sides, "wb".index(side), np.array([target], dtype=np.uint8))
    if there.nodes[0] == NONE:
        raise ValueError(f"no lawful position: {fen}")
    return int(there.values(metric)[0])


class Found(NamedTuple):
    """Where positions are in the solution of their endgame; a node is NONE if one is not lawful."""

    solution: Solution
    to_move: int
    nodes: Ints

    def values(self, metric: str) -> Values:
        found: Values = self.solution.values[metric][self.to_move][self.nodes]
        return found


def find(white: Placed, black: Placed, to_move: int, target: Squares | None = None) -> Found:
    """Positions of White's and Black's men, each with a right to capture on the target if it is
    not NOWHERE.
    """
    target = np.full(len(white[0][1]), NOWHERE, dtype=np.uint8) if target is None else target
    if _weight(black) > _weight(white):
        white, black, to_move = _turned(black), _turned(white), 1 - to_move
        target = np.where(target == NOWHERE, target, target ^ 56)
    placed = [sorted(men, key=lambda man: ORDER.index(man[0])) for men in (white, black)]
    solution = solve("v".join("".join(letter for letter, _ in men) for men in placed))
    board = [squares for men in placed for _, squares in men]
    nodes = node_of(solution.endgame, solution.nodes[to_move], board, target)
    return Found(solution, to_move, nodes)


def _turned(men: Placed) -> Placed:
    """As seen from the other side of the board."""
    return [(letter, squares ^ np.uint8(56)) for letter, squares in men]


def _weight(men: Placed) -> tuple[int, list[int]]:
    return len(men), sorted(-ORDER.index(letter) for letter, _ in men)[::-1]


@cache
def solve(name: str) -> Solution:
    """Every value of an endgame such as "KPvK"."""
    endgame = Endgame.parse(name)
    return once(f"pawn oracle {name}", lambda: _solved(endgame))


def _solved(endgame: Endgame) -> Solution:
    nodes = (nodes_of(endgame, WHITE), nodes_of(endgame, BLACK))
    moves = (Moves(endgame, nodes, WHITE, after), Moves(endgame, nodes, BLACK, after))
    checked = [in_check(endgame, nodes[side].board, side) for side in (WHITE, BLACK)]
    values: dict[str, tuple[Values, Values]] = {}
    has_pawns = "P" in endgame.white + endgame.black
    for metric in METRICS:
        if metric == "dtz" and not has_pawns and all(of.exits.are_alike() for of in moves):
            values["dtz"] = values["dtc"]
            continue
        solver = Solver(metric, moves, checked)
        if metric == "dtz" and has_pawns:
            solver.solve_by_level([_steps_to_go(endgame, n.board) for n in nodes])
        else:
            solver.solve([np.arange(len(n.en_passant), dtype=np.int32) for n in nodes])
        values[metric] = (solver.values[WHITE], solver.values[BLACK])
    return Solution(endgame, nodes, values)


def after(white: Placed, black: Placed, to_move: int) -> tuple[Flags, dict[str, Values]]:
    found = find(white, black, to_move)
    return found.nodes != NONE, {metric: found.values(metric) for metric in METRICS}


def _steps_to_go(endgame: Endgame, board: Board) -> Ints:
    steps = np.zeros(len(board[0]), dtype=np.int32)
    for man, (letter, colour) in enumerate(endgame.men):
        if letter == "P":
            rank = (board[man] >> 3).astype(np.int32)
            steps += 6 - rank if colour == WHITE else rank - 1
    return steps


class Solver:
    """Depth by depth: a win is a move into what was lost a ply ago, a loss has no other moves than
    into what is won.
    """

    def __init__(self, metric: str, moves: tuple[Moves, Moves], checked: list[Flags]) -> None:
        self.metric, self.moves, self.checked = metric, moves, checked
        counts = [len(of.here.en_passant) for of in moves]
        self.values = [np.zeros(n, dtype=np.int16) for n in counts]
        self.win = [of.exits.win[metric].copy() for of in moves]
        self.loss = [of.exits.loss[metric].copy() for of in moves]
        self.held = [of.exits.held.copy() for of in moves]
        self.by_push = metric != "dtz"
        self.left = [
            (of.quiet_moves + of.pushes if self.by_push else of.quiet_moves.copy()) for of in moves
        ]

    def solve_by_level(self, levels: list[Ints]) -> None:
        """Pushes lead to lower levels, which are solved before: they are exits."""
        for level in range(max(int(of.max(initial=0)) for of in levels) + 1):
            for side in (WHITE, BLACK):
                source, target = self.moves[side].push_pairs
                here = levels[side][source] == level
                self._push(side, source[here], self.values[1 - side][target[here]])
            self.solve([np.flatnonzero(of == level).astype(np.int32) for of in levels])

    def _push(self, side: int, source: Ints, after: Values) -> None:
        costs = cost(self.metric, np.where(after > 0, after, -after - 1))
        np.minimum.at(self.win[side], source[after < 0], costs[after < 0])
        np.maximum.at(self.loss[side], source[after > 0], costs[after > 0])
        self.held[side][source[after <= 0]] = True

    def solve(self, nodes: list[Ints]) -> None:
        due = [self._due(side, nodes[side]) for side in (WHITE, BLACK)]
        won: list[Ints] = [np.empty(0, np.int32)] * 2
        lost: list[Ints] = [np.empty(0, np.int32)] * 2
        depth, last = 0, max((depth for of in due for way in of for depth in way), default=0)
        while depth <= last:
            found = [self._depth(side, depth, due[side], won, lost) for side in (WHITE, BLACK)]
            won, lost = [of[0] for of in found], [of[1] for of in found]
            waiting = [d for of in due for d in of[1]]
            last = max(last, *waiting, depth + 1 if any(len(x) for x in won + lost) else 0)
            depth += 1

    def _due(self, side: int, nodes: Ints) -> tuple[dict[int, list[Ints]], dict[int, list[Ints]]]:
        """Nodes that exits decide, by depth: wins, and losses where there are only exits."""
        wins = _by_depth(nodes, self.win[side][nodes])
        bare = nodes[(self.left[side][nodes] == 0) & ~self.held[side][nodes]]
        stalemate = (self.loss[side][bare] == 0) & ~self.checked[side][bare]
        return wins, _by_depth(bare[~stalemate], self.loss[side][bare[~stalemate]])

    def _depth(
        self,
        side: int,
        depth: int,
        due: tuple[dict[int, list[Ints]], dict[int, list[Ints]]],
        won: list[Ints],
        lost: list[Ints],
    ) -> tuple[Ints, Ints]:
        """The nodes of a side that are won and lost at a depth."""
        values = self.values[side]
        winning = np.concatenate([*due[0].pop(depth, []), *self._into(side, lost[1 - side])])
        winning, _ = _counted(winning[values[winning] == 0])
        values[winning] = depth
        losing = np.concatenate(self._into(side, won[1 - side]))
        ready, count = _counted(losing[values[losing] == 0])
        self.left[side][ready] -= count
        ready = ready[(self.left[side][ready] == 0) & ~self.held[side][ready]]
        later = np.maximum(self.loss[side][ready], depth)
        for at, found in _by_depth(ready, later).items():
            due[1].setdefault(at, []).extend(found)
        beaten = np.concatenate([np.empty(0, np.int32), *due[1].pop(depth, [])])
        beaten = beaten[values[beaten] == 0]
        values[beaten] = -depth - 1
        return winning, beaten

    def _into(self, side: int, nodes: Ints) -> list[Ints]:
        moves = self.moves[side]
        found = [np.empty(0, np.int32), moves.quiet_arcs.into(nodes)]
        return [*found, moves.push_arcs.into(nodes)] if self.by_push else found


def _counted(nodes: Ints) -> tuple[Ints, Values]:
    """Each node once, and how often it was there.  (`np.unique` takes many times as long.)"""
    in_order = np.sort(nodes)
    first = np.flatnonzero(np.diff(in_order, prepend=NONE))
    return in_order[first], np.diff(first, append=len(nodes)).astype(np.int16)


def _by_depth(nodes: Ints, depths: Values) -> dict[int, list[Ints]]:
    there = np.flatnonzero(np.bincount(depths, minlength=NEVER + 1)[:NEVER])
    return {int(depth): [nodes[depths == depth]] for depth in there}


def moves_of(plies: int) -> int:
    """Thompson's count: a win in 1 or 2 plies is 1, a loss in 0 or 1 plies is lost in 0: -1."""
    return (plies + 1) // 2 if plies >= 0 else -((-plies - 1) // 2) - 1
