"""Facts about distance to mate: the same equations with exits that carry a depth.

The figures are those of an independent solver for 3 and 4 men, position by position counted, and
for 5 men the longest of each kind as Nalimov, Haworth and Heinz printed them in 2001.
"""

import csv
from collections import defaultdict
from pathlib import Path

import pytest
from shared_tables import proved, unproved

from kingpair.workers.ask.play import best_line
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import every
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey

GOLDEN = Path(__file__).parents[2] / "golden"
Counts = dict[tuple[str, str, int], int]  # side to move, result, moves


def rows(file: str) -> list[dict[str, str]]:
    with (GOLDEN / file).open(newline="") as lines:
        return [row for row in csv.DictReader(lines) if row.get("metric", "DTM") == "DTM"]


def printed() -> list[dict[str, str]]:
    found = [row for row in rows("nalimov_max_dtm.csv") if "P" not in row["material"]]
    return [row for row in found if row["material"] != "KvK"]


def men(row: dict[str, str]) -> int:
    return len(row["material"]) - 1


def published() -> dict[str, Counts]:
    counts: defaultdict[str, Counts] = defaultdict(dict)
    for row in rows("histograms_3_4man.csv"):
        if row["ply"]:
            won = row["result"] == "win"
            moves = (int(row["ply"]) + won) // 2
            key = "white" if row["stm"] == "wtm" else "black", row["result"], moves
            counts[row["material"]][key] = int(row["unlabelled_orbits"])
    return counts


PUBLISHED = published()
PAWNLESS = [name for name in PUBLISHED if "P" not in name]


@pytest.fixture(scope="session")
def four_men() -> Path:
    return proved(every(3) + every(4), Metric.DTM)


def table(directory: Path, name: str) -> Table:
    return Table(directory / TableKey(Material.parse(name), Metric.DTM).file_name)


def longest(found: Table) -> tuple[int | None, ...]:
    """White's longest win with White and with Black to move, then Black's likewise."""
    kinds = (("white", "win"), ("black", "loss"), ("white", "loss"), ("black", "win"))
    return tuple(
        found.counts["longest"][side].get(result, {}).get("moves") for side, result in kinds
    )


def as_printed(row: dict[str, str]) -> tuple[int | None, ...]:
    columns = ("win_wtm", "win_btm", "loss_wtm", "loss_btm")
    return tuple(int(row[column]) if row[column] else None for column in columns)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAWNLESS)
def test_positions_per_move_to_mate_are_those_published(four_men: Path, name: str) -> None:
    counts = table(four_men, name).counts
    found = {
        (side, result, int(moves)): n
        for side in ("white", "black")
        for result in ("win", "loss")
        for moves, n in counts[side][result].items()
    }
    assert found == {key: n for key, n in PUBLISHED[name].items() if n}


@pytest.mark.parametrize("row", [r for r in printed() if men(r) < 5], ids=lambda r: r["material"])
def test_the_longest_mates_of_up_to_four_men_are_nalimovs(
    four_men: Path, row: dict[str, str]
) -> None:
    assert longest(table(four_men, row["material"])) == as_printed(row)


@pytest.mark.slow
def test_the_longest_mates_of_five_men_are_nalimovs() -> None:
    wanted = [row for row in printed() if men(row) == 5]
    directory = unproved((row["material"] for row in wanted), Metric.DTM)
    found = {row["material"]: longest(table(directory, row["material"])) for row in wanted}
    assert found == {row["material"]: as_printed(row) for row in wanted}


def test_a_line_to_mate_is_as_long_as_announced(four_men: Path) -> None:
    with open_tablebase(four_men) as tablebase:
        for name in ("KQvKR", "KBBvK", "KRvKN"):
            start = parse_fen(table(four_men, name).counts["longest"]["white"]["win"]["fen"])
            answer = tablebase.probe(start, Metric.DTM)
            line = list(best_line(tablebase, start, Metric.DTM))
            assert len(line) == 2 * answer.moves - 1
            assert line[-1].option.mate


def test_winners_are_the_same_by_either_count(four_men: Path, tables: Path) -> None:
    for name in ("KQvKR", "KRvKN", "KBBvK"):
        mate, conversion = table(four_men, name), Table(tables / f"{name}.dtc.arrow")
        for side in ("white", "black"):
            for kind in ("win", "loss"):
                ours, theirs = mate.counts[side][kind], conversion.counts[side][kind]
                assert sum(ours.values()) == sum(theirs.values())
            assert mate.counts[side]["draw"] == conversion.counts[side]["draw"]


def test_both_metrics_agree_who_wins(four_men: Path) -> None:
    with open_tablebase(four_men) as tablebase:
        position = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"
        assert tablebase.probe_wdl(position) == 1
        assert tablebase.get_dtc(position) is None
        assert tablebase.probe_dtm(position) == tablebase.get_dtm(position) == 35
