"""The report on a position: its value and that of every position one move on, in all metrics.

One lookup in the tables covers all moves, because this is the most frequent question to a server.
The rules decide mate, stalemate and insufficient material without a table.

Cost: some 20 microseconds a move, most of it to play the move and to look for checks.  The report
looks for a legal reply only if no table shows that the game goes on.  A page that is not in memory
costs as much as one or two moves, and a position needs half a dozen.  So if some must be read, none
is read for the position itself, whose value follows from its moves, or for what another metric
shows to be a draw.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from kingpair.workers.ask.addresses import RowAddress
from kingpair.workers.ask.answer import Answer
from kingpair.workers.ask.derived_answer import value_by_moves
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.game.chess.moves import Move
from kingpair.workers.game.chess.position import (
    EMPTY,
    SQUARE_NAMES,
    Position,
    in_check,
    insufficient_material,
    material_of,
)
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.notation import san_of, uci
from kingpair.workers.game.rules import (
    Rules,
    can_move,
    is_capture,
    is_zeroing_pawn_move,
    rules_of,
)
from kingpair.workers.table.page_cache import NotCached, PageKey

if TYPE_CHECKING:
    from kingpair.workers.syzygy.distance import SyzygyAnswer

AnswersByMetric = Mapping[Metric, Answer | None]  # None without a table

DRAW, LOST = Answer(0, 0), Answer(-1, 0)


class PositionFacts(NamedTuple):
    """The facts about a position, for the side to move."""

    position: Position
    check: bool
    over: bool
    """There is no legal move."""
    insufficient: bool
    answers: AnswersByMetric
    syzygy: "SyzygyAnswer | None"
    """By a Syzygy file, where there is no table."""

    @property
    def mate(self) -> bool:
        """Whether the side to move has lost: it is mated, or stalemated where that loses."""
        return self.over and (self.check or self.position.game.stalemate_loses)

    @property
    def stalemate(self) -> bool:
        """Whether the game is drawn because the side to move has no move."""
        return self.over and not self.mate

    @property
    def answer(self) -> Answer | None:
        """The answer of the first metric that has one."""
        return _first(self.answers)

    @property
    def wdl(self) -> int | None:
        """1, 0 or -1 by a table or a Syzygy file, without the fifty-move rule."""
        if self.answer is not None:
            return self.answer.wdl
        return None if self.syzygy is None else self.syzygy.sign

    def by(self, metric: Metric) -> Answer | None:
        """The distance by a metric, None without a table."""
        return self.answers[metric]


class MoveFacts(NamedTuple):
    """A legal move, and the facts about the position after it."""

    move: Move
    uci: str
    san: str
    captured: str
    """FEN's letter of the captured man, or an empty string."""
    zeroing: bool
    after: PositionFacts

    @property
    def capture(self) -> bool:
        return self.captured != ""

    @property
    def conversion(self) -> bool:
        return self.capture or self.move.promotion is not None


class PositionReport(NamedTuple):
    """A position and its legal moves, in the order in which they are generated."""

    here: PositionFacts
    replies: list[MoveFacts]


def report_position(
    tablebase: Tablebase, position: Position, *, wait: bool = True
) -> PositionReport:
    """Reports on a position; NotCached if the disk must be read for a page and `wait` is false."""
    rules = rules_of(position.game.name)
    moves = rules.legal_moves(position)
    children = [rules.play(position, move) for move in moves]
    places = tablebase.addresses([_text(each, rules) for each in (position, *children)])
    if wait and _read_ahead(tablebase, places[1:]):
        here, *after = _answers_of_few_pages(tablebase, position, moves, places)
    else:
        here, *after = _answers_at_hand(tablebase, position, moves, places, wait)

    def by_syzygy(place: Position, answers: AnswersByMetric) -> "SyzygyAnswer | None":
        return _by_syzygy(tablebase, place, wait) if _first(answers) is None else None

    return PositionReport(
        _facts(position, in_check(position), not moves, here, by_syzygy(position, here)),
        [
            _reply(position, moves, move, _facts_after(child, answers, by_syzygy(child, answers)))
            for move, child, answers in zip(moves, children, after, strict=True)
        ],
    )


