"""A directory of tables: which there are, by what they are of.

A table that is written anew is another file under the same name.
"""

from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from workers.errors import BadMaterial
from workers.material import Material
from workers.metric import Metric
from workers.store import Store, shown, store_at, uri_of
from workers.table import Table

Key = tuple[Metric, int]
"""A metric, and a material as a number."""


def material_key(material: Material) -> int:
    """The material as the reader of FENs packs it: four bits each of Q R B N, stronger side
    first.
    """
    key = 0
    for side in (material.stronger, material.weaker):
        for letter in "QRBN":
            key = key << 4 | side.count(letter)
    return key


def tables_in(directory: Path) -> dict[Key, Path]:
    """The tables of a directory or a store by what they are of; none if it is not there."""
    found: dict[Key, Path] = {}
    names = _store(directory).names("")
    for metric in Metric:
        for name in names:
            # A file whose name is no material is somebody's own.
            with suppress(BadMaterial):
                if name.endswith(f".{metric}.arrow"):
                    material = Material.parse(name.split(".")[0])
                    found.setdefault((metric, material_key(material)), directory / name)
    return found


def is_there(directory: Path) -> bool:
    """A directory; or a store that holds anything, which is all that it can show of itself."""
    store = _store(directory)
    return store.root.is_dir() if store.is_local else bool(store.names(""))


def opened(path: Path) -> Table:
    """A table of a directory; of a store, a copy of it here."""
    return Table(path if uri_of(path) is None else _store(path.parent).fetch(path.name))


def glanced(path: Path) -> Table:
    """A table of which nothing is wanted but what it says of itself: a store need not deliver all
    of it.
    """
    return Table(Path(called(path)), _store(path.parent).reading(path.name))


def called(path: Path) -> str:
    """A table as it may be shown: there may be a key in a URI."""
    return f"{shown(path.parent)}/{path.name}"


def size_of(path: Path) -> int:
    """In bytes; of a file that need not be a table."""
    return int(_store(path.parent).reading(path.name).size())


def stamp(path: Path) -> tuple[Path | int, ...]:
    """Other than before if another table has the name; FileNotFoundError if none has."""
    store = _store(path.parent)
    place = store.copy_of(path.name)
    if not store.is_local:
        return (place,)  # which says when it was written
    found = place.stat()
    return place, found.st_ino, found.st_mtime_ns


def changed(table: Table, path: Path | None) -> bool:
    """Whether an opened table is no longer what is there under its name."""
    try:
        if path is None:
            return True
        path = _store(path.parent).copy_of(path.name)
        return path != table.path or path.stat().st_ino != table.inode
    except OSError:
        return True


@lru_cache(16)
def _store(directory: Path) -> Store:
    return store_at(directory)
