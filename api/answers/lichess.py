"""The answers of Lichess's tablebase server, field for field, from our tables.

A client that is written for that server changes its host and nothing else.  All position fields
are those of the side to move there, so a move that wins leads to a `loss`.  `dtm` and `dtz` are in
plies and `dtc` in full moves, begun ones included: a forced conversion is the next move, -1.  Where
the game is over `dtm` and `dtc` say nothing, null, if it is mate and 0 if it is a draw; `dtz` is -1
for a mate.  What no table decides is null (`zeroing`), and so is `dtw`.

A position has the category of its best move, negated, wherever that is known.
"""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from kingpair.api.answers.best_moves import BestMoves
from kingpair.api.answers.fifty import CLAIM, ORDER, Category, Known, by_moves, category, soonest
from kingpair.api.answers.inferred import inferred
from kingpair.api.answers.zeroing import DRAW, MATED, Plies, counted, exactly, plies, plies_by_moves
from kingpair.workers.ask.answer import Answer
from kingpair.workers.ask.play import LineMove
from kingpair.workers.ask.position_report import (
    LOST,
    MoveFacts,
    PositionFacts,
    PositionReport,
    report_position,
)
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.game.chess.position import Colour, Position
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.rules import is_checkmate, play

Json = dict[str, Any]


class Values(NamedTuple):
    """The distances of a position, and what it is called."""

    dtc: Answer | None
    dtm: Answer | None
    plies: Plies | None
    category: Category


def standard(found: PositionReport, phases: Known) -> Json:
    """A position and its moves, best first."""
    here = found.here
    clock = here.position.half_moves
    same = cache(lambda: phases(here.position))
    after = [
        _values(reply.after, clock, phases if reply.conversion else lambda _: same())
        for reply in found.replies
    ]
    moves = [_move(*each) for each in zip(found.replies, after, strict=True)]
    moves.sort(key=partial(_rank, clock))
    return {
        **_fields(here, _root(found, after, phases)),
        "moves": [move for _, move in moves],
    }


def _values(seen: PositionFacts, before: int, phases: Known) -> Values:
    to_conversion, to_mate = seen.by(Metric.DTC), seen.by(Metric.DTM)
    return Values(to_conversion, to_mate, plies(seen, phases), category(seen, before, phases))


def _root(found: PositionReport, after: Sequence[Values], phases: Known) -> Values:
    """The position's own values, and what its moves add to them."""
    here = found.here
    own = category(here, here.position.half_moves - 1, phases)
    return Values(
        inferred(found, Metric.DTC).answer,
        inferred(found, Metric.DTM).answer,
        plies_by_moves(plies(here, phases), found.replies, [each.plies for each in after]),
        by_moves(own, [each.category for each in after]),
    )


def _move(reply: MoveFacts, values: Values) -> tuple[MoveFacts, Json]:
    return reply, {
        "uci": reply.uci,
        "san": reply.san,
        "zeroing": reply.zeroing,
        "conversion": reply.conversion,
        **_fields(reply.after, values),
    }


def _fields(seen: PositionFacts, values: Values) -> Json:
    way = values.plies
    return {
        "checkmate": seen.mate,
        "stalemate": seen.stalemate,
        "variant_win": False,
        "variant_loss": False,
        "insufficient_material": seen.insufficient,
        "dtz": None if way is None else way.dtz,
        "precise_dtz": None if way is None else way.precise,
        "dtm": None if seen.mate else _plies(values.dtm),
        "dtw": None,
        "dtc": None if seen.mate else _moves(values.dtc),
        "category": values.category,
    }


def _plies(answer: Answer | None) -> int | None:
    if answer is None:
        return None
    return 2 * answer.moves - 1 if answer.wdl > 0 else 2 * answer.signed


def _moves(answer: Answer | None) -> int | None:
    if answer is None:
        return None
    return min(answer.signed, -1) if answer.wdl < 0 else answer.signed


