"""Reads the blocks of a table's columns, and checks each against its digest."""

from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from kingpair.workers.errors import DamagedTable
from kingpair.workers.number_types import Side
from kingpair.workers.table.batch_reader import BatchPlace
from kingpair.workers.table.row_reader import BLOCK, COLUMNS, RowReader
from kingpair.workers.table.seal import DIGITS, block_digest
from kingpair.workers.table.stored_column import StoredColumn
from kingpair.workers.table.value import Values

UNREADABLE = (pa.ArrowException, OSError, MemoryError, ValueError, TypeError, LookupError)
"""The errors that pyarrow, json and lookups raise on damaged bytes."""


class BlockReader(RowReader):
    """The columns of an open table."""

    path: Path
    stored: tuple[Side, ...]
    _columns: dict[int, StoredColumn]

    @property
    @abstractmethod
    def block_digests(self) -> str:
        """The digests of all blocks, as digits."""

    @property
    @abstractmethod
    def batch_digests(self) -> str:
        """The digests of the file's header and of each batch, as digits."""

    @property
    def blocks_of_batch(self) -> int:
        return self._columns[self.stored[0]].blocks_of_batch

    def pieces_of(self, runs: Iterable[int]) -> list[int]:
        """The pieces of the file (seal.py) that have any rows of some runs."""
        rows, together = self.index.slots, BLOCK * self.blocks_of_batch
        batches = (range(run * rows // together, -(-(run + 1) * rows // together)) for run in runs)
        return sorted({1 + batch for some in batches for batch in some})

    @abstractmethod
    def require_whole(self) -> None:
        """Raises ForeignTable for a table without one of the columns."""

    def blocks_from(self, first: int, stop: int, column: int) -> Values:
        """The values of consecutive blocks, each checked against its digest."""
        if column not in self.stored:
            self.require_whole()
        try:
            values = self._columns[column].blocks_from(first, stop)
        except DamagedTable:  # of a part of the file
            raise
        except UNREADABLE as error:
            if stop - first > 1:  # one of them is to be named
                return np.concatenate([self.block(each, column) for each in range(first, stop)])
            raise self._damaged(first, column) from error
        for block in range(first, stop):
            at, digest = (block - first) * BLOCK, DIGITS * (2 * block + column)
            found = block_digest(values[at : at + BLOCK])
            if found != self.block_digests[digest : digest + DIGITS]:
                raise self._damaged(block, column)
        return values

    def page(self, page: int, column: int, rows: int) -> Values:
        """At least so many of the first values of a page (stored_column.py)."""
        stored = self._columns[column]
        if stored.page_rows == BLOCK:
            return self.block(page, column)
        self.read_ahead(page)
        try:
            return stored.page(page, rows)
        except DamagedTable:
            raise
        except UNREADABLE as error:
            raise self._damaged(page * stored.page_rows // BLOCK, column) from error

    def place_of_values(self, page: int, column: int, wait: bool) -> BatchPlace | None:
        """The place of a page, for the kernel that finds some of its values without decoding the
        others and compares the bytes with their digest.  None if it cannot read them, or if that
        needs the disk and `wait` is false; then `page` has them or says why not.
        """
        digest = self.batch_digests[DIGITS * (page + 1) : DIGITS * (page + 2)]
        return self._columns[column].place_of_values(page, int(digest or "0", 16), wait)

    def read_ahead(self, page: int) -> None:
        """Lets the system read a page's batch."""
        self._columns[self.stored[0]].read_ahead(page)

    def is_at_hand(self, page: int, column: int) -> bool:
        return self._columns[column].is_at_hand(page)

    def _damaged(self, block: int, column: int) -> DamagedTable:
        what = f"block {block} of column {COLUMNS[column]}"
        return DamagedTable(f"{self.path}: {what} is damaged; build the table again")
