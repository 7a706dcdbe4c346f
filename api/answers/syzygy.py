"""Answers about positions that have no table of ours but a Syzygy file.

A Syzygy file knows the result under the fifty-move rule and the plies to the next zeroing move, a
capture or a pawn move.  It knows no moves to mate or to a conversion, so `moves` is null here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from kingpair.api.answers.fifty import NEGATED, ORDER, Category, LaterPhases, categories
from kingpair.api.text import columns, count
from kingpair.workers.ask.position_report import MoveFacts, PositionFacts, report_position
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.chess.position import Colour, Position, material_of
from kingpair.workers.game.rules import fen

if TYPE_CHECKING:
    from kingpair.workers.syzygy.distance import SyzygyAnswer

_WORDS = {
    Category.WIN: "wins",
    Category.MAYBE_WIN: "wins, or draws under the 50-move rule",
    Category.CURSED_WIN: "wins, but draws under the 50-move rule",
    Category.DRAW: "draws",
    Category.BLESSED_LOSS: "loses, but draws under the 50-move rule",
    Category.MAYBE_LOSS: "loses, or draws under the 50-move rule",
    Category.LOSS: "loses",
    Category.UNKNOWN: "unknown",
}


class SyzygyMove(NamedTuple):
    """A move, and its category for the side that makes it."""

    facts: MoveFacts
    category: Category


class SyzygyReport(NamedTuple):
    """A position, its answer, and every legal move, best first."""

    position: Position
    answer: "SyzygyAnswer"
    category: Category
    moves: list[SyzygyMove]


def probed_by_file(tablebase: Tablebase, position: Position) -> SyzygyReport | None:
    """Probes a position and its moves; None where no Syzygy file answers."""
    if tablebase.get_syzygy(position) is None:
        return None
    found = report_position(tablebase, position)
    if found.here.syzygy is None:
        return None
    own, after = categories(found, LaterPhases(tablebase).of)
    return SyzygyReport(position, found.here.syzygy, own, ranked(found.replies, after))


@contextmanager
def missing_files_named(tablebase: Tablebase, position: Position) -> Iterator[None]:
    """Replaces the error that a position has no table by one that names the Syzygy file that it
    lacks, where such files are at hand.
    """
    try:
        yield
    except MissingTableError:
        if tablebase.syzygy is not None and tablebase.get_wdl(position) is None:
            tablebase.syzygy.probe(position)
        raise


def ranked(replies: list[MoveFacts], after: list[Category]) -> list[SyzygyMove]:
    """The moves, best first; `after` are the categories of the positions that they lead to."""
    pairs = sorted(zip(replies, after, strict=True), key=lambda pair: _rank(*pair))
    return [SyzygyMove(reply, NEGATED[category]) for reply, category in pairs]


def _rank(reply: MoveFacts, after: Category) -> tuple[object, ...]:
    mover_wins = ORDER[after] < ORDER[Category.DRAW]
    distance = reply.after.syzygy.dtz if reply.after.syzygy is not None else 0
    known = after is not Category.UNKNOWN
    zeroing = reply.zeroing != mover_wins
    return not known, ORDER[after], not reply.after.mate, zeroing, -distance, reply.uci


def answer_fields(seen: PositionFacts) -> dict[str, Any]:
    """`dtz` and `precise_dtz` of a Syzygy file, null without one."""
    answer = seen.syzygy
    if answer is None:
        return {"dtz": None, "precise_dtz": None}
    return {"dtz": answer.dtz, "precise_dtz": answer.dtz if answer.is_exact else None}


# ---- text ----


def probe_text(found: SyzygyReport) -> Iterator[str]:
    yield fen(found.position)
    material, mover = material_of(found.position)[0], _name(found.position.turn)
    yield f"{material}, {mover} to move: {_verdict(found)} (Syzygy)."
    if found.moves:
        yield ""
        yield from columns((_row(move) for move in found.moves), "<<<")


def _verdict(found: SyzygyReport) -> str:
    words = _WORDS[found.category]
    if found.answer.result == 0:
        return words
    exactly = "" if found.answer.is_exact else " or one more"
    plies = f"{count(found.answer.least, 'ply')}{exactly} to zeroing"
    return f"{words}, {plies}"


def _row(move: SyzygyMove) -> tuple[str, str, str]:
    if move.facts.after.mate:
        return f"  {move.facts.san}", "mates", ""
    into = str(material_of(move.facts.after.position)[0]) if move.facts.conversion else ""
    return f"  {move.facts.san}", _WORDS[move.category], into and f"into {into}"


def _name(colour: Colour) -> str:
    return colour.name.title()
