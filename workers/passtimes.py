"""How long each pass of a table took: a note beside the table, `MATERIAL.METRIC.passes.json`.

    {"digest": of the table, "passes": [{"winner", "depth", "won", "lost", "seconds"}, ...]}

A table's bytes do not depend on how long it took to make, so this is not in it.  The times are in
the pass logs, so a build that was interrupted knows those of its earlier passes.  The note is
written before its table has its name; without one, or with one of another table, nothing is known.

A pass takes as long as the worker that is longest in its steps; what is waited for between them,
such as frontiers on their way, is not counted.
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workers.history import History
from workers.store import Store
from workers.table import COLUMNS, Table


class Timed(NamedTuple):
    """A pass: for whom it looked for wins, how many positions it found won and lost at its depth,
    and how long it took.
    """

    winner: str
    depth: int
    won: int
    lost: int
    seconds: float


def note_of(table: str) -> str:
    """The name of the note beside a table."""
    return f"{table.removesuffix('.arrow')}.passes.json"


def write_times(store: Store, table: str, digest: str, logs: Mapping[int, History]) -> None:
    """Note what the passes of a table took that is about to get its name."""
    passes = [
        Timed(COLUMNS[winner], done.depth, done.won, done.lost, round(log.seconds[done.depth], 6))
        for winner, log in logs.items()
        for done in log.passes
    ]
    text = json.dumps({"digest": digest, "passes": [each._asdict() for each in passes]})
    partial = f"{note_of(table)}.partial"
    store.here(partial).write_text(text)
    store.rename(partial, note_of(table))


def times_of(table: Table) -> Sequence[Timed] | None:
    """What the passes of a table took; None if nobody knows."""
    try:
        note = json.loads(table.path.with_name(note_of(table.path.name)).read_text())
        if note["digest"] != table.digest:
            return None
        return [Timed(**each) for each in note["passes"]]
    except (OSError, ValueError, TypeError, KeyError):
        return None
