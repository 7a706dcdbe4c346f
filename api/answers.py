"""Answers about one position, for people and for programs: its result, every move, the best line.

A loss in 0 is the table's way to say that the game, or this phase of it, ends here: mate on the
board, or nothing but captures into lost tables.  People are told which.
"""

import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from api.text import columns, count
from workers.errors import MissingTableError
from workers.fen import fen
from workers.material import Material
from workers.metric import Metric
from workers.moves import legal_moves, play
from workers.notation import Result, numbered, pgn
from workers.play import Option, Step, best_line, options, result_of
from workers.position import Colour, Position, in_check, material_of
from workers.probe import Answer, Tablebase

WDL = {1: "win", 0: "draw", -1: "loss"}
WIDTH = 80


class Probed(NamedTuple):
    """A position, its value, and every legal move, best first."""

    position: Position
    metric: Metric
    answer: Answer
    options: list[Option]


class Line(NamedTuple):
    """The best moves as far as the tables reach; `missing` says which table ends them early."""

    position: Position
    metric: Metric
    answer: Answer
    steps: list[Step]
    missing: MissingTableError | None

    @property
    def result(self) -> Result:
        return result_of(self.position, self.answer)


def probed(tablebase: Tablebase, position: Position, metric: Metric) -> Probed:
    answer = tablebase.probe(position, metric)
    return Probed(position, metric, answer, options(tablebase, position, metric))


def line(tablebase: Tablebase, position: Position, metric: Metric) -> Line:
    """The best line; MissingTableError if not even the position itself is known."""
    found = Line(position, metric, tablebase.probe(position, metric), [], None)
    try:
        # One by one: what comes before a missing table is kept.
        for step in best_line(tablebase, position, metric):
            found.steps.append(step)
    except MissingTableError as error:
        return found._replace(missing=error)
    return found


# ---- words ----


def verdict(position: Position, answer: Answer) -> str:
    """The result in a sentence without its full stop."""
    mover, other = name_of(position.turn), name_of(position.turn.other)
    if not legal_moves(position):
        mated = in_check(position)
        return f"{mover} is mated, {other} has won" if mated else f"{mover} is stalemated, a draw"
    if answer.wdl == 0:
        return "draw"
    if answer == Answer(-1, 0):
        return f"{mover} loses and must convert at once (forced capture)"
    verb = "wins" if answer.wdl > 0 else "loses"
    return f"{mover} {verb} in {count(answer.moves, 'move')}"


def name_of(colour: Colour) -> str:
    return colour.name.title()


def heading(found: Probed | Line) -> str:
    material, mover = material_of(found.position)[0], name_of(found.position.turn)
    until = f", to {found.metric.counts_to}" if found.answer.moves else ""
    return f"{material}, {mover} to move: {verdict(found.position, found.answer)}{until}."


def entered(position: Position, option: Option) -> Material | None:
    """The material that a capture leads to."""
    return material_of(play(position, option.move))[0] if option.conversion else None


# ---- probe ----


def probe_text(found: Probed) -> Iterator[str]:
    yield fen(found.position)
    yield heading(found)
    if found.options:
        yield ""
        yield from columns((_option_row(found, option) for option in found.options), "<<<")


def _option_row(found: Probed, option: Option) -> tuple[str, str, str]:
    material = entered(found.position, option)
    note = _note(found.position, option, material)
    return f"  {option.san}", _worth(option, found.metric), note


def _worth(option: Option, metric: Metric) -> str:
    if option.answer is None:
        return "unknown"
    if option.mate:
        return "mates"
    if option.answer.wdl == 0:
        return "draws"
    verb = "wins" if option.answer.wdl > 0 else "loses"
    if option.conversion and metric is Metric.DTC:
        return verb
    return f"{verb} in {count(option.answer.moves, 'move')}"


def _note(position: Position, option: Option, material: Material | None) -> str:
    """Where a capture leads, and what else a player would want to know."""
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
    return f"into {material}{_rest(option.after)}"


def _rest(after: Answer) -> str:
    """What the opponent faces after a conversion."""
    if after.wdl == 0:
        return ""
    if after == Answer(-1, 0):
        return ", lost at once"
    return f", {'won' if after.wdl > 0 else 'lost'} in {after.moves}"


def probe_json(found: Probed) -> dict[str, Any]:
    return {
        **position_json(found.position, found.metric, found.answer),
        "options": [_option_json(found.position, option) for option in found.options],
    }


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


def _option_json(position: Position, option: Option) -> dict[str, Any]:
    material = entered(position, option)
    return {
        "san": option.san,
        "uci": option.uci,
        **answer_json(option.answer),
        "mate": option.mate,
        "converts_to": None if material is None else str(material),
    }


# ---- line ----


def line_text(found: Line) -> Iterator[str]:
    yield fen(found.position)
    yield heading(found)
    for i, phase in enumerate(_phases(found.steps)):
        start = phase[0]
        material = str(material_of(start.position)[0])
        yield ""
        yield f"into {material}: {verdict(start.position, start.answer)}" if i else material
        yield from _wrapped(phase)
    if found.steps and found.missing is None:
        yield ""
        yield f"{_moves_played(found)} to mate."


def _phases(steps: Iterable[Step]) -> list[list[Step]]:
    """The steps, cut after each conversion: a phase is one material."""
    by_men = groupby(steps, key=lambda step: material_of(step.position)[0])
    return [list(phase) for _, phase in by_men]


def _wrapped(phase: list[Step]) -> list[str]:
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


def _moves_played(found: Line) -> str:
    winner = Colour.WHITE if found.result is Result.WHITE_WINS else Colour.BLACK
    played = sum(step.position.turn is winner for step in found.steps)
    return f"{name_of(winner)} needs {count(played, 'move')}"


def line_pgn(found: Line) -> str:
    return pgn(found.position, [step.option.move for step in found.steps], found.result)


def line_json(found: Line) -> dict[str, Any]:
    return {
        **position_json(found.position, found.metric, found.answer),
        "complete": found.missing is None,
        "plies": len(found.steps),
        "phases": [_phase_json(phase, found.metric) for phase in _phases(found.steps)],
        "pgn": line_pgn(found),
    }


def _phase_json(phase: list[Step], metric: Metric) -> dict[str, Any]:
    start = phase[0]
    return {
        **position_json(start.position, metric, start.answer),
        "line": [{"san": step.option.san, "uci": step.option.uci} for step in phase],
    }
