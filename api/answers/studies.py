"""Studies of a whole table, for people and for programs: its longest lines, its mutual
zugzwangs, samples of it, and the report that has it all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from kingpair.api.answers.figures import MOVERS, by_moves, phase_limit
from kingpair.api.text import columns, count, duration, percent
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.outcome import Outcome
from kingpair.workers.index.material_index import table_index
from kingpair.workers.number_types import Slot
from kingpair.workers.study.longest import LongestCollection, LongestDistance
from kingpair.workers.study.position_filter import TablePosition
from kingpair.workers.study.report import Report, ResultCounts, cursed_counts, result_counts
from kingpair.workers.study.zugzwang import MutualZugzwang, ZugzwangCensus, ZugzwangResult
from kingpair.workers.table.format import COLUMNS
from kingpair.workers.table.pass_times import PassTime, by_level
from kingpair.workers.table.value import moves_of

VERBS = {Outcome.WIN: "wins", Outcome.LOSS: "loses", Outcome.DRAW: "draws"}
MEANING = {
    ZugzwangResult.WHITE_WINS: "White to move draws, Black to move loses",
    ZugzwangResult.BLACK_WINS: "White to move loses, Black to move draws",
    ZugzwangResult.MOVER_LOSES: "the side to move loses",
}


def _heading(material: Material, what: str) -> str:
    white, black = material.side_names
    return f"{material}: {what}; White has {white}, Black {black}"


def _mover(entry: TablePosition | LongestDistance) -> str:
    return COLUMNS[entry.side].title()


def _shown(found: Sequence[object], of: int) -> str:
    return f", the first {len(found):,} of them" if 0 < len(found) < of else ""


# ---- one position ----


def entry_text(material: Material, entry: TablePosition) -> str:
    """FEN and value: a line to cut and to sort."""
    worth = "draw" if entry.moves is None else f"{entry.outcome} {entry.moves}"
    return f"{entry.fen(material)}  {worth}"


def entry_json(material: Material, entry: TablePosition) -> dict[str, Any]:
    return {"fen": entry.fen(material), "to_move": entry.to_move, **_value_json(entry.value)}


def _value_json(value: int) -> dict[str, Any]:
    entry = TablePosition(0, Slot(0), 0, value)
    return {"result": str(entry.outcome), "moves": moves_of(value)}


# ---- the longest ----


def longest_text(material: Material, metric: str, found: LongestCollection) -> Iterator[str]:
    yield _heading(material, f"the longest, {metric}")
    yield from _longest_lines(material, metric, found)


def _longest_lines(material: Material, metric: str, found: LongestCollection) -> Iterator[str]:
    if not found.entries:
        yield ""
        yield "Nobody can win."
    limit, noun = phase_limit(material, Metric(metric)), Metric(metric).noun
    for longest, entries in found.entries.items():
        yield ""
        yield f"{_longest_line(longest, limit, noun)}{_shown(entries, longest.positions)}"
        yield from (f"  {entry.fen(material)}" for entry in entries)


def _longest_line(longest: LongestDistance, limit: int | None, noun: str) -> str:
    verb, moves = VERBS[longest.outcome], count(longest.moves, noun)
    where = count(longest.positions, "distinct position")
    rule = " (drawn under the 50-move rule)" if limit is not None and longest.moves > limit else ""
    return f"{_mover(longest)} to move {verb} in at most {moves}{rule}, in {where}"


def longest_json(material: Material, metric: str, found: LongestCollection) -> dict[str, Any]:
    return {"material": str(material), "metric": metric, "longest": _longest_json(material, found)}


def _longest_json(material: Material, found: LongestCollection) -> list[dict[str, Any]]:
    return [
        {
            "to_move": COLUMNS[longest.side],
            "result": str(longest.outcome),
            "moves": longest.moves,
            "positions": longest.positions,
            "fens": [entry.fen(material) for entry in entries],
        }
        for longest, entries in found.entries.items()
    ]


# ---- mutual zugzwangs ----


def zugzwangs_text(material: Material, found: ZugzwangCensus) -> Iterator[str]:
    yield _heading(material, count(found.counts.total(), "mutual zugzwang"))
    yield from _zugzwang_lines(material, found)


def _zugzwang_lines(material: Material, found: ZugzwangCensus) -> Iterator[str]:
    yield ""
    rows = ((f"  {kind}", f"{n:,}", MEANING[kind]) for kind, n in found.counts.items())
    yield from columns(rows, "<><")
    for kind, listed in found.listed.items():
        if listed:
            yield ""
            yield f"{kind}{_shown(listed, found.counts[kind])}"
            yield from columns((_zugzwang_row(material, each) for each in listed), "<<")


def _zugzwang_row(material: Material, found: MutualZugzwang) -> tuple[str, str]:
    losers = [entry for entry in found.entries() if entry.outcome is Outcome.LOSS]
    worth = (f"{_mover(loser)} to move loses in {loser.moves}" for loser in losers)
    return f"  {found.fen(material)}", ", ".join(worth)


def zugzwangs_json(material: Material, metric: str, found: ZugzwangCensus) -> dict[str, Any]:
    return {"material": str(material), "metric": metric, "zugzwangs": _census_json(material, found)}


def _census_json(material: Material, found: ZugzwangCensus) -> dict[str, Any]:
    return {
        str(kind): {
            "positions": found.counts[kind],
            "listed": [_zugzwang_json(material, each) for each in found.listed[kind]],
        }
        for kind in found.counts
    }


def _zugzwang_json(material: Material, found: MutualZugzwang) -> dict[str, Any]:
    """The FEN has White to move; both values are those of the side to move."""
    values = {entry.to_move: _value_json(entry.value) for entry in found.entries()}
    return {"fen": found.fen(material), **values}


# ---- the report ----


def report_text(report: Report) -> Iterator[str]:
    yield _heading(report.material, f"distinct positions, {report.metric}")
    yield ""
    yield from columns(_shares_rows(report), "<>>>>>>")
    yield from _longest_lines(report.material, report.metric, report.longest)
    yield ""
    yield f"mutual zugzwangs: {report.zugzwangs.counts.total():,}"
    yield from _zugzwang_lines(report.material, report.zugzwangs)
    yield ""
    yield from _passes_lines(report.passes)
    metric = Metric(report.metric)
    if depths := list(by_moves(report.counts, metric, phase_limit(report.material, metric))):
        yield ""
        yield from columns(depths, ">>>>>")


def _passes_lines(passes: Sequence[PassTime] | None) -> Iterator[str]:
    if passes is None:
        yield "what its passes took: not recorded"
        return
    yield f"what its passes took: {_took(sum(each.seconds for each in passes))} in all"
    yield ""
    has_levels = any(each.level is not None for each in passes)
    rows = by_level(passes) if has_levels else passes
    by_winner = {name: [p for p in rows if p.winner == name] for name in COLUMNS}
    shown = {name: of for name, of in by_winner.items() if of}
    first = "level" if has_levels else "pass"
    yield from columns(_passes_rows(shown, first), "<" + ">>>" * len(shown))


def _passes_rows(shown: dict[str, list[PassTime]], first: str) -> Iterator[list[str]]:
    yield ["", *(text for name in shown for text in (f"{name.title()} to win", "", ""))]
    yield [f"  {first}", *("won", "lost", "took") * len(shown)]
    for cells in zip_longest(*shown.values()):
        depth = next(each.depth for each in cells if each)
        row = (each and (f"{each.won:,}", f"{each.lost:,}", _took(each.seconds)) for each in cells)
        yield [f"  {depth}", *(text for found in row for text in found or ("", "", ""))]


def _took(seconds: float) -> str:
    return f"{1000 * seconds:,.1f} ms" if seconds < 1 else duration(seconds)


def _shares_rows(report: Report) -> Iterator[tuple[str, ...]]:
    by_side = result_counts(report.counts)
    cursed = result_counts(cursed_counts(report.counts))
    heeds_clock = Metric(report.metric).exits_carry_class

    def row(name: str, word: str, of: Mapping[str, ResultCounts]) -> tuple[str, ...]:
        cells = ((getattr(of[side], name), whole.legal) for side, whole in by_side.items())
        return word, *(text for part, all_ in cells for text in (f"{part:,}", percent(part, all_)))

    yield "", *_spaced([MOVERS["white"], MOVERS["black"], "either"])
    for name, word in (("white", "White wins"), ("black", "Black wins"), ("drawn", "drawn")):
        yield row(name, word, by_side)
        if heeds_clock and getattr(cursed["both"], name):
            yield row(name, "  of these cursed", cursed)
    yield "legal", *_spaced(f"{side.legal:,}" for side in by_side.values())
    rows = table_index(report.material).rows
    held = {"white": rows, "black": rows, "both": 2 * rows}
    cells = ((held[name] - side.legal, held[name]) for name, side in by_side.items())
    yield "empty rows", *(text for c in cells for text in (f"{c[0]:,}", percent(*c)))


def _spaced(cells: Iterable[str]) -> tuple[str, ...]:
    """Adds an empty cell after each, in the place of a percentage."""
    return tuple(text for cell in cells for text in (cell, ""))


def report_json(report: Report) -> dict[str, Any]:
    white, black = report.material.side_names
    return {
        "material": str(report.material),
        "metric": report.metric,
        "digest": report.digest,
        "men": {"white": white, "black": black},
        "rows": table_index(report.material).rows,
        "positions": {side: _shares_json(of) for side, of in result_counts(report.counts).items()},
        "counts": {name: report.counts[name] for name in COLUMNS},
        "longest": _longest_json(report.material, report.longest),
        "zugzwangs": _census_json(report.material, report.zugzwangs),
        "passes": report.passes and [each.stated() for each in report.passes],
    }


def _shares_json(of: ResultCounts) -> dict[str, Any]:
    """The positions with this side to move by result, and their shares."""
    shown = {"white_wins": of.white, "black_wins": of.black, "drawn": of.drawn}
    shares = {name: round(100 * part / of.legal, 4) for name, part in shown.items()}
    return {"legal": of.legal, **shown, "percent": shares}