def _read_ahead(tablebase: Tablebase, places: Sequence[RowAddress | None]) -> int:
    """Lets the system read the pages of these addresses that are not in memory, side by side.
    Returns their number.
    """
    keys = set[PageKey]()
    for metric, place in product(Metric, places):
        table = place and tablebase.find_table(metric, place.material, wait=True)
        if place and table and place.weaker_to_move in table.stored:
            keys.add(PageKey(table, place.row // table.page_rows, place.weaker_to_move))
    return tablebase.cache.read_ahead(keys)


def _answers_at_hand(
    tablebase: Tablebase,
    position: Position,
    moves: Sequence[Move],
    places: Sequence[RowAddress | None],
    wait: bool,
) -> list[dict[Metric, Answer | None]]:
    """The answers of a position, and of those after its moves, where most pages are decoded."""
    own, *others = places
    misses, found = tablebase.cache.misses, list[list[Answer | None]]()
    for metric in Metric:
        after, here = tablebase.look_up(others, metric, wait=wait), None
        if tablebase.cache.misses > misses and own and tablebase.has_table(metric, own.material):
            here = value_by_moves(position, moves, after, metric)
        found.append([here or tablebase.look_up([own], metric, wait=wait)[0], *after])
    return [dict(zip(Metric, each, strict=True)) for each in zip(*found, strict=True)]


def _answers_of_few_pages(
    tablebase: Tablebase,
    position: Position,
    moves: Sequence[Move],
    places: Sequence[RowAddress | None],
) -> list[dict[Metric, Answer | None]]:
    """The answers of a position, and of those after its moves."""
    own, *others = places
    found: list[dict[Metric, Answer | None]] = [{} for _ in places]
    drawn = [False] * len(others)
    for metric in Metric:
        after = _after_moves(tablebase, others, drawn, metric)
        drawn = [was or answer == DRAW for was, answer in zip(drawn, after, strict=True)]
        here = value_by_moves(position, moves, after, metric)
        if here is None or own is None or not tablebase.has_table(metric, own.material):
            (here,) = tablebase.look_up([own], metric)
        for answers, answer in zip(found, (here, *after), strict=True):
            answers[metric] = answer
    return found


def _after_moves(
    tablebase: Tablebase,
    places: Sequence[RowAddress | None],
    drawn: Sequence[bool],
    metric: Metric,
) -> list[Answer | None]:
    """The answers at some addresses; `drawn` says which are draws by another metric."""
    draws = [
        draw and place is not None and tablebase.has_table(metric, place.material)
        for place, draw in zip(places, drawn, strict=True)
    ]
    asked = [None if draw else place for place, draw in zip(places, draws, strict=True)]
    answers = tablebase.look_up(asked, metric)
    return [DRAW if draw else answer for answer, draw in zip(answers, draws, strict=True)]


def _by_syzygy(tablebase: Tablebase, position: Position, wait: bool) -> "SyzygyAnswer | None":
    """The answer of a Syzygy file.  It takes long: a caller who does not wait gets NotCached."""
    files = tablebase.syzygy
    if not wait and files is not None and files.has(material_of(position)[0]):
        raise NotCached
    return tablebase.get_syzygy(position)


def _first(answers: AnswersByMetric) -> Answer | None:
    return next((answer for answer in answers.values() if answer is not None), None)


def _facts_after(
    position: Position, answers: AnswersByMetric, syzygy: "SyzygyAnswer | None"
) -> PositionFacts:
    known = _first(answers)
    goes_on = known is not None and known.wdl != 0 and known != LOST
    over = not (goes_on or can_move(position))
    return _facts(position, in_check(position), over, answers, syzygy)


def _facts(
    position: Position,
    check: bool,
    over: bool,
    answers: AnswersByMetric,
    syzygy: "SyzygyAnswer | None",
) -> PositionFacts:
    insufficient = insufficient_material(position)
    found = PositionFacts(position, check, over, insufficient, answers, syzygy)
    if over or insufficient:
        return found._replace(answers=dict.fromkeys(Metric, LOST if found.mate else DRAW))
    return found


def _reply(
    position: Position, moves: tuple[Move, ...], move: Move, after: PositionFacts
) -> MoveFacts:
    taken = ""
    if is_capture(position, move):
        taken = position.board[move.target].replace(EMPTY, "P")  # en passant
    sign = "#" if after.mate else "+" if after.check else ""
    text = san_of(position, move, moves) + sign
    zeroing = taken != "" or is_zeroing_pawn_move(position, move)
    return MoveFacts(move, uci(move), text, taken, zeroing, after)


def _text(position: Position, rules: Rules) -> str:
    """The fields of a FEN that decide the value.  Clocks do not."""
    rights = "".join(right.value for right in position.castling) or "-"
    target = "-" if position.en_passant is None else SQUARE_NAMES[position.en_passant]
    return f"{rules.ranks(position.board)} {position.turn.value} {rights} {target}"
