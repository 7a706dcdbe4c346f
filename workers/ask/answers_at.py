"""The values at many addresses at once, such as those after all moves of a position.

The rows of a page are asked for together, because to find a second value of a page costs little.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from kingpair.workers.ask.addresses import BARE_KINGS, RowAddress
from kingpair.workers.ask.answer import Answer, answer_of, value_with_right
from kingpair.workers.ask.derived_answer import SeenPages, derived_answer
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.format import Table
from kingpair.workers.table.page_cache import PageKey

if TYPE_CHECKING:
    from kingpair.workers.ask.probe import Tablebase

DRAW = Answer(0, 0)


def answers_at(
    tablebase: "Tablebase", places: Sequence[RowAddress | None], metric: Metric, wait: bool
) -> list[Answer | None]:
    """The values at some addresses, None without a table.

    Raises NotCached if a page must be read or a table opened and `wait` is false.
    """
    answers: list[Answer | None] = [None] * len(places)
    tables: dict[int, Table | None] = {}
    pages: SeenPages = {}
    asked: dict[PageKey, tuple[list[int], list[int]]] = {}  # rows, and the numbers of their places
    for number, place in enumerate(places):
        if place is None:
            continue
        material = place.material
        if material not in tables:
            tables[material] = tablebase.find_table(metric, material, wait)
        table = tables[material]
        if table is None:
            answers[number] = DRAW if material == BARE_KINGS else None
        elif place.en_passant is None and place.weaker_to_move in table.stored:
            page, row = divmod(place.row, table.page_rows)
            rows, numbers = asked.setdefault(PageKey(table, page, place.weaker_to_move), ([], []))
            rows.append(row)
            numbers.append(number)
        else:
            answers[number] = _answer_at(tablebase, place, metric, wait, pages)
    wanted = {key: rows for key, (rows, _) in asked.items()}
    found = tablebase.cache.values_of(wanted, wait=wait) if wanted else []
    for (_, numbers), values in zip(asked.values(), found, strict=True):
        for number, value in zip(numbers, values, strict=True):
            answers[number] = answer_of(value)
    return answers


def _answer_at(
    tablebase: "Tablebase", place: RowAddress, metric: Metric, wait: bool, pages: SeenPages
) -> Answer | None:
    """The value at an address that may have a right, or follow from other positions."""
    if place.material == BARE_KINGS:
        return DRAW
    if (table := tablebase.find_table(metric, place.material, wait)) is None:
        return None
    answer_at = partial(_answer_at, tablebase, metric=metric, wait=wait, pages=pages)
    if place.weaker_to_move in table.stored:
        page, at = divmod(place.row, table.page_rows)
        key = PageKey(table, page, place.weaker_to_move)
        if (values := pages.get(key)) is None:
            values = pages[key] = tablebase.cache.get(key, wait=wait)
        own: Answer | None = answer_of(values.item(at))
    else:
        own = derived_answer(place, metric, tablebase.addresses, answer_at)
    if place.en_passant is None or own is None:
        return own
    after = [answer_at(each) for each in place.en_passant.captures]
    known = tuple(answer for answer in after if answer is not None)
    if len(known) < len(after):
        return None
    return value_with_right(own, place.en_passant.only_moves, known, metric)
