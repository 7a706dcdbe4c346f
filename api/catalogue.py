"""The tables that there are, and the statistics of one, as JSON.

Statistics have the keys of those that syzygy-tables.info publishes: histograms are lists whose
index is the ply, and `wdl` counts as its files do, 2 a win, 0 a draw, -2 a loss.  The fifty-move
rule is not in our tables, so that neither 1 nor -1 is among them.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from api.figures import Listed, legal, listed, longest_win, total
from workers.directory import stamp
from workers.table import COLUMNS, Counts, Table, rows_of

Json = dict[str, Any]


def summary(entry: Listed) -> Json:
    """A table of the list; `problem` says why it cannot be used."""
    name = entry.path.name.split(".")
    found: Json = {"material": name[0], "metric": name[1], "men": len(name[0]) - 1}
    table = entry.table
    if table is None:
        return found | {"problem": str(entry.problem)}
    sides = [table.counts[name] for name in COLUMNS]
    return found | {
        "problem": None,
        "bytes": table.bytes,
        "type": str(table.dtype),
        "digest": table.digest,
        "positions": sum(map(legal, sides)),
        "drawn": sum(side["draw"] for side in sides),
        "longest_win": longest_win(table.counts) or None,
    }


class Catalogue:
    """The list of all tables.  A file is opened once, and again when it is another."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path | int, ...], Json] = {}

    def of(self, paths: Iterable[Path]) -> list[Json]:
        """By men, name and metric; those that were deleted meanwhile are left out."""
        known = {}
        for path in paths:
            with suppress(FileNotFoundError):
                key = stamp(path)
                known[key] = self._known.get(key) or _summary_of(path)
        self._known = known  # at once: others may be asking
        return sorted(known.values(), key=lambda e: (e["men"], e["material"], e["metric"]))


def _summary_of(path: Path) -> Json:
    (entry,) = listed([path], verify=False)
    return summary(entry)


def metadata(table: Table) -> Json:
    """All that a table's file says of itself but its counts."""
    return {
        **summary(Listed(table.path, table, None)),
        "rows": rows_of(table.material),
        "blocks": table.blocks,
        "smaller": dict(table.smaller),
    }


def statistics(table: Table) -> Json:
    counts = table.counts
    return {
        "material": str(table.material),
        "metric": table.metric,
        "bytes": table.bytes,
        "digest": table.digest,
        "histogram": {name: _histogram(counts[name]) for name in COLUMNS},
        "longest": [entry for name in COLUMNS for entry in _longest(counts, name)],
    }


def _histogram(side: Counts) -> Json:
    wdl = {"2": total(side["win"]), "0": side["draw"], "-2": total(side["loss"])}
    return {"win": _by_ply(side["win"], -1), "loss": _by_ply(side["loss"], 0), "wdl": wdl}


def _by_ply(found: dict[str, int], less: int) -> list[int]:
    """A win in n moves takes 2n - 1 plies, a loss 2n."""
    plies = {2 * int(moves) + less: positions for moves, positions in found.items()}
    return [plies.get(ply, 0) for ply in range(max(plies, default=-1) + 1)]


def _longest(counts: Counts, name: str) -> list[Json]:
    found = counts["longest"][name]
    return [
        {
            "epd": " ".join(found[result]["fen"].split()[:4]),
            "ply": 2 * found[result]["moves"] + less,
            "wdl": wdl,
        }
        for result, less, wdl in (("win", -1, 2), ("loss", 0, -2))
        if result in found
    ]
