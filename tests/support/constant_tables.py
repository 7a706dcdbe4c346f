"""Tables in which every row has one value: what an answer has beside it shows from where."""

from pathlib import Path

import numpy as np
from building import publish

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.material_index import table_index
from kingpair.workers.table.format import BLOCK, PLAIN
from kingpair.workers.table.key import TableIdentity, TableKey
from kingpair.workers.table.writing import EncodedBlocks, encode, table_schema


def write_constant_table(directory: Path, material: Material, value: int) -> None:
    """A table of moves to conversion.  Its blocks are alike, so that one is encoded."""
    key = TableKey(material, Metric.DTC)
    identity, dtype = TableIdentity(key, {}), np.dtype(np.int8)
    batches, left = divmod(table_index(material).rows, BLOCK * PLAIN.blocks)

    def part(rows: int) -> EncodedBlocks:
        column = np.full(rows, value, dtype)
        return encode(table_schema(identity, dtype), column, column, PLAIN)

    parts = [part(BLOCK * PLAIN.blocks)] * batches + ([part(left)] if left else [])
    publish(directory / key.file_name, identity, dtype, parts, {})
