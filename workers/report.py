"""A report on a table: all that people study an endgame for, from one reading.

How many positions, by side to move, result and moves, is in the table's footer.  The positions of
the longest wins and losses and the mutual zugzwangs are looked for in its rows.  What its passes
took is in a note beside it, if it has one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from workers import longest, zugzwang
from workers.longest import Collection, longest_of
from workers.material import Material
from workers.outcome import Outcome
from workers.passtimes import Timed, times_of
from workers.sections import Section, read
from workers.statistics import in_order
from workers.table import COLUMNS, Counts, Table
from workers.threads import Threads
from workers.zugzwang import Census


class Report(NamedTuple):
    """What there is to say of a table."""

    material: Material
    metric: str
    digest: str
    counts: Counts
    longest: Collection
    zugzwangs: Census
    passes: Sequence[Timed] | None


def report_of(table: Table, threads: Threads, keep: int | None = None) -> Report:
    """With at most `keep` positions in each list; all if None."""
    wanted = longest_of(table.counts)
    collection, census = Collection(wanted, keep), Census(keep)

    def look(section: Section) -> tuple[list[longest.Found], zugzwang.Found]:
        return longest.found_in(section, wanted), zugzwang.found_in(section)

    for deepest, squeezed in read(table, threads, look):
        collection.take(deepest)
        census.take(squeezed)
    counts, passes = in_order(table.counts), times_of(table)
    return Report(table.material, table.metric, table.digest, counts, collection, census, passes)


class Shares(NamedTuple):
    """Of how many positions White wins, Black wins, and neither."""

    white: int
    black: int
    drawn: int

    @property
    def legal(self) -> int:
        return sum(self)


def shares(counts: Counts) -> dict[str, Shares]:
    """By colour, for either side to move and for both together."""
    white, black = (_shares(counts, name) for name in COLUMNS)
    both = Shares(*(a + b for a, b in zip(white, black, strict=True)))
    return {"white": white, "black": black, "both": both}


def _shares(counts: Counts, to_move: str) -> Shares:
    side = counts[to_move]
    won, lost = (sum(side[outcome].values()) for outcome in (Outcome.WIN, Outcome.LOSS))
    white, black = (won, lost) if to_move == "white" else (lost, won)
    return Shares(white, black, side["draw"])
