"""The smaller tables that the proof of a table reads, each the one that it was built on."""

from collections.abc import Callable

from kingpair.workers.errors import ForeignTable, MissingTableError
from kingpair.workers.game.chess.material import Material
from kingpair.workers.table.directory import build_command
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey

FindTable = Callable[[TableKey], Table]
"""Opens a smaller table; raises MissingTableError or FileNotFoundError if there is none."""


def smaller_tables(table: Table, find: FindTable) -> dict[Material, Table]:
    """The smaller tables; each must have the digest that the table names."""
    keys = sorted(table.key.smaller())
    if (stated := sorted(table.smaller)) != (needed := [str(key.material) for key in keys]):
        raise ForeignTable(f"{table.path}: rests on {stated} by its own account, not on {needed}")
    return {key.material: _one_smaller(table, key, find) for key in keys}


def _one_smaller(table: Table, key: TableKey, find: FindTable) -> Table:
    material = key.material
    try:
        found = find(key)
    except FileNotFoundError as error:
        raise MissingTableError(
            f"{table.path}: rests on {material}, which has no {table.metric} table there; "
            f"{build_command(material, table.path.parent, table.metric)} makes it"
        ) from error
    if found.digest != table.smaller[str(material)]:
        raise ForeignTable(
            f"{table.path}: built on another {material} than {found.path}, whose digest is "
            f"{found.digest}, not {table.smaller[str(material)]}; build {table.material} again"
        )
    return found
