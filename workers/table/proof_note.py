"""The note beside a table, `MATERIAL.METRIC.proof.json`: when it was proved, and by which commit.

    {"digest": of the table, "at": UTC, "commit": of the code that proved it}

A table's bytes say nothing of proofs: the same bytes can be proved again, by later code.  The note
holds the latest proof.
"""

from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from kingpair.workers.commit import commit
from kingpair.workers.store.filesystem import Store
from kingpair.workers.table.format import Table
from kingpair.workers.table.notes import read_note, write_note


class ProofNote(NamedTuple):
    """The latest proof of a table."""

    at: str
    commit: str


def write_proof_note(store: Store, table: Table) -> None:
    """Notes that a table is proved now.  Where nothing can be written there is no note."""
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    with suppress(OSError):
        write_note(store, table.key.proof_file, table.digest, {"at": at, "commit": commit()})


def read_proof_note(table: Table) -> ProofNote | None:
    """The latest proof of a table; None if none is known."""
    note = read_note(table, table.key.proof_file)
    try:
        return None if note is None else ProofNote(note["at"], note["commit"])
    except KeyError:
        return None
