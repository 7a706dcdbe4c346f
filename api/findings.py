"""What was found in a whole table, for people and for programs: its longest lines, its mutual
zugzwangs, samples of it, and the report that has it all.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from api.figures import MOVERS, by_moves
from api.text import columns, count, duration, percent
from workers.longest import Collection, Longest
from workers.material import Material
from workers.outcome import Outcome, moves_of
from workers.passtimes import Timed
from workers.report import Report, Shares, shares
from workers.selection import Entry
from workers.table import COLUMNS
from workers.zugzwang import Census, Kind, Zugzwang

VERBS = {Outcome.WIN: "wins", Outcome.LOSS: "loses", Outcome.DRAW: "draws"}
MEANING = {
    Kind.WHITE_WINS: "White to move draws, Black to move loses",
    Kind.BLACK_WINS: "White to move loses, Black to move draws",
    Kind.WHOEVER_MOVES_LOSES: "whoever is to move loses",
}


def _heading(material: Material, what: str) -> str:
    white, black = str(material).split("v")
    return f"{material}: {what}; White has {white}, Black {black}"


def _mover(entry: Entry | Longest) -> str:
    return COLUMNS[entry.side].title()


def _shown(found: Sequence[object], of: int) -> str:
    return f", the first {len(found):,} of them" if 0 < len(found) < of else ""


# ---- one position ----


def entry_text(material: Material, entry: Entry) -> str:
    """FEN and value: a line to cut and to sort."""
    worth = "draw" if entry.moves is None else f"{entry.outcome} {entry.moves}"
    return f"{entry.fen(material)}  {worth}"


def entry_json(material: Material, entry: Entry) -> dict[str, Any]:
    return {"fen": entry.fen(material), "to_move": entry.to_move, **_value_json(entry.value)}


def _value_json(value: int) -> dict[str, Any]:
    entry = Entry(0, 0, 0, value)
    return {"result": str(entry.outcome), "moves": moves_of(value)}


# ---- the longest ----


def longest_text(material: Material, metric: str, found: Collection) -> Iterator[str]:
    yield _heading(material, f"the longest, {metric}")
    yield from _longest_lines(material, found)


def _longest_lines(material: Material, found: Collection) -> Iterator[str]:
    if not found.entries:
        yield ""
        yield "Nobody can win."
    for longest, entries in found.entries.items():
        yield ""
        yield f"{_longest_line(longest)}{_shown(entries, longest.positions)}"
        yield from (f"  {entry.fen(material)}" for entry in entries)


def _longest_line(longest: Longest) -> str:
    verb, moves = VERBS[longest.outcome], count(longest.moves, "move")
    where = count(longest.positions, "distinct position")
    return f"{_mover(longest)} to move {verb} in at most {moves}, in {where}"


def longest_json(material: Material, metric: str, found: Collection) -> dict[str, Any]:
    return {"material": str(material), "metric": metric, "longest": _longest_json(material, found)}


def _longest_json(material: Material, found: Collection) -> list[dict[str, Any]]:
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


def zugzwangs_text(material: Material, found: Census) -> Iterator[str]:
    yield _heading(material, count(found.counts.total(), "mutual zugzwang"))
    yield from _zugzwang_lines(material, found)


def _zugzwang_lines(material: Material, found: Census) -> Iterator[str]:
    yield ""
    rows = ((f"  {kind}", f"{n:,}", MEANING[kind]) for kind, n in found.counts.items())
    yield from columns(rows, "<><")
    for kind, listed in found.listed.items():
        if listed:
            yield ""
            yield f"{kind}{_shown(listed, found.counts[kind])}"
            yield from columns((_zugzwang_row(material, each) for each in listed), "<<")


def _zugzwang_row(material: Material, found: Zugzwang) -> tuple[str, str]:
    losers = [entry for entry in found.entries() if entry.outcome is Outcome.LOSS]
    worth = (f"{_mover(loser)} to move loses in {loser.moves}" for loser in losers)
    return f"  {found.fen(material)}", ", ".join(worth)


def zugzwangs_json(material: Material, metric: str, found: Census) -> dict[str, Any]:
    return {"material": str(material), "metric": metric, "zugzwangs": _census_json(material, found)}


def _census_json(material: Material, found: Census) -> dict[str, Any]:
    return {
        str(kind): {
            "positions": found.counts[kind],
            "listed": [_zugzwang_json(material, each) for each in found.listed[kind]],
        }
        for kind in found.counts
    }


def _zugzwang_json(material: Material, found: Zugzwang) -> dict[str, Any]:
    """The FEN has White to move; both values are those of the side to move."""
    values = {entry.to_move: _value_json(entry.value) for entry in found.entries()}
    return {"fen": found.fen(material), **values}


# ---- the report ----


def report_text(report: Report) -> Iterator[str]:
    yield _heading(report.material, f"distinct positions, {report.metric}")
    yield ""
    yield from columns(_shares_rows(report), "<>>>>>>")
    yield from _longest_lines(report.material, report.longest)
    yield ""
    yield f"mutual zugzwangs: {report.zugzwangs.counts.total():,}"
    yield from _zugzwang_lines(report.material, report.zugzwangs)
    yield ""
    yield from _passes_lines(report.passes)
    if depths := list(by_moves(report.counts)):
        yield ""
        yield from columns(depths, ">>>>>")


def _passes_lines(passes: Sequence[Timed] | None) -> Iterator[str]:
    if passes is None:
        yield "what its passes took: not recorded"
        return
    yield f"what its passes took: {_took(sum(each.seconds for each in passes))} in all"
    yield ""
    by_winner = {name: [p for p in passes if p.winner == name] for name in COLUMNS}
    shown = {name: of for name, of in by_winner.items() if of}
    yield from columns(_passes_rows(shown), "<" + ">>>" * len(shown))


def _passes_rows(shown: dict[str, list[Timed]]) -> Iterator[list[str]]:
    yield ["", *(text for name in shown for text in (f"{name.title()} to win", "", ""))]
    yield ["  pass", *("won", "lost", "took") * len(shown)]
    for cells in zip_longest(*shown.values()):
        depth = next(each.depth for each in cells if each)
        row = (each and (f"{each.won:,}", f"{each.lost:,}", _took(each.seconds)) for each in cells)
        yield [f"  {depth}", *(text for found in row for text in found or ("", "", ""))]


def _took(seconds: float) -> str:
    return f"{1000 * seconds:,.1f} ms" if seconds < 1 else duration(seconds)


def _shares_rows(report: Report) -> Iterator[tuple[str, ...]]:
    by_side = shares(report.counts)
    yield "", *_spaced([MOVERS["white"], MOVERS["black"], "either"])
    for name, word in (("white", "White wins"), ("black", "Black wins"), ("drawn", "drawn")):
        cells = ((getattr(side, name), side.legal) for side in by_side.values())
        yield word, *(text for part, whole in cells for text in (f"{part:,}", percent(part, whole)))
    yield "legal", *_spaced(f"{side.legal:,}" for side in by_side.values())
    yield "illegal", *_spaced(f"{report.counts[name]['illegal']:,}" for name in COLUMNS)


def _spaced(cells: Iterable[str]) -> tuple[str, ...]:
    """Each with an empty cell after it, where others have a percentage."""
    return tuple(text for cell in cells for text in (cell, ""))


def report_json(report: Report) -> dict[str, Any]:
    white, black = str(report.material).split("v")
    return {
        "material": str(report.material),
        "metric": report.metric,
        "digest": report.digest,
        "men": {"white": white, "black": black},
        "positions": {side: _shares_json(of) for side, of in shares(report.counts).items()},
        "counts": {name: report.counts[name] for name in COLUMNS},
        "longest": _longest_json(report.material, report.longest),
        "zugzwangs": _census_json(report.material, report.zugzwangs),
        "passes": report.passes and [each._asdict() for each in report.passes],
    }


def _shares_json(of: Shares) -> dict[str, Any]:
    """With this side to move: how many White wins, Black wins, nobody wins, and their shares."""
    shown = {"white_wins": of.white, "black_wins": of.black, "drawn": of.drawn}
    shares = {name: round(100 * part / of.legal, 4) for name, part in shown.items()}
    return {"legal": of.legal, **shown, "percent": shares}
