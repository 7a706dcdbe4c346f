"""Tables with pawns, the ways to alter them, and the verdict on them."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from building import BOTH_METRICS, publish
from numpy.typing import NDArray
from pawn_tables import write_closure

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import SIDES
from kingpair.workers.prove.verdict import Verdict
from kingpair.workers.prove.verify import verify
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.format import PLAIN, Table
from kingpair.workers.table.key import TableIdentity, TableKey
from kingpair.workers.table.writing import encode, table_schema

Column = NDArray[np.int16]


class Built(NamedTuple):
    """A folder with a table for each metric, and all that they rest on."""

    folder: Path
    threads: Threads

    def verdict(self, name: str, metric: Metric, folder: Path | None = None) -> Verdict:
        out = folder or self.folder
        key = TableKey(Material.parse(name), metric)
        return verify(
            Table(out / key.file_name), lambda key: Table(out / key.file_name), self.threads
        )


def copied(built: Built, out: Path) -> Path:
    for path in built.folder.glob("*.arrow"):
        shutil.copy(path, out)
    return out


def columns_of(table: Table) -> list[Column]:
    return [table.rows(0, table.index.rows, side).astype(np.int16) for side in SIDES]


def rewrite(
    path: Path,
    values: Callable[[list[Column]], None] = lambda columns: None,
    counts: Callable[[dict[str, Any]], Any] = lambda counts: None,
    smaller: dict[str, str] | None = None,
) -> None:
    """Writes a table again with other values, counts or smaller tables, all digests in order."""
    table = Table(path)
    columns, stated = columns_of(table), table.counts
    values(columns)
    counts(stated)
    identity = TableIdentity(table.key, smaller or table.smaller)
    white, black = (column.astype(table.dtype) for column in columns)
    part = encode(table_schema(identity, table.dtype), white, black, PLAIN)
    publish(path, identity, table.dtype, [part], stated)


IN_CLOSURES = {"KQvKP": "KPvKP", "KNvKP": "KPvKP", "KRPvK": "KPPvK"}
"""Materials that are built along with another one."""


class BuiltTables:
    """Builds the tables of a material when they are first asked for."""

    def __init__(self, make_folder: Callable[[str], Path], threads: Threads) -> None:
        self._make_folder, self._threads = make_folder, threads
        self._folders: dict[str, Path] = {}

    def __call__(self, name: str) -> Built:
        name = IN_CLOSURES.get(name, name)
        if name not in self._folders:
            self._folders[name] = self._make_folder(name)
            for metric in BOTH_METRICS:
                write_closure(self._folders[name], name, metric)
        return Built(self._folders[name], self._threads)
