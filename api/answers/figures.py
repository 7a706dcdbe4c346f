"""Figures of tables, as text and as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kingpair.api.text import columns, count, percent
from kingpair.coordinator.plan.amounts import amount as size
from kingpair.workers.errors import DamagedTable, ForeignTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.table.directory import display_name, open_metadata, open_table, size_of
from kingpair.workers.table.format import COLUMNS, Counts, Table
from kingpair.workers.table.key import TableKey

MOVERS = {"white": "White to move", "black": "Black to move"}

# ---- stats ----


def stats_json(material: Material, metric: str, counts: Counts) -> dict[str, Any]:
    return {"material": str(material), "metric": metric, **counts}


def stats_text(material: Material, metric: Metric, counts: Counts, labelled: bool) -> Iterator[str]:
    what = "positions, like men counted as different" if labelled else "distinct positions"
    white, black = material.side_names
    yield f"{material}: {what}; White has {white}, Black {black}"
    yield ""
    yield from columns(_totals(counts, metric), "<>>>>")
    if longest := list(_longest(counts, metric)):
        yield ""
        yield from columns(longest, "<><")
    limit = phase_limit(material, metric)
    if depths := list(by_moves(counts, metric, limit)):
        yield ""
        yield from columns(depths, ">>>>>")
        yield ""
        yield from _LEGENDS.get(metric, ())
        if metric is Metric.DTC and limit is not None and longest_win(counts) > limit:
            yield "Below the line the 50-move rule draws."


_LEGENDS = {
    Metric.DTC: (
        "Moves are the winner's, to mate or to the capture that decides (DTC).",
        "Who loses in 0 is mated, or must convert at once (forced capture).",
    ),
    Metric.DTM: ("Moves are the winner's, to mate (DTM).",),
    Metric.DTZ: (
        "Plies are those of both sides, to mate, a capture or a pawn move (DTZ).",
        "Below the line the 50-move rule draws: cursed wins and blessed losses.",
    ),
}


def total(found: int | dict[str, int]) -> int:
    return found if isinstance(found, int) else sum(found.values())


def legal(side: Counts) -> int:
    return sum(total(side[result]) for result in ("win", "loss", "draw"))


def _totals(counts: Counts, metric: Metric) -> Iterator[tuple[str, ...]]:
    white, black = (counts[name] for name in COLUMNS)
    yield "", MOVERS["white"], "", MOVERS["black"], ""
    results = five_results if metric.exits_carry_class else three_results
    for (word, w), b in zip(results(white).items(), results(black).values(), strict=True):
        yield word, f"{w:,}", percent(w, legal(white)), f"{b:,}", percent(b, legal(black))
    yield "legal", f"{legal(white):,}", "", f"{legal(black):,}", ""
    yield "illegal", f"{white['illegal']:,}", "", f"{black['illegal']:,}", ""


def three_results(side: Counts) -> dict[str, int]:
    words = {"won": "win", "lost": "loss", "drawn": "draw"}
    return {word: total(side[result]) for word, result in words.items()}


def five_results(side: Counts) -> dict[str, int]:
    """With the wins and losses apart that the 50-move rule draws."""
    late = {
        result: sum(n for plies, n in side[result].items() if int(plies) > CLOCK_LIMIT)
        for result in ("win", "loss")
    }
    found = three_results(side)
    return {
        "won": found["won"] - late["win"],
        "cursed wins": late["win"],
        "drawn": found["drawn"],
        "blessed losses": late["loss"],
        "lost": found["lost"] - late["loss"],
    }


def phase_limit(material: Material, metric: Metric) -> int | None:
    """The longest distance of a table that the 50-move rule lets count.

    None if distances do not say: those to mate, those to a conversion that pawns can delay, and
    those of a game without the rule.
    """
    if not material.game.has_clock_rule or not metric.conversion_ends_phase:
        return None
    if metric.counts_plies:
        return CLOCK_LIMIT
    return None if material.has_pawns else CLOCK_LIMIT // 2


def _longest(counts: Counts, metric: Metric) -> Iterator[tuple[str, ...]]:
    for name, mover in (("white", "White"), ("black", "Black")):
        for result, word in (("win", "wins"), ("loss", "loses")):
            if entry := counts["longest"][name].get(result):
                yield f"{mover} {word} in at most", count(entry["moves"], metric.noun), entry["fen"]


def by_moves(counts: Counts, metric: Metric, limit: int | None) -> Iterator[list[str]]:
    """A row for each distance, with a line between those that the 50-move rule lets count and those
    beyond the limit.
    """
    shown = [
        (f"{mover} {word}", counts[side][result])
        for side, mover in (("white", "White"), ("black", "Black"))
        for result, word in (("win", "wins"), ("loss", "loses"))
        if counts[side][result]
    ]
    if not shown:
        return
    yield [metric.unit, *(name for name, _ in shown)]
    for moves in sorted({int(n) for _, found in shown for n in found}):
        if limit is not None and moves > limit:
            yield ["-" * len(metric.unit), *("-" * len(name) for name, _ in shown)]
            limit = None
        cells = (found.get(str(moves), 0) for _, found in shown)
        yield [str(moves), *(f"{cell:,}" if cell else "-" for cell in cells)]


# ---- tables ----


class TableEntry(NamedTuple):
    """A table of a directory, or the error of a file that cannot be read."""

    path: Path
    table: Table | None
    problem: DamagedTable | ForeignTable | None

    @property
    def key(self) -> TableKey:
        """The key of the table that the file is named for."""
        key = TableKey.of_file(self.path.name)
        assert key is not None, f"not named for a table: {self.path}"
        return key


def listed(paths: Iterable[Path], verify: bool) -> Iterator[TableEntry]:
    """The metadata of each table; `verify` reads the whole file."""
    for path in paths:
        try:
            table = open_table(path) if verify else open_metadata(path)
            if verify:
                read_whole(table)
            yield TableEntry(path, table, None)
        except (DamagedTable, ForeignTable) as error:
            yield TableEntry(path, None, error)


def read_whole(table: Table) -> None:
    """Check every byte and every block against its digest."""
    table.check()
    for block in range(table.blocks):
        for column in range(len(COLUMNS)):
            table.block(block, column)


def tables_text(found: Sequence[TableEntry], verified: bool) -> Iterator[str]:
    if not found:
        yield "no tables yet; kingpair build KQvKR makes some"
        return
    head = ("material", "men", "size", "type", "longest win", "drawn")
    yield from columns([head, *map(_table_row, found)], "<>>>>>")
    yield ""
    sound = [entry.table for entry in found if entry.table is not None]
    every = "; every byte agrees with its digest" if verified and len(sound) == len(found) else ""
    yield f"{count(len(sound), 'table')}, {size(sum(t.bytes for t in sound))}{every}"


def _table_row(entry: TableEntry) -> tuple[str, ...]:
    table = entry.table
    if table is None:
        return str(entry.key.material), "", size(size_of(entry.path)), "unusable"
    longest = longest_win(table.counts)
    sides = [table.counts[name] for name in COLUMNS]
    drawn = percent(sum(side["draw"] for side in sides), sum(map(legal, sides)))
    kind = str(table.dtype)
    return (
        str(table.material),
        str(table.material.men),
        size(table.bytes),
        kind,
        str(longest) if longest else "-",
        drawn,
    )


def longest_win(counts: Counts) -> int:
    """The moves of the longest win; 0 if no side can win."""
    return max((int(n) for name in COLUMNS for n in counts[name]["win"]), default=0)


def tables_json(found: Sequence[TableEntry]) -> list[dict[str, Any]]:
    return [_table_json(entry) for entry in found]


def _table_json(entry: TableEntry) -> dict[str, Any]:
    table = entry.table
    if table is None:
        return {"path": display_name(entry.path), "problem": str(entry.problem)}
    return {
        "path": display_name(entry.path),
        "material": str(table.material),
        "metric": table.metric,
        "men": table.material.men,
        "bytes": table.bytes,
        "type": str(table.dtype),
        "longest_win": longest_win(table.counts) or None,
        "draws": {name: table.counts[name]["draw"] for name in COLUMNS},
        "digest": table.digest,
    }
