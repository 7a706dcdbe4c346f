"""Answers about one position, for people: its result, every move, the best line.

A loss in 0 is the table's way to say that the game, or this phase of it, ends here: mate on the
board, or nothing but captures into lost tables.  People are told which.
"""

import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from kingpair.api.answers.fifty import (
    CLAIM,
    NEGATED,
    RULE,
    SPOILT,
    Category,
    LaterPhases,
    categories,
    spoilt_by,
)
from kingpair.api.text import columns, count
from kingpair.workers.ask.answer import Answer
from kingpair.workers.ask.play import LineMove, RatedMove, best_line, rated_moves_of, result_of
from kingpair.workers.ask.position_report import report_position
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.position import Colour, Position, in_check, material_of
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.notation import GameResult, numbered, pgn
from kingpair.workers.game.rules import fen, legal_moves, play

WDL = {1: "win", 0: "draw", -1: "loss"}
WIDTH = 80


class ProbeReport(NamedTuple):
    """A position, its value, and every legal move, best first.

    The categories are those of the side to move, under the fifty-move rule.
    """

    position: Position
    metric: Metric
    answer: Answer
    category: Category
    options: list[RatedMove]
    by_move: dict[str, Category]


class LineReport(NamedTuple):
    """The best moves as far as the tables reach; `missing` says which table ends them early."""

    position: Position
    metric: Metric
    answer: Answer
    category: Category
    steps: list[LineMove]
    missing: MissingTableError | None
    claimed: bool
    """Whether the line was ended where a draw can be claimed."""

    @property
    def result(self) -> GameResult:
        return GameResult.DRAW if self.claimed else result_of(self.position, self.answer)


def probed(tablebase: Tablebase, position: Position, metric: Metric) -> ProbeReport:
    """Probes a position and its moves; MissingTableError if there is no table of it."""
    answer = tablebase.probe(position, metric)
    found = report_position(tablebase, position)
    own, after = categories(found, LaterPhases(tablebase).of)
    by_move = {reply.uci: NEGATED[each] for reply, each in zip(found.replies, after, strict=True)}
    return ProbeReport(position, metric, answer, own, rated_moves_of(found, metric), by_move)


def line(
    tablebase: Tablebase,
    position: Position,
    metric: Metric,
    until_claim: bool = False,
    moves: Iterator[LineMove] | None = None,
) -> LineReport:
    """Returns the best line; MissingTableError if there is no table of the position itself.

    `moves` are the moves of the line, if the caller has found them already.
    """
    answer = tablebase.probe(position, metric)
    own, _ = categories(report_position(tablebase, position), LaterPhases(tablebase).of)
    found = LineReport(position, metric, answer, own, [], None, False)
    try:
        # One by one: what comes before a missing table is kept.
        for step in moves or best_line(tablebase, position, metric):
            if until_claim and step.position.half_moves >= CLAIM and position.game.has_clock_rule:
                return found._replace(claimed=True)
            found.steps.append(step)
    except MissingTableError as error:
        return found._replace(missing=error)
    return found


# ---- words ----


def verdict(position: Position, answer: Answer, metric: Metric = Metric.DTC) -> str:
    """The result in a sentence without its full stop."""
    mover, other = name_of(position.turn), name_of(position.turn.other)
    if not legal_moves(position):
        mated, lost = in_check(position), position.game.stalemate_loses
        end = f"{other} has won" if mated or lost else "a draw"
        return f"{mover} is {'mated' if mated else 'stalemated'}, {end}"
    if answer.wdl == 0:
        return "draw"
    if answer == Answer(-1, 0):
        return f"{mover} loses and must convert at once (forced capture)"
    verb = "wins" if answer.wdl > 0 else "loses"
    return f"{mover} {verb} in {count(answer.moves, metric.noun)}"


def name_of(colour: Colour) -> str:
    return colour.name.title()


def heading(found: ProbeReport | LineReport) -> str:
    material, mover = material_of(found.position)[0], name_of(found.position.turn)
    until = f", to {found.metric.counts_to}" if found.answer.moves else ""
    # Whether a later phase is too long shows in the line itself.
    is_told = found.category in (RULE if isinstance(found, ProbeReport) else SPOILT)
    rule = f"; {RULE[found.category]}" if is_told else ""
    result = verdict(found.position, found.answer, found.metric)
    return f"{material}, {mover} to move: {result}{until}{rule}."


