"""The tables of one store, and the folders beside them in which tables are built.

An open table holds the digests of its blocks, a megabyte for five men, and a build may read a
hundred of them.  So only those that were asked for last stay open.

MATERIAL.METRIC.arrow       a table, or a list of its parts (parts_file.py)
MATERIAL.METRIC.parts/      its parts, if it is kept in parts
.MATERIAL.METRIC.build/     its build folder (build_folder.py)
"""

from pathlib import Path
from threading import Lock

import pyarrow as pa

from kingpair.workers.errors import DamagedTable, ForeignTable
from kingpair.workers.index.slices import LevelSlice
from kingpair.workers.passlog.machine_logs import MachineLogs
from kingpair.workers.store.filesystem import Store, store_at
from kingpair.workers.table.build_folder import BuildFolder, SmallerDigests
from kingpair.workers.table.directory import build_command
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.parts_file import Fetch, remove_table_file

OPEN_MOST = 24


class TableStore:
    """Tables by key.  Threads may share it."""

    def __init__(
        self,
        where: Path | Store,
        open_most: int = OPEN_MOST,
        logs: MachineLogs | None = None,
    ) -> None:
        self.store = store_at(where) if isinstance(where, Path) else where
        self.logs = logs
        self._open: dict[TableKey, Table] = {}  # the one that was asked for last is last
        self._digests: dict[TableKey, str] = {}
        self._distrusted: set[TableKey] = set()
        self._lock, self._open_most = Lock(), open_most

    def table(self, key: TableKey) -> Table:
        """The opened table; FileNotFoundError without one, ForeignTable if it is packed."""
        with self._lock:
            table = self._open.pop(key, None) or self._opened(key)
            self._open[key] = table
            if len(self._open) > self._open_most:
                # Not closed: a caller that has it may still read it.
                self._open.pop(next(iter(self._open)))
            return table

    def _opened(self, key: TableKey) -> Table:
        path = self.store.fetch(key.file_name)
        # Not mapped: builds read nearly every block, and what is mapped counts as memory.
        fetch: Fetch | None = None if self.store.is_local else self.store.fetch
        if self.reads_copies(key):
            fetch = self.build_folder(key).fetched_part
        table = Table(path, pa.OSFile(str(path)), fetch)
        table.require_whole()
        if self._digests.setdefault(key, table.digest) != table.digest:
            raise ForeignTable(f"{path}: was replaced while it was in use; begin again")
        return table

    def reads_copies(self, key: TableKey) -> bool:
        """Whether parts of the table may be read from disks of machines, and not from the store."""
        return self.logs is not None and key not in self._distrusted

    def distrust_copies(self, key: TableKey) -> None:
        """Reads the table from the store alone from now on."""
        self._distrusted.add(key)
        self.forget(key)

    def _digest(self, key: TableKey) -> str:
        return self._digests.get(key) or self.table(key).digest

    def smaller_digests(self, key: TableKey) -> SmallerDigests:
        """The digests of the tables that a table rests on, by material."""
        return {str(smaller.material): self._digest(smaller) for smaller in sorted(key.smaller())}

    def has(self, key: TableKey) -> bool:
        """Whether the table is there, is sound and rests on the smaller tables that are there."""
        if not self.store.has(key.file_name):
            return False
        try:
            return self.table(key).smaller == self.smaller_digests(key)
        except FileNotFoundError:
            return False
        except (DamagedTable, ForeignTable) as error:
            advice = build_command(key.material, str(self.store), key.metric, force=True)
            raise type(error)(f"{error} ({advice})") from error

    def forget(self, key: TableKey) -> None:
        """Drops a table whose file was replaced; the next question opens the new file.

        The table is not closed, because another worker of this process may still read it.
        """
        with self._lock:
            self._open.pop(key, None)
            self._digests.pop(key, None)

    def remove(self, key: TableKey) -> None:
        self.forget(key)
        remove_table_file(self.store, key)
        self.store.remove(key.pass_times_file)
        self.store.remove(key.proof_file)

    def build_folder(self, key: TableKey, slice_: LevelSlice | None = None) -> BuildFolder:
        return BuildFolder(self.store, key, slice_, self.logs)

    def close(self) -> None:
        for table in self._open.values():
            table.close()
        self.store.close()
