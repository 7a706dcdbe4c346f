"""The key of a table, a material and a metric; that of a domain, a table or a slice of one; and the
identity of a table, which the file states.

Its text form is `KRBvKR.dtm`.  All file names that belong to a table are made from it:

    KRBvKR.dtm.arrow            the table
    KRBvKR.dtm.parts            the folder of its parts, if it is kept in parts
    KRBvKR.dtm.passes.json      the times of its passes
    KRBvKR.dtm.proof.json       when and by which commit it was proved
    .KRBvKR.dtm.build           the folder in which it is built

A slice of a table is a domain of its own: `KRPvKR.dtc.level3` is a level, `KRPvKR.dtc.level3.0-2`
the first two structures of it.

Other modules pass keys on; they neither put such names together nor take them apart.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from kingpair.workers.errors import BadMaterial
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.material_index import table_index
from kingpair.workers.index.slices import LevelSlice

FORMAT = 1
_TABLE = ".arrow"
_LEVEL = ".level"


class TableKey(NamedTuple):
    """A material for a metric."""

    material: Material
    metric: Metric

    @staticmethod
    def parse(text: str) -> "TableKey":
        """Reads the text form; the material may be in any usual form."""
        material, _, metric = text.partition(".")
        return TableKey.named(material, metric)

    @staticmethod
    def named(material: str, metric: str) -> "TableKey":
        """The key of a material and a metric that are given by name."""
        if metric not in tuple(Metric):
            known = " or ".join(Metric)
            raise BadMaterial(f"unknown metric {metric!r} of {material}; use {known}")
        return TableKey(Material.parse(material), Metric(metric))

    @staticmethod
    def of_file(name: str) -> "TableKey | None":
        """The key of the table that a file is named for; None if it is named for no table."""
        if name.endswith(_TABLE):
            game, dot, rest = name.removesuffix(_TABLE).partition(".")
            with suppress(BadMaterial):
                return TableKey.parse(f"{game}:{rest}" if "." in rest else f"{game}{dot}{rest}")
        return None

    @property
    def file_name(self) -> str:
        return f"{self._stem}{_TABLE}"

    @property
    def _stem(self) -> str:
        """The text form; a dot stands for the colon, which some file systems refuse."""
        return str(self).replace(":", ".")

    @property
    def pass_times_file(self) -> str:
        return f"{self._stem}.passes.json"

    @property
    def proof_file(self) -> str:
        return f"{self._stem}.proof.json"

    @property
    def parts_folder(self) -> str:
        return f"{self._stem}.parts"

    @property
    def build_folder(self) -> str:
        return f".{self._stem}.build"

    def smaller(self) -> "frozenset[TableKey]":
        """The keys of the tables that its captures and promotions lead to.  Bare kings need no
        table.
        """
        materials = {exit_.material for exit_ in self.material.exits()} - {self.material}
        return frozenset(TableKey(m, self.metric) for m in materials if m.letters)

    def __str__(self) -> str:
        return f"{self.material}.{self.metric}"


class DomainKey(NamedTuple):
    """A table, or a slice of a table with pawns."""

    table: TableKey
    slice: LevelSlice | None = None

    @staticmethod
    def parse(text: str) -> "DomainKey":
        table, _, slice_ = text.partition(_LEVEL)
        return DomainKey(TableKey.parse(table), LevelSlice.parse(slice_) if slice_ else None)

    @property
    def level(self) -> int | None:
        return None if self.slice is None else self.slice.level

    def __str__(self) -> str:
        return str(self.table) if self.slice is None else f"{self.table}{_LEVEL}{self.slice}"


@dataclass(frozen=True, slots=True)
class TableIdentity:
    """The key of a table, and the tables that it rests on: their materials and digests."""

    key: TableKey
    smaller: Mapping[str, str]

    def json(self) -> str:
        index = table_index(self.key.material)
        identity = {
            "format": FORMAT,
            "index": index.scheme,
            "material": str(self.key.material),
            "metric": str(self.key.metric),
            "smaller": dict(self.smaller),
        }
        if index.structures is not None:
            identity["structures"] = index.structures.digest
        return json.dumps(identity, sort_keys=True)
