"""Notes: JSON files beside a table that say of it what its bytes do not.

A note states the digest of its table.  A note of another digest is that of a table that was
replaced, and counts as none.  A note is published complete or not at all.
"""

import json
from collections.abc import Mapping
from typing import Any

from kingpair.workers.store.filesystem import Store
from kingpair.workers.table.format import Table


def write_note(store: Store, name: str, digest: str, stated: Mapping[str, Any]) -> None:
    """Writes a note of the table with this digest."""
    partial = f"{name}.partial"
    store.local_path(partial).write_text(json.dumps({"digest": digest, **stated}))
    store.rename(partial, name)


def read_note(table: Table, name: str) -> dict[str, Any] | None:
    """The note of a table; None if there is none of this very table."""
    try:
        note = json.loads(table.path.with_name(name).read_text())
        return dict(note) if note["digest"] == table.digest else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
