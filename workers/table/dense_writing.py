"""Writing a dense table (dense.py): the column that gets smaller, its model, its codes.

Models made of a few codes say which column gets smaller, as some of its blocks are encoded.

With pawns the codes that are learned from are shown twice: once for the chances, once for the
weights of contexts.

The kernel reads the bits of each code back with the chances that it wrote them with.  Chances
depend on nothing but values that were read before.  Some groups are decoded in full, to be sure.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from kingpair.workers import _kernels
from kingpair.workers.errors import CannotBuild
from kingpair.workers.number_types import SIDES, Side
from kingpair.workers.sets.threads import Threads
from kingpair.workers.store.atomic_file import atomic_file
from kingpair.workers.table.dense import CODED_ROWS, DenseColumn, described
from kingpair.workers.table.format import BLOCK, COLUMNS, DENSE_LAYOUT, Table
from kingpair.workers.table.packed import PackedFile, identity_of, write_contents
from kingpair.workers.table.row_reader import RowReader
from kingpair.workers.table.writing import EncodedBlocks, encode_batch

GROUPS_OF_BATCH = 64
MEN_MIN = 4
# Every so many codes of a table with so many men are learned from: 400 to 6,000 of them.
_LEARNED = {4: 4, 5: 17, 6: 509}
# With pawns the first of these that leaves no more than so many.  Primes, because the number of
# king pairs would otherwise leave out some pairs.
_LEARNED_WITH_PAWNS = (5, 11, 23, 47, 97, 509, 4093, 32749)
_LEARNED_MOST = 6000
_LEARNED_TO_CHOOSE = 5  # every so many of these
_ESTIMATED = {False: 30, True: 150}  # blocks that say how large a column is, by pawns or none
_DECODED = 16  # every so many groups


def can_be_dense(table: Table) -> bool:
    return table.material.men >= MEN_MIN


def pack_dense(table: Table, path: Path, threads: Threads) -> PackedFile:
    """Writes a dense table.  Raises ForeignTable if the table is packed already."""
    table.require_whole()
    table.check()
    with threads.pool(table.another_reader).lend() as reader:
        side = SIDES[int(np.argmin([_estimated_size(reader, side) for side in SIDES]))]
        text = described(_model(reader, side, every=1), table.material, table.dtype)
    identity = {"kingpair": identity_of(table).json()}
    first_schema = pa.schema([pa.field(COLUMNS[side], pa.binary(), nullable=False)], identity)
    schema = first_schema.with_metadata(identity | {"kingpair.dense": text})
    if not table.material.has_pawns:
        first_schema = schema
    workers = threads.pool(
        lambda: (table.another_reader(), DenseColumn(text, table.material, side))
    )

    def part(first: int) -> EncodedBlocks:
        with workers.lend() as (reader, codec):
            blocks = range(first, min(first + GROUPS_OF_BATCH, table.blocks))
            groups = [_group(reader, codec, block, side) for block in blocks]
        return encode_batch(schema, pa.array(groups, pa.binary()))

    with atomic_file(path) as file:
        parts = threads.stream(part, range(0, table.blocks, GROUPS_OF_BATCH))
        write_contents(table, schema, parts, DENSE_LAYOUT, file, first_schema)
    return PackedFile(table.key, table.digest, table.bytes, path.stat().st_size, COLUMNS[side])


def _model(table: Table, side: Side, every: int) -> bytes:
    """A model of a column, learned from every so many of the codes that are learned from."""
    index, material = table.index, table.material
    codes = range(0, index.rows // CODED_ROWS, every * _learned_step(table))
    shown = [
        (code, table.rows(code * CODED_ROWS, (code + 1) * CODED_ROWS, side).astype(np.int16))
        for code in codes
    ]
    if index.structures is None:
        training = _kernels.DenseTraining(material.pieces, side)
        for code, values in shown:
            training.learn(code, values)
        return training.model()
    pawns = index.structures.stronger, index.structures.weaker
    with_pawns = _kernels.DensePawnTraining(material.pieces, side, pawns, index.structures.squares)
    for learn in (with_pawns.learn, with_pawns.weigh):
        for code, values in shown:
            learn(code, values)
    return with_pawns.model()


def _learned_step(table: Table) -> int:
    if not table.material.has_pawns:
        return _LEARNED[table.material.men]
    codes = table.index.rows // CODED_ROWS
    return next(step for step in _LEARNED_WITH_PAWNS if codes <= step * _LEARNED_MOST)


def _estimated_size(table: Table, side: Side) -> int:
    """The bytes of some blocks of a column."""
    text = described(_model(table, side, _LEARNED_TO_CHOOSE), table.material, table.dtype)
    codec = DenseColumn(text, table.material, side)
    blocks = range(0, table.blocks, max(1, table.blocks // _ESTIMATED[table.material.has_pawns]))
    return sum(len(_group(table, codec, block, side)) for block in blocks)


def _group(table: RowReader, codec: DenseColumn, block: int, side: Side) -> bytes:
    """The code of a block."""
    first, before = block * BLOCK, 0
    index = table.index
    if first % (index.slots if index.structures is None else index.structure_rows):
        before = int(table.rows(first - 1, first, side)[0])
    values = table.rows(first, min(first + BLOCK, index.rows), side)
    try:
        group = codec.encode(first, before, values)
    except ValueError as error:
        raise CannotBuild(f"{index.material} cannot be made dense: {error}") from error
    if block % _DECODED == 0:
        decoded = codec.decode(first, len(values), group)
        assert (decoded == values).all(), "a code that reads otherwise"
    return group
