"""Exports tables as Syzygy files, a material after the other.

A file gets its name when it is complete.  A material whose two files are there and sound is left
out, so an export that was interrupted goes on where it stopped.  A damaged file is written again.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import NamedTuple

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.errors import Cancelled, DamagedTable
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.store.atomic_file import atomic_file, made_directory
from kingpair.workers.store.filesystem import Store
from kingpair.workers.syzygy.file import SyzygyFile, file_name
from kingpair.workers.syzygy.layout import CHECKSUM, FileKind
from kingpair.workers.syzygy.source import Pause, ResultColumns, no_pause
from kingpair.workers.syzygy.writer import SyzygyWriter
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore

OpenTable = Callable[[Material, Metric], Table]
FOLDER = "syzygy"
"""The folder beside tables in which builds write Syzygy files."""


class ExportedFile(NamedTuple):
    """A Syzygy file of a material; `written` is false if it was there already."""

    material: Material
    path: Path
    size: int
    written: bool


def export_syzygy(
    open_table: OpenTable,
    materials: Iterable[Material],
    directory: Path,
    threads: int,
    *,
    again: bool = False,
) -> Iterator[ExportedFile]:
    """Writes both files of each material; MissingTableError if one of its tables is missing."""
    with made_directory(directory), interruptible_pool(threads) as (pool, pause):
        columns = columns_from(open_table, pause)
        for material in materials:
            columns.keep(key.material for key in TableKey(material, Metric.DTZ).smaller())
            writer = SyzygyWriter(material, columns, pool, pause)
            for kind in FileKind:
                path = directory / file_name(material, kind)
                written = again or not is_sound(path)
                if written:
                    with atomic_file(path) as file:
                        file.write(writer.file(kind))
                yield ExportedFile(material, path, path.stat().st_size, written)


@contextmanager
def interruptible_pool(threads: int) -> Iterator[tuple[Executor, Pause]]:
    """Threads, and a pause that ends their work once the body fails: Ctrl-C need not wait."""
    ended = Event()

    def pause() -> None:
        if ended.is_set():
            raise Cancelled("interrupted")

    with ThreadPoolExecutor(threads) as pool:
        try:
            yield pool, pause
        except BaseException:
            ended.set()
            raise


def beside(material: Material, kind: FileKind) -> str:
    """The name in a store of a Syzygy file that a build writes."""
    return f"{FOLDER}/{file_name(material, kind)}"


def are_beside(store: Store, material: Material) -> bool:
    """Whether a build has written both Syzygy files of a material."""
    return all(store.has(beside(material, kind)) for kind in FileKind)


def remove_beside(store: Store, material: Material) -> None:
    for kind in FileKind:
        store.remove(beside(material, kind))


def write_beside(
    tables: TableStore, material: Material, threads: int, pause: Pause = no_pause
) -> None:
    """Writes both Syzygy files of a material into the store of its table.  A file gets its name
    when it is complete.  `pause` is called some times a second, and may raise.
    """
    columns = columns_from(lambda needed, metric: tables.table(TableKey(needed, metric)), pause)
    tables.store.make_folder(FOLDER)
    with ThreadPoolExecutor(threads) as pool:
        writer = SyzygyWriter(material, columns, pool, pause)
        for kind in FileKind:
            name = beside(material, kind)
            content, partial = writer.file(kind), tables.store.local_path(f"{name}.partial")
            try:
                partial.write_bytes(content)
            except OSError as error:
                partial.unlink(missing_ok=True)  # the disk may be full
                error.filename = error.filename or str(tables.store.local_path(name))
                raise
            tables.store.rename(f"{name}.partial", name)


def columns_from(open_table: OpenTable, pause: Pause = no_pause) -> ResultColumns:
    """The columns of tables that count plies."""
    return ResultColumns(lambda material: open_table(material, Metric.DTZ), pause)


def is_sound(path: Path) -> bool:
    """Whether there is a Syzygy file whose header and checksum are right; ForeignTable if there is
    another file, which is not ours to replace.
    """
    try:
        return has_right_checksum(SyzygyFile(path))
    except (FileNotFoundError, DamagedTable):
        return False


def has_right_checksum(file: SyzygyFile) -> bool:
    content, stated = file.data[:-CHECKSUM], file.data[-CHECKSUM:]
    return _kernels.syzygy_checksum(np.asarray(content)) == stated.tobytes()
