"""The analysis of one colour as a loop over passes, in the letters of the paper.

    L_0 at once;  then for n = 1, 2, ...:  W_n from L_{n-1}, L_n from W_n
    until L_n is empty and no exit is deeper than n

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
    def commit(self, done: Pass) -> None: ...
    @property
    def last_exit(self) -> int:
        """No exit is deeper than this."""


def is_over(passes: list[Pass]) -> bool:
    return bool(passes) and passes[-1].over


def passes(steps: Steps, done: int) -> Iterator[Pass]:
    """The passes after depth `done` (-1: from the beginning), each committed when it is yielded."""
    for depth in count(done + 1):
        won = steps.win(depth) if depth else 0
        lost = steps.lose(depth) if depth else steps.lose_at_once()
        over = depth >= steps.last_exit and not lost
        passed = Pass(depth, won, lost, over)
        steps.commit(passed)
        yield passed
        if over:
            return