def _rank(clock: int, entry: tuple[MoveFacts, Json]) -> tuple[object, ...]:
    reply, move = entry
    mover_wins = ORDER[move["category"]] < ORDER[Category.DRAW]
    captured = "kpnbrq".find(reply.captured.lower()) if reply.captured else 0
    best, is_unknown = move["category"], move["category"] is Category.UNKNOWN
    if is_unknown and max(clock, reply.after.position.half_moves) >= CLAIM:
        # A draw can be claimed, so that this move is worth a blessed loss at most.
        best = Category.BLESSED_LOSS
    return (
        ORDER[best],
        is_unknown,
        not move["checkmate"],
        not (move["stalemate"] or move["insufficient_material"]),
        -(move["dtm"] or 0),
        reply.conversion != mover_wins,
        -(move["dtc"] or 0),
        reply.zeroing != mover_wins,
        -(move["dtz"] or 0),
        -captured,
        "QRBN".find(reply.move.promotion) if reply.move.promotion else 4,
        reply.uci,
    )


def mainline(tablebase: Tablebase, best: BestMoves, position: Position, phases: Known) -> Json:
    """The best moves of both sides to mate, or until a draw can be claimed.

    `dtz` is never null here: where no table decides it, it counts to the next zeroing move of this
    line, and `precise_dtz` is null.
    """
    if tablebase.get_syzygy(position) is not None:
        return _mainline_of_files(tablebase, position, phases)
    metric = metric_of(tablebase, position)
    answer = tablebase.probe(position, metric)
    steps: list[LineMove] = []
    for step in best.line(position, metric):
        if step.position.half_moves >= CLAIM:
            break
        steps.append(step)
    places = [position, *(play(step.position, step.option.move) for step in steps)]
    answers = [answer, *(step.option.after or answer for step in steps)]
    ways = [
        _decided(place, value, metric, phases) or by_line
        for place, value, by_line in zip(places, answers, _by_line(places, answers), strict=True)
    ]
    return {
        **_dtz(ways[0]),
        "winner": _winner(places[-1]),
        "mainline": [
            {"uci": step.option.uci, "san": step.option.san, **_dtz(way)}
            for step, way in zip(steps, ways[1:], strict=True)
        ],
    }


def _mainline_of_files(tablebase: Tablebase, position: Position, phases: Known) -> Json:
    """The first move of the answer of each position in turn, as long as its distance is known."""
    found = report_position(tablebase, position)
    first = answer = standard(found, phases)
    steps: list[Json] = []
    while answer["dtz"] and answer["moves"] and found.here.position.half_moves < CLAIM:
        best = answer["moves"][0]
        if best["dtz"] is None:
            break
        steps.append({field: best[field] for field in ("uci", "san", "dtz", "precise_dtz")})
        (place,) = (r.after.position for r in found.replies if r.uci == best["uci"])
        found = report_position(tablebase, place)
        answer = standard(found, phases)
    return {
        "dtz": first["dtz"],
        "precise_dtz": first["precise_dtz"],
        "winner": _winner(found.here.position),
        "mainline": steps,
    }


def _dtz(way: Plies) -> Json:
    return {"dtz": way.dtz, "precise_dtz": way.precise}


def _decided(place: Position, value: Answer, metric: Metric, phases: Known) -> Plies | None:
    if value.wdl == 0:
        return DRAW
    if value == LOST and is_checkmate(place):
        return MATED
    if metric.counts_plies:
        return exactly(value)
    return counted(place, value, phases) if metric.conversion_ends_phase else None


def _by_line(places: list[Position], answers: list[Answer]) -> list[Plies]:
    """Returns the plies from each position to the next zeroing move, or to its table's end."""
    left, ways = 0, []
    for i in range(len(places) - 1, -1, -1):
        ends_next = i + 1 < len(places) and (
            places[i + 1].half_moves == 0 or is_checkmate(places[i + 1])
        )
        left = 1 if ends_next else left + 1 if left else max(1, soonest(answers[i]))
        # What is counted along a line is no bound: nothing is precise.
        ways.append(Plies(answers[i].wdl, left, left + 1))
    return ways[::-1]


def metric_of(tablebase: Tablebase, position: Position) -> Metric:
    """DTZ if there is such a table: its lines heed the 50-move rule.  Else DTC, else DTM."""
    if tablebase.get_dtz(position) is not None:
        return Metric.DTZ
    wanted = tablebase.get_dtc(position), tablebase.get_dtm(position)
    return Metric.DTM if wanted[0] is None and wanted[1] is not None else Metric.DTC


def _winner(last: Position) -> str | None:
    """The side that mates; None if a claim of a draw ends the line before that."""
    if not is_checkmate(last):
        return None
    return "w" if last.turn is Colour.BLACK else "b"
