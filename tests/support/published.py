"""Compares the tables with pawns of a directory with published figures.

    .venv/bin/python tests/support/published.py DIRECTORY

Each table there that counts to mate is compared: the longest wins and losses with those of Nalimov,
Haworth and Heinz; positions won, drawn and lost with the statistics of the Syzygy tables, and of
four endgames move by move with an independent solver.  Results of single positions, with rights to
capture en passant among them, are compared with the Syzygy tables.  Prints each difference.
"""

import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from math import factorial, prod
from pathlib import Path

from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.directory import open_metadata
from kingpair.workers.table.format import Counts

GOLDEN = Path(__file__).parents[1] / "golden"
COLOURS = ("white", "black")
Row = dict[str, str]


@cache
def rows(file: str) -> tuple[Row, ...]:
    """The rows of a golden file whose materials have pawns."""
    with (GOLDEN / file).open(newline="", encoding="utf-8") as lines:
        return tuple(row for row in csv.DictReader(lines) if "P" in row["material"])


def materials() -> list[str]:
    """All materials with pawns of which a figure of the whole table is published."""
    files = ("nalimov_max_dtm.csv", "syzygy_dtz.csv", "histograms_pawns.csv")
    return list(dict.fromkeys(row["material"] for file in files for row in rows(file)))


def differences(directory: Path, name: str) -> list[str]:
    """How the table of a material differs from what is published."""
    material = Material.parse(name)
    return compared(material, open_metadata(directory / f"{material}.{Metric.DTM}.arrow").counts)


def compared(material: Material, counts: Counts) -> list[str]:
    """How the counts of a material differ from what is published; White has its stronger side."""
    name = str(material)
    found = [*_longest(name, counts), *_results(material, counts), *_histogram(name, counts)]
    return [f"{name}: {each}" for each in found]


# The results of the side named first, by column, and the colour that moves: its own result.
_LONGEST = {
    "win_wtm": ("white", "win"),
    "win_btm": ("black", "loss"),
    "loss_wtm": ("white", "loss"),
    "loss_btm": ("black", "win"),
}


def _longest(name: str, counts: Counts) -> Iterator[str]:
    for row in rows("nalimov_max_dtm.csv"):
        for cell, (side, result) in _LONGEST.items() if row["material"] == name else ():
            longest = "" if not counts[side][result] else str(max(map(int, counts[side][result])))
            if longest != row[cell]:
                yield f"{cell} {longest or 'none'}, published {row[cell] or 'none'}"


def _results(material: Material, counts: Counts) -> Iterator[str]:
    """Totals; theirs tell like men apart, and wins and losses that the 50-move rule spoils."""
    published: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows("syzygy_dtz.csv"):
        if row["material"] == str(material) and row["result"].startswith("total_"):
            kind = row["result"].removeprefix("total_").split("_")[-1]
            published[row["to_move"], kind] += int(row["positions"])
    groups = (Counter(men).values() for men in (material.stronger, material.weaker))
    ways = prod(factorial(n) for numbers in groups for n in numbers)
    for (side, kind), number in published.items():
        counted = counts[side][kind]
        ours = ways * (counted if isinstance(counted, int) else sum(counted.values()))
        if ours != number:
            yield f"{ours:,} of {kind} with {side} to move, published {number:,}"


def _histogram(name: str, counts: Counts) -> Iterator[str]:
    published: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in rows("histograms_pawns.csv"):
        if (row["material"], row["metric"]) == (name, "DTM") and row["result"] != "draw":
            # A win takes half its plies, rounded up, a loss down.
            moves = (int(row["ply"]) + (row["result"] == "win")) // 2
            side = COLOURS[row["stm"] == "btm"]
            published[side, row["result"]][str(moves)] += int(row["unlabelled_orbits"])
    for (side, result), numbers in published.items():
        if counts[side][result] != dict(numbers):
            yield f"other positions per move of a {result} of {side}"


def wrong_results(directory: Path) -> tuple[int, list[str]]:
    """How many positions have a table, and those of them with another result than Syzygy's."""
    probed, wrong = 0, list[str]()
    with open_tablebase(directory) as tablebase:
        for row in rows("syzygy_positions.csv"):
            try:
                found = tablebase.probe(row["fen"], Metric.DTM).wdl
            except MissingTableError:
                continue
            probed += 1
            theirs = int(row["wdl"])
            if found != (theirs > 0) - (theirs < 0):
                wrong.append(f"{row['fen']}: {found}, published {theirs}")
    return probed, wrong


def main(directory: Path) -> int:
    found, missing = list[str](), list[str]()
    for name in materials():
        if (directory / f"{name}.{Metric.DTM}.arrow").exists():
            found += differences(directory, name)
        else:
            missing.append(name)
    probed, wrong = wrong_results(directory)
    print(*found, *wrong, sep="\n")
    print(f"{len(materials()) - len(missing)} tables and {probed} positions compared")
    print(f"without a table: {' '.join(missing) or 'none'}")
    return 1 if found or wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