def entered(position: Position, option: RatedMove) -> Material | None:
    """The material that a capture leads to."""
    return material_of(play(position, option.move))[0] if option.conversion else None


# ---- probe ----


def probe_text(found: ProbeReport) -> Iterator[str]:
    yield fen(found.position)
    yield heading(found)
    if found.options:
        yield ""
        yield from columns((_option_row(found, option) for option in found.options), "<<<")


def _option_row(found: ProbeReport, option: RatedMove) -> tuple[str, str, str]:
    note = _note(found.position, option, entered(found.position, option), found.metric)
    notes = note, spoilt_by(found.by_move[option.uci], found.category)
    return f"  {option.san}", _worth(option, found.metric), ", ".join(filter(None, notes))


def _worth(option: RatedMove, metric: Metric) -> str:
    if option.answer is None:
        return "unknown"
    if option.mate:
        return "mates"
    if option.answer.wdl == 0:
        return "draws"
    verb = "wins" if option.answer.wdl > 0 else "loses"
    if option.conversion and metric.conversion_ends_phase and not metric.counts_plies:
        return verb
    return f"{verb} in {count(option.answer.moves, metric.noun)}"


def _note(position: Position, option: RatedMove, material: Material | None, metric: Metric) -> str:
    """Returns notes on a move: the material after a capture, and other hints for a player."""
    after = play(position, option.move)
    if option.after is None:
        return f"no table of {material or material_of(after)[0]}"
    if option.mate:
        return ""
    if not legal_moves(after):
        return "stalemate"
    if material is None:
        return ""
    if not material.letters:
        return "bare kings"
    return f"into {material}{_rest(option.after, metric)}"


def _rest(after: Answer, metric: Metric) -> str:
    """The opponent's result after a conversion, in words."""
    if after.wdl == 0:
        return ""
    if after == Answer(-1, 0):
        return ", lost at once"
    rest = f", {'won' if after.wdl > 0 else 'lost'} in {after.moves}"
    return f"{rest} {metric.unit}" if metric.counts_plies else rest


def position_json(position: Position, metric: Metric, answer: Answer | None) -> dict[str, Any]:
    return {
        "fen": fen(position),
        "material": str(material_of(position)[0]),
        "metric": metric,
        "to_move": position.turn.name.lower(),
        **answer_json(answer),
    }


def answer_json(answer: Answer | None) -> dict[str, Any]:
    """`moves` is null where a number would mean nothing."""
    if answer is None:
        return {"result": None, "moves": None}
    return {"result": WDL[answer.wdl], "moves": answer.moves if answer.wdl else None}


# ---- line ----


def line_text(found: LineReport) -> Iterator[str]:
    yield fen(found.position)
    yield heading(found)
    for i, phase in enumerate(phases_of(found.steps)):
        start = phase[0]
        material = str(material_of(start.position)[0])
        yield ""
        worth = verdict(start.position, start.answer, found.metric)
        yield f"into {material}: {worth}" if i else material
        yield from _wrapped(phase)
    if found.claimed:
        yield ""
        yield "A draw can be claimed here: 50 moves without a capture or a pawn move."
    elif found.steps and found.missing is None:
        yield ""
        yield f"{_moves_played(found)} to mate."


def phases_of(steps: Iterable[LineMove]) -> list[list[LineMove]]:
    """Divides the steps into phases of one material; each ends with a conversion."""
    return [list(of) for _, of in groupby(steps, lambda step: material_of(step.position)[0])]


def _wrapped(phase: list[LineMove]) -> list[str]:
    words = " ".join(numbered(phase[0].position, [step.option.move for step in phase]))
    # A number stays with its move.
    lines = textwrap.wrap(
        words.replace(". ", ".\N{NO-BREAK SPACE}"),
        WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [text.replace("\N{NO-BREAK SPACE}", " ") for text in lines]


def _moves_played(found: LineReport) -> str:
    winner = Colour.WHITE if found.result is GameResult.WHITE_WINS else Colour.BLACK
    played = sum(step.position.turn is winner for step in found.steps)
    return f"{name_of(winner)} needs {count(played, 'move')}"


def line_pgn(found: LineReport) -> str:
    return pgn(found.position, [step.option.move for step in found.steps], found.result)
