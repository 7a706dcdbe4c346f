"""Compares the tables of a directory that count to zeroing with the published Syzygy statistics.

    .venv/bin/python tests/support/published_zeroing.py DIRECTORY

For each of the 145 endgames of three to five men: positions won and lost per ply, and the totals of
wins, cursed wins, draws, blessed losses and losses, for each side to move.  Prints each difference.
"""

import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.table.format import COLUMNS, Counts, Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.statistics import labelled_counts

GOLDEN = Path(__file__).parents[1] / "golden"
Histogram = dict[tuple[str, str, int], int]  # side to move, result, plies
Totals = dict[tuple[str, str], int]  # side to move, one of the five results
RESULTS = {"win": ("win", "cursed_win"), "loss": ("loss", "blessed_loss")}


class Statistics(NamedTuple):
    """The published figures of a material."""

    plies: Histogram
    totals: Totals


@cache
def published() -> dict[str, Statistics]:
    """The statistics of each material, by its name."""
    found: defaultdict[str, Statistics] = defaultdict(lambda: Statistics({}, {}))
    with (GOLDEN / "syzygy_dtz.csv").open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            of, side, result = found[row["material"]], row["to_move"], row["result"]
            if row["ply"]:
                of.plies[side, result, int(row["ply"])] = int(row["positions"])
            else:
                of.totals[side, result.removeprefix("total_")] = int(row["positions"])
    return dict(found)


def histogram(counts: Counts) -> Histogram:
    """Positions by side to move, result and plies."""
    return {
        (side, result, int(plies)): positions
        for side in COLUMNS
        for result in RESULTS
        for plies, positions in counts[side][result].items()
    }


def totals(counts: Counts) -> Totals:
    """Positions by side to move and one of the five results; draws always, others if any."""
    found = Counter({(side, "draw"): counts[side]["draw"] for side in COLUMNS})
    for (side, result, plies), positions in histogram(counts).items():
        found[side, RESULTS[result][plies > CLOCK_LIMIT]] += positions
    return dict(found)


def file_of(name: str) -> str:
    return TableKey(Material.parse(name), Metric.DTZ).file_name


def differences(directory: Path, name: str) -> Iterator[str]:
    """How the table of a material differs from what is published."""
    return compared(name, labelled_counts(Table(directory / file_of(name))))


def compared(name: str, counts: Counts) -> Iterator[str]:
    """How the counts of a material, like men as different, differ from what is published."""
    ours, theirs = Statistics(histogram(counts), totals(counts)), published()[name]
    yield from _differing(name, ours.plies, theirs.plies)
    yield from _differing(name, ours.totals, theirs.totals)


def _differing(name: str, ours: Mapping[Any, int], theirs: Mapping[Any, int]) -> Iterator[str]:
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key, 0) != theirs.get(key, 0):
            where = " ".join(map(str, key))
            yield f"{name} {where}: {ours.get(key, 0):,}, published {theirs.get(key, 0):,}"


def main(directory: Path) -> int:
    names = [name for name in published() if (directory / file_of(name)).exists()]
    found = [line for name in names for line in differences(directory, name)]
    missing = [name for name in published() if name not in names]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(names)} tables compared, {len(found)} differences")
    print(f"without a table: {' '.join(missing) or 'none'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
