"""Facts about tables with pawns that others have published: longest mates, totals, results.

The tests build what takes seconds.  `tests/support/published.py` compares all materials of five
men in a directory of tables, which take hours to build.
"""

import csv
from pathlib import Path

import pytest
from published import GOLDEN, compared, differences, main, materials, wrong_results
from shared_tables import copied_closure, unproved

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import up_to
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.directory import open_metadata

FIVE_MEN = "KRPvKN"
SMALL = [name for name in materials() if Material.parse(name).men <= 4]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = (*map(str, up_to(4)), FIVE_MEN)
    out = tmp_path_factory.mktemp("published")
    return copied_closure(unproved(names, Metric.DTM), out, *names, metric=Metric.DTM)


def test_every_material_with_pawns_of_nalimovs_is_compared() -> None:
    assert len(SMALL) == 11
    assert {Material.parse(name).men for name in materials()} == {3, 4, 5}
    assert FIVE_MEN in materials()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SMALL, FIVE_MEN])
def test_a_table_has_the_longest_mates_and_totals_that_are_published(
    directory: Path, name: str
) -> None:
    assert differences(directory, name) == []


@pytest.mark.slow
def test_results_with_and_without_en_passant_are_those_of_syzygy(directory: Path) -> None:
    with (GOLDEN / "syzygy_positions.csv").open(newline="") as lines:
        published = [row for row in csv.DictReader(lines) if "P" in row["material"]]
    assert wrong_results(directory) == (len(published), [])


@pytest.mark.slow
def test_a_directory_is_compared_by_a_command(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(directory) == 0
    assert "12 tables and" in capsys.readouterr().out


@pytest.mark.slow
def test_counts_that_differ_are_named(directory: Path) -> None:
    counts = open_metadata(directory / f"KRPvK.{Metric.DTM}.arrow").counts
    found = "\n".join(compared(Material.parse("KQPvK"), counts))
    assert "KQPvK: win_wtm 16, published 10" in found
    assert "of win with white to move, published" in found
