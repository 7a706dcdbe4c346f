"""A report on a table, made in one scan.

The numbers of positions by side to move, result and moves come from the table's footer.  The scan
finds the positions of the longest wins and losses and the mutual zugzwangs.  The times of the
passes come from the note beside the table, if it has one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import CLOCK_LIMIT
from kingpair.workers.game.outcome import Outcome
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study import longest, zugzwang
from kingpair.workers.study.longest import LongestCollection, longest_of
from kingpair.workers.study.zugzwang import ZugzwangCensus
from kingpair.workers.table.format import COLUMNS, Counts, Table
from kingpair.workers.table.pass_times import PassTime, read_pass_times
from kingpair.workers.table.scan import Section, scan
from kingpair.workers.table.statistics import sorted_counts


class Report(NamedTuple):
    """The report on a table."""

    material: Material
    metric: str
    digest: str
    counts: Counts
    longest: LongestCollection
    zugzwangs: ZugzwangCensus
    passes: Sequence[PassTime] | None


def report_of(table: Table, threads: Threads, keep: int | None = None) -> Report:
    """Reports on a table with at most `keep` positions in each list; all if None."""
    wanted = longest_of(table.counts)
    collection, census = LongestCollection(wanted, keep), ZugzwangCensus(keep)

    def look(
        section: Section,
    ) -> tuple[list[longest.LongestInSection], zugzwang.ZugzwangsInSection]:
        return longest.longest_in_section(section, wanted), zugzwang.zugzwangs_in_section(section)

    for deepest, squeezed in scan(table, threads, look):
        collection.take(deepest)
        census.take(squeezed)
    counts, passes = sorted_counts(table.counts), read_pass_times(table)
    return Report(table.material, table.metric, table.digest, counts, collection, census, passes)


class ResultCounts(NamedTuple):
    """The numbers of positions that White wins, that Black wins, and that are drawn."""

    white: int
    black: int
    drawn: int

    @property
    def legal(self) -> int:
        return sum(self)


def result_counts(counts: Counts) -> dict[str, ResultCounts]:
    """The results with White to move, with Black to move, and of both together."""
    white, black = (_shares(counts, name) for name in COLUMNS)
    both = ResultCounts(*(a + b for a, b in zip(white, black, strict=True)))
    return {"white": white, "black": black, "both": both}


def cursed_counts(counts: Counts) -> Counts:
    """The counts of wins and losses that the 50-move rule draws, of a table that counts plies."""

    def beyond(plies: dict[str, int]) -> dict[str, int]:
        return {each: number for each, number in plies.items() if int(each) > CLOCK_LIMIT}

    return {
        name: {**{of: beyond(counts[name][of]) for of in (Outcome.WIN, Outcome.LOSS)}, "draw": 0}
        for name in COLUMNS
    }


def _shares(counts: Counts, to_move: str) -> ResultCounts:
    side = counts[to_move]
    won, lost = (sum(side[outcome].values()) for outcome in (Outcome.WIN, Outcome.LOSS))
    white, black = (won, lost) if to_move == "white" else (lost, won)
    return ResultCounts(white, black, side["draw"])
