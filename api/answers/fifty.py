"""The fifty-move rule: how sure a result may be called.

A table that counts plies to zeroing knows the rule: with the half-move clock c a result counts if
its plies are at most 100 - c.

Other tables say in how many moves a phase ends.  A draw can be claimed once a hundred plies have
passed without a capture or a pawn move, so that

    certain   mate, or the end of the phase and all that can follow it, within 100 - c plies
    in doubt  the phase ends in time, but a later one may be too long
    spoilt    not even this phase ends in time, or the clock stands at 100 already

With pawns no count to a conversion spoils a result, for a pawn may move before the phase ends.

A side that wins in n moves makes the last of them on ply 2n - 1, or leaves its opponent nothing but
captures on ply 2n (`zeroing` says when the ply is certain).
"""

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from kingpair.workers.ask.answer import Answer
from kingpair.workers.ask.position_report import PositionFacts, PositionReport
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.position import EMPTY, Colour, Position, material_of
from kingpair.workers.game.chess.waves import closure
from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.number_types import SIDES, STRONGER, WEAKER, Side, opponent
from kingpair.workers.table.format import COLUMNS, Counts
from kingpair.workers.table.page_cache import NotCached

if TYPE_CHECKING:
    from kingpair.workers.syzygy.distance import SyzygyAnswer

CLAIM = CLOCK_LIMIT
PAWNS = frozenset("Pp")


class Category(StrEnum):
    """The closed list that clients of Lichess's interface know, as its moves are sorted: what is
    worst for the side to move first.
    """

    LOSS = "loss"
    UNKNOWN = "unknown"
    SYZYGY_LOSS = "syzygy-loss"
    MAYBE_LOSS = "maybe-loss"
    BLESSED_LOSS = "blessed-loss"
    DRAW = "draw"
    CURSED_WIN = "cursed-win"
    MAYBE_WIN = "maybe-win"
    SYZYGY_WIN = "syzygy-win"
    WIN = "win"


_WINS = (Category.WIN, Category.MAYBE_WIN, Category.CURSED_WIN)
_LOSSES = (Category.LOSS, Category.MAYBE_LOSS, Category.BLESSED_LOSS)
NEGATED = dict(zip((*_WINS, *_LOSSES), (*_LOSSES, *_WINS), strict=True)) | {
    Category.DRAW: Category.DRAW,
    Category.UNKNOWN: Category.UNKNOWN,
}
ORDER = {category: i for i, category in enumerate(Category)}
SPOILT = (Category.CURSED_WIN, Category.BLESSED_LOSS)
RULE = {
    **dict.fromkeys(SPOILT, "drawn under the 50-move rule"),
    Category.MAYBE_WIN: "the 50-move rule may make it a draw",
    Category.MAYBE_LOSS: "the 50-move rule may make it a draw",
}
"""The rule in words, where it changes a result or may change it."""


def spoilt_by(move: Category, best: Category) -> str:
    """The rule in words for a move that lets it draw, if it does not draw after the best one."""
    return RULE[move] if move in SPOILT and best not in SPOILT else ""


class Phases(NamedTuple):
    """Facts about the phases of a game with some men, from the counts of tables."""

    short: bool
    """Whether every phase that can follow a capture or a promotion ends within fifty moves."""
    exact: frozenset[Colour]
    """The winners against whom no capture loses: such a winner makes the last move of a phase."""


Known = Callable[[Position], Phases]


def category(seen: PositionFacts, before: int, phases: Known) -> Category:
    """The category of a position for its side to move; `before` is the clock one move earlier."""
    if not seen.position.game.has_clock_rule:
        return _without_rule(seen)
    if seen.mate:
        return Category.BLESSED_LOSS if before >= CLAIM else Category.LOSS
    if seen.answer is None:
        if seen.syzygy is not None:
            return _by_syzygy(seen.syzygy, max(seen.position.half_moves, before))
        return Category.UNKNOWN
    if seen.answer.wdl == 0:
        return Category.DRAW
    certain, in_doubt, spoilt = _WINS if seen.answer.wdl > 0 else _LOSSES
    clock = seen.position.half_moves
    if max(clock, before) >= CLAIM:
        return spoilt
    if (to_zeroing := seen.by(Metric.DTZ)) is not None:
        return certain if clock + to_zeroing.moves <= CLAIM else spoilt
    to_mate, to_conversion = seen.by(Metric.DTM), seen.by(Metric.DTC)
    if to_mate is not None and clock + soonest(to_mate) <= CLAIM:
        return certain
    if to_conversion is None:
        return in_doubt
    if clock + soonest(to_conversion) > CLAIM:
        return spoilt if PAWNS.isdisjoint(seen.position.board) else in_doubt
    known = phases(seen.position)
    latest = soonest(to_conversion) + (winner(seen.position, to_conversion) not in known.exact)
    return certain if clock + latest <= CLAIM and known.short else in_doubt


