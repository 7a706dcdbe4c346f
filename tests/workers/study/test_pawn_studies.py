"""Facts about studies of a table with pawns: they find what a plain pass over all rows finds."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pawn_oracle
import pytest
from pawn_tables import write_closure
from pyarrow import parquet

from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.number_types import SIDES, Side
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study.export import export
from kingpair.workers.study.longest import collect, longest_of
from kingpair.workers.study.position_filter import PositionFilter
from kingpair.workers.study.sample import sample
from kingpair.workers.study.zugzwang import census
from kingpair.workers.table.format import Table
from kingpair.workers.table.scan import Section, scan
from kingpair.workers.table.statistics import labelled_counts
from kingpair.workers.table.value import Values

NAMES = ["KPvK", pytest.param("KRPvK", marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def threads() -> Iterator[Threads]:
    with Threads(2) as pool:
        yield pool


@pytest.fixture(scope="module", params=NAMES)
def table(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, threads: Threads
) -> Table:
    directory = tmp_path_factory.mktemp("tables")
    write_closure(directory, request.param)
    return Table(directory / f"{request.param}.dtc.arrow")


def legal(table: Table, side: Side) -> int:
    stated = table.counts[("white", "black")[side]]
    return sum(sum(stated[r].values()) for r in ("win", "loss")) + int(stated["draw"])


def values_of(section: Section, side: Side) -> Values:
    return section.values(side)[section.holds_position(side)]


def test_a_scan_passes_every_position_once(table: Table, threads: Threads) -> None:
    for side in SIDES:
        found: Counter[int] = Counter()
        for values in scan(table, threads, partial(values_of, side=side)):
            found.update(values.tolist())
        assert sum(found.values()) == legal(table, side)
        stated = table.counts[("white", "black")[side]]
        for moves, positions in stated["win"].items():
            assert found[int(moves)] == positions
        for moves, positions in stated["loss"].items():
            assert found[-int(moves) - 1] == positions


def test_the_longest_positions_are_as_many_as_counted(table: Table, threads: Threads) -> None:
    wanted = longest_of(table.counts)
    found = collect(table, threads, wanted)
    for longest in wanted:
        entries = found.entries[longest]
        assert len(entries) == longest.positions
        for entry in entries[:20]:
            plies = pawn_oracle.value(entry.fen(table.material), "dtc")
            assert pawn_oracle.moves_of(plies) == longest.value


def test_zugzwangs_are_those_of_the_oracle(table: Table, threads: Threads) -> None:
    found = census(table, threads, keep=None)
    for listed in found.listed.values():
        for each in listed[:20]:
            fen = each.fen(table.material)
            for side, value in (("w", each.white), ("b", each.black)):
                plies = pawn_oracle.value(fen.replace(" w ", f" {side} "), "dtc")
                assert pawn_oracle.moves_of(plies) == value
    assert sum(found.counts.values()) == sum(scan(table, threads, zugzwangs_by_results))


def zugzwangs_by_results(section: Section) -> int:
    """The placements, legal with either side to move, in which no mover wins and one loses."""
    results = Counter(
        zip(
            *(np.sign(section.values(side)).tolist() for side in SIDES),
            *(section.holds_position(side).tolist() for side in SIDES),
            strict=True,
        )
    )
    return sum(results[(*pair, True, True)] for pair in ((0, -1), (-1, 0), (-1, -1)))


def test_an_export_has_every_position_with_its_fen(
    table: Table, threads: Threads, tmp_path: Path
) -> None:
    rows = export(table, threads, tmp_path / "all.parquet", PositionFilter(), with_fen=True)
    assert rows == legal(table, 0) + legal(table, 1)
    read = parquet.read_table(tmp_path / "all.parquet")
    chosen = np.random.default_rng(1).integers(rows, size=200)
    picked = read.take(chosen).to_pylist()
    with open_tablebase(table.path.parent) as tablebase:
        for row in picked:
            answer = tablebase.probe(row["fen"])
            assert ("loss", "draw", "win")[answer.wdl + 1] == row["result"]
            assert row["moves"] in (None, answer.moves)


def test_a_sample_is_of_different_positions(table: Table, threads: Threads) -> None:
    drawn = sample(table, threads, PositionFilter(), 100, seed=1)
    assert len({entry.fen(table.material) for entry in drawn}) == 100


def test_like_men_counted_as_different_multiply_all_counts(table: Table) -> None:
    times = 2 if "PP" in str(table.material) else 1
    counted = labelled_counts(table)
    for name in ("white", "black"):
        for result in ("draw", "illegal"):
            assert counted[name][result] == times * table.counts[name][result]
