"""Facts about samples: uniform, without repetition, fixed by a seed, of selected positions."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.errors import BadSelection, DamagedTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.outcome import Outcome
from kingpair.workers.number_types import STRONGER, WEAKER
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study.position_filter import DepthRange, PositionFilter
from kingpair.workers.study.sample import draw, sample
from kingpair.workers.table.format import Table

EVERYTHING = PositionFilter()
LONG_WINS = PositionFilter(outcomes=(Outcome.WIN,), depths=DepthRange(20))
WHITE_WINS_IN_9 = PositionFilter((STRONGER,), (Outcome.WIN,), DepthRange(9, 9))
KQVKR = Material.parse("KQvKR")

populations = st.integers(1, 2000)


@pytest.fixture(scope="module")
def table(tables: Path) -> Table:
    return Table(tables / "KQvKR.dtc.arrow")


def deviation(found: Iterable[int], of: int, drawn: int, times: int) -> float:
    """Chi-square of so many samples without repetition, in its standard deviations."""
    expected = times * drawn / of
    numbers = [*found]
    numbers += [0] * (of - len(numbers))
    # One sample leaves less to chance the more of all it takes.
    chi = sum((n - expected) ** 2 for n in numbers) / expected * (of - 1) / (of - drawn)
    return float((chi - (of - 1)) / np.sqrt(2 * (of - 1)))


# Drawing


@given(populations, st.data())
def test_no_number_is_drawn_twice(population: int, data: st.DataObject) -> None:
    wanted = data.draw(st.integers(0, population))
    drawn = draw(population, wanted, data.draw(st.integers(0, 1 << 32)))
    assert len(drawn) == len(set(drawn.tolist())) == wanted
    assert ((drawn >= 0) & (drawn < population)).all()


@pytest.mark.parametrize("wanted", [1, 10, 30, 90])
def test_each_number_is_as_likely_as_another(wanted: int) -> None:
    found = Counter(n for seed in range(2000) for n in draw(100, wanted, seed).tolist())
    assert abs(deviation(found.values(), 100, wanted, 2000)) < 4


@pytest.mark.parametrize("wanted", [10, 90])
def test_each_number_is_as_likely_to_come_first(wanted: int) -> None:
    found = Counter(int(draw(100, wanted, seed)[0]) for seed in range(3000))
    assert abs(deviation(found.values(), 100, 1, 3000)) < 4


def test_a_seed_always_draws_the_same_numbers() -> None:
    assert draw(10**12, 3, 7).tolist() == [94092348043, 365885938325, 409591826786]
    assert draw(6, 6, 7).tolist() == [3, 4, 0, 2, 5, 1]


def test_a_larger_sample_begins_with_the_smaller() -> None:
    assert draw(10**6, 1000, 3)[:10].tolist() == draw(10**6, 10, 3).tolist()


# Sampling a table


def test_each_position_is_as_likely_as_another(queen: Table, threads: Threads) -> None:
    population = WHITE_WINS_IN_9.count(queen.counts)
    assert population == 335
    found = Counter(
        entry for seed in range(60) for entry in sample(queen, threads, WHITE_WINS_IN_9, 50, seed)
    )
    assert abs(deviation(found.values(), population, 50, 60)) < 4


def test_a_partition_is_drawn_as_often_as_it_has_positions(queen: Table, threads: Threads) -> None:
    """A partition with both kings on the diagonal has about half as many positions."""
    positions = EVERYTHING.count(queen.counts)
    held = Counter(e.run for e in sample(queen, threads, EVERYTHING, positions, 1))
    found = Counter(e.run for e in sample(queen, threads, EVERYTHING, 5000, 1))
    expected = {pair: 5000 * n / positions for pair, n in held.items()}
    chi = sum((found[pair] - n) ** 2 / n for pair, n in expected.items())
    chi *= positions / (positions - 5000)
    assert abs(chi - 461) < 4 * (2 * 461) ** 0.5


def test_a_sample_of_all_positions_has_each_once(queen: Table, threads: Threads) -> None:
    entries = sample(queen, threads, EVERYTHING, 46_137, 5)
    assert len(set(entries)) == 46_137
    assert Counter(entry.to_move for entry in entries) == {"white": 18_081, "black": 28_056}
    wins = Counter(e.moves for e in entries if (e.side, e.outcome) == (STRONGER, Outcome.WIN))
    assert {str(moves): n for moves, n in wins.items()} == queen.counts["white"]["win"]
    losses = Counter(e.moves for e in entries if (e.side, e.outcome) == (WEAKER, Outcome.LOSS))
    assert {str(moves): n for moves, n in losses.items()} == queen.counts["black"]["loss"]


def test_a_sample_does_not_depend_on_threads(table: Table) -> None:
    samples = []
    for count in (1, 2, 5):
        with Threads(count) as threads:
            samples.append(sample(table, threads, LONG_WINS, 100, 7))
    assert samples[0] == samples[1] == samples[2]


def test_another_seed_is_another_sample(table: Table, threads: Threads) -> None:
    first, second = (sample(table, threads, LONG_WINS, 100, seed) for seed in (7, 8))
    assert len(set(first) & set(second)) < 5


def test_the_first_positions_of_a_sample_are_of_all_partitions(
    table: Table, threads: Threads
) -> None:
    entries = sample(table, threads, EVERYTHING, 100, 7)
    assert entries != sorted(entries)
    assert len({entry.run for entry in entries[:50]}) > 35


# Filters


def test_a_sample_has_only_selected_positions(tables: Path, table: Table, threads: Threads) -> None:
    with open_tablebase(tables) as tablebase:
        for entry in sample(table, threads, LONG_WINS, 200, 7):
            fen = entry.fen(KQVKR)
            board = chess.Board(fen)
            assert board.is_valid() or not board.was_into_check()
            answer = tablebase.probe(fen)
            assert (answer.wdl, answer.moves) == (1, entry.moves)
            assert answer.moves >= 20


@pytest.mark.parametrize(
    "selection",
    [
        LONG_WINS,
        PositionFilter((WEAKER,), (Outcome.DRAW,)),
        PositionFilter((WEAKER,), (Outcome.LOSS,), DepthRange(0, 0)),
        PositionFilter(depths=DepthRange(2, 3)),
        PositionFilter((STRONGER,), (Outcome.LOSS, Outcome.DRAW)),
    ],
)
def test_a_filter_counts_its_positions_by_the_counts_of_the_table(
    table: Table, threads: Threads, selection: PositionFilter
) -> None:
    population = selection.count(table.counts)
    entries = sample(table, threads, selection, population, 1)
    assert len(set(entries)) == population > 0
    assert all(entry.side in selection.sides for entry in entries)
    assert all(entry.outcome in selection.outcomes for entry in entries)
    if (depths := selection.depths) is not None:
        moves = [-1 if entry.moves is None else entry.moves for entry in entries]
        assert depths.first <= min(moves) <= max(moves) <= depths.last


def test_a_sample_of_none_is_empty(table: Table, threads: Threads) -> None:
    deeper_than_any = PositionFilter(depths=DepthRange(9000, 9999))
    assert deeper_than_any.count(table.counts) == 0
    assert sample(table, threads, deeper_than_any, 0, seed=1) == []


def test_a_sample_larger_than_the_table_is_refused_before_reading(
    table: Table, threads: Threads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Table, "block", None)
    with pytest.raises(BadSelection, match="KQvKR has 2 such positions, fewer than 10"):
        sample(table, threads, PositionFilter((STRONGER,), (Outcome.WIN,), DepthRange(31)), 10, 1)


def test_a_filter_for_draws_cannot_have_a_depth() -> None:
    with pytest.raises(BadSelection, match="a draw has no depth"):
        PositionFilter(outcomes=(Outcome.DRAW,), depths=DepthRange(3))


def test_a_range_of_depths_must_not_be_reversed() -> None:
    with pytest.raises(BadSelection, match="from 9 to 3"):
        PositionFilter(depths=DepthRange(9, 3))


def test_counts_that_disagree_with_the_values_are_found(tables: Path, threads: Threads) -> None:
    table = Table(tables / "KQvK.dtc.arrow")
    table.counts["white"]["win"]["9"] += 1
    with pytest.raises(
        DamagedTable, match=r"KQvK\.dtc\.arrow: its values disagree with its counts"
    ):
        sample(table, threads, WHITE_WINS_IN_9, 5, 1)


def test_numbers_are_drawn_from_fair_words_alone() -> None:
    # A population of more than half of all words: every second word or so is past its multiple.
    population = 2**63 + 1
    drawn = draw(population, 1000, 1)
    assert np.median(drawn) / population == pytest.approx(0.5, abs=0.05)
