"""A column of a table file: its blocks in record batches, as values or in the dense code.

A column decodes a *block* as a whole, which has a digest, or a *page* of it: the rows that a probe
decodes together.  A page is a block, or in a dense table one code of 4,096 rows.
"""

from collections.abc import Sequence
from copy import copy
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa

from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.material_index import table_index
from kingpair.workers.number_types import Side
from kingpair.workers.table.batch_reader import BatchPlace, BatchReader
from kingpair.workers.table.dense import CODED_ROWS, DenseColumn
from kingpair.workers.table.row_reader import BLOCK
from kingpair.workers.table.value import Values


class StoredColumn:
    """The values of one column.  Raises errors of Arrow, or ValueError, where bytes are damaged."""

    page_rows = BLOCK

    def __init__(
        self,
        reader: pa.ipc.RecordBatchFileReader,
        material: Material,
        field: int = 0,
        direct: BatchReader | None = None,
    ) -> None:
        """`direct` reads batches of this field in less time."""
        self.reader, self._lock = reader, Lock()
        self._field, self._direct = field, direct
        self.dtype: np.dtype[Any] = np.dtype(reader.schema.field(0).type.to_pandas_dtype())
        self._rows = table_index(material).rows
        self.blocks = -(-self._rows // BLOCK)
        self.blocks_of_batch = _blocks_of_batch(self.blocks, reader.num_record_batches)
        self._last: tuple[int, Values] | None = None

    def another(self) -> "StoredColumn":
        """Returns the same column for another thread."""
        other = copy(self)
        other._last = None
        return other

    def block(self, block: int) -> Values:
        batch, place = divmod(block, self.blocks_of_batch)
        values = self._batch(batch)[place * BLOCK : (place + 1) * BLOCK]
        # A view would keep the whole batch in memory.
        return values.copy() if self.blocks_of_batch > 1 else values

    def blocks_from(self, first: int, stop: int) -> Values:
        """The values of consecutive blocks."""
        if stop - first == 1:
            return self.block(first)
        if self._direct is not None and self.blocks_of_batch == 1:
            last = min(BLOCK, self._rows - (stop - 1) * BLOCK)
            batches = range(first, stop)
            values = self._direct.values_of(batches, self._field, BLOCK, last, self.dtype)
            if values is not None:
                return values
        return np.concatenate([self.block(block) for block in range(first, stop)])

    def page(self, page: int, rows: int) -> Values:
        """At least so many of the values of a page, from its first one on."""
        return self.block(page)

    def place_of_values(self, page: int, digest: int, wait: bool) -> BatchPlace | None:
        """The place of the values of a page, whose batch has this digest.  None if the kernel that
        finds single values cannot read them, or if the disk has to be read and `wait` is false.
        """
        if self._direct is None or self.blocks_of_batch > 1:
            return None
        width = self.dtype.itemsize
        size = min(BLOCK, self._rows - page * BLOCK) * width
        return self._direct.place_of_values(page, self._field, size, width, digest, wait)

    def _batch(self, batch: int) -> Values:
        """The values of a record batch.  The last batch is kept if batches have several blocks."""
        if self._last is not None and self._last[0] == batch:
            return self._last[1]
        values = self._read_directly(batch)
        if values is None:
            with self._lock:
                array = self.reader.get_batch(batch).column(0)
            array.validate()
            values = array.to_numpy()
        if self.blocks_of_batch > 1:
            self._last = batch, values
        return values

    def read_ahead(self, page: int) -> None:
        """Lets the system read the batch of a page."""
        if self._direct is not None:
            self._direct.read_ahead(page * self.page_rows // (BLOCK * self.blocks_of_batch))

    def is_at_hand(self, page: int) -> bool:
        """Whether a page is decoded in well under a millisecond, without waiting for the disk."""
        is_small = self.page_rows == BLOCK and self.blocks_of_batch == 1
        return is_small and self._direct is not None and self._direct.is_in_memory(page)

    def _read_directly(self, batch: int) -> Values | None:
        if self._direct is None:
            return None
        rows = self.blocks_of_batch * BLOCK
        rows = min(rows, self._rows - batch * rows)
        return self._direct.values(batch, self._field, rows, self.dtype)


class StoredDenseColumn(StoredColumn):
    """A column in the dense code.  The checksum of a block's code covers each of its pages."""

    page_rows = CODED_ROWS

    def __init__(
        self,
        reader: pa.ipc.RecordBatchFileReader,
        material: Material,
        side: Side,
        direct: BatchReader | None,
    ) -> None:
        super().__init__(reader, material, 0, direct)
        text = reader.schema.metadata[b"kingpair.dense"].decode()
        self._codec = DenseColumn(text, material, side)
        self.dtype = self._codec.dtype

    def block(self, block: int) -> Values:
        return self._codec.decode(*self._group(block))

    def page(self, page: int, rows: int) -> Values:
        """The values of a page.  Rows without a position are 0."""
        block, part = divmod(page, BLOCK // CODED_ROWS)
        return self._codec.decode_part(*self._group(block), part, rows)

    def place_of_values(self, page: int, digest: int, wait: bool) -> BatchPlace | None:
        return None

    def _group(self, block: int) -> tuple[int, int, bytes]:
        """The first row of a block, its number of rows, and its code."""
        batch, place = divmod(block, self.blocks_of_batch)
        groups = self.reader.get_batch(batch).column(0)
        groups.validate(full=True)
        first = block * BLOCK
        return first, min(BLOCK, self._rows - first), groups[place].as_py()


def _blocks_of_batch(blocks: int, batches: int) -> int:
    """A power of two, of which the last batch can have fewer."""
    least = -(-blocks // max(batches, 1))
    return 1 << (least - 1).bit_length()


def stored_columns(
    readers: Sequence[pa.ipc.RecordBatchFileReader],
    material: Material,
    sides: Sequence[Side],
    direct: BatchReader | None,
    is_dense: bool,
) -> dict[int, StoredColumn]:
    """The columns of a file, by the side to move."""
    if is_dense:
        return {sides[0]: StoredDenseColumn(readers[0], material, sides[0], direct)}
    return {
        side: StoredColumn(reader, material, field, direct)
        for field, (side, reader) in enumerate(zip(sides, readers, strict=True))
    }