def _without_rule(seen: PositionFacts) -> Category:
    if seen.wdl is None:
        return Category.LOSS if seen.mate else Category.UNKNOWN
    return (Category.DRAW, Category.WIN, Category.LOSS)[seen.wdl]


def _by_syzygy(answer: "SyzygyAnswer", clock: int) -> Category:
    """The category of a position that only a Syzygy file has; its results heed the rule."""
    if answer.result == 0:
        return Category.DRAW
    certain, in_doubt, spoilt = _WINS if answer.result > 0 else _LOSSES
    if abs(answer.result) == 1 or clock >= CLAIM or answer.least + clock > CLAIM:
        return spoilt
    return certain if answer.most + clock <= CLAIM else in_doubt


def soonest(answer: Answer) -> int:
    """The ply on which the last of so many moves is made."""
    return 2 * answer.moves - 1 if answer.wdl > 0 else 2 * answer.moves


def winner(position: Position, answer: Answer) -> Colour:
    return position.turn if answer.wdl > 0 else position.turn.other


def by_moves(own: Category, moves: list[Category]) -> Category:
    """The category of a position by its own table and its moves: that of the best move, negated.

    A move whose result is not known may be better than all others.  Then a known win stands, and
    otherwise the position's own table decides.
    """
    known = [each for each in moves if each is not Category.UNKNOWN]
    if not known:
        return own
    best = NEGATED[min(known, key=ORDER.__getitem__)]
    if len(known) == len(moves):
        return best
    if ORDER[best] <= ORDER[Category.DRAW]:
        return own
    return max(own, best, key=ORDER.__getitem__)


def categories(found: PositionReport, phases: Known) -> tuple[Category, list[Category]]:
    """The category of a position, and those of the positions after each move, for their movers."""
    here = found.here
    after = [category(each.after, here.position.half_moves, phases) for each in found.replies]
    return by_moves(category(here, here.position.half_moves - 1, phases), after), after


class LaterPhases:
    """The phases of each set of men, looked up once in the counts of its tables."""

    def __init__(self, tablebase: Tablebase) -> None:
        self._tablebase = tablebase
        self._known: dict[str, Phases] = {}

    def of(self, position: Position, *, wait: bool = True) -> Phases:
        """NotCached if tables would have to be opened for it and the caller does not `wait`."""
        men = "".join(sorted(position.board.replace(EMPTY, "")))
        if (known := self._known.get(men)) is None:
            if not wait:
                raise NotCached
            material, swapped = material_of(position)
            known = self._known[men] = self._looked_up(material, swapped)
        return known

    def _looked_up(self, material: Material, swapped: bool) -> Phases:
        smaller = {exit_.material for exit_ in material.exits()} - {material}
        short = all(self._is_short(each) for wave in closure(smaller) for each in wave)
        sides = {STRONGER: Colour.BLACK if swapped else Colour.WHITE}
        sides[WEAKER] = sides[STRONGER].other
        exact = (sides[side] for side in SIDES if self._is_exact(material, side))
        return Phases(short, frozenset(exact))

    def _is_short(self, material: Material) -> bool:
        if (counts := self._counts(material)) is None:
            return False
        longest = (counts["longest"][side] for side in COLUMNS)
        # A loss in 50 may end in a forced capture on ply 101.
        return all(
            each.get("win", {"moves": 0})["moves"] <= 50
            and each.get("loss", {"moves": 0})["moves"] <= 49
            for each in longest
        )

    def _is_exact(self, material: Material, side: Side) -> bool:
        """Whether a side that wins always makes the last move of a phase.

        It does if it cannot win once a man of its own is taken or a pawn of its opponent becomes
        another man, or if all losses in 0 are mates: a table that counts to mate then has as many.
        """
        if "P" in (material.stronger, material.weaker)[opponent(side)]:
            return self._ends_in_mates(material, COLUMNS[opponent(side)])
        lost = (
            capture for capture in material.captures() if material.sides[capture.captive] == side
        )
        return not any(
            self._can_win(capture.material, SIDES[side ^ capture.swapped]) for capture in lost
        ) or self._ends_in_mates(material, COLUMNS[opponent(side)])

    def _can_win(self, material: Material, side: Side) -> bool:
        """Whether there is a win with this side to move."""
        counts = self._counts(material)
        return bool(material.letters) and (counts is None or bool(counts[COLUMNS[side]]["win"]))

    def _ends_in_mates(self, material: Material, loser: str) -> bool:
        found = [self._counts(material, metric) for metric in (Metric.DTC, Metric.DTM)]
        ends = [counts and counts[loser]["loss"].get("0", 0) for counts in found]
        return None not in ends and ends[0] == ends[1]

    def _counts(self, material: Material, metric: Metric = Metric.DTC) -> Counts | None:
        try:
            return self._tablebase.table(material, metric).counts
        except MissingTableError:
            return None

    def forget(self) -> None:
        """Looks everything up again: the tables have changed."""
        self._known = {}
