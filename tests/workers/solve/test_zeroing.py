"""Facts about distance to zeroing: exact plies, and the five results of the 50-move rule."""

import csv
import random
import shutil
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from clock_search import Search
from published_zeroing import (
    Histogram,
    compared,
    differences,
    file_of,
    histogram,
    main,
    published,
)
from scaled_rule import solved
from shared_tables import proved, unproved

from kingpair.workers.ask.addresses import AddressReader
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import every, up_to
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.solve import reference
from kingpair.workers.table.format import COLUMNS, Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.statistics import labelled_counts

SLOW = pytest.mark.slow
GOLDEN = Path(__file__).parents[2] / "golden"


def rows(file: str) -> list[dict[str, str]]:
    with (GOLDEN / file).open(newline="") as lines:
        return list(csv.DictReader(lines))


def captures_in_plies() -> dict[str, Histogram]:
    """Distinct positions per ply to mate or capture: without pawns nothing else zeroes."""
    found: defaultdict[str, Histogram] = defaultdict(dict)
    for row in rows("histograms_3_4man.csv"):
        if row["metric"] == "DTC" and row["ply"] and int(row["unlabelled_orbits"]):
            key = COLUMNS[row["stm"] == "btm"], row["result"], int(row["ply"])
            found[row["material"]][key] = int(row["unlabelled_orbits"])
    return found


CAPTURES = captures_in_plies()
FOUR_MEN = [name for name in published() if len(name) < 6]
PAWNLESS = [name for name in FOUR_MEN if "P" not in name]
WITH_PAWNS = [name for name in FOUR_MEN if "P" in name]
FIVE_MEN = ["KBBvKN", "KQRvKR", "KRBvKR"]
FIVE_WITH_PAWNS = ["KBPvKN"]  # it has cursed wins


@pytest.fixture(scope="session")
def four_men() -> Path:
    """All tables of 3 and 4 men; each is proved as it is built."""
    return proved(every(3) + every(4), Metric.DTZ)


@pytest.fixture(scope="session")
def with_pawns() -> Path:
    """All tables of 3 and 4 men; each is proved as it is built."""
    return proved(up_to(4), Metric.DTZ)


def table(directory: Path, name: str) -> Table:
    return Table(directory / TableKey(Material.parse(name), Metric.DTZ).file_name)


# Published counts


@pytest.mark.slow
@pytest.mark.parametrize("name", CAPTURES)
def test_positions_per_ply_are_those_to_a_capture(four_men: Path, name: str) -> None:
    assert histogram(table(four_men, name).counts) == CAPTURES[name]


def test_there_are_statistics_of_all_endgames_of_up_to_five_men() -> None:
    assert sorted(published()) == sorted(map(str, up_to(5)))
    assert all(len(found.totals) == 10 for found in published().values())


@pytest.mark.parametrize("name", PAWNLESS)
def test_positions_per_ply_are_those_published(four_men: Path, name: str) -> None:
    assert list(differences(four_men, name)) == []


@SLOW
@pytest.mark.parametrize("name", FIVE_MEN)
def test_positions_of_five_men_are_those_published(name: str) -> None:
    assert list(differences(proved([name], Metric.DTZ), name)) == []


@SLOW
@pytest.mark.parametrize("name", WITH_PAWNS)
def test_positions_with_pawns_are_those_published(with_pawns: Path, name: str) -> None:
    assert list(differences(with_pawns, name)) == []


@SLOW
@pytest.mark.parametrize("name", FIVE_WITH_PAWNS)
def test_positions_of_five_men_with_pawns_are_those_published(name: str) -> None:
    assert list(differences(unproved([name], Metric.DTZ), name)) == []


def test_a_directory_is_compared_by_a_command(
    four_men: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("KQvK", "KRvK"):
        shutil.copy(four_men / file_of(name), tmp_path)
    assert main(tmp_path) == 0
    assert capsys.readouterr().out.startswith("2 tables compared, 0 differences\nwithout a table: ")


def test_figures_that_differ_are_named(four_men: Path) -> None:
    found = list(compared("KRvK", labelled_counts(table(four_men, "KQvK"))))
    assert "KRvK black loss 32: 0, published 390" in found
    assert any(line.startswith("KRvK black draw: ") for line in found)


# The reference twin


@pytest.mark.parametrize("name", ["KQvK", pytest.param("KRvK", marks=SLOW)])
def test_every_value_is_that_of_the_reference_twin(four_men: Path, name: str) -> None:
    counts: Histogram = {}
    for depth, layer in enumerate(reference.solve(Material.parse(name), 0, Metric.DTZ).layers):
        for side, result, found in (("white", "win", layer.won), ("black", "loss", layer.lost)):
            material = Material.parse(name)
            if distinct := {p for p in found if reference.canonical(material, p) == p}:
                counts[side, result, depth] = len(distinct)
    assert histogram(table(four_men, name).counts) == counts


# The rule itself


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "limit"), [("KRvK", 20), ("KQvKR", 12), pytest.param("KQvKR", 30, marks=SLOW)]
)
def test_a_win_counts_if_its_plies_and_the_clock_are_within_the_limit(
    four_men: Path, tmp_path: Path, name: str, limit: int
) -> None:
    values = solved(name, limit, four_men, tmp_path)
    search, chance = Search(name, limit), random.Random(name)
    plies = []
    for side in (0, 1):
        count = len(search.nodes[side].en_passant)
        nodes = np.array(chance.sample(range(count), min(1000, count)))
        fens = [search.positions.fen(side, int(node)) for node in nodes]
        addresses = AddressReader().addresses(fens)
        assert all(place is not None and place.weaker_to_move == side for place in addresses)
        at = np.array([place.row for place in addresses if place is not None])
        plies.append((nodes, values[side][at]))
    for clock, results in search.results():
        for side, (nodes, value) in enumerate(plies):
            distance = np.where(value > 0, value, -value - 1)
            counts = (value != 0) & (distance + clock <= limit)
            assert np.array_equal(np.where(counts, np.sign(value), 0), results[side][nodes])


def test_a_capture_into_a_win_that_the_rule_spoils_counts_one_more_than_the_limit(
    four_men: Path, tmp_path: Path
) -> None:
    limit, found = 12, table(four_men, "KQvKR")
    values = solved("KQvKR", limit, four_men, tmp_path)[0]
    real = np.concatenate([found.values(pair, 0) for pair in range(len(TURNED))])
    # The queen takes the rook, and then needs more than 12 plies.
    assert np.count_nonzero((values == limit + 1) & (real == 1))


# The published files


def positions(names: list[str]) -> list[dict[str, str]]:
    return [row for row in rows("syzygy_positions.csv") if row["material"] in names]


def test_results_and_distances_are_those_of_the_syzygy_files(four_men: Path) -> None:
    names = [str(material) for material in every(3) + every(4)]
    assert_distances(four_men, names)


@SLOW
def test_results_and_distances_with_pawns_are_those_of_the_syzygy_files(with_pawns: Path) -> None:
    """Some of the positions have a right to capture en passant."""
    assert_distances(with_pawns, [str(material) for material in up_to(4) if material.has_pawns])


def assert_distances(tables: Path, names: list[str]) -> None:
    found = positions(names)
    assert len(found) >= 60 * len(names)
    with open_tablebase(tables) as tablebase:
        for row in found:
            plies = tablebase.probe_dtz(row["fen"])
            assert (tablebase.probe_wdl(row["fen"])) == np.sign(int(row["wdl"])), row
            # Theirs can be a ply less, and calls mate a loss in 1.
            assert plies == 0 or abs(plies) - abs(int(row["dtz"])) in (0, 1), row
