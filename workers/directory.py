"""A directory of tables: which there are, by what they are of.

A table that is written anew is another file under the same name, as `publish` puts it there.
"""

from contextlib import suppress
from pathlib import Path

from workers.errors import BadMaterial
from workers.material import Material
from workers.metric import Metric
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
    """The tables of a directory by what they are of; none if it is not there."""
    found: dict[Key, Path] = {}
    for metric in Metric:
        for path in sorted(directory.glob(f"*.{metric}.arrow")):
            # A file whose name is no material is somebody's own.
            with suppress(BadMaterial):
                material = Material.parse(path.name.split(".")[0])
                found.setdefault((metric, material_key(material)), path)
    return found


def changed(table: Table, path: Path | None) -> bool:
    """Whether an opened table is no longer what is there under its name."""
    try:
        return path is None or path != table.path or path.stat().st_ino != table.inode
    except OSError:
        return True
