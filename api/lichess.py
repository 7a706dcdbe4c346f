"""The answers of Lichess's tablebase server, field for field, from our tables.

A client that is written for that server changes its host and nothing else.  All position fields
are those of the side to move there, so a move that wins leads to a `loss`.  `dtm` is in plies and
`dtc` in full moves, begun ones included: a forced conversion is made on the next move, -1.  Where
the game is over both say nothing, null, if it is mate and 0 if it is a draw.  What we have no table
for, `dtz`, `precise_dtz` and `dtw`, is null.
"""

from typing import Any

from api.fifty import CLAIM, NEGATED, ORDER, Category, Proven, category
from workers.metric import Metric
from workers.moves import is_checkmate, play
from workers.play import best_line
from workers.position import Colour, Position
from workers.probe import Answer, Tablebase
from workers.survey import Reply, Seen, Survey

Json = dict[str, Any]


def standard(found: Survey, proven: Proven) -> Json:
    """A position and its moves, best first."""
    here = found.here
    clock = here.position.half_moves
    moves = [_move(reply, clock, proven) for reply in found.replies]
    moves.sort(key=_rank)
    own = category(here, clock - 1, proven)
    if own is Category.UNKNOWN:
        own = _by_moves([move["category"] for _, move in moves])
    return {**_fields(here, own), "moves": [move for _, move in moves]}


def _move(reply: Reply, clock: int, proven: Proven) -> tuple[Reply, Json]:
    return reply, {
        "uci": reply.uci,
        "san": reply.san,
        "zeroing": reply.zeroing,
        "conversion": reply.conversion,
        **_fields(reply.after, category(reply.after, clock, proven)),
    }


def _fields(seen: Seen, own: Category) -> Json:
    return {
        "checkmate": seen.mate,
        "stalemate": seen.stalemate,
        "variant_win": False,
        "variant_loss": False,
        "insufficient_material": seen.insufficient,
        "dtz": None,
        "precise_dtz": None,
        "dtm": None if seen.mate else _plies(seen.dtm),
        "dtw": None,
        "dtc": None if seen.mate else _moves(seen.dtc),
        "category": own,
    }


def _plies(answer: Answer | None) -> int | None:
    if answer is None:
        return None
    return 2 * answer.moves - 1 if answer.wdl > 0 else 2 * answer.signed


def _moves(answer: Answer | None) -> int | None:
    if answer is None:
        return None
    return min(answer.signed, -1) if answer.wdl < 0 else answer.signed


def _by_moves(categories: list[Category]) -> Category:
    """As sure as the moves allow that are known: one that wins is enough, else all are needed."""
    known = [each for each in categories if each is not Category.UNKNOWN]
    best = min(known, key=ORDER.__getitem__, default=Category.UNKNOWN)
    wins = ORDER[best] < ORDER[Category.DRAW]
    return NEGATED[best] if wins or len(known) == len(categories) else Category.UNKNOWN


def _rank(entry: tuple[Reply, Json]) -> tuple[object, ...]:
    reply, move = entry
    mover_wins = ORDER[move["category"]] < ORDER[Category.DRAW]
    captured = "kpnbrq".find(reply.captured.lower()) if reply.captured else 0
    return (
        ORDER[move["category"]],
        not move["checkmate"],
        not (move["stalemate"] or move["insufficient_material"]),
        -(move["dtm"] or 0),
        reply.conversion != mover_wins,
        -(move["dtc"] or 0),
        reply.zeroing != mover_wins,
        -captured,
        "QRBN".find(reply.move.promotion) if reply.move.promotion else 4,
        reply.uci,
    )


def mainline(tablebase: Tablebase, position: Position) -> Json:
    """The best moves of both sides to mate, or until a draw can be claimed."""
    metric = metric_of(tablebase, position)
    answer = tablebase.probe(position, metric)
    last, played = position, []
    for step in best_line(tablebase, position, metric):
        if step.position.half_moves >= CLAIM:
            break
        played.append(step.option)
        last = play(step.position, step.option.move)
    return {
        "dtz": None,
        "precise_dtz": None,
        "winner": _winner(last, answer),
        "mainline": [
            {"uci": option.uci, "san": option.san, "dtz": None, "precise_dtz": None}
            for option in played
        ],
    }


def metric_of(tablebase: Tablebase, position: Position) -> Metric:
    """Whichever there is, DTC if both are or neither: then that is what is said to be missing."""
    wanted = tablebase.get_dtc(position), tablebase.get_dtm(position)
    return Metric.DTM if wanted[0] is None and wanted[1] is not None else Metric.DTC


def _winner(last: Position, answer: Answer) -> str | None:
    """Who mates; nobody if the line was cut short by the claim of a draw."""
    if answer.wdl == 0 or not is_checkmate(last):
        return None
    return "w" if last.turn is Colour.BLACK else "b"
