"""Levels in which every exit ends the phase (dtz): captures, promotions and pushes set the clock of
the 50-move rule to zero.

Of a position that an exit leads to only its class matters, which is known before the first pass:

    won, lost            within the limit of the rule: the exit counts 1
    won late, lost late  beyond it: the exit counts 101
    not won              all others with a draw or a loss

So the levels below are not played back beside the passes, as they are for the other metrics
(levels.py): their logs are read once, and a push is an exit like a conversion (conversions.py).

    winning(2), winning(102)   positions with an exit that wins; pass n finds wins in n - 1 plies
    escapes                    positions with an exit
    freed(1), freed(101)       positions all of whose exits lose, by the deepest of them

Cost: each log of the two levels below is read once for each side, and five sets are carried along
the arrows of each family of exits.
"""

from collections.abc import Iterable, Iterator

from kingpair.workers import _kernels
from kingpair.workers.game.metric import CLOCK_LIMIT
from kingpair.workers.number_types import STRONGER, WEAKER, Depth, Side, opponent
from kingpair.workers.sets.memory import Layer, Words
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.classed_levels import ByClass, PushesByClass, pushes_of
from kingpair.workers.solve.conversions import Conversions
from kingpair.workers.solve.exit_values import ExitValues, Streams
from kingpair.workers.solve.helpless import Helpless
from kingpair.workers.solve.inflows import Inflow
from kingpair.workers.solve.levels import FreedByConversions, Level
from kingpair.workers.table.value import loss_in


class Zeroing(Conversions):
    """All exits of a side."""

    frees = True

    def __init__(
        self,
        level: Level,
        side: Side,
        pushes: Iterable[PushesByClass],
        threads: Threads,
        limit: int = CLOCK_LIMIT,
    ) -> None:
        self._pushes, self._limit = pushes, limit
        super().__init__(level.domain, side, level.find, threads)

    def _prepare(self, sources: Iterable[ExitValues]) -> None:
        self._wins, self._late_wins, self.escapes = (self._empty() for _ in range(3))
        never, late = self._empty(), self._empty()
        for source in sources:
            found = _by_class(source, self._limit, self._threads)
            for layer, out in self._outlets(found, never, late):
                self._carry(source.exits, layer, out)
            del source
        for push in self._pushes:
            for layer, out in self._outlets(push.into, never, late):
                inflow = (push.kernel, layer.kernel, push.way, 0, *push.arrows)
                self._each_chunk(_kernels.collect, self._side, inflow, out.kernel)
        bound = self._bound(never)
        self._freed = self._by_depth(bound, bound & late.dense())
        has_late = self._late_wins.live.any() or self._limit + 1 in self._freed
        self.last = self._limit + 2 if has_late else 2

    def _outlets(self, found: ByClass, never: Layer, late: Layer) -> Iterator[tuple[Layer, Layer]]:
        """Sets of positions that exits lead to, and the sets that these exits join."""
        yield found.lost, self._wins
        yield found.lost_late, self._late_wins
        yield found.won_late, late
        yield found.every, self.escapes
        yield found.not_won, never

    def _by_depth(self, bound: Words, late: Words) -> dict[int, dict[int, Streams]]:
        found = {}
        for depth, words in ((1, bound & ~late), (self._limit + 1, late)):
            layer = self._empty().like(words)
            if layer.live.any():
                found[depth] = self._packed(layer)
        return found

    def winning(self, depth: int) -> Layer | None:
        return {2: self._wins, self._limit + 2: self._late_wins}.get(depth)


def _by_class(source: ExitValues, limit: int, threads: Threads) -> ByClass:
    lost, not_won, won = source.judged(threads)
    domain = source.exits.domain
    every = won.like(not_won.words | won.words)
    lost_late, won_late = domain.empty(), domain.empty()
    if source.seen.reaches_beyond(limit):
        values = source.values(threads)
        lost_late = Layer.of(values < loss_in(limit), domain.index.rows)
        won_late = Layer.of(values > limit, domain.index.rows)
        for early, late in ((lost, lost_late), (won, won_late)):
            early.take_out(late.words)
            early.mark()
    return ByClass(every, not_won, lost, lost_late, won, won_late)


def zeroing(level: Level, threads: Threads, limit: int = CLOCK_LIMIT) -> tuple[Zeroing, Zeroing]:
    """All exits of the stronger and of the weaker side."""
    stronger, weaker = (
        Zeroing(level, side, pushes_of(level, side, threads, limit), threads, limit)
        for side in (STRONGER, WEAKER)
    )
    return stronger, weaker


class ZeroingInflows:
    """The inflows of a winner's analysis in which every exit ends the phase: sets alone."""

    def __init__(
        self, level: Level, winner: Side, made: tuple[Zeroing, Zeroing], threads: Threads
    ) -> None:
        self._domain, self._winner, self._threads = level.domain, winner, threads
        self._wins, self._loses = made[winner], made[opponent(winner)]
        self.last = max(self._wins.last, self._loses.last)
        self.freed = FreedByConversions(self._domain, self._loses)

    def close(self, open_l: Layer) -> None:
        """open_l -= escapes."""
        open_l.take_out(self._loses.escapes.words)
        open_l.mark()

    def play(self, depth: Depth) -> None:
        """Has nothing to play back."""

    def stalemates(self, open_w: Layer, open_l: Layer) -> Layer | None:
        if not all(self._domain.material.pawns):
            return None
        return Helpless(self._domain, self._winner, (), self._threads).stalemates(open_w, open_l)

    def at_once(self) -> tuple[tuple[Inflow, ...], Layer | None]:
        return (), None

    def win(self, depth: Depth) -> tuple[tuple[Inflow, ...], Layer | None]:
        return (), self._wins.winning(depth)

    def lose(self, depth: Depth) -> tuple[tuple[Inflow, ...], tuple[Inflow, ...]]:
        return (), ()
