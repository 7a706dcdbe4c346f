"""A position, its moves and its best line as JSON, for the service, its page and `--json`."""

import json
from functools import lru_cache
from typing import Any

from kingpair.api.answers import position_text as answers
from kingpair.api.answers import syzygy
from kingpair.api.answers.best_moves import BestMoves
from kingpair.api.answers.fifty import NEGATED, Category, Known, LaterPhases, categories
from kingpair.api.answers.inferred import inferred
from kingpair.api.answers.position_text import (
    WDL,
    LineReport,
    answer_json,
    phases_of,
    position_json,
)
from kingpair.workers.ask.answer import Answer, Answers
from kingpair.workers.ask.play import LineMove, RatedMove, rated_moves_of
from kingpair.workers.ask.position_report import PositionFacts, PositionReport, report_position
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.chess.position import Position, material_of
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.rules import fen, play

Json = dict[str, Any]


def probed(tablebase: Tablebase, found: PositionReport, metric: Metric, phases: Known) -> Json:
    """The value of a position and of each of its moves, best first; null where there is no table,
    and then `missing` says which.

    `category` says what the result is under the fifty-move rule, from the half-move clock on.
    """
    here, value = found.here, inferred(found, metric)
    own, after = categories(found, phases)
    rated = rated_moves_of(found, metric)
    replies = {
        reply.uci: (reply.after, NEGATED[each])
        for reply, each in zip(found.replies, after, strict=True)
    }
    if here.syzygy is not None:
        by_uci = {option.uci: option for option in rated}
        rated = [by_uci[move.facts.uci] for move in syzygy.ranked(found.replies, after)]
    result = _result(found, metric)
    return {
        **position_json(here.position, metric, value.answer),
        "result": None if result is None else WDL[result],
        **syzygy.answer_fields(here),
        "category": own,
        "missing": _missing(tablebase, here, metric),
        "check": here.check,
        "checkmate": here.mate,
        "stalemate": here.stalemate,
        "insufficient_material": here.insufficient,
        "options": [_option(option, *replies[option.uci]) for option in rated],
    }


def probed_alone(tablebase: Tablebase, position: Position, metric: Metric) -> Json:
    """Probes a position and its moves as `probed` tells them.

    Raises MissingTableError if neither a table nor a Syzygy file has the position.
    """
    if tablebase.get_syzygy(position) is None:
        with syzygy.missing_files_named(tablebase, position):
            tablebase.probe(position, metric)
    found = report_position(tablebase, position)
    return probed(tablebase, found, metric, LaterPhases(tablebase).of)


def _result(found: PositionReport, metric: Metric) -> int | None:
    """1, 0 or -1 by the metric asked for, else by any other or by a Syzygy file."""
    by_metrics = (inferred(found, each).wdl for each in (metric, *Metric))
    return next((wdl for wdl in by_metrics if wdl is not None), found.here.wdl)


def _missing(tablebase: Tablebase, here: PositionFacts, metric: Metric) -> str | None:
    if here.by(metric) is not None:
        return None
    try:
        with syzygy.missing_files_named(tablebase, here.position):
            tablebase.probe(here.position, metric)
    except MissingTableError as error:
        return str(error)
    return None


def _option(option: RatedMove, after: PositionFacts, category: Category) -> Json:
    converts = str(material_of(after.position)[0]) if option.conversion else None
    value = answer_json(option.answer)
    if option.answer is None and after.wdl is not None:
        value["result"] = WDL[-after.wdl]
    return {
        "uci": option.uci,
        "san": option.san,
        **value,
        **syzygy.answer_fields(after),
        "category": category,
        "mate": option.mate,
        "converts_to": converts,
        "fen": fen(after.position),
    }


def batch(found: Answers, metric: Metric) -> str:
    """Many values as JSON text, in the order in which they were asked.

    There are few different values: each is written once, and ten thousand take a millisecond.
    """
    each = zip(found.wdl.tolist(), found.moves.tolist(), found.known.tolist(), strict=True)
    values = ",".join([_value_text(wdl, moves, known) for wdl, moves, known in each])
    return f'{{"metric":{json.dumps(metric)},"values":[{values}]}}'


@lru_cache(4096)
def _value_text(wdl: int, moves: int, known: bool) -> str:
    value = answer_json(Answer(wdl, abs(moves)) if known else None)
    return json.dumps(value, separators=(",", ":"))


def line(
    tablebase: Tablebase,
    best: BestMoves,
    position: Position,
    metric: Metric,
    until_claim: bool = False,
) -> Json:
    """The best line; the moves that the service has found before are not looked for again."""
    moves = best.line(position, metric)
    return line_json(answers.line(tablebase, position, metric, until_claim, moves))


def line_json(found: LineReport) -> Json:
    """The best moves of both sides, as far as the tables reach; `missing` says what ended them, and
    `claimed` whether they end where a draw can be claimed.

    `phases` has the same moves, divided where a capture leads into another material.
    """
    missing = found.missing
    return {
        **position_json(found.position, found.metric, found.answer),
        "category": found.category,
        "complete": missing is None,
        "missing": None if missing is None else str(missing),
        "claimed": found.claimed,
        "plies": len(found.steps),
        "line": [
            {**_move(step), "fen": fen(play(step.position, step.option.move))}
            for step in found.steps
        ],
        "phases": [_phase(phase, found.metric) for phase in phases_of(found.steps)],
        "pgn": answers.line_pgn(found),
    }


def _phase(phase: list[LineMove], metric: Metric) -> Json:
    start = phase[0]
    return {
        **position_json(start.position, metric, start.answer),
        "line": [_move(step) for step in phase],
    }


def _move(step: LineMove) -> Json:
    return {"uci": step.option.uci, "san": step.option.san}
