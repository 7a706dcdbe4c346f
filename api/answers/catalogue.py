"""The tables that there are, and the statistics of one, as JSON.

Statistics have the keys of those that syzygy-tables.info publishes: histograms are lists whose
index is the ply, and `wdl` counts as its files do, 2 a win, 0 a draw, -2 a loss.  The fifty-move
rule is not in our tables, so that neither 1 nor -1 is among them.
"""

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kingpair.api.answers.figures import TableEntry, five_results, legal, listed, longest_win, total
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.index.material_index import rows_of
from kingpair.workers.table.directory import file_version
from kingpair.workers.table.format import COLUMNS, Counts, Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.proof_note import read_proof_note

Json = dict[str, Any]


def summary(entry: TableEntry) -> Json:
    """A table of the list; `problem` says why it cannot be used."""
    material, metric = entry.key
    found: Json = {"material": str(material), "metric": metric, "men": material.men}
    table = entry.table
    if table is None:
        return found | {"problem": str(entry.problem)}
    sides = [table.counts[name] for name in COLUMNS]
    return found | {
        "problem": None,
        "bytes": table.bytes,
        "type": str(table.dtype),
        "form": table.form,
        "digest": table.digest,
        "positions": sum(map(legal, sides)),
        "drawn": sum(side["draw"] for side in sides),
        "longest_win": longest_win(table.counts) or None,
    }


class Catalogue:
    """The list of all tables.  A file is opened once, and again if it is replaced."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path | int, ...], Json] = {}

    def of(self, paths: Iterable[Path]) -> list[Json]:
        """Returns the tables by men, name and metric, without those deleted meanwhile."""
        known = {}
        for path in paths:
            with suppress(FileNotFoundError):
                key = file_version(path)
                known[key] = self._known.get(key) or _summary_of(path)
        self._known = known  # at once: others may be asking
        return sorted(known.values(), key=lambda e: (e["men"], e["material"], e["metric"]))


def _summary_of(path: Path) -> Json:
    (entry,) = listed([path], verify=False)
    return summary(entry)


def metadata(table: Table, tablebase: Tablebase) -> Json:
    """Returns the metadata of a table without its counts, and the tables here that need it."""
    proof = read_proof_note(table)
    written = datetime.fromtimestamp(table.path.stat().st_mtime, UTC)
    return {
        **summary(TableEntry(table.path, table, None)),
        "rows": rows_of(table.material),
        "blocks": table.blocks,
        "smaller": dict(table.smaller),
        "used_by": _used_by(table, tablebase),
        "modified": written.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "proved": None if proof is None else proof._asdict(),
    }


def _used_by(table: Table, tablebase: Tablebase) -> list[str]:
    """The materials of the tables here that rest on this one."""
    keys = (TableKey.of_file(path.name) for path in tablebase.paths)
    found = {key.material for key in keys if key is not None and table.key in key.smaller()}
    return [str(material) for material in sorted(found)]


def statistics(table: Table) -> Json:
    counts = table.counts
    return {
        "material": str(table.material),
        "metric": table.metric,
        "bytes": table.bytes,
        "digest": table.digest,
        "histogram": {name: _histogram(counts[name], table.metric) for name in COLUMNS},
        "longest": [entry for name in COLUMNS for entry in _longest(counts, name, table.metric)],
    }


def _histogram(side: Counts, metric: Metric) -> Json:
    win = _by_ply(side["win"], metric, won=True)
    return {"win": win, "loss": _by_ply(side["loss"], metric, won=False), "wdl": _wdl(side, metric)}


def _wdl(side: Counts, metric: Metric) -> Json:
    """As Syzygy numbers the results: 1 and -1 are those that the 50-move rule draws."""
    if metric.exits_carry_class:
        return dict(zip(("2", "1", "0", "-1", "-2"), five_results(side).values(), strict=True))
    return {"2": total(side["win"]), "0": side["draw"], "-2": total(side["loss"])}


def _plies(distance: int, metric: Metric, won: bool) -> int:
    """A win in n moves takes 2n - 1 plies, a loss 2n."""
    return distance if metric.counts_plies else 2 * distance - won


def _by_ply(found: dict[str, int], metric: Metric, won: bool) -> list[int]:
    plies = {_plies(int(n), metric, won): positions for n, positions in found.items()}
    return [plies.get(ply, 0) for ply in range(max(plies, default=-1) + 1)]


def _longest(counts: Counts, name: str, metric: Metric) -> list[Json]:
    found = counts["longest"][name]
    return [
        {
            "epd": " ".join(found[result]["fen"].split()[:4]),
            "ply": (ply := _plies(found[result]["moves"], metric, sign > 0)),
            "wdl": sign if metric.exits_carry_class and ply > CLOCK_LIMIT else 2 * sign,
        }
        for result, sign in (("win", 1), ("loss", -1))
        if result in found
    ]
