"""Unpacking: the table that a packed one was made from, as a file or in memory."""

from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from kingpair.workers.pack.derivation import missing_column
from kingpair.workers.prove.smaller_tables import FindTable, smaller_tables
from kingpair.workers.sets.threads import Threads
from kingpair.workers.store.atomic_file import atomic_file
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.packed import write_whole


def unpack(packed: Table, find: FindTable, path: Path, threads: Threads) -> None:
    """Writes the whole table to a file.

    Raises MissingTableError without the smaller tables, ForeignTable if they are others, and
    DamagedTable if the column that follows is not the one that was left out.
    """
    with atomic_file(path) as file:
        _unpack(packed, find, file, threads)


class WholeTables:
    """Tables by key; packed ones are unpacked in memory when they are first needed."""

    def __init__(self, find: FindTable, threads: Threads) -> None:
        self._find, self._threads = find, threads
        self._unpacked: dict[TableKey, Table] = {}

    def __call__(self, key: TableKey) -> Table:
        """The whole table; raises what the search for a table raises."""
        if key in self._unpacked:
            return self._unpacked[key]
        table = self._find(key)
        if table.is_whole:
            return table
        self._unpacked[key] = whole = unpacked(table, self, self._threads)
        return whole


def unpacked(packed: Table, find: FindTable, threads: Threads) -> Table:
    """The whole table, in memory."""
    packed.check()
    file = BytesIO()
    _unpack(packed, find, file, threads)
    return Table(packed.path, pa.BufferReader(file.getbuffer()))


def _unpack(packed: Table, find: FindTable, file: BinaryIO, threads: Threads) -> None:
    missing = missing_column(packed, smaller_tables(packed, find), threads)
    write_whole(packed, missing, file, threads)
