"""The analysis of one colour as a loop over passes, in the letters of the paper.

    L_0 at once;  then for n = 1, 2, ...:  W_n from L_{n-1}, L_n from W_n, until one is empty

The loop does not know what a position is: it asks for the steps, and says when a pass is
complete.  A pass is committed when every part of it has been handed to the log; the log makes it
durable.
"""

from collections.abc import Iterator
from itertools import count
from typing import Protocol

from workers.passlog import Pass


class Steps(Protocol):
    """What carries an analysis from pass to pass; each says how many positions it found."""

    def lose_at_once(self) -> int: ...
    def win(self, depth: int) -> int: ...
    def lose(self, depth: int) -> int: ...
    def commit(self, depth: int, won: int, lost: int) -> None: ...


def is_over(passes: list[Pass]) -> bool:
    """Nothing can follow a pass that found no position lost; pass 0 is followed by the exits of
    pass 1.
    """
    return bool(passes) and passes[-1].depth > 0 and passes[-1].lost == 0


def passes(steps: Steps, done: int) -> Iterator[Pass]:
    """The passes after depth `done` (-1: from the beginning), each committed when it is yielded."""
    if done < 0:
        lost = steps.lose_at_once()
        steps.commit(0, 0, lost)
        yield Pass(0, 0, lost)
    for depth in count(max(done, 0) + 1):
        won = steps.win(depth)
        lost = steps.lose(depth) if won else 0
        steps.commit(depth, won, lost)
        yield Pass(depth, won, lost)
        if not lost:
            return
