"""A position, its moves and its best line as JSON, for the service and its page."""

from typing import Any

from api import answers
from api.answers import answer_json, position_json
from workers.errors import MissingTableError
from workers.fen import fen
from workers.metric import Metric
from workers.moves import play
from workers.play import Option, options_of
from workers.position import Position, material_of
from workers.probe import Answer, Answers, Tablebase
from workers.survey import Seen, Survey

Json = dict[str, Any]


def probed(tablebase: Tablebase, found: Survey, metric: Metric) -> Json:
    """The value of a position and of each of its moves, best first; null where there is no table,
    and then `missing` says which.
    """
    here = found.here
    after = {reply.uci: reply.after.position for reply in found.replies}
    return {
        **position_json(here.position, metric, here.by(metric)),
        "missing": _missing(tablebase, here, metric),
        "check": here.check,
        "checkmate": here.mate,
        "stalemate": here.stalemate,
        "insufficient_material": here.insufficient,
        "options": [_option(option, after[option.uci]) for option in options_of(found, metric)],
    }


def _missing(tablebase: Tablebase, here: Seen, metric: Metric) -> str | None:
    if here.by(metric) is not None:
        return None
    try:
        tablebase.probe(here.position, metric)
    except MissingTableError as error:
        return str(error)
    return None


def _option(option: Option, after: Position) -> Json:
    converts = str(material_of(after)[0]) if option.conversion else None
    return {
        "uci": option.uci,
        "san": option.san,
        **answer_json(option.answer),
        "mate": option.mate,
        "converts_to": converts,
        "fen": fen(after),
    }


def batch(found: Answers, metric: Metric) -> Json:
    """Many values in the order in which they were asked."""
    each = zip(found.wdl.tolist(), found.moves.tolist(), found.known.tolist(), strict=True)
    values = [answer_json(Answer(wdl, abs(moves)) if known else None) for wdl, moves, known in each]
    return {"metric": metric, "values": values}


def line(tablebase: Tablebase, position: Position, metric: Metric) -> Json:
    """The best moves of both sides, as far as the tables reach; `missing` says what ended them."""
    found = answers.line(tablebase, position, metric)
    missing = found.missing
    return {
        "fen": fen(position),
        "metric": metric,
        **answer_json(found.answer),
        "complete": missing is None,
        "missing": None if missing is None else str(missing),
        "line": [
            {
                "uci": step.option.uci,
                "san": step.option.san,
                "fen": fen(play(step.position, step.option.move)),
            }
            for step in found.steps
        ],
        "pgn": answers.line_pgn(found),
    }
