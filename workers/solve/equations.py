"""Retrograde analysis by definition: its equations, over plain sets of positions.

Everything here is slow and obvious.  The kernels are compared with it, position by position.

A domain is a set of positions that are solved together.  A quiet move leads from one of them to
another.  Any other move is an exit: it leads into a domain that was solved before.  Depths count
the moves of the winner w against the loser l.  An exit costs, if the position that it leads to is

                                   dtm      dtc: conversion     dtc: push
    lost in m, moved by w          m + 1    1                   m + 1
    won in m, moved by l           m        0                   m

A conversion is a capture or a promotion.  Counting to one ends with it; a loser who is forced to
convert has been converted already.  For each position let

    eW = the least cost of w's exits into positions that l has lost          (none: never)
    eL = the greatest cost of l's exits; never, if w has not won after one of them

An exit that has no depth decides nothing; a position without exits has neither eW nor eL.  Then

    L_0 = ({eL = 0} | in check, no exit) & open_l(0) - unmove_l(legal_w)
    W_n = (unmove_w(L_{n-1}) | {eW = n}) & open_w(n)
    L_n = (unmove_l(W_n) | {eL = n}) & open_l(n) - unmove_l(open_w(n) - W_n)

    open_w(n) = legal_w - W_{<n}
    open_l(n) = legal_l & {eL <= n, or no exit} - L_{<n}

For dtz depths count plies, and every exit ends the phase.  An exit costs 1 if the position that it
leads to is won or lost within the limit of the 50-move rule, and 101 if it is not: the limit is
100 plies.  So the depth alone tells the five results apart: up to the limit a win or a loss, beyond
it a cursed win or a blessed loss.  A loser prefers the exit at 101, a winner the one at 1.  A ply
later the other side is to move, so each side waits for what the other has found one ply before:

    W_n = (unmove_w(L_{n-1}) | {eW = n}) & open_w(n)
    L_n = (unmove_l(W_{n-1}) | {eL = n}) & open_l(n) - unmove_l(open_w(n))

Between the last quiet depth and 101 nothing may be found at all: the analysis goes on as long as
an exit is deeper.

A position is legal if the side that is not to move is not in check.  The positions of
`unmove_l(open_w)` are those from which a quiet move of l leads into `open_w`, as is written here.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import count
from typing import Generic, NamedTuple, Protocol, TypeVar

from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.number_types import Side, opponent

P = TypeVar("P", bound=Hashable)
ByDepth = Mapping[int, AbstractSet[P]]


class SetDomain(Protocol[P]):
    """Positions that are solved together."""

    def legal(self, to_move: Side) -> set[P]:
        """All positions that are legal with that side to move."""

    def unmove(self, positions: Iterable[P], side: Side) -> set[P]:
        """The positions from which a quiet move of a side leads into these, legal or not."""

    def moves(self, position: P, side: Side) -> set[P]:
        """The positions that a quiet move of a side leads to, legal or not."""


class Depths(NamedTuple, Generic[P]):
    """The depths of exits; positions that are not legal do not matter."""

    wins: ByDepth[P]
    """By eW; a position may be at greater depths, too."""
    loses: ByDepth[P]
    """By eL; a position may be at smaller depths, too."""
    never: AbstractSet[P]
    """The loser has an exit into a position that is not won."""


class Layers(NamedTuple, Generic[P]):
    """Positions decided at one depth: the winner to move has won, the loser to move has lost."""

    won: set[P]
    lost: set[P]


def cost_of_winning(metric: Metric, converts: bool, depth: int, limit: int = CLOCK_LIMIT) -> int:
    """Of an exit of the winner into a position that is lost at a depth."""
    if metric.push_ends_phase:
        return cost_of_zeroing(depth, limit)
    return 1 if metric.conversion_ends_phase and converts else depth + 1


def cost_of_losing(metric: Metric, converts: bool, depth: int, limit: int = CLOCK_LIMIT) -> int:
    """Of an exit of the loser into a position that is won at a depth."""
    if metric.push_ends_phase:
        return cost_of_zeroing(depth, limit)
    return 0 if metric.conversion_ends_phase and converts else depth


def cost_of_zeroing(depth: int, limit: int) -> int:
    """Of a move that sets the clock to zero, into a position decided at a depth."""
    return 1 if depth <= limit else limit + 1


def by_depth(found: Iterable[tuple[int, P]]) -> ByDepth[P]:
    layers: defaultdict[int, set[P]] = defaultdict(set)
    for depth, position in found:
        layers[depth].add(position)
    return layers


def analyse(
    domain: SetDomain[P], winner: Side, exits: Depths[P], counts_plies: bool = False
) -> Iterator[Layers[P]]:
    """W_n and L_n for n = 0, 1, ... until nothing more can be found; W_0 is empty."""
    open_w, open_l = domain.legal(winner), domain.legal(opponent(winner)) - exits.never
    last = max((0, *exits.wins, *exits.loses))
    layers = Layers[P](set(), lost_at_once(domain, winner, exits, open_w, open_l))
    for depth in count(1):
        yield layers
        open_l -= layers.lost
        reached = domain.unmove(layers.lost, winner) | exits.wins.get(depth, set())
        won = reached & open_w
        entered, left = (layers.won, set(open_w)) if counts_plies else (won, open_w - won)
        open_w -= won
        might_lose = domain.unmove(entered, opponent(winner)) | exits.loses.get(depth, set())
        bound = bound_by(open_l, exits, depth)
        lost = without_escape(domain, winner, might_lose & bound, left)
        layers = Layers(won, lost)
        if depth >= last and not won and not lost:
            return


def lost_at_once(
    domain: SetDomain[P],
    winner: Side,
    exits: Depths[P],
    open_w: AbstractSet[P],
    open_l: AbstractSet[P],
) -> set[P]:
    """L_0.  A position in which the loser is in check is not legal with the winner to move."""
    with_exits = set[P]().union(*exits.loses.values())
    mated = {position for position in open_l if position not in open_w} - with_exits
    might_lose = mated | exits.loses.get(0, set())
    bound = bound_by(open_l, exits, 0)
    return without_escape(domain, winner, might_lose & bound, open_w)


def bound_by(open_l: AbstractSet[P], exits: Depths[P], depth: int) -> set[P]:
    """Positions of the loser that have no exit deeper than that."""
    deeper = (positions for at, positions in exits.loses.items() if at > depth)
    return set(open_l).difference(*deeper)


def without_escape(
    domain: SetDomain[P], winner: Side, might_lose: Iterable[P], open_w: AbstractSet[P]
) -> set[P]:
    """Positions from which no quiet move of the loser leads to what is open to the winner."""
    return {p for p in might_lose if domain.moves(p, opponent(winner)).isdisjoint(open_w)}
