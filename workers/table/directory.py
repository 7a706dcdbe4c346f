"""Directories of tables: which tables there are, and how to open one.

A directory is a path or the URI of a store.  A table that is built again is a new file under the
same name.
"""

import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.packed_material import pack_material
from kingpair.workers.store.filesystem import Store, printable, store_at, uri_of
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey

DEFAULT_DIRECTORY = Path("tables")
"""The directory of tables that the command line uses by default."""

PackedKey = tuple[Metric, int]
"""A metric, and a material as a number."""


def find_tables(directory: Path) -> dict[PackedKey, Path]:
    """The tables of a directory by metric and material; empty if there is no such directory."""
    found: dict[PackedKey, Path] = {}
    keys = [(key, name) for name in _store(directory).names("") if (key := TableKey.of_file(name))]
    for metric in Metric:
        for key, name in keys:
            if key.metric is metric:
                found.setdefault((metric, pack_material(key.material)), directory / name)
    return found


def is_table_directory(directory: Path) -> bool:
    """Whether there is such a directory.  An object store has no directories, so there it must
    hold at least one file.
    """
    store = _store(directory)
    return store.root.is_dir() if store.is_local else bool(store.names(""))


def build_command(
    material: object, directory: str | Path, metric: str = Metric.default(), force: bool = False
) -> str:
    """The command that builds a material into a directory, to be shown in messages."""
    words = ["kingpair", "build", *["--force"][: int(force)], str(material)]
    if metric != Metric.default():
        words += ["--metric", metric]
    if Path(directory) != DEFAULT_DIRECTORY:
        words += ["--tables", printable(directory)]
    return shlex.join(words)


def missing_table(
    material: Material, metric: Metric, directories: Sequence[Path]
) -> MissingTableError:
    """The error that no directory has a table; says how to make it in the first one."""
    kind = "table" if metric is Metric.default() else f"{metric} table"
    where = ", ".join(map(printable, directories)) or "no directory"
    command = build_command(material, next(iter(directories), DEFAULT_DIRECTORY), metric)
    return MissingTableError(f"no {kind} of {material} in {where}; {command} makes it")


def open_table(path: Path) -> Table:
    """Opens a table.  A table of an object store is copied to this machine first."""
    if uri_of(path) is None:
        return Table(path)
    store = _store(path.parent)
    return Table(store.fetch(path.name), fetch=store.fetch)


def open_metadata(path: Path) -> Table:
    """Opens a table for its metadata alone: an object store delivers only a part of the file."""
    store = _store(path.parent)
    fetch = None if store.is_local else store.fetch
    return Table(Path(display_name(path)), store.open_input(path.name), fetch)


def display_name(path: Path) -> str:
    """The path of a table without the secrets that a URI may contain."""
    return f"{printable(path.parent)}/{path.name}"


def size_of(path: Path) -> int:
    """The size in bytes of a file, which need not be a sound table."""
    return int(_store(path.parent).open_input(path.name).size())


def file_version(path: Path) -> tuple[Path | int, ...]:
    """A value that changes when the file is replaced; FileNotFoundError if there is no file."""
    store = _store(path.parent)
    place = store.cached_path(path.name)
    if not store.is_local:
        return (place,)  # the path has the size and time of the object
    found = place.stat()
    return place, found.st_ino, found.st_mtime_ns


def was_replaced(table: Table, path: Path | None) -> bool:
    """Whether the file of an opened table was replaced or removed."""
    try:
        if path is None:
            return True
        path = _store(path.parent).cached_path(path.name)
        return path != table.path or path.stat().st_ino != table.inode
    except OSError:
        return True


@lru_cache(16)
def _store(directory: Path) -> Store:
    return store_at(directory)
