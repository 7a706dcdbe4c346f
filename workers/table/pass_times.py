"""The times of a table's passes, in a note beside it: `MATERIAL.METRIC.passes.json`.

    {"digest": of the table, "passes": [{"winner", "depth", "won", "lost", "seconds"}, ...]}

Passes of a table with pawns have their "level" besides, lowest levels first.

A table's bytes do not depend on the time that it took to build, so the times are not in it.  They
come from the pass logs, which keep the times of passes before an interruption too.  The note is
written before the table gets its name.  A table without a note has no known times.

The time of a pass is that of the slowest worker in each of its steps.  It does not include the time
that workers wait between steps, for instance for frontiers on their way.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kingpair.workers.number_types import Depth, Side
from kingpair.workers.passlog.history import History
from kingpair.workers.store.filesystem import Store
from kingpair.workers.table.format import COLUMNS, Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.notes import read_note, write_note


class PassTime(NamedTuple):
    """A pass of one winner's analysis: its counts, its seconds, and its level if there are any."""

    winner: str
    depth: Depth
    won: int
    lost: int
    seconds: float
    level: int | None = None

    def stated(self) -> dict[str, Any]:
        """The pass as notes and reports state it."""
        said = self._asdict()
        return said if self.level is not None else {k: v for k, v in said.items() if k != "level"}


def pass_times(logs: Mapping[Side, History], level: int | None = None) -> list[PassTime]:
    """The passes that are logged of a domain."""
    return [
        PassTime(
            COLUMNS[winner],
            done.depth,
            done.won,
            done.lost,
            round(log.seconds[done.depth], 6),
            level,
        )
        for winner, log in logs.items()
        for done in log.passes
    ]


def write_pass_times(store: Store, key: TableKey, digest: str, passes: Iterable[PassTime]) -> None:
    """Writes the note of a table that is about to get its name."""
    stated = {"passes": [each.stated() for each in passes]}
    write_note(store, key.pass_times_file, digest, stated)


def read_pass_times(table: Table) -> Sequence[PassTime] | None:
    """The times of a table's passes; None if they are not known."""
    note = read_note(table, table.key.pass_times_file)
    try:
        return None if note is None else [PassTime(**each) for each in note["passes"]]
    except (TypeError, KeyError):
        return None


def by_level(passes: Iterable[PassTime]) -> list[PassTime]:
    """The passes of each winner and level added to one, whose depth is the level, counted from 1 as
    the page counts it.
    """
    found: dict[tuple[str, int], PassTime] = {}
    for each in passes:
        assert each.level is not None, "a pass without a level"
        key = each.winner, each.level
        so_far = found.get(key, PassTime(each.winner, Depth(each.level + 1), 0, 0, 0.0, each.level))
        found[key] = so_far._replace(
            won=so_far.won + each.won,
            lost=so_far.lost + each.lost,
            seconds=so_far.seconds + each.seconds,
        )
    return list(found.values())
