"""The fifty-move rule over tables that do not know it: as how sure a result may be called.

A table says in how many moves a phase ends.  A draw can be claimed once a hundred plies have passed
without a capture or a pawn move, so that with the half-move clock c

    certain   mate, or the end of the phase and all that can follow it, within 100 - c plies
    in doubt  the phase ends in time, but a later one may be too long
    spoilt    not even this phase ends in time, or the clock stands at 100 already

The end of a phase is known to a ply: who wins in n moves makes the last of them on ply 2n - 1, or
leaves his opponent nothing but captures on ply 2n.
"""

from collections.abc import Callable
from enum import StrEnum

from workers.blockcache import Cold
from workers.errors import MissingTableError
from workers.material import Material, closure
from workers.metric import Metric
from workers.position import Position, material_of
from workers.probe import Answer, Tablebase
from workers.survey import Seen

CLAIM = 100


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
Proven = Callable[[Position], bool]


def category(seen: Seen, before: int, proven: Proven) -> Category:
    """What a position is to its side to move.

    `before` is the clock before the move that led to it; `proven` says whether no later phase can
    be too long.
    """
    if seen.mate:
        return Category.BLESSED_LOSS if before >= CLAIM else Category.LOSS
    if seen.answer is None:
        return Category.UNKNOWN
    if seen.answer.wdl == 0:
        return Category.DRAW
    certain, in_doubt, spoilt = _WINS if seen.answer.wdl > 0 else _LOSSES
    clock = seen.position.half_moves
    if clock >= CLAIM:
        return spoilt
    if seen.dtm is not None and clock + _soonest(seen.dtm) <= CLAIM:
        return certain
    if seen.dtc is None:
        return in_doubt
    if clock + _soonest(seen.dtc) > CLAIM:
        return spoilt
    latest = _soonest(seen.dtc) + 1
    return certain if clock + latest <= CLAIM and proven(seen.position) else in_doubt


def _soonest(answer: Answer) -> int:
    """The ply on which the last of so many moves is made."""
    return 2 * answer.moves - 1 if answer.wdl > 0 else 2 * answer.moves


class LaterPhases:
    """Whether all that can follow a material ends within fifty moves, looked up once for each."""

    def __init__(self, tablebase: Tablebase) -> None:
        self._tablebase = tablebase
        self._short: dict[str, bool] = {}

    def proven(self, position: Position, *, wait: bool = True) -> bool:
        """Cold if tables would have to be opened for it and the caller does not `wait`."""
        men = "".join(sorted(position.board))
        if (known := self._short.get(men)) is None:
            if not wait:
                raise Cold
            known = self._short[men] = self._looked_up(material_of(position)[0])
        return known

    def _looked_up(self, material: Material) -> bool:
        smaller = {capture.material for capture in material.captures()}
        return all(self._is_short(each) for wave in closure(smaller) for each in wave)

    def _is_short(self, material: Material) -> bool:
        try:
            counts = self._tablebase.table(material, Metric.DTC).counts
        except MissingTableError:
            return False
        longest = (counts["longest"][side] for side in ("white", "black"))
        # A loss in 50 may end in a forced capture on ply 101.
        return all(
            each.get("win", {"moves": 0})["moves"] <= 50
            and each.get("loss", {"moves": 0})["moves"] <= 49
            for each in longest
        )

    def forget(self) -> None:
        """The tables are others now."""
        self._short = {}
