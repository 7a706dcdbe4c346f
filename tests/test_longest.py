"""Facts about the longest wins and losses: none is longer, and all are there, up to symmetry."""

from collections.abc import Iterator
from pathlib import Path

import chess
import numpy as np
import oracle
import pytest
from boards import images

from workers.longest import Collection, Longest, collect, longest_of, positions
from workers.material import STRONGER, WEAKER, Material
from workers.outcome import Outcome
from workers.probe import Answer, Tablebase, open_tablebase
from workers.report import Shares, report_of, shares
from workers.selection import Entry
from workers.statistics import in_order
from workers.table import COLUMNS, Table
from workers.threads import Threads

KQVKR = Material.parse("KQvKR")


@pytest.fixture(scope="module")
def tablebase(tables: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables) as opened:
        yield opened


def opened(tables: Path, name: str) -> Table:
    return Table(tables / f"{name}.dtc.arrow")


def found(table: Table, threads: Threads, keep: int | None = None) -> Collection:
    return collect(table, threads, longest_of(table.counts), keep)


def orbit(fen: str) -> set[str]:
    """The position under the eight symmetries, its colours kept."""
    board = chess.Board(fen)
    return {image.fen() for image in images(board) if image.turn == board.turn}


# Which


def test_queen_against_rook_is_won_in_31_at_most(tables: Path) -> None:
    longest = longest_of(opened(tables, "KQvKR").counts)
    assert longest[0] == Longest(STRONGER, Outcome.WIN, 31, 2)
    assert longest[-1] == Longest(WEAKER, Outcome.LOSS, 31, 11)


def test_all_their_positions_are_found(tables: Path, threads: Threads) -> None:
    for longest, entries in found(opened(tables, "KQvKR"), threads).entries.items():
        assert len(entries) == longest.positions
        fens = [entry.fen(KQVKR) for entry in entries]
        assert len(set().union(*map(orbit, fens))) == sum(len(orbit(fen)) for fen in fens)


def test_each_is_as_long_as_a_probe_says(
    tables: Path, threads: Threads, tablebase: Tablebase
) -> None:
    for longest, entries in found(opened(tables, "KQvKR"), threads).entries.items():
        wdl = 1 if longest.outcome is Outcome.WIN else -1
        for entry in entries:
            assert tablebase.probe(entry.fen(KQVKR)) == Answer(wdl, longest.moves)


@pytest.mark.parametrize("name", ["KQvK", "KRvK"])
def test_they_are_all_that_the_oracle_finds(tables: Path, threads: Threads, name: str) -> None:
    solution = oracle.solve(name)
    for longest, entries in found(opened(tables, name), threads).entries.items():
        deepest = np.argwhere(solution.dtc[longest.side] == longest.value)
        expected = {solution.fen(longest.side, squares) for squares in deepest.tolist()}
        fens = (entry.fen(Material.parse(name)) for entry in entries)
        assert set().union(*map(orbit, fens)) == expected


def test_where_nobody_can_win_there_is_none(tables: Path, threads: Threads) -> None:
    assert found(opened(tables, "KNvK"), threads).entries == {}


# Lists


def test_a_list_can_be_cut_short(tables: Path, threads: Threads) -> None:
    table = opened(tables, "KQvKR")
    whole, short = found(table, threads), found(table, threads, 3)
    for longest, entries in whole.entries.items():
        assert short.entries[longest] == entries[:3]
    assert all(entries == [] for entries in found(table, threads, 0).entries.values())


def test_they_can_be_had_one_by_one(tables: Path, threads: Threads) -> None:
    table = opened(tables, "KQvKR")
    for longest, entries in found(table, threads).entries.items():
        assert list(positions(table, threads, longest)) == entries


# The report


@pytest.mark.parametrize("name", ["KQvKR", "KRvKN", "KBvK"])
def test_a_report_has_all_of_it_from_one_reading(tables: Path, threads: Threads, name: str) -> None:
    table = opened(tables, name)
    report = report_of(table, threads)
    assert report.longest.entries == found(table, threads).entries
    assert report.zugzwangs.counts.total() == {"KRvKN": 18}.get(name, 0)
    assert report.counts == in_order(table.counts)
    assert (report.material, report.metric) == (Material.parse(name), "dtc")


def test_shares_are_by_colour_whoever_is_to_move(tables: Path) -> None:
    counts = opened(tables, "KQvKR").counts
    by_side = shares(counts)
    assert by_side["white"] == Shares(1_108_111, 2_142, 8_963)
    assert by_side["black"] == Shares(883_075, 386_313, 78_518)
    assert by_side["both"].legal == sum(by_side[name].legal for name in COLUMNS)


def test_an_entry_says_who_is_to_move_and_what_comes_of_it() -> None:
    lost = Entry(0, 0, WEAKER, -1)
    assert (lost.to_move, lost.outcome, lost.moves) == ("black", Outcome.LOSS, 0)
    assert Entry(0, 0, STRONGER, 0).moves is None
