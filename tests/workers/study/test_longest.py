"""Facts about the longest wins and losses: none is longer, and all are there, up to symmetry."""

from collections.abc import Iterator
from pathlib import Path

import chess
import numpy as np
import oracle
import pytest
from boards import images

from kingpair.workers.ask.answer import Answer
from kingpair.workers.ask.probe import Tablebase, open_tablebase
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.outcome import Outcome
from kingpair.workers.number_types import STRONGER, WEAKER, Slot
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study.longest import (
    LongestCollection,
    LongestDistance,
    collect,
    longest_of,
)
from kingpair.workers.study.position_filter import TablePosition
from kingpair.workers.study.report import ResultCounts, report_of, result_counts
from kingpair.workers.table.format import COLUMNS, Table
from kingpair.workers.table.statistics import sorted_counts

KQVKR = Material.parse("KQvKR")


@pytest.fixture(scope="module")
def tablebase(tables: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables) as opened:
        yield opened


def opened(tables: Path, name: str) -> Table:
    return Table(tables / f"{name}.dtc.arrow")


def found(table: Table, threads: Threads, keep: int | None = None) -> LongestCollection:
    return collect(table, threads, longest_of(table.counts), keep)


def orbit(fen: str) -> set[str]:
    """The position under the eight symmetries, its colours kept."""
    board = chess.Board(fen)
    return {image.fen() for image in images(board) if image.turn == board.turn}


# The positions


def test_queen_against_rook_is_won_in_31_at_most(tables: Path) -> None:
    longest = longest_of(opened(tables, "KQvKR").counts)
    assert longest[0] == LongestDistance(STRONGER, Outcome.WIN, 31, 2)
    assert longest[-1] == LongestDistance(WEAKER, Outcome.LOSS, 31, 11)


def test_all_positions_of_the_longest_wins_are_found(tables: Path, threads: Threads) -> None:
    for longest, entries in found(opened(tables, "KQvKR"), threads).entries.items():
        assert len(entries) == longest.positions
        fens = [entry.fen(KQVKR) for entry in entries]
        assert len(set().union(*map(orbit, fens))) == sum(len(orbit(fen)) for fen in fens)


def test_each_longest_position_has_the_value_of_a_probe(
    tables: Path, threads: Threads, tablebase: Tablebase
) -> None:
    for longest, entries in found(opened(tables, "KQvKR"), threads).entries.items():
        wdl = 1 if longest.outcome is Outcome.WIN else -1
        for entry in entries:
            assert tablebase.probe(entry.fen(KQVKR)) == Answer(wdl, longest.moves)


@pytest.mark.parametrize("name", ["KQvK", "KRvK"])
def test_longest_positions_are_those_of_the_oracle(
    tables: Path, threads: Threads, name: str
) -> None:
    solution = oracle.solve(name)
    for longest, entries in found(opened(tables, name), threads).entries.items():
        deepest = np.argwhere(solution.dtc[longest.side] == longest.value)
        expected = {solution.fen(longest.side, squares) for squares in deepest.tolist()}
        fens = (entry.fen(Material.parse(name)) for entry in entries)
        assert set().union(*map(orbit, fens)) == expected


def test_a_drawn_material_has_no_longest_win(tables: Path, threads: Threads) -> None:
    assert found(opened(tables, "KNvK"), threads).entries == {}


# Lists


def test_a_list_can_be_cut_short(tables: Path, threads: Threads) -> None:
    table = opened(tables, "KQvKR")
    whole, short = found(table, threads), found(table, threads, 3)
    for longest, entries in whole.entries.items():
        assert short.entries[longest] == entries[:3]
    assert all(entries == [] for entries in found(table, threads, 0).entries.values())


# The report


@pytest.mark.parametrize("name", ["KQvKR", "KRvKN", "KBvK"])
def test_a_report_reads_the_table_once(tables: Path, threads: Threads, name: str) -> None:
    table = opened(tables, name)
    report = report_of(table, threads)
    assert report.longest.entries == found(table, threads).entries
    assert report.zugzwangs.counts.total() == {"KRvKN": 18}.get(name, 0)
    assert report.counts == sorted_counts(table.counts)
    assert (report.material, report.metric) == (Material.parse(name), "dtc")


def test_result_counts_are_by_colour_for_either_side_to_move(tables: Path) -> None:
    counts = opened(tables, "KQvKR").counts
    by_side = result_counts(counts)
    assert by_side["white"] == ResultCounts(1_108_111, 2_142, 8_963)
    assert by_side["black"] == ResultCounts(883_075, 386_313, 78_518)
    assert by_side["both"].legal == sum(by_side[name].legal for name in COLUMNS)


def test_a_table_position_has_its_side_to_move_and_its_result() -> None:
    lost = TablePosition(0, Slot(0), WEAKER, -1)
    assert (lost.to_move, lost.outcome, lost.moves) == ("black", Outcome.LOSS, 0)
    assert TablePosition(0, Slot(0), STRONGER, 0).moves is None
